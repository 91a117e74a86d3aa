// Package codec opens compressed streams of every method that containers use.
//
// A decoder never panics, allocates no more than [MaxWindow] for its history and
// reports damage as a [*container.Error]. It may be used by one goroutine.
package codec

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz/lzma"

	"rea/providers/format/container"
)

// MaxWindow is the largest history that a decoder may keep: what xz -9 and
// zstd --ultra -22 need, and some.
const MaxWindow = 256 << 20

// An Opener starts decoding a stream.
type Opener func(r io.Reader) (io.ReadCloser, error)

// ByName gives the decoder of a method, nil when there is none.
func ByName(method string) Opener {
	switch method {
	case "stored", "none", "":
		return func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }
	case "deflate":
		return Deflate
	case "deflate64":
		return Deflate64
	case "zlib":
		return Zlib
	case "gzip":
		return Gzip
	case "bzip2":
		return Bzip2
	case "xz":
		return XZ
	case "lzma":
		return LZMA
	case "zstd":
		return Zstd
	case "lz4":
		return LZ4
	case "pbzx":
		return PBZX
	}
	return nil
}

// guard keeps panics of decoders in, and marks their errors as damage.
type guard struct {
	format string
	r      io.Reader
	close  func()
	failed error
}

func (g *guard) Read(p []byte) (n int, err error) {
	if g.failed != nil {
		return 0, g.failed
	}
	defer func() {
		if v := recover(); v != nil {
			n, err = 0, container.Errorf(g.format, container.Corrupt, "the decoder gave up: %v", v)
		}
		if err != nil {
			if n < 0 {
				n = 0
			}
			if err != io.EOF {
				err = damage(g.format, err)
			}
			g.failed = err
		}
	}()
	n, err = g.r.Read(p)
	return n, err
}

func (g *guard) Close() error {
	if g.close != nil {
		g.close()
		g.close = nil
	}
	g.failed = io.ErrClosedPipe
	return nil
}

// damage marks an error as one of the stream, unless it says itself what it is.
func damage(format string, err error) error {
	var e *container.Error
	if errors.As(err, &e) {
		return err
	}
	what := "the compressed data is damaged"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		what = "the compressed data ends early"
	}
	return &container.Error{Format: format, Kind: container.Corrupt, What: what, Offset: container.Unknown, Err: err}
}

// start runs the constructor of a decoder behind the fence.
func start[T io.Reader](format string, open func() (T, error), closer func(T)) (rc io.ReadCloser, err error) {
	defer func() {
		if v := recover(); v != nil {
			rc, err = nil, container.Errorf(format, container.Corrupt, "the decoder gave up: %v", v)
		}
	}()
	r, err := open()
	if err != nil {
		return nil, damage(format, err)
	}
	g := &guard{format: format, r: r}
	if closer != nil {
		g.close = func() { closer(r) }
	}
	return g, nil
}

type inflater struct {
	io.ReadCloser
	in *bufio.Reader
}

var inflaters = sync.Pool{New: func() any {
	in := bufio.NewReaderSize(nil, 32<<10)
	return &inflater{flate.NewReader(in), in}
}}

// Deflate opens a raw deflate stream.
func Deflate(r io.Reader) (io.ReadCloser, error) {
	return start("deflate", func() (*inflater, error) {
		f := inflaters.Get().(*inflater)
		f.in.Reset(r)
		return f, f.ReadCloser.(flate.Resetter).Reset(f.in, nil)
	}, func(f *inflater) {
		f.in.Reset(nil)
		inflaters.Put(f)
	})
}

// DeflateBlock decodes a raw deflate stream of exactly size bytes that may refer
// to the history before it.
func DeflateBlock(packed, history []byte, size int) ([]byte, error) {
	rc, err := start("deflate", func() (*inflater, error) {
		f := inflaters.Get().(*inflater)
		f.in.Reset(newBytes(packed))
		return f, f.ReadCloser.(flate.Resetter).Reset(f.in, history)
	}, func(f *inflater) {
		f.in.Reset(nil)
		inflaters.Put(f)
	})
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	out := make([]byte, size)
	if _, err := io.ReadFull(rc, out); err != nil {
		return nil, unexpected(err)
	}
	return out, nil
}

// Zlib opens a zlib stream.
func Zlib(r io.Reader) (io.ReadCloser, error) {
	return start("zlib", func() (io.ReadCloser, error) { return zlib.NewReader(r) }, nil)
}

// Bzip2 opens one or several bzip2 streams.
func Bzip2(r io.Reader) (io.ReadCloser, error) {
	return start("bzip2", func() (io.Reader, error) { return bzip2.NewReader(bufio.NewReaderSize(r, 64<<10)), nil }, nil)
}

// LZMABlock opens .lzma streams of at most limit bytes, which need no longer
// history.
func LZMABlock(limit int64) Opener {
	return func(r io.Reader) (io.ReadCloser, error) {
		head := make([]byte, 13)
		if _, err := io.ReadFull(r, head); err != nil {
			return nil, damage("lzma", unexpected(err))
		}
		if dict := binary.LittleEndian.Uint32(head[1:]); int64(dict) > limit {
			binary.LittleEndian.PutUint32(head[1:], uint32(max(limit, 4096)))
		}
		return LZMA(io.MultiReader(newBytes(head), r))
	}
}

// LZMA opens a stream with the header of .lzma files.
func LZMA(r io.Reader) (io.ReadCloser, error) {
	in := buffered(r)
	var history int64
	if head, err := in.Peek(5); err == nil {
		history = int64(binary.LittleEndian.Uint32(head[1:]))
	}
	rc, err := start("lzma", func() (*lzma.Reader, error) { return lzma.ReaderConfig{DictCap: MaxWindow}.NewReader(in) }, nil)
	if err != nil {
		return nil, err
	}
	return Hold(rc, history), nil
}

// buffered is r itself where that has a buffer.
func buffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }

// RawLZMA opens a stream without that header: props are the five bytes that
// stand for it, size is the length of the content or container.Unknown.
func RawLZMA(r io.Reader, props []byte, size int64) (io.ReadCloser, error) {
	if len(props) < 5 {
		return nil, container.Errorf("lzma", container.Corrupt, "the properties have %d bytes, not 5", len(props))
	}
	head := make([]byte, 13)
	copy(head, props[:5])
	for i := range 8 {
		head[5+i] = byte(uint64(size) >> (8 * i)) // Unknown is all ones, as the header wants it
	}
	return LZMA(io.MultiReader(newBytes(head), r))
}

// Zstd opens zstd frames.
func Zstd(r io.Reader) (io.ReadCloser, error) {
	return start("zstd", func() (*zstd.Decoder, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<62),
			zstd.WithDecoderMaxWindow(MaxWindow), zstd.WithDecoderLowmem(true))
	}, func(d *zstd.Decoder) { d.Close() })
}

// Limit fails reading beyond n bytes of content.
func Limit(format string, rc io.ReadCloser, n int64) io.ReadCloser {
	return &limited{format, rc, n}
}

type limited struct {
	format string
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, err := l.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, container.Errorf(l.format, container.Corrupt, "there is more content than declared")
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// All decodes a whole buffer of at most limit bytes.
func All(open Opener, packed []byte, limit int64) ([]byte, error) {
	rc, err := open(newBytes(packed))
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	out, err := io.ReadAll(io.LimitReader(rc, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(out)) > limit {
		return nil, container.Errorf("codec", container.Bounded, "more than %d bytes come out", limit)
	}
	return out, nil
}

func newBytes(b []byte) *bytes.Reader { return bytes.NewReader(b) }

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Fence keeps the panics of a foreign reader in and marks its errors as damage.
func Fence(format string, rc io.ReadCloser) io.ReadCloser {
	return &guard{format: format, r: rc, close: func() {
		defer func() { recover() }()
		rc.Close()
	}}
}

// AllRawLZMA decodes a whole LZMA stream of known size without its header.
func AllRawLZMA(packed, props []byte, size int64) ([]byte, error) {
	return All(func(r io.Reader) (io.ReadCloser, error) { return RawLZMA(r, props, size) }, packed, size)
}
