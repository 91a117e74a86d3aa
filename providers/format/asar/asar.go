// Package asar reads the archives of Electron applications. Entries that are
// marked as unpacked lie in a directory beside the archive and are opened
// through the function that the caller supplies.
package asar

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"rea/providers/format/container"
)

const (
	maxHeader = 256 << 20
	maxDepth  = 256
)

// A Companion opens a file in the directory beside the archive by its path in
// the archive. An absent file is fs.ErrNotExist.
type Companion func(path string) (rc io.ReadCloser, size int64, err error)

// Is reports whether a file begins like an archive: two pickles, of which the
// second holds a JSON object with files.
func Is(head []byte) bool {
	if len(head) < 24 {
		return false
	}
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(head[4*i:]) }
	if u(0) != 4 || u(1) < 8 || u(2) > u(1)-4 || u(3) > u(2)-4 {
		return false
	}
	return bytes.HasPrefix(head[16:], []byte(`{"files"`)) || bytes.HasPrefix(bytes.TrimLeft(head[16:], " \t\r\n{"), []byte(`"files"`))
}

// A Reader reads one archive.
type Reader struct {
	src       container.Source
	companion Companion
	data      int64 // where file offsets count from
	header    []byte
	notes     []string
	claims    []container.Claim
	end       int64 // of the last content
}

// Open reads the header. companion may be nil.
func Open(src container.Source, companion Companion) (*Reader, error) {
	h, err := container.ReadAt(src, "asar", 0, 16)
	if err != nil {
		return nil, err
	}
	size, length := int64(binary.LittleEndian.Uint32(h[4:])), int64(binary.LittleEndian.Uint32(h[12:]))
	if length > size || length > maxHeader {
		return nil, &container.Error{Format: "asar", Kind: container.Corrupt, What: fmt.Sprintf("a header of %d bytes in a pickle of %d", length, size), Offset: 4}
	}
	r := &Reader{src: src, companion: companion, data: 8 + size}
	if r.header, err = container.ReadAt(src, "asar", 16, length); err != nil {
		return nil, err
	}
	r.claims = append(r.claims, container.Claim{Kind: "header", Name: "archive header (JSON)", Offset: 16, Size: length})
	return r, nil
}

// Format is "asar".
func (r *Reader) Format() string { return "asar" }

// Seekable: entries can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are the header and bytes that no entry uses.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes are contradictions of the archive as a whole.
func (r *Reader) Notes() []string { return r.notes }

// Header is the JSON text of the header.
func (r *Reader) Header() []byte { return r.header }

// node is what the header says of one file.
type node struct {
	Size       *int64     `json:"size"`
	Offset     string     `json:"offset"`
	Executable bool       `json:"executable"`
	Unpacked   bool       `json:"unpacked"`
	Link       *string    `json:"link"`
	Integrity  *integrity `json:"integrity"`
}

type integrity struct {
	Algorithm string   `json:"algorithm"`
	Hash      string   `json:"hash"`
	BlockSize int64    `json:"blockSize"`
	Blocks    []string `json:"blocks"`
}

var errStop = errors.New("stop")

// Entries are given in the order of the header.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		w := &walk{reader: r, dec: json.NewDecoder(bytes.NewReader(r.header)), yield: yield}
		err := w.object(func(name string) error {
			if name != "files" {
				return w.skip()
			}
			return w.files("", 0)
		})
		switch {
		case errors.Is(err, errStop):
		case err != nil:
			yield(nil, &container.Error{Format: "asar", Kind: container.Corrupt, What: "the header is damaged", Offset: 16 + w.dec.InputOffset(), Err: err})
		case r.end < r.src.Size()-r.data:
			r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the last file", Offset: r.data + r.end, Size: r.src.Size() - r.data - r.end})
		}
	}
}

// walk reads the tree of the header in its order, which maps would lose.
type walk struct {
	reader *Reader
	dec    *json.Decoder
	yield  func(*container.Entry, error) bool
}

func (w *walk) object(member func(name string) error) error {
	if t, err := w.dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%v stands where an object should", t)
	}
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		if err := member(t.(string)); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *walk) skip() error {
	var v json.RawMessage
	return w.dec.Decode(&v)
}

func (w *walk) files(parent string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("directories are nested deeper than %d", maxDepth)
	}
	return w.object(func(name string) error {
		path := name
		if parent != "" {
			path = parent + "/" + name
		}
		return w.node(path, name, depth)
	})
}

// node reads one member of files. Whether it is a directory is known when its
// own files begin, so members before that are kept as text.
func (w *walk) node(path, name string, depth int) error {
	members := map[string]json.RawMessage{}
	directory := false
	err := w.object(func(member string) error {
		if member != "files" {
			var v json.RawMessage
			if err := w.dec.Decode(&v); err != nil {
				return err
			}
			members[member] = v
			return nil
		}
		directory = true
		e := &container.Entry{Path: path, Type: container.Directory, Mode: container.Unknown, Packed: container.Unknown, Offset: container.Unknown}
		e.Unpacked = string(members["unpacked"]) == "true"
		e.Notes = nameNotes(name)
		if !w.yield(e, nil) {
			return errStop
		}
		return w.files(path, depth+1)
	})
	if err != nil || directory {
		return err
	}
	e := w.reader.entry(path, members)
	e.Notes = append(nameNotes(name), e.Notes...)
	if !w.yield(e, nil) {
		return errStop
	}
	return nil
}

func nameNotes(name string) []string {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return []string{"the name is not one component of a path"}
	}
	return nil
}

func (r *Reader) entry(path string, members map[string]json.RawMessage) *container.Entry {
	e := &container.Entry{Path: path, Type: container.File, Mode: 0o644, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown, Method: "stored"}
	var n node
	var failed error
	for _, field := range []struct {
		name string
		to   any
	}{
		{"size", &n.Size}, {"offset", &n.Offset}, {"executable", &n.Executable}, {"unpacked", &n.Unpacked}, {"link", &n.Link}, {"integrity", &n.Integrity},
	} {
		if raw, ok := members[field.name]; ok {
			if err := json.Unmarshal(raw, field.to); err != nil {
				e.Notes = append(e.Notes, "the header's "+field.name+" is not what it should be")
				failed = container.Errorf("asar", container.Corrupt, "the header's %s is not what it should be", field.name)
			}
		}
	}
	if n.Link != nil {
		e.Type, e.Link, e.Method, e.Mode = container.Symlink, *n.Link, "", container.Unknown
		return e
	}
	if n.Executable {
		e.Mode = 0o755
	}
	if i := n.Integrity; i != nil {
		e.Digests = digests(i, e)
	}
	e.Unpacked = n.Unpacked
	if n.Size == nil || *n.Size < 0 {
		failed = container.Errorf("asar", container.Corrupt, "the header gives no size")
	} else {
		e.Size = *n.Size
	}
	if n.Unpacked {
		e.Method = "unpacked"
		e.Open = func() (io.ReadCloser, error) { return r.openUnpacked(path) }
		return e
	}
	at, err := strconv.ParseInt(n.Offset, 10, 64)
	switch {
	case failed != nil:
	case err != nil || at < 0:
		failed = container.Errorf("asar", container.Corrupt, "the offset is not a number")
		e.Notes = append(e.Notes, "the header gives no offset")
	case at > r.src.Size()-r.data || e.Size > r.src.Size()-r.data-at:
		failed = &container.Error{Format: "asar", Kind: container.Corrupt, What: "the content lies outside of the archive", Offset: r.data + at}
		e.Notes = append(e.Notes, "its content lies outside of the archive")
	default:
		e.Offset, e.Packed = r.data+at, e.Size
		e.Section = container.Sub(r.src, e.Offset, e.Size)
		e.Open = container.OpenSection(e.Section)
		r.end = max(r.end, at+e.Size)
		return e
	}
	e.Open = func() (io.ReadCloser, error) { return nil, failed }
	return e
}

func digests(i *integrity, e *container.Entry) []container.Digest {
	if !strings.EqualFold(i.Algorithm, "SHA256") {
		e.Notes = append(e.Notes, "the integrity algorithm "+container.Escape(i.Algorithm)+" is not known")
		return nil
	}
	d := container.Digest{Algorithm: container.SHA256, Value: strings.ToLower(i.Hash)}
	if _, err := hex.DecodeString(i.Hash); err != nil || len(i.Hash) != 64 {
		e.Notes = append(e.Notes, "the declared hash is no SHA-256")
	}
	if i.BlockSize > 0 && len(i.Blocks) > 1 {
		d.BlockSize, d.Blocks = i.BlockSize, i.Blocks
	} else if len(i.Blocks) == 1 && !strings.EqualFold(i.Blocks[0], i.Hash) && e.Size <= i.BlockSize {
		e.Notes = append(e.Notes, "the hash of the only block is not the hash of the file")
	}
	return []container.Digest{d}
}

func (r *Reader) openUnpacked(path string) (io.ReadCloser, error) {
	if r.companion == nil {
		return nil, container.Errorf("asar", container.Absent, "the entry is unpacked and the directory beside the archive is not at hand")
	}
	rc, _, err := r.companion(path)
	if err != nil {
		return nil, &container.Error{Format: "asar", Kind: container.Absent, What: "the unpacked companion cannot be opened", Offset: container.Unknown, Err: err}
	}
	return rc, nil
}
