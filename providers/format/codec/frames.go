package codec

import (
	"bytes"
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

// xzStreams finds the streams of an xz file by its headers and those of the
// chunks of LZMA2. The .xz file format, version 1.2.1.
type xzStreams struct {
	in      *input
	begun   bool
	state   func() (int64, error)
	check   int64 // size of the check of a block
	size    int64 // of the block or the index so far
	records uint64
}

var xzMagic = []byte("\xfd7zXZ\x00")

func (x *xzStreams) next() (int64, error) {
	if x.state == nil {
		x.state = x.stream
	}
	return x.state()
}

// stream is the header of one, behind padding of four zero bytes each.
func (x *xzStreams) stream() (int64, error) {
	for x.begun {
		b, _ := x.in.Peek(4)
		if !bytes.Equal(b, []byte{0, 0, 0, 0}) {
			break
		}
		x.in.Discard(4)
	}
	b, _ := x.in.Peek(12)
	if !bytes.HasPrefix(b, xzMagic) && x.begun {
		return 0, io.EOF
	}
	if len(b) < 12 {
		return everything, nil
	}
	x.begun, x.state = true, x.block
	x.check = []int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[b[7]&15]
	return 12, nil
}

// block is the header of one, or the beginning of the index.
func (x *xzStreams) block() (int64, error) {
	b, _ := x.in.Peek(10)
	if len(b) == 0 {
		return everything, nil
	}
	x.size = 0
	if b[0] != 0 {
		x.state = x.chunk
		return (int64(b[0]) + 1) * 4, nil
	}
	n := 0
	x.records, n = varint(b[1:])
	if n == 0 {
		return everything, nil
	}
	x.state = x.record
	x.size = 1 + int64(n)
	return x.size, nil
}

func (x *xzStreams) chunk() (int64, error) {
	b, _ := x.in.Peek(5)
	switch {
	case len(b) == 0:
		return everything, nil
	case b[0] == 0: // the end, padding and the check
		x.size++
		x.state = x.block
		return 1 + pad4(x.size) + x.check, nil
	case len(b) < 5:
		return everything, nil
	case b[0] <= 2:
		n := 3 + int64(binary.BigEndian.Uint16(b[1:])) + 1
		x.size += n
		return n, nil
	case b[0] < 0x80:
		return everything, nil
	}
	n := 5 + int64(binary.BigEndian.Uint16(b[3:])) + 1
	if b[0] >= 0xc0 {
		n++
	}
	x.size += n
	return n, nil
}

// record is one of the index, or its end and the footer of the stream.
func (x *xzStreams) record() (int64, error) {
	if x.records == 0 {
		x.state = x.stream
		return pad4(x.size) + 4 + 12, nil
	}
	x.records--
	b, _ := x.in.Peek(18)
	_, n := varint(b)
	_, k := varint(b[n:])
	if n == 0 || k == 0 {
		return everything, nil
	}
	x.size += int64(n + k)
	return int64(n + k), nil
}

func pad4(n int64) int64 { return -n & 3 }

// varint reads an integer of up to nine bytes; n is 0 when there is none.
func varint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 9; i++ {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
