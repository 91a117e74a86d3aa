package codec

import (
	"bufio"
	"encoding/binary"
	"io"

	"rea/providers/format/container"
)

// PBZX opens the chunked stream of macOS installers: the length of a chunk, then
// chunks with their two lengths, each of them an xz file or stored. A chunk that
// is shorter is the last.
func PBZX(r io.Reader) (io.ReadCloser, error) {
	return start("pbzx", func() (*pbzxReader, error) {
		in := buffered(r)
		var h [12]byte
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return nil, unexpected(err)
		}
		if string(h[:4]) != "pbzx" {
			return nil, container.Errorf("pbzx", container.Corrupt, "not a pbzx stream")
		}
		return &pbzxReader{in: in, block: binary.BigEndian.Uint64(h[4:])}, nil
	}, nil)
}

type pbzxReader struct {
	in    *bufio.Reader
	block uint64
	last  bool
	raw   *io.LimitedReader // of the chunk
	part  io.Reader
}

func (z *pbzxReader) Read(p []byte) (int, error) {
	for {
		if z.part == nil {
			if err := z.chunk(); err != nil {
				return 0, err
			}
		}
		n, err := z.part.Read(p)
		if err == io.EOF {
			if _, err := io.Copy(io.Discard, z.raw); err != nil {
				return n, err
			}
			if z.raw.N > 0 {
				return n, io.ErrUnexpectedEOF
			}
			z.part, err = nil, nil
			if n == 0 {
				continue
			}
		}
		return n, err
	}
}

func (z *pbzxReader) chunk() error {
	if z.last {
		return io.EOF
	}
	var h [16]byte
	if _, err := io.ReadFull(z.in, h[:]); err != nil {
		return err // at the end of a chunk this is the end
	}
	size, packed := binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])
	if packed > 1<<40 || size > 1<<40 {
		return container.Errorf("pbzx", container.Corrupt, "a chunk of %d bytes", packed)
	}
	z.last = size < z.block
	z.raw = &io.LimitedReader{R: z.in, N: int64(packed)}
	if size == packed {
		z.part = z.raw
		return nil
	}
	part, err := XZBlock(z.raw)
	if err != nil {
		return err
	}
	z.part = part
	return nil
}
