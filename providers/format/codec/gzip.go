package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"

	"rea/providers/format/container"
)

// A GzipReader decodes the members of a gzip file as one content. Unlike most
// it does not refuse content that contradicts its checksum: it tells both.
type GzipReader struct {
	in       *input
	inflate  io.ReadCloser
	crc      uint32
	size     uint32
	open     bool
	Name     string // of the first member, raw
	Members  int
	Declared uint32 // CRC-32 of the only member
	Observed uint32
	Bad      int // members whose checksum or length does not match
}

// NewGzip reads the first header.
func NewGzip(r io.Reader) (*GzipReader, error) { return newGzip(newInput(r)) }

func newGzip(in *input) (*GzipReader, error) {
	g := &GzipReader{in: in}
	name, err := g.header()
	if err != nil {
		return nil, damage("gzip", unexpected(err))
	}
	g.Name = name
	g.inflate = flate.NewReader(g.in)
	g.open = true
	return g, nil
}

// Gzip opens the members of a gzip file and fails when a checksum does not match.
func Gzip(r io.Reader) (io.ReadCloser, error) {
	return start("gzip", func() (*strictGzip, error) {
		g, err := NewGzip(r)
		return &strictGzip{g}, err
	}, nil)
}

type strictGzip struct{ *GzipReader }

func (g *strictGzip) Read(p []byte) (int, error) {
	n, err := g.GzipReader.Read(p)
	if err == io.EOF && g.Bad > 0 {
		err = container.Errorf("gzip", container.Corrupt, "%d of %d members contradict their checksum", g.Bad, g.Members)
	}
	return n, err
}

var errGzipHeader = errors.New("not a gzip header")

func (g *GzipReader) header() (name string, err error) {
	var h [10]byte
	if _, err := io.ReadFull(g.in, h[:]); err != nil {
		return "", err
	}
	if h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 {
		return "", errGzipHeader
	}
	flags := h[3]
	if flags&4 != 0 {
		var n [2]byte
		if _, err := io.ReadFull(g.in, n[:]); err != nil {
			return "", err
		}
		if _, err := g.in.Discard(int(binary.LittleEndian.Uint16(n[:]))); err != nil {
			return "", err
		}
	}
	if flags&8 != 0 {
		if name, err = g.text(); err != nil {
			return "", err
		}
	}
	if flags&16 != 0 {
		if _, err = g.text(); err != nil {
			return "", err
		}
	}
	if flags&2 != 0 {
		_, err = g.in.Discard(2)
	}
	return name, err
}

func (g *GzipReader) text() (string, error) {
	var b []byte
	for {
		c, err := g.in.ReadByte()
		if err != nil || c == 0 {
			return string(b), err
		}
		if b = append(b, c); len(b) > 64<<10 {
			return "", fmt.Errorf("a name of more than %d bytes", len(b)-1)
		}
	}
}

func (g *GzipReader) Read(p []byte) (int, error) {
	for g.open {
		n, err := g.inflate.Read(p)
		g.crc = crc32.Update(g.crc, crc32.IEEETable, p[:n])
		g.size += uint32(n)
		if err == io.EOF {
			if err := g.trailer(); err != nil {
				return n, damage("gzip", unexpected(err))
			}
			err = nil
		}
		if err != nil {
			return n, damage("gzip", err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, io.EOF
}

func (g *GzipReader) trailer() error {
	var t [8]byte
	if _, err := io.ReadFull(g.in, t[:]); err != nil {
		return err
	}
	g.Members++
	g.Declared, g.Observed = binary.LittleEndian.Uint32(t[:]), g.crc
	if g.Declared != g.crc || binary.LittleEndian.Uint32(t[4:]) != g.size {
		g.Bad++
	}
	g.crc, g.size = 0, 0
	next, _ := g.in.Peek(3)
	if string(next) != "\x1f\x8b\x08" {
		g.open = false
		return nil
	}
	if _, err := g.header(); err != nil {
		return err
	}
	return g.inflate.(flate.Resetter).Reset(g.in, nil)
}

// Rest is what follows the last member, and where. The content must have been
// read to its end.
func (g *GzipReader) Rest() (at int64, rest io.Reader) { return g.in.rest(0) }

// Close does nothing.
func (g *GzipReader) Close() error { return nil }
