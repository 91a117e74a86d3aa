// Package sevenzip reads 7z archives with github.com/bodgit/sevenzip behind a
// fence: headers are checked before the library allocates what they claim, and
// its panics are errors.
package sevenzip

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	lib "github.com/bodgit/sevenzip"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

const maxLink = 4096

// The library has no decoder of deflate64.
func init() {
	lib.RegisterDecompressor([]byte("\x04\x01\x09"), func(_ []byte, _ uint64, in []io.ReadCloser) (io.ReadCloser, error) {
		if len(in) != 1 {
			return nil, container.Errorf("7z", container.Corrupt, "deflate64 of %d streams", len(in))
		}
		return codec.Deflate64(in[0])
	})
}

// Is reports whether a file begins like an archive.
func Is(head []byte) bool { return len(head) >= 6 && string(head[:6]) == "7z\xbc\xaf\x27\x1c" }

// A Reader reads one archive. Files that were packed together are one stream,
// so entries are read in turn.
type Reader struct {
	files   []*lib.File
	methods []string
	history int64 // the most that a folder needs
	claims  []container.Claim
}

// Open reads the headers.
func Open(src container.Source) (r *Reader, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, container.Errorf("7z", container.Corrupt, "the reader gave up: %v", v)
		}
	}()
	g, err := check(src)
	if err != nil {
		return nil, err
	}
	r = &Reader{methods: g.methods, history: g.history}
	if surplus := src.Size() - g.end; surplus > 0 {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the archive", Offset: g.end, Size: surplus})
	}
	if len(g.b) == 0 && g.folders == nil {
		return r, nil
	}
	z, err := lib.NewReader(src, src.Size())
	if err != nil {
		return nil, wrap(err)
	}
	r.files = z.File
	return r, nil
}

func wrap(err error) error {
	kind := container.Corrupt
	var e *lib.ReadError
	if errors.As(err, &e) && e.Encrypted {
		kind = container.Encrypted
	}
	if strings.Contains(err.Error(), "unsupported") || strings.Contains(err.Error(), "TODO") || strings.Contains(err.Error(), "algorithm") {
		kind = container.Unsupported
	}
	return &container.Error{Format: "7z", Kind: kind, What: "the archive cannot be read", Offset: container.Unknown, Err: err}
}

// Format is "7z".
func (r *Reader) Format() string { return "7z" }

// Seekable is false: opening a file may mean to decode all before it.
func (r *Reader) Seekable() bool { return false }

// Claims are bytes behind the archive.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Entries are given in the order of the archive.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		for _, f := range r.files {
			if !yield(r.entry(f), nil) {
				return
			}
		}
	}
}

func (r *Reader) entry(f *lib.File) *container.Entry {
	e := &container.Entry{
		Path: f.Name, Type: container.File, Mode: container.Unknown, Size: int64(min(f.UncompressedSize, 1<<62)), Packed: container.Unknown, Offset: container.Unknown,
	}
	mode := f.FileInfo().Mode()
	if f.Attributes&0xf0000000 != 0 {
		e.Mode = int64(f.Attributes >> 16 & 0o7777)
	}
	switch {
	case mode.IsDir():
		e.Type = container.Directory
	case mode&fs.ModeSymlink != 0:
		e.Type = container.Symlink
		e.Link = r.target(f, e)
	case mode&fs.ModeNamedPipe != 0:
		e.Type = container.FIFO
	case mode&fs.ModeSocket != 0:
		e.Type = container.Socket
	case mode&fs.ModeCharDevice != 0:
		e.Type = container.CharDev
	case mode&fs.ModeDevice != 0:
		e.Type = container.BlockDev
	default:
		if e.Size > 0 && f.Stream < len(r.methods) {
			e.Method = r.methods[f.Stream]
		}
		e.Encrypted = strings.Contains(e.Method, "aes")
		if f.CRC32 != 0 {
			e.Digests = []container.Digest{{Algorithm: container.CRC32, Value: fmt.Sprintf("%08x", f.CRC32)}}
		}
		e.Open = func() (io.ReadCloser, error) { return open(f, e.Encrypted, r.history) }
	}
	return e
}

func (r *Reader) target(f *lib.File, e *container.Entry) string {
	if e.Size > maxLink {
		e.Notes = append(e.Notes, "the target of the link is too long and not read")
		return ""
	}
	rc, err := open(f, false, r.history)
	if err != nil {
		e.Notes = append(e.Notes, "the target of the link cannot be read")
		return ""
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, maxLink))
	if err != nil {
		e.Notes = append(e.Notes, "the target of the link cannot be read")
	}
	return string(b)
}

func open(f *lib.File, encrypted bool, history int64) (rc io.ReadCloser, err error) {
	if encrypted {
		return nil, container.Errorf("7z", container.Encrypted, "the content is encrypted")
	}
	defer func() {
		if v := recover(); v != nil {
			rc, err = nil, container.Errorf("7z", container.Corrupt, "the reader gave up: %v", v)
		}
	}()
	in, err := f.Open()
	if err != nil {
		return nil, wrap(err)
	}
	return codec.Hold(codec.Fence("7z", in), history), nil
}
