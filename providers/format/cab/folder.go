package cab

import (
	"fmt"
	"io"

	"rea/providers/format/codec"
	"rea/providers/format/container"
)

// stream decodes a folder block by block.
type stream struct {
	r       *Reader
	folder  *folder
	at      int64 // of the next block
	block   int
	given   int64   // offset in the folder of what is left of out
	out     []byte  // decoded and not yet given
	history []byte  // of the block before
	decoder decoder // of LZX or Quantum
	failed  error
}

// open gives the file at an offset of the folder. Files do not overlap, so
// nothing is decoded twice.
func (s *stream) open(offset, size int64) (io.ReadCloser, error) {
	if offset < s.given {
		return nil, container.Errorf("cab", container.Corrupt, "its content overlaps that of another file")
	}
	for s.given < offset {
		if err := s.fill(); err != nil {
			if err == io.EOF {
				err = container.Errorf("cab", container.Corrupt, "its content lies behind the end of the folder")
			}
			return nil, err
		}
		s.skip(int(min(int64(len(s.out)), offset-s.given)))
	}
	return &content{s, size}, nil
}

func (s *stream) skip(n int) { s.out, s.given = s.out[n:], s.given+int64(n) }

type content struct {
	s    *stream
	left int64
}

func (c *content) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	if err := c.s.fill(); err != nil {
		if err == io.EOF {
			err = container.Errorf("cab", container.Corrupt, "the content ends early: %d bytes are missing", c.left)
		}
		return 0, err
	}
	n := copy(p[:min(int64(len(p)), c.left)], c.s.out)
	c.s.skip(n)
	c.left -= int64(n)
	return n, nil
}

func (c *content) Close() error { return nil }

// fill decodes the next block when nothing is left of the one before.
func (s *stream) fill() error {
	for len(s.out) == 0 {
		if s.failed != nil {
			return s.failed
		}
		if s.failed = s.next(); s.failed != nil {
			return s.failed
		}
	}
	return nil
}

func (s *stream) next() error {
	if s.block == s.folder.blocks {
		return io.EOF
	}
	src := s.r.src
	h, err := container.ReadAt(src, "cab", s.at, blockSize+s.r.reserve)
	if err != nil {
		return err
	}
	packed, size := int64(le.Uint16(h[4:])), int(le.Uint16(h[6:]))
	data, err := container.ReadAt(src, "cab", s.at+int64(len(h)), packed)
	if err != nil {
		return err
	}
	if sum := le.Uint32(h); sum != 0 && sum != checksum(h[4:blockSize], checksum(data, 0)) {
		return corrupt(s.at, "block %d contradicts its checksum", s.block)
	}
	if size == 0 {
		return container.Errorf("cab", container.Absent, "the block goes on in another cabinet")
	}
	s.at += int64(len(h)) + packed
	s.block++
	switch s.folder.method & 15 {
	case 0:
		if int64(size) != packed {
			return corrupt(s.at, "a stored block of %d bytes in %d", size, packed)
		}
		s.out = data
		return nil
	case 1:
		return s.mszip(data, size)
	case 2, 3:
		return s.continued(data, size)
	}
	return container.Errorf("cab", container.Unsupported, "compression %s is not read", s.folder.name())
}

// mszip decodes a block: "CK", then a deflate stream of its own, with what the
// block before gave as its history.
func (s *stream) mszip(data []byte, size int) error {
	if size > maxBlock || len(data) < 2 || string(data[:2]) != "CK" {
		return corrupt(s.at, "block %d is no MSZIP block", s.block-1)
	}
	out, err := codec.DeflateBlock(data[2:], s.history, size)
	if err != nil {
		return &container.Error{Format: "cab", Kind: container.Corrupt, What: fmt.Sprintf("block %d is damaged", s.block-1), Offset: s.at, Err: err}
	}
	s.out, s.history = out, out
	return nil
}

type decoder interface {
	Next(chunk []byte, size int) ([]byte, error)
}

// continued decodes a block that goes on where the one before ended.
func (s *stream) continued(data []byte, size int) (err error) {
	if s.decoder == nil {
		bits := int(s.folder.method >> 8 & 31)
		if s.folder.method&15 == 2 {
			s.decoder, err = codec.NewQuantum(bits)
		} else {
			s.decoder, err = codec.NewLZX(bits)
		}
		if err != nil {
			return err
		}
	}
	if s.out, err = s.decoder.Next(data, size); err != nil {
		return &container.Error{Format: "cab", Kind: container.Corrupt, What: fmt.Sprintf("block %d is damaged", s.block-1), Offset: s.at, Err: err}
	}
	return nil
}

// checksum folds bytes by exclusive or of words of four, the last ones in
// reverse.
func checksum(b []byte, sum uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		sum ^= le.Uint32(b)
	}
	var rest uint32
	for _, c := range b {
		rest = rest<<8 | uint32(c)
	}
	return sum ^ rest
}
