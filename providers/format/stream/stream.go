// Package stream presents a compressed file as a container of one entry, its
// content.
package stream

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

// Detect names the compression of a file by its beginning, "" if it has none.
func Detect(head []byte) string {
	has := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case has("\x1f\x8b\x08") && len(head) > 3 && head[3]&0xe0 == 0:
		return "gzip"
	case has("BZh") && len(head) >= 10 && head[3] >= '1' && head[3] <= '9' && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return "bzip2"
	case has("\xfd7zXZ\x00"):
		return "xz"
	case has("\x28\xb5\x2f\xfd"):
		return "zstd"
	case has("\x04\x22\x4d\x18"), has("\x02\x21\x4c\x18"):
		return "lz4"
	case has("pbzx"):
		return "pbzx"
	case lzmaAlone(head):
		return "lzma"
	}
	return ""
}

// lzmaAlone knows the header of .lzma files, which has no magic number: usual
// properties, a history of a power of two or three halves of it, a length that
// is unknown or sane.
func lzmaAlone(head []byte) bool {
	if len(head) < 14 || head[0] != 0x5d || head[13] != 0 {
		return false
	}
	dict := uint32(head[1]) | uint32(head[2])<<8 | uint32(head[3])<<16 | uint32(head[4])<<24
	if dict < 1<<12 || dict > 1<<30 {
		return false
	}
	top := dict & (dict - 1)
	if top&(top-1) != 0 {
		return false
	}
	unknown := bytes.Equal(head[5:13], bytes.Repeat([]byte{0xff}, 8))
	return unknown || head[11] == 0 && head[12] == 0 && head[10] == 0
}

// A Reader reads one compressed file.
type Reader struct {
	format string
	src    container.Source // nil for a stream
	in     io.Reader
	rest   func() (int64, io.Reader) // behind the compressed data, nil until it is open
	ended  bool                      // the content was read to its end
	claims []container.Claim
}

// Open reads from a source.
func Open(format string, src container.Source) *Reader { return &Reader{format: format, src: src} }

// OpenStream reads from a stream.
func OpenStream(format string, r io.Reader) *Reader { return &Reader{format: format, in: r} }

// Format is the name of the compression.
func (r *Reader) Format() string { return r.format }

// Seekable is false: the only entry is read in turn.
func (r *Reader) Seekable() bool { return false }

// Claims are bytes behind the compressed data.
func (r *Reader) Claims() []container.Claim {
	if r.ended {
		r.ended = false
		r.surplus()
	}
	return r.claims
}

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Entries is the content.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		in := r.in
		e := &container.Entry{Type: container.Stream, Mode: container.Unknown, Size: container.Unknown, Packed: container.Unknown, Offset: container.Unknown, Method: r.format}
		if r.src != nil {
			in = io.NewSectionReader(r.src, 0, r.src.Size())
			e.Packed, e.Offset = r.src.Size(), 0
		}
		if r.format == "gzip" {
			r.gzip(in, e)
		} else {
			e.Open = func() (io.ReadCloser, error) {
				f, err := codec.OpenFile(r.format, in)
				if err != nil {
					return nil, err
				}
				r.rest = f.Rest
				return &content{f, r}, nil
			}
		}
		yield(e, nil)
	}
}

// content remembers that it was read to its end.
type content struct {
	io.ReadCloser
	r *Reader
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err == io.EOF {
		c.r.ended = true
	}
	return n, err
}

// maxPadding is how many zero bytes behind gzip members are taken for the rest
// of a tape's record.
const maxPadding = 1 << 20

// surplus names what follows the compressed data.
func (r *Reader) surplus() {
	at, rest := r.rest()
	begin := make([]byte, 32<<10)
	n, err := int64(0), error(nil)
	for padding := r.format == "gzip"; padding && err == nil && n < maxPadding; {
		var k int
		k, err = rest.Read(begin)
		n += int64(k)
		padding = len(bytes.Trim(begin[:k], "\x00")) == 0
		if padding && err == io.EOF {
			return
		}
	}
	if r.src != nil {
		n = r.src.Size() - at
	} else {
		k, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, rest, begin)
		n += k
	}
	if n > 0 {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the compressed data", Offset: at, Size: n})
	}
}

// gzip tells the declared checksum beside the content instead of failing on it.
func (r *Reader) gzip(in io.Reader, e *container.Entry) {
	var z *codec.GzipReader
	e.Open = func() (io.ReadCloser, error) {
		var err error
		if z, err = codec.NewGzip(in); err != nil {
			return nil, err
		}
		r.rest = z.Rest
		return &content{z, r}, nil
	}
	e.Trailer = func() []container.Digest {
		if z == nil {
			return nil
		}
		if z.Name != "" {
			e.Notes = append(e.Notes, "the header names it "+container.Escape(z.Name))
		}
		switch {
		case z.Members == 1:
			if z.Bad > 0 && z.Declared == z.Observed {
				e.Notes = append(e.Notes, "the trailer declares another length")
			}
			return []container.Digest{{Algorithm: container.CRC32, Value: fmt.Sprintf("%08x", z.Declared)}}
		case z.Bad > 0:
			e.Notes = append(e.Notes, fmt.Sprintf("%d of %d members contradict their checksum", z.Bad, z.Members))
			// No single digest covers several members; one that cannot match
			// says that the content is not what was declared.
			return []container.Digest{{Algorithm: container.CRC32, Value: ""}}
		}
		return nil
	}
}
