package codec

import (
	"encoding/binary"
	"io"
)

// zstdFrames finds the frames of a zstd file by their headers and those of
// their blocks. RFC 8878.
type zstdFrames struct {
	in      *input
	begun   bool
	inside  bool // a frame
	summed  bool // a checksum stands behind the frame
	lastOne bool // the block was the last
}

func (z *zstdFrames) next() (int64, error) {
	if !z.inside {
		return z.frame()
	}
	if z.lastOne {
		z.inside, z.lastOne = false, false
		if z.summed {
			return 4, nil
		}
		return z.frame()
	}
	b, err := z.in.Peek(3)
	if err != nil {
		return everything, nil
	}
	h := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	z.lastOne = h&1 != 0
	switch size := int64(h >> 3); h >> 1 & 3 {
	case 1:
		return 3 + 1, nil
	case 3:
		return everything, nil
	default:
		return 3 + size, nil
	}
}

func (z *zstdFrames) frame() (int64, error) {
	b, err := z.in.Peek(8)
	if len(b) < 4 {
		if z.begun {
			return 0, io.EOF
		}
		return everything, nil
	}
	magic := binary.LittleEndian.Uint32(b)
	switch {
	case magic == 0xfd2fb528 && len(b) > 4:
		z.begun, z.inside, z.summed = true, true, b[4]&4 != 0
		n := 5 + int64([]int{0, 1, 2, 4}[b[4]&3])
		single := b[4]&0x20 != 0
		if !single {
			n++
		}
		switch b[4] >> 6 {
		case 0:
			if single {
				n++
			}
		case 1:
			n += 2
		case 2:
			n += 4
		case 3:
			n += 8
		}
		return n, nil
	case magic&^15 == 0x184d2a50 && err == nil:
		z.begun = true
		return 8 + int64(binary.LittleEndian.Uint32(b[4:])), nil
	case z.begun:
		return 0, io.EOF
	}
	return everything, nil
}
