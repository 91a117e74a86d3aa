// Package container is what readers of archives, packages and images have in
// common: a container yields entries in a stable order, and an entry opens its
// bytes as a stream.
//
// # Nouns
//
// A [Source] is the container's own bytes. A [Reader] was made from a source or,
// for formats that need no seeking, from a stream. An [Entry] is what the
// container says of one thing in it; nothing in it was checked, unless it says
// so. Names are the raw bytes of the container: making them safe is the business
// of whoever writes files.
//
// # Promises
//
// A reader allocates in proportion to what it has read, never to what a field
// claims. Damage of the container itself ends the entries with an error that is
// an [*Error]; damage of one entry is an error of opening or reading it. No
// reader checks the declared digests of contents: it reports them.
package container

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// Type says what an entry is.
type Type string

const (
	File      Type = "file"
	Directory Type = "directory"
	Symlink   Type = "symlink"
	Hardlink  Type = "hardlink"
	CharDev   Type = "character_device"
	BlockDev  Type = "block_device"
	FIFO      Type = "fifo"
	Socket    Type = "socket"
	// Slice is a range of the container that is a file in its own right: one
	// architecture, one partition, one segment.
	Slice Type = "slice"
	// Stream is the content of a container that only compresses.
	Stream Type = "stream"
	Other  Type = "other"
)

// HasContent reports whether entries of the type have bytes to read.
func (t Type) HasContent() bool { return t == File || t == Slice || t == Stream }

// Unknown stands for a number that the container does not tell.
const Unknown = -1

// A Digest is what a container declares of the bytes of an entry.
type Digest struct {
	Algorithm string // as in Algorithms
	Value     string // lowercase hexadecimal
	// BlockSize and Blocks are digests of consecutive blocks, where declared.
	BlockSize int64
	Blocks    []string
}

// The algorithms of declared digests.
const (
	CRC32  = "crc32"
	MD5    = "md5"
	SHA1   = "sha1"
	SHA224 = "sha224"
	SHA256 = "sha256"
	SHA384 = "sha384"
	SHA512 = "sha512"
	// Sum32 is the sum of all bytes, modulo 2³².
	Sum32 = "sum32"
)

// An Entry is one thing in a container.
type Entry struct {
	Path      string // raw bytes; empty for a Stream
	Type      Type
	Mode      int64 // permission and set-id bits of Unix, or Unknown
	Size      int64 // of the content, as declared, or Unknown
	Packed    int64 // bytes it takes in the container, or Unknown
	Offset    int64 // where those begin in the source, or Unknown
	Method    string
	Link      string // target of a link
	Encrypted bool
	Unpacked  bool // the bytes lie beside the container, not in it
	Digests   []Digest
	Notes     []string // where the container contradicts itself about this entry

	// Section is the content where it lies in the source as it is.
	Section *io.SectionReader
	// Open gives the content; nil for entries that have none. Unless the reader
	// is seekable it must be called before the next entry is asked for.
	Open func() (io.ReadCloser, error)
	// Trailer gives the digests that stand behind the content, once it was read.
	Trailer func() []Digest
}

// A Claim is something that a container holds and that speaks about it: a
// signature, a table beside the entries, a surplus of bytes. It is named, and
// nothing is concluded from it.
type Claim struct {
	Kind   string // "signature", "prefix", "gap", "comment" …
	Name   string
	Offset int64 // or Unknown
	Size   int64 // or Unknown
}

// A Reader gives the entries of one container.
type Reader interface {
	// Format is the name of the format, such as "zip".
	Format() string
	// Seekable reports whether contents can be opened at any time, several at
	// once, until the source is closed.
	Seekable() bool
	// Entries are given once, in the order of the container.
	Entries() iter.Seq2[*Entry, error]
	// Claims are complete after the entries were given.
	Claims() []Claim
	// Notes say what the reader did not read or found contradictory; they are
	// complete after the entries were given.
	Notes() []string
}

// A Gapped reader knows of entries that it could not list. What it says is
// complete after the entries were given.
type Gapped interface {
	Gaps() []string
}

// Kind of an Error.
type Kind string

const (
	// Corrupt bytes contradict the format.
	Corrupt Kind = "corrupt"
	// Unsupported bytes may be in order, but are not read.
	Unsupported Kind = "unsupported"
	// Encrypted content cannot be read without a key.
	Encrypted Kind = "encrypted"
	// Absent content lies elsewhere and is not there.
	Absent Kind = "absent"
	// Bounded content needs more than the reader may use.
	Bounded Kind = "bounded"
)

// An Error says why a container or an entry cannot be read.
type Error struct {
	Format string
	Kind   Kind
	What   string
	Offset int64 // or Unknown
	Err    error
}

func (e *Error) Error() string {
	s := e.Format + ": " + e.What
	if e.Offset >= 0 {
		s += fmt.Sprintf(" (offset %d)", e.Offset)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of an error of this package, "" of any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Errorf makes an error without an offset.
func Errorf(format string, kind Kind, what string, args ...any) *Error {
	return &Error{Format: format, Kind: kind, What: fmt.Sprintf(what, args...), Offset: Unknown}
}

// A Source is the bytes of a container.
type Source = *io.SectionReader

// ReadAt reads exactly n bytes at off, where both were checked against nothing:
// what is not there is a Corrupt error.
func ReadAt(src Source, format string, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > src.Size() || n > src.Size()-off {
		return nil, &Error{Format: format, Kind: Corrupt, What: fmt.Sprintf("%d bytes are not there", n), Offset: off}
	}
	b := make([]byte, n)
	if err := ReadFull(src, format, off, b); err != nil {
		return nil, err
	}
	return b, nil
}

// ReadFull fills b from off.
func ReadFull(src Source, format string, off int64, b []byte) error {
	if off < 0 || off > src.Size() || int64(len(b)) > src.Size()-off {
		return &Error{Format: format, Kind: Corrupt, What: fmt.Sprintf("%d bytes are not there", len(b)), Offset: off}
	}
	if n, err := src.ReadAt(b, off); n < len(b) {
		return fmt.Errorf("%s: reading %d bytes at %d: %w", format, len(b), off, err)
	}
	return nil
}

// Sub is the part of src at off, cut at its end.
func Sub(src Source, off, n int64) Source {
	size := src.Size()
	if off < 0 || off > size || n < 0 {
		return io.NewSectionReader(src, 0, 0)
	}
	return io.NewSectionReader(src, off, min(n, size-off))
}

// OpenPart opens content of which only the beginning is in the source: what is
// there can be read, and its end is a Corrupt error.
func OpenPart(format string, s *io.SectionReader) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(io.NewSectionReader(s, 0, s.Size()), missing{format, s.Size()})), nil
	}
}

// Whole fails when a stream ends before the content in it does.
func Whole(format string, content *io.LimitedReader) io.ReadCloser {
	return io.NopCloser(whole{format, content})
}

type whole struct {
	format string
	*io.LimitedReader
}

func (w whole) Read(p []byte) (int, error) {
	n, err := w.LimitedReader.Read(p)
	if err == io.EOF && w.N > 0 {
		err = Errorf(w.format, Corrupt, "the content ends early: %d bytes are missing", w.N)
	}
	return n, err
}

type missing struct {
	format string
	n      int64
}

func (m missing) Read([]byte) (int, error) {
	return 0, Errorf(m.format, Corrupt, "the content ends early: %d bytes of it are there", m.n)
}

// OpenSection opens content that lies in the source as it is.
func OpenSection(s *io.SectionReader) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(s, 0, s.Size())), nil
	}
}
