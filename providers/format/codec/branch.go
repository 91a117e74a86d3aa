package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Filters of xz turn the absolute targets of branches back into relative ones,
// or differences back into values, behind the decoder. [the .xz file format 1.2.1,
// 5.3.2 and 5.3.3]

// A filter gives what is final of the content so far; everything when it ends.
type filter interface {
	next(b []byte, end bool) []byte
}

// newFilter gives the filter of an id and its properties, nil when there is none.
func newFilter(id uint64, properties []byte) filter {
	if id == 3 && len(properties) == 1 {
		return &delta{past: make([]byte, int(properties[0])+1)}
	}
	var f func(b []byte, at uint32) int
	unit := uint32(4)
	switch id {
	case 4:
		f, unit = (&x86Branches{last: ^uint32(4)}).decode, 1
	case 5:
		f = powerPCBranches
	case 7:
		f = armBranches
	case 8:
		f, unit = thumbBranches, 2
	case 9:
		f = sparcBranches
	case 10:
		f = arm64Branches
	default:
		return nil
	}
	switch len(properties) {
	case 0:
		return &branches{decode: f}
	case 4:
		if at := binary.LittleEndian.Uint32(properties); at%unit == 0 {
			return &branches{decode: f, at: at}
		}
	}
	return nil
}

// branches decodes whole instructions; the rest waits for more.
type branches struct {
	decode func(b []byte, at uint32) int // how many bytes are final
	at     uint32                        // of the next one
	rest   []byte
}

func (f *branches) next(b []byte, end bool) []byte {
	b = append(f.rest, b...)
	n := f.decode(b, f.at)
	if end {
		n = len(b)
	}
	f.at += uint32(n)
	f.rest = bytes.Clone(b[n:])
	return b[:n]
}

type delta struct {
	past []byte // a ring
	at   int
}

func (f *delta) next(b []byte, _ bool) []byte {
	for i := range b {
		b[i] += f.past[f.at]
		f.past[f.at] = b[i]
		f.at = (f.at + 1) % len(f.past)
	}
	return b
}

func powerPCBranches(b []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(b); i += 4 {
		if v := binary.BigEndian.Uint32(b[i:]); v&0xfc000003 == 0x48000001 {
			binary.BigEndian.PutUint32(b[i:], v&0xfc000003|(v-at-uint32(i))&0x03fffffc)
		}
	}
	return i
}

func armBranches(b []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(b); i += 4 {
		if v := binary.LittleEndian.Uint32(b[i:]); v>>24 == 0xeb {
			binary.LittleEndian.PutUint32(b[i:], 0xeb000000|(v-(at+uint32(i)+8)>>2)&0xffffff)
		}
	}
	return i
}

func thumbBranches(b []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(b); i += 2 {
		high, low := uint32(binary.LittleEndian.Uint16(b[i:])), uint32(binary.LittleEndian.Uint16(b[i+2:]))
		if high&0xf800 == 0xf000 && low&0xf800 == 0xf800 {
			to := (high&0x7ff)<<11 | low&0x7ff
			to -= (at + uint32(i) + 4) >> 1
			binary.LittleEndian.PutUint16(b[i:], uint16(0xf000|to>>11&0x7ff))
			binary.LittleEndian.PutUint16(b[i+2:], uint16(0xf800|to&0x7ff))
			i += 2
		}
	}
	return i
}

func sparcBranches(b []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(b); i += 4 {
		v := binary.BigEndian.Uint32(b[i:])
		if top := v >> 22; top == 0x100 || top == 0x1ff { // a call 8 MiB ahead or back at most
			to := v - (at+uint32(i))>>2
			binary.BigEndian.PutUint32(b[i:], 0x40000000|uint32(int32(to<<9)>>9)&0x3fffffff)
		}
	}
	return i
}

func arm64Branches(b []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(b); i += 4 {
		v, here := binary.LittleEndian.Uint32(b[i:]), at+uint32(i)
		switch {
		case v>>26 == 0x25: // BL
			v = 0x94000000 | (v-here>>2)&0x03ffffff
		case v&0x9f000000 == 0x90000000: // ADRP, 512 MiB ahead or back at most
			page := v>>29&3 | v>>3&0x1ffffc
			if (page+0x20000)&0x1c0000 != 0 {
				continue
			}
			page -= here >> 12
			v = v&0x9000001f | page&3<<29 | page&0x3fffc<<3
			if page&0x20000 != 0 {
				v |= 0xe00000
			}
		default:
			continue
		}
		binary.LittleEndian.PutUint32(b[i:], v)
	}
	return i
}

// x86Branches decodes CALL and JMP. What looks like one of them within the
// operand of another decides by where it stands whether either was encoded.
type x86Branches struct {
	last  uint32 // where an opcode stood last
	seen  uint32 // opcodes in the four bytes before, the nearest in the lowest bit
	begun bool
}

func signByte(b byte) bool { return b == 0 || b == 0xff }

func (f *x86Branches) decode(b []byte, at uint32) int {
	if !f.begun {
		f.last, f.begun = at-5, true
	}
	i := 0
	for i+5 <= len(b) {
		if b[i]&0xfe != 0xe8 {
			i++
			continue
		}
		here := at + uint32(i)
		if gap := here - f.last; gap > 5 {
			f.seen = 0
		} else {
			for range gap {
				f.seen = f.seen & 0x77 << 1
			}
		}
		f.last = here
		within := f.seen >> 1
		if !signByte(b[i+4]) || within >= 0x10 || bits.OnesCount32(within&7) > 1 {
			f.seen |= 1
			if signByte(b[i+4]) {
				f.seen |= 0x10
			}
			i++
			continue
		}
		to := binary.LittleEndian.Uint32(b[i+1:])
		for {
			to -= here + 5
			if f.seen == 0 {
				break
			}
			low := uint(8 * (4 - bits.Len32(within))) // bits below the byte that the opcode was in
			if !signByte(byte(to >> (low - 8))) {
				break
			}
			to ^= 1<<low - 1
		}
		to &= 0x1ffffff
		if to>>24 != 0 {
			to |= 0xff000000
		}
		binary.LittleEndian.PutUint32(b[i+1:], to)
		f.seen = 0
		i += 5
	}
	return i
}
