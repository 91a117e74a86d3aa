// Package xar reads the archives of macOS installer packages: a compressed XML
// table of contents and a heap.
package xar

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash"
	"io"
	"iter"
	"strconv"
	"strings"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

const (
	headerSize = 28
	maxTable   = 256 << 20
	maxDepth   = 128
)

// Is reports whether a file begins like an archive.
func Is(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "xar!" }

// A Reader reads one archive.
type Reader struct {
	src    container.Source
	heap   int64
	toc    toc
	paths  map[string]string // of the files that hard links lead to, by id
	claims []container.Claim
	notes  []string
}

type toc struct {
	TOC struct {
		Files      []entry  `xml:"file"`
		Checksum   located  `xml:"checksum"`
		Signature  *located `xml:"signature"`
		XSignature *located `xml:"x-signature"`
	} `xml:"toc"`
}

type located struct {
	Style  string `xml:"style,attr"`
	Offset int64  `xml:"offset"`
	Size   int64  `xml:"size"`
}

type entry struct {
	ID    string  `xml:"id,attr"`
	Name  name    `xml:"name"`
	Type  kind    `xml:"type"`
	Mode  string  `xml:"mode"`
	Link  string  `xml:"link"`
	Data  *data   `xml:"data"`
	EA    []data  `xml:"ea"`
	Files []entry `xml:"file"`
}

type name struct {
	Encoding string `xml:"enctype,attr"`
	Text     string `xml:",chardata"`
}

type kind struct {
	Link string `xml:"link,attr"`
	Text string `xml:",chardata"`
}

type data struct {
	Offset    int64    `xml:"offset"`
	Length    int64    `xml:"length"`
	Size      int64    `xml:"size"`
	Encoding  encoding `xml:"encoding"`
	Extracted checksum `xml:"extracted-checksum"`
	Archived  checksum `xml:"archived-checksum"`
}

type encoding struct {
	Style string `xml:"style,attr"`
}

type checksum struct {
	Style string `xml:"style,attr"`
	Value string `xml:",chardata"`
}

// Open reads the table of contents.
func Open(src container.Source) (*Reader, error) {
	h, err := container.ReadAt(src, "xar", 0, headerSize)
	if err != nil {
		return nil, err
	}
	size, packed, length := int64(binary.BigEndian.Uint16(h[4:])), binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint64(h[16:])
	if !Is(h) || size < headerSize || packed > maxTable || length > maxTable {
		return nil, &container.Error{Format: "xar", Kind: container.Corrupt, What: fmt.Sprintf("a table of contents of %d bytes", length), Offset: 0}
	}
	b, err := container.ReadAt(src, "xar", size, int64(packed))
	if err != nil {
		return nil, err
	}
	text, err := codec.All(codec.Zlib, b, int64(length))
	if err != nil {
		return nil, err
	}
	if err := depth(text); err != nil {
		return nil, err
	}
	r := &Reader{src: src, heap: size + int64(packed)}
	if err := xml.Unmarshal(text, &r.toc); err != nil {
		return nil, &container.Error{Format: "xar", Kind: container.Corrupt, What: "the table of contents is damaged", Offset: size, Err: err}
	}
	r.claim(b)
	r.surplus()
	return r, nil
}

// depth refuses nesting that would be recursion in the decoder.
func depth(text []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for n := 0; ; {
		t, err := d.RawToken()
		if err != nil {
			return nil // the decoder says what is wrong
		}
		switch t.(type) {
		case xml.StartElement:
			if n++; n > maxDepth {
				return container.Errorf("xar", container.Bounded, "the table of contents is nested deeper than %d", maxDepth)
			}
		case xml.EndElement:
			n--
		}
	}
}

func (r *Reader) claim(packed []byte) {
	t := &r.toc.TOC
	if h := hasher(t.Checksum.Style); h != nil && t.Checksum.Size == int64(h.Size()) {
		h.Write(packed)
		if want, err := container.ReadAt(r.src, "xar", r.heap+t.Checksum.Offset, t.Checksum.Size); err != nil || string(want) != string(h.Sum(nil)) {
			r.notes = append(r.notes, "the table of contents contradicts its checksum")
		}
	}
	for _, s := range []struct {
		name string
		at   *located
	}{{"signature", t.Signature}, {"CMS signature", t.XSignature}} {
		if s.at != nil {
			r.claims = append(r.claims, container.Claim{Kind: "signature", Name: s.name + " (" + container.Escape(s.at.Style) + ")", Offset: r.heap + s.at.Offset, Size: s.at.Size})
		}
	}
}

func hasher(style string) hash.Hash {
	switch algorithm(style) {
	case container.MD5:
		return md5.New()
	case container.SHA1:
		return sha1.New()
	case container.SHA256:
		return sha256.New()
	case container.SHA512:
		return sha512.New()
	}
	return nil
}

func algorithm(style string) string {
	switch strings.ToLower(style) {
	case "md5":
		return container.MD5
	case "sha1":
		return container.SHA1
	case "sha256":
		return container.SHA256
	case "sha512":
		return container.SHA512
	}
	return ""
}

// Format is "xar".
func (r *Reader) Format() string { return "xar" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are the signatures, and bytes behind the heap.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes are contradictions of the archive as a whole.
func (r *Reader) Notes() []string { return r.notes }

// Entries are given in the order of the table of contents.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		r.paths = map[string]string{}
		r.originals(r.toc.TOC.Files, "")
		r.walk(r.toc.TOC.Files, "", yield)
	}
}

// originals notes the paths of files that have other names too.
func (r *Reader) originals(files []entry, prefix string) {
	for i := range files {
		f := &files[i]
		name := prefix + f.Name.text()
		if f.Type.Link == "original" {
			r.paths[f.ID] = name
		}
		r.originals(f.Files, name+"/")
	}
}

// surplus names what follows everything that the table of contents refers to.
func (r *Reader) surplus() {
	var end int64
	reach := func(offset, size int64) {
		if offset >= 0 && size >= 0 && offset <= r.src.Size()-r.heap {
			end = max(end, offset+min(size, r.src.Size()-r.heap-offset))
		}
	}
	t := &r.toc.TOC
	for _, x := range []*located{&t.Checksum, t.Signature, t.XSignature} {
		if x != nil {
			reach(x.Offset, x.Size)
		}
	}
	var files func([]entry)
	files = func(list []entry) {
		for i := range list {
			f := &list[i]
			if f.Data != nil {
				reach(f.Data.Offset, f.Data.Length)
			}
			for _, d := range f.EA {
				reach(d.Offset, d.Length)
			}
			files(f.Files)
		}
	}
	files(t.Files)
	if at := r.heap + end; at < r.src.Size() {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the heap", Offset: at, Size: r.src.Size() - at})
	}
}

func (r *Reader) walk(files []entry, prefix string, yield func(*container.Entry, error) bool) bool {
	for i := range files {
		f := &files[i]
		name := prefix + f.Name.text()
		if !yield(r.entry(f, name), nil) {
			return false
		}
		for k := range f.EA {
			e := r.content(&container.Entry{Path: fmt.Sprintf("%s/..namedfork/attribute-%d", name, k), Type: container.Other, Mode: container.Unknown, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown}, &f.EA[k])
			e.Open, e.Section = nil, nil
			if !yield(e, nil) {
				return false
			}
		}
		if !r.walk(f.Files, name+"/", yield) {
			return false
		}
	}
	return true
}

func (n name) text() string {
	if n.Encoding != "base64" {
		return n.Text
	}
	return decode64(n.Text)
}

func (r *Reader) entry(f *entry, name string) *container.Entry {
	e := &container.Entry{Path: name, Type: typeOf(f), Mode: container.Unknown, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown, Link: f.Link}
	if e.Type == container.Hardlink {
		e.Link = r.paths[f.Type.Link]
	}
	if mode, err := strconv.ParseInt(strings.TrimSpace(f.Mode), 8, 32); err == nil && mode >= 0 {
		e.Mode = mode & 0o7777
	}
	if e.Type == container.File {
		if f.Data != nil {
			return r.content(e, f.Data)
		}
		e.Size, e.Packed = 0, 0
		e.Section = container.Sub(r.src, 0, 0)
		e.Open = container.OpenSection(e.Section)
	}
	return e
}

// content says where the bytes of an entry are.
func (r *Reader) content(e *container.Entry, d *data) *container.Entry {
	e.Size, e.Packed = d.Size, d.Length
	style := strings.TrimPrefix(d.Encoding.Style, "application/")
	switch style {
	case "octet-stream", "":
		e.Method = "stored"
	case "x-gzip":
		e.Method = "zlib"
	case "x-bzip2":
		e.Method = "bzip2"
	case "x-xz":
		e.Method = "xz"
	case "x-lzma":
		e.Method = "lzma"
	default:
		e.Method = container.Escape(style)
	}
	if a := algorithm(d.Extracted.Style); a != "" {
		value := strings.ToLower(strings.TrimSpace(d.Extracted.Value))
		if _, err := hex.DecodeString(value); err == nil {
			e.Digests = append(e.Digests, container.Digest{Algorithm: a, Value: value})
		}
	}
	if d.Offset < 0 || d.Length < 0 || d.Size < 0 || d.Offset > r.src.Size()-r.heap || d.Length > r.src.Size()-r.heap-d.Offset {
		e.Notes = append(e.Notes, "its content lies outside of the archive")
		e.Size, e.Packed = max(e.Size, container.Unknown), max(e.Packed, container.Unknown)
		e.Open = func() (io.ReadCloser, error) {
			return nil, container.Errorf("xar", container.Corrupt, "the content lies outside of the archive")
		}
		return e
	}
	e.Offset = r.heap + d.Offset
	raw := container.Sub(r.src, e.Offset, d.Length)
	if e.Method == "stored" {
		e.Section = raw
		e.Open = container.OpenSection(raw)
		return e
	}
	open := codec.ByName(e.Method)
	e.Open = func() (io.ReadCloser, error) {
		if open == nil {
			return nil, container.Errorf("xar", container.Unsupported, "encoding %s is not read", e.Method)
		}
		return open(io.NewSectionReader(raw, 0, raw.Size()))
	}
	return e
}

func typeOf(f *entry) container.Type {
	switch strings.TrimSpace(f.Type.Text) {
	case "file", "":
		return container.File
	case "directory":
		return container.Directory
	case "symlink":
		return container.Symlink
	case "hardlink":
		if f.Type.Link == "original" {
			return container.File
		}
		return container.Hardlink
	case "fifo":
		return container.FIFO
	case "character special":
		return container.CharDev
	case "block special":
		return container.BlockDev
	case "socket":
		return container.Socket
	}
	return container.Other
}

func decode64(s string) string {
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	if err != nil {
		return s
	}
	return string(b)
}
