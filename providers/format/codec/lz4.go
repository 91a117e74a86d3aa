package codec

import (
	"bufio"
	"encoding/binary"
	"io"

	"rea/providers/format/container"
)

// LZ4Block decodes one LZ4 block of at most limit bytes behind the history that
// dst already holds.
func LZ4Block(dst, src []byte, limit int) ([]byte, error) {
	bad := func(what string) ([]byte, error) {
		return nil, container.Errorf("lz4", container.Corrupt, "%s", what)
	}
	start := len(dst)
	length := func(n int) (int, bool) {
		if n != 15 {
			return n, true
		}
		for {
			if len(src) == 0 || n > limit {
				return 0, false
			}
			c := src[0]
			src = src[1:]
			n += int(c)
			if c != 255 {
				return n, true
			}
		}
	}
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(src) || len(dst)-start+n > limit {
			return bad("literals run over the end of the block")
		}
		dst = append(dst, src[:n]...)
		if src = src[n:]; len(src) == 0 {
			return dst, nil
		}
		if len(src) < 2 {
			return bad("the block ends in an offset")
		}
		back := int(binary.LittleEndian.Uint16(src))
		src = src[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || back == 0 || back > len(dst) || len(dst)-start+n > limit {
			return bad("a match reaches outside of the history")
		}
		dst = copyBack(dst, back, n)
	}
	return dst, nil
}

// copyBack appends n bytes from back bytes before the end, which may overlap.
func copyBack(dst []byte, back, n int) []byte {
	for n > 0 {
		at := len(dst) - back
		part := dst[at:min(at+n, len(dst))]
		dst = append(dst, part...)
		n -= len(part)
	}
	return dst
}

const (
	lz4Frame  = 0x184d2204
	lz4Legacy = 0x184c2102
	lz4Skip   = 0x184d2a50 // to 0x184d2a5f
)

// LZ4 opens LZ4 frames, those of the legacy format that kernels use included.
// Checksums of frames are not verified.
func LZ4(r io.Reader) (io.ReadCloser, error) {
	return start("lz4", func() (*lz4Reader, error) {
		return &lz4Reader{in: buffered(r)}, nil
	}, nil)
}

type lz4Reader struct {
	in      *bufio.Reader
	out     []byte // decoded, with history before at
	at      int
	block   int // largest block of the frame; 0 outside of a frame
	flags   byte
	legacy  bool
	begun   bool
	scratch []byte
}

func (z *lz4Reader) Read(p []byte) (int, error) {
	for z.at == len(z.out) {
		if err := z.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, z.out[z.at:])
	z.at += n
	return n, nil
}

// next decodes a block, or takes the header of a frame.
func (z *lz4Reader) next() error {
	if z.block == 0 {
		return z.frame()
	}
	if z.legacy {
		// Nothing tells the end: whatever follows the last block is no block.
		n, ok := z.peek()
		if ok && (n == lz4Legacy || n == lz4Frame) {
			return z.frame()
		}
		if !ok || int64(n) > lz4Bound(z.block) || n == 0 {
			return io.EOF
		}
	}
	n, err := z.word()
	if err != nil {
		return unexpected(err)
	}
	if n == 0 {
		z.block = 0
		if z.flags&4 != 0 {
			_, err = z.in.Discard(4)
		}
		return unexpected(err)
	}
	raw := !z.legacy && n&(1<<31) != 0
	if !z.legacy {
		n &^= 1 << 31
	}
	if int64(n) > lz4Bound(z.block) {
		return container.Errorf("lz4", container.Corrupt, "a block of %d bytes in a frame of blocks up to %d", n, z.block)
	}
	if cap(z.scratch) < int(n) {
		z.scratch = make([]byte, n)
	}
	packed := z.scratch[:n]
	if _, err := io.ReadFull(z.in, packed); err != nil {
		return unexpected(err)
	}
	if z.flags&16 != 0 && !z.legacy {
		if _, err := z.in.Discard(4); err != nil {
			return unexpected(err)
		}
	}
	history := z.out[max(0, len(z.out)-64<<10):]
	z.out = append(z.out[:0], history...)
	z.at = len(z.out)
	if raw {
		z.out = append(z.out, packed...)
		return nil
	}
	out, err := LZ4Block(z.out, packed, z.block)
	if err != nil {
		return err
	}
	z.out = out
	return nil
}

// lz4Bound is the most that a block can take when it is compressed.
func lz4Bound(block int) int64 { return int64(block) + int64(block)/255 + 16 }

// frame takes the header of the next frame, if there is one.
func (z *lz4Reader) frame() error {
	magic, ok := z.peek()
	if z.begun && (!ok || magic != lz4Legacy && magic != lz4Frame && magic&^15 != lz4Skip) {
		return io.EOF
	}
	if _, err := z.word(); err != nil {
		return unexpected(err)
	}
	return z.frameOf(magic)
}

func (z *lz4Reader) peek() (uint32, bool) {
	b, err := z.in.Peek(4)
	if err != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (z *lz4Reader) frameOf(magic uint32) error {
	switch {
	case magic == lz4Legacy:
		z.legacy, z.begun, z.block, z.flags = true, true, 8<<20, 0
	case magic == lz4Frame:
		var h [2]byte
		if _, err := io.ReadFull(z.in, h[:]); err != nil {
			return unexpected(err)
		}
		size := int(h[1] >> 4 & 7)
		if h[0]>>6 != 1 || size < 4 {
			return container.Errorf("lz4", container.Corrupt, "a frame header that no version has")
		}
		skip := 1
		if h[0]&8 != 0 {
			skip += 8
		}
		if h[0]&1 != 0 {
			return container.Errorf("lz4", container.Unsupported, "the frame needs a dictionary")
		}
		if _, err := z.in.Discard(skip); err != nil {
			return unexpected(err)
		}
		z.legacy, z.begun, z.flags, z.block = false, true, h[0], 1<<(8+2*size)
		z.out, z.at = z.out[:0], 0
	case magic&^15 == lz4Skip:
		n, err := z.word()
		if err == nil {
			_, err = io.CopyN(io.Discard, z.in, int64(n))
		}
		return unexpected(err)
	default:
		return container.Errorf("lz4", container.Corrupt, "not an LZ4 frame")
	}
	return nil
}

func (z *lz4Reader) word() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(z.in, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}
