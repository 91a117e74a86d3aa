// Package tar reads tape archives of every dialect that archive/tar knows. From
// a source, contents are sections of it; from a stream they are read in turn.
package tar

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"rea/providers/format/container"
)

const block = 512

// Is reports whether the beginning of a file is a header with a right checksum.
func Is(head []byte) bool {
	if len(head) < block || head[0] == 0 {
		return false
	}
	text := strings.Trim(string(head[148:156]), " \x00")
	want, err := strconv.ParseInt(text, 8, 64)
	if err != nil {
		return false
	}
	var sum, signed int64
	for i, c := range head[:block] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
		signed += int64(int8(c))
	}
	return want == sum || want == signed
}

// A Reader reads one archive.
type Reader struct {
	src    container.Source // nil for a stream
	in     io.Reader
	claims []container.Claim
	notes  []string
}

// Open reads from a source.
func Open(src container.Source) *Reader {
	return &Reader{src: src, in: io.NewSectionReader(src, 0, src.Size())}
}

// OpenStream reads from a stream.
func OpenStream(r io.Reader) *Reader { return &Reader{in: r} }

// Format is "tar".
func (r *Reader) Format() string { return "tar" }

// Seekable when there is a source.
func (r *Reader) Seekable() bool { return r.src != nil }

// Claims are bytes behind the end.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes are what was not read.
func (r *Reader) Notes() []string { return r.notes }

// Entries are given in the order of the archive. Global headers are not
// entries; archive/tar has no part of them applied to what follows.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		tr := tar.NewReader(r.in)
		for {
			begin := r.position(tr)
			h, err := tr.Next()
			if err == io.EOF {
				r.rest()
				return
			}
			if err != nil {
				yield(nil, &container.Error{Format: "tar", Kind: container.Corrupt, What: "the archive is damaged", Offset: begin, Err: err})
				return
			}
			if h.Typeflag == tar.TypeXGlobalHeader {
				r.notes = append(r.notes, "there is a global PAX header; its values are not applied to entries")
				continue
			}
			if !yield(r.entry(tr, h, begin), nil) {
				return
			}
		}
	}
}

// position in the source, where the next header or its padding begins.
func (r *Reader) position(*tar.Reader) int64 {
	if s, ok := r.in.(*io.SectionReader); ok {
		at, _ := s.Seek(0, io.SeekCurrent)
		return at
	}
	return container.Unknown
}

func (r *Reader) entry(tr *tar.Reader, h *tar.Header, begin int64) *container.Entry {
	e := &container.Entry{
		Path: h.Name, Type: typeOf(h.Typeflag), Mode: h.Mode & 0o7777, Size: h.Size, Packed: container.Unknown, Offset: container.Unknown,
		Method: "stored", Link: h.Linkname,
	}
	if h.Mode < 0 {
		e.Mode = container.Unknown
	}
	if !e.Type.HasContent() {
		e.Size, e.Method = 0, ""
		return e
	}
	sparse := isSparse(h)
	if sparse {
		e.Method = "sparse"
	}
	if r.src == nil {
		e.Open = func() (io.ReadCloser, error) { return io.NopCloser(fenced{tr}), nil }
		if !sparse {
			e.Packed = e.Size
		}
		return e
	}
	e.Offset = r.position(tr)
	if sparse {
		e.Open = func() (io.ReadCloser, error) { return reopen(r.src, begin, h.Name) }
		return e
	}
	e.Packed = e.Size
	content := container.Sub(r.src, e.Offset, e.Size)
	if content.Size() < e.Size {
		e.Open = container.OpenPart("tar", content)
		return e
	}
	e.Section, e.Open = content, container.OpenSection(content)
	return e
}

// reopen reads a sparse entry again from the headers that begin at or, for
// padding, behind begin.
func reopen(src container.Source, begin int64, name string) (io.ReadCloser, error) {
	begin = (begin + block - 1) / block * block
	tr := tar.NewReader(container.Sub(src, begin, src.Size()))
	// A file that ended in a hole left its data to be skipped before this header.
	h, err := tr.Next()
	if err == nil && h.Name != name {
		err = fmt.Errorf("the header is of %q", h.Name)
	}
	if err != nil {
		return nil, &container.Error{Format: "tar", Kind: container.Corrupt, What: "the sparse file cannot be read again", Offset: begin, Err: err}
	}
	return io.NopCloser(fenced{tr}), nil
}

// fenced marks errors of the archive.
type fenced struct{ r io.Reader }

func (f fenced) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		err = &container.Error{Format: "tar", Kind: container.Corrupt, What: "the content is damaged", Offset: container.Unknown, Err: err}
	}
	return n, err
}

func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for _, key := range []string{"GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.size"} {
		if _, ok := h.PAXRecords[key]; ok {
			return true
		}
	}
	return false
}

func typeOf(flag byte) container.Type {
	switch flag {
	case tar.TypeReg, 0, tar.TypeCont, tar.TypeGNUSparse:
		return container.File
	case tar.TypeDir:
		return container.Directory
	case tar.TypeSymlink:
		return container.Symlink
	case tar.TypeLink:
		return container.Hardlink
	case tar.TypeChar:
		return container.CharDev
	case tar.TypeBlock:
		return container.BlockDev
	case tar.TypeFifo:
		return container.FIFO
	}
	return container.Other
}

// rest looks for something but padding behind the end of the archive.
func (r *Reader) rest() {
	b := make([]byte, 32<<10)
	for {
		at := r.position(nil)
		n, err := r.in.Read(b)
		if i := bytes.IndexFunc(b[:n], func(c rune) bool { return c != 0 }); i >= 0 {
			c := container.Claim{Kind: "suffix", Name: "bytes behind the end of the archive", Offset: container.Unknown, Size: container.Unknown}
			if r.src != nil {
				c.Offset, c.Size = at+int64(i), r.src.Size()-at-int64(i)
			}
			r.claims = append(r.claims, c)
			return
		}
		if err != nil {
			return
		}
	}
}
