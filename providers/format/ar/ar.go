// Package ar reads Unix archives, with the long names of GNU and BSD. Members
// of thin archives are named; their bytes lie elsewhere.
package ar

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"rea/providers/format/container"
)

const (
	magic      = "!<arch>\n"
	thinMagic  = "!<thin>\n"
	headerSize = 60
	maxName    = 64 << 10
	maxTable   = 64 << 20
)

// Is reports whether a file begins like an archive.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte(thinMagic))
}

// A Reader reads one archive.
type Reader struct {
	src    container.Source // nil for a stream
	in     io.Reader
	at     int64
	names  []byte // long names
	claims []container.Claim
}

// Open reads from a source.
func Open(src container.Source) *Reader {
	return &Reader{src: src, in: io.NewSectionReader(src, 0, src.Size())}
}

// OpenStream reads from a stream.
func OpenStream(r io.Reader) *Reader { return &Reader{in: r} }

// Format is "ar".
func (r *Reader) Format() string { return "ar" }

// Seekable when there is a source.
func (r *Reader) Seekable() bool { return r.src != nil }

// Claims are bytes that are no member.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

func (r *Reader) take(n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r.in, n))
	r.at += int64(len(b))
	switch {
	case err == nil && n > 0 && len(b) == 0:
		err = io.EOF
	case err == nil && int64(len(b)) < n:
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// Entries are given in the order of the archive; tables of symbols and names
// are no entries.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		fail := func(what string, err error) {
			yield(nil, &container.Error{Format: "ar", Kind: container.Corrupt, What: what, Offset: r.at, Err: err})
		}
		m, err := r.take(int64(len(magic)))
		if err != nil || string(m) != magic && string(m) != thinMagic {
			fail("not an archive", err)
			return
		}
		thin := string(m) == thinMagic
		for {
			h, err := r.take(headerSize)
			if err == io.EOF {
				return
			}
			if err != nil || h[58] != '`' || h[59] != '\n' {
				c := container.Claim{Kind: "suffix", Name: "bytes that are no member", Offset: r.at - int64(len(h)), Size: container.Unknown}
				if r.src != nil {
					c.Size = r.src.Size() - c.Offset
				}
				r.claims = append(r.claims, c)
				fail("what follows the last member is no member", err)
				return
			}
			size, err := strconv.ParseInt(strings.TrimSpace(string(h[48:58])), 10, 62)
			if err != nil || size < 0 {
				fail("a member has no size", err)
				return
			}
			name := strings.TrimRight(string(h[:16]), " ")
			body := size
			if name == "//" {
				if size > maxTable {
					fail("the table of names is too large", nil)
					return
				}
				if r.names, err = r.take(size + size&1); err != nil && len(r.names) < int(size) {
					fail("the table of names is cut", err)
					return
				}
				continue
			}
			absent := thin && name != "/" && name != "/SYM64/"
			if name, body, err = r.name(name, size); err != nil {
				fail("a member has a damaged name", err)
				return
			}
			e, content := r.entry(name, h, body, absent)
			if e != nil && !yield(e, nil) {
				return
			}
			if absent {
				continue
			}
			if err := r.skip(content, body, size); err != nil {
				fail("a member is cut", err)
				return
			}
		}
	}
}

// name resolves long names; a BSD name takes bytes of the member.
func (r *Reader) name(short string, size int64) (string, int64, error) {
	if n, ok := strings.CutPrefix(short, "#1/"); ok {
		length, err := strconv.ParseInt(n, 10, 62)
		if err != nil || length < 0 || length > size || length > maxName {
			return "", 0, fmt.Errorf("a name of %s bytes", n)
		}
		b, err := r.take(length)
		return string(bytes.TrimRight(b, "\x00")), size - length, err
	}
	if len(short) > 1 && short[0] == '/' && short[1] >= '0' && short[1] <= '9' {
		at, err := strconv.Atoi(short[1:])
		if err != nil || at >= len(r.names) {
			return "", 0, fmt.Errorf("the name at %s is not in the table", short[1:])
		}
		end := bytes.IndexByte(r.names[at:], '\n')
		if end < 0 {
			end = len(r.names) - at
		}
		return strings.TrimSuffix(string(r.names[at:at+end]), "/"), size, nil
	}
	return short, size, nil
}

func (r *Reader) entry(name string, h []byte, size int64, absent bool) (*container.Entry, *io.LimitedReader) {
	content := &io.LimitedReader{R: r.in, N: size}
	if name == "/" || name == "/SYM64/" || strings.HasPrefix(name, "__.SYMDEF") {
		return nil, content
	}
	if name != "/" {
		name = strings.TrimSuffix(name, "/")
	}
	e := &container.Entry{
		Path: name, Type: container.File, Mode: container.Unknown, Size: size, Packed: size, Offset: container.Unknown, Method: "stored",
	}
	if mode, err := strconv.ParseInt(strings.TrimSpace(string(h[40:48])), 8, 62); err == nil && mode >= 0 {
		e.Mode = mode & 0o7777
	}
	switch {
	case absent:
		e.Packed, e.Method = 0, "thin"
		e.Open = func() (io.ReadCloser, error) {
			return nil, container.Errorf("ar", container.Absent, "the archive is thin: the member lies outside of it")
		}
	case r.src != nil:
		e.Offset = r.at
		part := container.Sub(r.src, r.at, size)
		if part.Size() < size {
			e.Open = container.OpenPart("ar", part)
			break
		}
		e.Section, e.Open = part, container.OpenSection(part)
	default:
		e.Open = func() (io.ReadCloser, error) { return container.Whole("ar", content), nil }
	}
	return e, content
}

// skip goes to the next header; members begin at even offsets.
func (r *Reader) skip(content *io.LimitedReader, body, size int64) error {
	if r.src != nil {
		if body > r.src.Size()-r.at {
			return io.ErrUnexpectedEOF
		}
		r.at += body
		r.at = min(r.at+r.at&1, r.src.Size())
		_, err := r.in.(io.Seeker).Seek(r.at, io.SeekStart)
		return err
	}
	n, err := io.CopyN(io.Discard, r.in, content.N)
	if err != nil {
		return fmt.Errorf("%d bytes short: %w", content.N-n, io.ErrUnexpectedEOF)
	}
	r.at += body
	if r.at&1 != 0 {
		if _, err := r.take(1); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}
