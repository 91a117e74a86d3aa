// Package rpm reads packages: what the header says of the files, joined with
// the cpio archive of the payload that holds them.
package rpm

import (
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"rea/providers/format/codec"
	"rea/providers/format/container"
	"rea/providers/format/cpio"
)

// Is reports whether a file begins like a package.
func Is(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "\xed\xab\xee\xdb" }

// A Reader reads one package. Its payload is one stream, so entries are read in
// turn.
type Reader struct {
	src     container.Source
	header  *table
	payload int64
	method  string
	files   map[string]file
	claims  []container.Claim
	gaps    []string
}

// file is what the header says of one.
type file struct {
	size   int64
	mode   int64
	digest string
	ghost  bool
	link   string
}

const (
	flagGhost  = 1 << 6
	maxPadding = 1 << 20
)

// Open reads the headers.
func Open(src container.Source) (*Reader, error) {
	lead, err := container.ReadAt(src, "rpm", 0, leadSize)
	if err != nil {
		return nil, err
	}
	if !Is(lead) {
		return nil, container.Errorf("rpm", container.Corrupt, "not a package")
	}
	signature, err := readTable(src, leadSize)
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src}
	r.header, err = readTable(src, (signature.end+7)&^7)
	if err != nil {
		return nil, err
	}
	r.payload = r.header.end
	r.signatures(signature)
	if format := r.header.first(tagPayloadFormat); format != "" && format != "cpio" {
		return nil, container.Errorf("rpm", container.Unsupported, "the payload is %s, not cpio", container.Escape(format))
	}
	r.method = r.header.first(tagCompressor)
	if r.method == "" {
		r.method = "gzip"
	}
	r.list()
	return r, nil
}

// signatures names the tags of the signature header that sign or digest.
func (r *Reader) signatures(t *table) {
	names := map[uint32]string{
		259: "PGP signature of header and payload", 262: "GPG signature of header and payload", 267: "DSA signature of the header", 268: "RSA signature of the header",
		278: "OpenPGP signature of the header", 269: "SHA-1 of the header", 273: "SHA-256 of the header", 1004: "MD5 of header and payload",
		1002: "PGP signature of header and payload", 1005: "GPG signature of header and payload", 274: "signatures of files",
	}
	for _, e := range t.index {
		if name, ok := names[e.tag]; ok {
			kind := "signature"
			if strings.HasPrefix(name, "SHA") || strings.HasPrefix(name, "MD5") {
				kind = "digest"
			}
			r.claims = append(r.claims, container.Claim{Kind: kind, Name: name, Offset: t.at + introSize + int64(len(t.index))*indexSize + int64(e.offset), Size: container.Unknown})
		}
	}
	if d := r.header.first(tagPayloadDigest); d != "" {
		r.claims = append(r.claims, container.Claim{Kind: "digest", Name: "SHA-256 of the payload: " + container.Escape(d), Offset: r.payload, Size: r.src.Size() - r.payload})
	}
}

// list joins the columns of the header by file.
func (r *Reader) list() {
	h := r.header
	bases, dirs, indexes := h.text(tagBaseNames), h.text(tagDirNames), h.numbers(tagDirIndexes)
	sizes, modes, digests, flags, links := h.numbers(tagLongSizes), h.numbers(tagFileModes), h.text(tagFileDigests), h.numbers(tagFileFlags), h.text(tagFileLinkTos)
	if sizes == nil {
		sizes = h.numbers(tagFileSizes)
	}
	at := func(v []int64, i int) int64 {
		if i < len(v) {
			return v[i]
		}
		return container.Unknown
	}
	r.files = make(map[string]file, len(bases))
	for i, base := range bases {
		k := at(indexes, i)
		if k < 0 || k >= int64(len(dirs)) {
			continue
		}
		f := file{size: at(sizes, i), mode: at(modes, i), ghost: at(flags, i)&flagGhost != 0 && at(flags, i) >= 0}
		if i < len(digests) {
			f.digest = strings.ToLower(digests[i])
		}
		if i < len(links) {
			f.link = links[i]
		}
		r.files[clean(dirs[k]+base)] = f
	}
}

// clean makes the names of header and archive alike, for looking up only.
func clean(name string) string { return path.Clean("/" + name) }

func (r *Reader) algorithm() string {
	n := r.header.numbers(tagFileAlgo)
	if len(n) == 0 {
		return container.MD5
	}
	return map[int64]string{1: container.MD5, 2: container.SHA1, 8: container.SHA256, 9: container.SHA384, 10: container.SHA512, 11: container.SHA224}[n[0]]
}

// Format is "rpm".
func (r *Reader) Format() string { return "rpm" }

// Seekable is false.
func (r *Reader) Seekable() bool { return false }

// Claims are signatures and digests of the package.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are those of the payload, in its order.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		in, err := codec.OpenFile(r.method, container.Sub(r.src, r.payload, r.src.Size()))
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close()
		archive := cpio.OpenStream(in)
		algorithm := r.algorithm()
		seen := map[string]bool{}
		for e, err := range archive.Entries() {
			if err != nil {
				yield(nil, err)
				return
			}
			if e.Type == container.Slice { // bytes behind the archive
				r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the archive in the payload", Offset: container.Unknown, Size: container.Unknown})
				break
			}
			name := clean(e.Path)
			seen[name] = true
			r.join(e, name, algorithm)
			if !yield(e, nil) {
				return
			}
		}
		r.surplus(in)
		r.gaps = append(r.gaps, archive.Gaps()...)
		missing := 0
		for name, f := range r.files {
			if !seen[name] && !f.ghost {
				missing++
			}
		}
		if missing > 0 {
			r.gaps = append(r.gaps, fmt.Sprintf("%d files of the header are not in the payload", missing))
		}
	}
}

// surplus names what follows the payload. Behind the archive the payload has
// padding at most.
func (r *Reader) surplus(payload *codec.File) {
	if n, err := io.CopyN(io.Discard, payload, maxPadding); err != io.EOF {
		r.gaps = append(r.gaps, fmt.Sprintf("the payload is not read to its end: %d bytes and more follow its archive", n))
		return
	}
	at, _ := payload.Rest()
	if at += r.payload; at < r.src.Size() {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the payload", Offset: at, Size: r.src.Size() - at})
	}
}

// join adds what the header says of an entry.
func (r *Reader) join(e *container.Entry, name, algorithm string) {
	e.Packed, e.Offset, e.Method = container.Unknown, container.Unknown, r.method
	f, ok := r.files[name]
	if !ok {
		e.Notes = append(e.Notes, "the header does not list it")
		return
	}
	if f.mode >= 0 && f.mode&0o7777 != e.Mode {
		e.Notes = append(e.Notes, fmt.Sprintf("the header has another mode: %04o", f.mode&0o7777))
	}
	if e.Type == container.Symlink && f.link != e.Link {
		e.Notes = append(e.Notes, "the header has another target: "+container.Escape(f.link))
	}
	if e.Type == container.Hardlink {
		if t := r.files[clean(e.Link)]; f.digest != t.digest && f.digest != "" && t.digest != "" || f.size >= 0 && t.size >= 0 && f.size != t.size {
			e.Notes = append(e.Notes, "the header has another size or digest for it than for its target")
		}
	}
	if e.Type != container.File {
		e.Method = ""
		return
	}
	if f.size >= 0 && f.size != e.Size && e.Size >= 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("the header has another size: %d", f.size))
	}
	if f.digest != "" && algorithm != "" {
		e.Digests = append(e.Digests, container.Digest{Algorithm: algorithm, Value: f.digest})
	}
}
