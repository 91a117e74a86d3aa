// Package rar reads RAR archives, old and new, with github.com/nwaples/rardecode
// behind a fence: memory is bounded and its panics are errors.
package rar

import (
	"errors"
	"io"
	"iter"

	lib "github.com/nwaples/rardecode/v2"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

// Is reports whether a file begins like an archive.
func Is(head []byte) bool { return len(head) >= 6 && string(head[:6]) == "Rar!\x1a\x07" }

// A Reader reads one archive in turn.
type Reader struct {
	in    io.Reader
	notes []string
}

// Open reads from a source.
func Open(src container.Source) *Reader { return OpenStream(io.NewSectionReader(src, 0, src.Size())) }

// OpenStream reads from a stream.
func OpenStream(r io.Reader) *Reader { return &Reader{in: r} }

// Format is "rar".
func (r *Reader) Format() string { return "rar" }

// Seekable is false.
func (r *Reader) Seekable() bool { return false }

// Claims there are none.
func (r *Reader) Claims() []container.Claim { return nil }

// Notes say what was not read.
func (r *Reader) Notes() []string { return r.notes }

func wrap(err error) error {
	kind := container.Corrupt
	switch {
	case errors.Is(err, lib.ErrArchiveEncrypted), errors.Is(err, lib.ErrArchivedFileEncrypted), errors.Is(err, lib.ErrBadPassword):
		kind = container.Encrypted
	case errors.Is(err, lib.ErrMultiVolume):
		kind = container.Absent
	case errors.Is(err, lib.ErrDictionaryTooLarge):
		kind = container.Bounded
	case errors.Is(err, lib.ErrUnknownDecoder), errors.Is(err, lib.ErrUnsupportedDecoder), errors.Is(err, lib.ErrUnknownVersion):
		kind = container.Unsupported
	}
	return &container.Error{Format: "rar", Kind: kind, What: "the archive cannot be read", Offset: container.Unknown, Err: err}
}

// Entries are given in the order of the archive.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		z, err := begin(r.in)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			h, err := next(z)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.entry(z, h), nil) {
				return
			}
		}
	}
}

func begin(in io.Reader) (z *lib.Reader, err error) {
	defer fence(&err)
	z, err = lib.NewReader(in, lib.MaxDictionarySize(codec.MaxWindow))
	if err != nil {
		err = wrap(err)
	}
	return z, err
}

func next(z *lib.Reader) (h *lib.FileHeader, err error) {
	defer fence(&err)
	h, err = z.Next()
	if err != nil && err != io.EOF {
		err = wrap(err)
	}
	return h, err
}

func fence(err *error) {
	if v := recover(); v != nil {
		*err = container.Errorf("rar", container.Corrupt, "the reader gave up: %v", v)
	}
}

func (r *Reader) entry(z *lib.Reader, h *lib.FileHeader) *container.Entry {
	e := &container.Entry{
		Path: h.Name, Type: container.File, Mode: container.Unknown, Size: h.UnPackedSize, Packed: h.PackedSize, Offset: container.Unknown,
		Encrypted: h.Encrypted || h.HeaderEncrypted, Link: h.LinkTarget, Method: "rar",
	}
	if h.UnKnownSize {
		e.Size = container.Unknown
	}
	if h.HostOS == lib.HostOSUnix {
		e.Mode = h.Attributes & 0o7777
	}
	switch {
	case h.IsDir:
		e.Type = container.Directory
	case h.LinkType == lib.LinkTypeHardLink, h.LinkType == lib.LinkTypeFileCopy:
		e.Type = container.Hardlink
	case h.LinkType != 0:
		e.Type = container.Symlink
	case h.HostOS == lib.HostOSUnix && h.Attributes&0o170000 == 0o120000:
		e.Type = container.Symlink
		if b, err := io.ReadAll(io.LimitReader(codec.Fence("rar", io.NopCloser(z)), 4096)); err == nil && e.Link == "" {
			e.Link = string(b)
		}
	}
	if e.Type != container.File {
		e.Method = ""
		return e
	}
	content := &checked{in: codec.Fence("rar", io.NopCloser(z))}
	e.Open = func() (io.ReadCloser, error) {
		if e.Encrypted {
			return nil, container.Errorf("rar", container.Encrypted, "the content is encrypted")
		}
		return content, nil
	}
	e.Trailer = content.trailer
	return e
}

// checked is content whose checksum the library verifies. It keeps the verdict
// apart from the bytes.
type checked struct {
	in  io.ReadCloser
	bad bool
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if errors.Is(err, lib.ErrBadFileChecksum) {
		c.bad, err = true, io.EOF
	}
	return n, err
}

func (c *checked) Close() error { return nil }

// trailer is a digest that nothing matches when the checksum was wrong: the
// library does not tell which one was declared.
func (c *checked) trailer() []container.Digest {
	if c.bad {
		return []container.Digest{{Algorithm: container.CRC32}}
	}
	return nil
}
