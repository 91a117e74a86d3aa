package codec

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"

	"rea/providers/format/container"
)

// A File decodes a compressed file: all its streams, members or frames in a
// row. It stops behind the last of them, whatever follows.
type File struct {
	io.ReadCloser
	in   *input
	back func() int // bytes that the decoder took from what follows
}

// Rest is what follows the compressed data, and where: at counts from the
// beginning of the file. The content must have been read to its end.
func (f *File) Rest() (at int64, rest io.Reader) { return f.in.rest(f.back()) }

// OpenFile opens a compressed file of a method that files have.
func OpenFile(method string, r io.Reader) (*File, error) {
	f := &File{in: newInput(r), back: func() int { return 0 }}
	var err error
	switch method {
	case "zstd":
		f.ReadCloser, err = Zstd(&pieces{in: f.in, next: (&zstdFrames{in: f.in}).next})
	case "bzip2":
		b := &bzip2Bytes{in: f.in}
		f.back = b.beyond
		f.ReadCloser, err = start("bzip2", func() (io.Reader, error) { b.r = bzip2.NewReader(b); return b, nil }, nil)
	case "gzip":
		f.ReadCloser, err = start("gzip", func() (*strictGzip, error) {
			g, err := newGzip(f.in)
			return &strictGzip{g}, err
		}, nil)
	case "lzma", "xz", "lz4", "pbzx": // these take no byte too many from a buffered reader
		f.ReadCloser, err = ByName(method)(f.in.Reader)
	default:
		return nil, container.Errorf("codec", container.Unsupported, "there is no decoder of %s files", container.Escape(method))
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// input counts what is taken from a buffered reader.
type input struct {
	*bufio.Reader
	from counter
	tail [2]byte // the last bytes that were taken one by one
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func newInput(r io.Reader) *input {
	in := &input{from: counter{r: r}}
	in.Reader = bufio.NewReaderSize(&in.from, 64<<10)
	return in
}

// at is the offset of the next byte.
func (in *input) at() int64 { return in.from.n - int64(in.Buffered()) }

func (in *input) rest(back int) (int64, io.Reader) {
	if back == 0 {
		return in.at(), in.Reader
	}
	return in.at() - int64(back), io.MultiReader(newBytes(in.tail[2-back:]), in.Reader)
}

// everything is the length of a piece that goes on to the end of the file: the
// decoder says what is wrong with it.
const everything = 1 << 62

// pieces passes on the pieces of a file whose lengths next tells, until that
// fails with io.EOF.
type pieces struct {
	in   *input
	left int64
	next func() (int64, error)
}

func (p *pieces) Read(b []byte) (int, error) {
	for p.left == 0 {
		n, err := p.next()
		if err != nil {
			return 0, err
		}
		p.left = n
	}
	n, err := p.in.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}

// bzip2Bytes gives a bzip2 decoder its bytes one by one. Where a file ends the
// decoder looks for another stream and takes two bytes of whatever is there;
// two bytes that are no beginning stand for the end of the file, so that it
// always fails in the same way.
type bzip2Bytes struct {
	in   *input
	r    io.Reader
	fake int
	end  bool
}

// errNoStream is how compress/bzip2 says that what follows a stream is none.
const errNoStream = bzip2.StructuralError("bad magic value in continuation file")

func (b *bzip2Bytes) ReadByte() (byte, error) {
	c, err := b.in.ReadByte()
	if err != nil {
		if err == io.EOF && b.fake < 2 {
			b.fake++
			return 0, nil
		}
		return 0, err
	}
	b.in.tail[0], b.in.tail[1] = b.in.tail[1], c
	return c, nil
}

func (b *bzip2Bytes) Read(p []byte) (int, error) {
	if b.end {
		return 0, io.EOF
	}
	n, err := b.r.Read(p)
	var s bzip2.StructuralError
	switch {
	case errors.As(err, &s) && s == errNoStream:
		b.end, err = true, io.EOF
	case err != nil && b.fake > 0:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *bzip2Bytes) beyond() int { return 2 - b.fake }
