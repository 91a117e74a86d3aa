// Package cpio reads cpio archives: new ASCII with and without checksums, old
// ASCII, and binary of either byte order. What follows the trailer, as in an
// initramfs that is several archives in a row, is one more entry, a slice.
package cpio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"rea/providers/format/container"
)

const (
	maxName    = 64 << 10
	maxLink    = 64 << 10
	newSize    = 110
	oldSize    = 76
	binarySize = 26
)

// Is reports whether a file begins like an archive.
func Is(head []byte) bool {
	if len(head) < 6 {
		return false
	}
	switch string(head[:6]) {
	case "070701", "070702", "070707":
		return true
	}
	return len(head) >= binarySize && (head[0] == 0xc7 && head[1] == 0x71 || head[0] == 0x71 && head[1] == 0xc7) && plausible(head)
}

// plausible holds a binary header to a name length and a type.
func plausible(h []byte) bool {
	order := binary.ByteOrder(binary.LittleEndian)
	if h[0] == 0x71 {
		order = binary.BigEndian
	}
	n, mode := order.Uint16(h[20:]), order.Uint16(h[6:])
	return n > 1 && n < 1024 && mode&0o170000 != 0
}

// A Reader reads one archive.
type Reader struct {
	src    container.Source // nil for a stream
	in     io.Reader
	at     int64
	claims []container.Claim
	gaps   []string
	links  links
}

// Open reads from a source.
func Open(src container.Source) *Reader {
	return &Reader{src: src, in: io.NewSectionReader(src, 0, src.Size())}
}

// OpenStream reads from a stream.
func OpenStream(r io.Reader) *Reader { return &Reader{in: r} }

// Format is "cpio".
func (r *Reader) Format() string { return "cpio" }

// Seekable when there is a source.
func (r *Reader) Seekable() bool { return r.src != nil }

// Claims are bytes behind the trailer.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

type header struct {
	ino, mode, nlink, size, check int64
	name                          string
	align                         int64 // of name and content
	checked, shares               bool  // shares: one content for all names of an inode
	dev                           int64
}

// Entries are given in the order of the archive, but that names whose content
// stands with a later name of their inode follow that, as links to it.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		fail := func(at int64, err error) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if container.KindOf(err) == "" {
				err = &container.Error{Format: "cpio", Kind: container.Corrupt, What: "the archive is damaged", Offset: at, Err: err}
			}
			for _, e := range r.links.rest(true) {
				if !yield(e, nil) {
					return
				}
			}
			yield(nil, err)
		}
		complete := true
		for {
			begin := r.at
			h, err := r.header()
			if err == io.EOF && begin == r.at {
				r.gaps = append(r.gaps, "the archive has no trailer")
				complete = false
				break
			}
			if err != nil {
				fail(begin, err)
				return
			}
			if h.name == "TRAILER!!!" && h.size == 0 {
				break
			}
			e, content, err := r.entry(h)
			if err != nil {
				fail(begin, err)
				return
			}
			for _, e := range r.links.add(h, e) {
				if !yield(e, nil) {
					return
				}
			}
			if err := r.finish(h, content); err != nil {
				fail(begin, err)
				return
			}
		}
		for _, e := range r.links.rest(!complete) {
			if !yield(e, nil) {
				return
			}
		}
		if !complete {
			return
		}
		if e := r.rest(); e != nil {
			yield(e, nil)
		}
	}
}

func (r *Reader) entry(h *header) (*container.Entry, *io.LimitedReader, error) {
	e := &container.Entry{
		Path: h.name, Type: typeOf(h.mode), Mode: h.mode & 0o7777, Size: h.size, Packed: h.size, Offset: container.Unknown, Method: "stored",
	}
	content := &io.LimitedReader{R: r.in, N: h.size}
	if r.src != nil {
		e.Offset = r.at
	}
	switch {
	case e.Type == container.Symlink:
		if h.size > maxLink {
			return nil, nil, fmt.Errorf("the target of a link has %d bytes", h.size)
		}
		b := make([]byte, h.size)
		if _, err := io.ReadFull(content, b); err != nil {
			return nil, nil, err
		}
		e.Link = string(bytes.TrimRight(b, "\x00"))
		e.Method = ""
	case e.Type == container.File:
		if h.checked {
			e.Digests = []container.Digest{{Algorithm: container.Sum32, Value: fmt.Sprintf("%08x", uint32(h.check))}}
		}
		if h.nlink > 1 {
			e.Notes = append(e.Notes, fmt.Sprintf("one of %d hard links to inode %d", h.nlink, h.ino))
		}
		if r.src != nil {
			part := container.Sub(r.src, r.at, h.size)
			if part.Size() < h.size {
				e.Open = container.OpenPart("cpio", part)
				break
			}
			e.Section, e.Open = part, container.OpenSection(part)
			break
		}
		e.Open = func() (io.ReadCloser, error) { return container.Whole("cpio", content), nil }
	}
	return e, content, nil
}

// finish skips what was not read of the content, and its padding.
func (r *Reader) finish(h *header, content *io.LimitedReader) error {
	total := h.size + pad(r.at+h.size, h.align)
	if r.src != nil {
		if total > r.src.Size()-r.at {
			return io.ErrUnexpectedEOF
		}
		r.at += total
		_, err := r.in.(io.Seeker).Seek(r.at, io.SeekStart)
		return err
	}
	skip := content.N + total - h.size
	n, err := io.CopyN(io.Discard, r.in, skip)
	if err == io.EOF && n < skip {
		return io.ErrUnexpectedEOF
	}
	r.at += total
	return err
}

func pad(at, align int64) int64 { return (align - at%align) % align }

func (r *Reader) take(n int64) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(r.in, b)
	r.at += int64(k)
	return b, err
}

func (r *Reader) header() (*header, error) {
	magic, err := r.take(6)
	if err != nil {
		return nil, err
	}
	h := new(header)
	var nameSize int64
	switch {
	case string(magic) == "070701" || string(magic) == "070702":
		nameSize, err = r.newHeader(h)
		h.checked, h.shares = magic[5] == '2', true
	case string(magic) == "070707":
		nameSize, err = r.oldHeader(h)
	case magic[0] == 0xc7 && magic[1] == 0x71:
		nameSize, err = r.binaryHeader(h, magic, binary.LittleEndian)
	case magic[0] == 0x71 && magic[1] == 0xc7:
		nameSize, err = r.binaryHeader(h, magic, binary.BigEndian)
	default:
		err = fmt.Errorf("no header begins with %q", magic)
	}
	if err != nil {
		return nil, err
	}
	if nameSize < 1 || nameSize > maxName || h.size < 0 {
		return nil, fmt.Errorf("a name of %d bytes, a content of %d", nameSize, h.size)
	}
	name, err := r.take(nameSize)
	if err != nil {
		return nil, err
	}
	h.name = string(bytes.TrimRight(name, "\x00"))
	_, err = r.take(pad(r.at, h.align))
	return h, err
}

// fields are numbers of fixed width in the given base.
func fields(b []byte, base int, widths ...int) ([]int64, error) {
	out := make([]int64, len(widths))
	for i, w := range widths {
		v, err := strconv.ParseUint(string(b[:w]), base, 62)
		if err != nil {
			return nil, errors.New("a header field is no number")
		}
		out[i], b = int64(v), b[w:]
	}
	return out, nil
}

func (r *Reader) newHeader(h *header) (int64, error) {
	b, err := r.take(newSize - 6)
	if err != nil {
		return 0, err
	}
	f, err := fields(b, 16, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8)
	if err != nil {
		return 0, err
	}
	h.ino, h.mode, h.nlink, h.size, h.dev, h.check, h.align = f[0], f[1], f[4], f[6], f[7]<<32|f[8], f[12], 4
	return f[11], nil
}

func (r *Reader) oldHeader(h *header) (int64, error) {
	b, err := r.take(oldSize - 6)
	if err != nil {
		return 0, err
	}
	f, err := fields(b, 8, 6, 6, 6, 6, 6, 6, 6, 11, 6, 11)
	if err != nil {
		return 0, err
	}
	h.dev, h.ino, h.mode, h.nlink, h.size, h.align = f[0], f[1], f[2], f[5], f[9], 1
	return f[8], nil
}

func (r *Reader) binaryHeader(h *header, magic []byte, order binary.ByteOrder) (int64, error) {
	rest, err := r.take(binarySize - 6)
	if err != nil {
		return 0, err
	}
	b := append(bytes.Clone(magic), rest...)
	word := func(i int) int64 { return int64(order.Uint16(b[2*i:])) }
	h.dev, h.ino, h.mode, h.nlink, h.align = word(1), word(2), word(3), word(6), 2
	h.size = word(11)<<16 | word(12)
	return word(10), nil
}

// rest is what follows the trailer, but for padding.
func (r *Reader) rest() *container.Entry {
	b := make([]byte, 32<<10)
	for {
		n, err := r.in.Read(b)
		i := 0
		for i < n && b[i] == 0 {
			i++
		}
		if i < n {
			at := r.at + int64(i)
			r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the trailer", Offset: at, Size: container.Unknown})
			e := &container.Entry{
				Path: fmt.Sprintf("segment@%d", at), Type: container.Slice, Mode: container.Unknown, Size: container.Unknown,
				Packed: container.Unknown, Offset: at, Method: "stored",
			}
			if r.src != nil {
				e.Section = container.Sub(r.src, at, r.src.Size())
				e.Size = e.Section.Size()
				e.Packed = e.Size
				e.Open = container.OpenSection(e.Section)
				r.claims[len(r.claims)-1].Size = e.Size
				return e
			}
			tail := io.MultiReader(bytes.NewReader(b[i:n]), r.in)
			e.Open = func() (io.ReadCloser, error) { return io.NopCloser(tail), nil }
			return e
		}
		r.at += int64(n)
		if err != nil {
			return nil
		}
	}
}

func typeOf(mode int64) container.Type {
	switch mode & 0o170000 {
	case 0o100000:
		return container.File
	case 0o040000:
		return container.Directory
	case 0o120000:
		return container.Symlink
	case 0o020000:
		return container.CharDev
	case 0o060000:
		return container.BlockDev
	case 0o010000:
		return container.FIFO
	case 0o140000:
		return container.Socket
	}
	return container.Other
}
