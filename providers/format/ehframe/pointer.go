package ehframe

import (
	"encoding/binary"
)

// Pointer encodings (DW_EH_PE): the low nibble is the value's form, the next
// three bits what it is relative to, the top bit asks for one more load.
const (
	peAbsolute, peULEB, peU2, peU4, peU8     = 0x00, 0x01, 0x02, 0x03, 0x04
	peSigned, peSLEB, peS2, peS4, peS8       = 0x08, 0x09, 0x0a, 0x0b, 0x0c
	pePCRel, peTextRel, peDataRel, peFuncRel = 0x10, 0x20, 0x30, 0x40
	peAligned, peIndirect, peOmit            = 0x50, 0x80, 0xff
)

// cursor reads a mapped range and remembers the address of what it reads. After
// a read outside the range bad is set and everything reads as zero.
type cursor struct {
	b    []byte
	addr uint64 // of b[0]
	big  bool
	word int
	bad  bool
}

func (r *reader) cursorAt(addr, n uint64) cursor {
	return cursor{b: r.bytes(addr, n), addr: addr, big: r.im.BigEndian, word: r.im.Bits / 8}
}

func (r *reader) bytes(addr, n uint64) []byte {
	return r.im.Bytes(addr, int(min(n, uint64(len(r.im.Data())))))
}

func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.b)) {
		c.bad, n = true, uint64(len(c.b))
	}
	c.b, c.addr = c.b[n:], c.addr+n
}

func (c *cursor) fixed(n int) uint64 {
	if n > len(c.b) {
		c.bad = true
		c.skip(uint64(len(c.b)))
		return 0
	}
	var v uint64
	order := binary.ByteOrder(binary.LittleEndian)
	if c.big {
		order = binary.BigEndian
	}
	switch n {
	case 1:
		v = uint64(c.b[0])
	case 2:
		v = uint64(order.Uint16(c.b))
	case 4:
		v = uint64(order.Uint32(c.b))
	case 8:
		v = order.Uint64(c.b)
	}
	c.skip(uint64(n))
	return v
}

func (c *cursor) u8() byte { return byte(c.fixed(1)) }

func (c *cursor) uleb() uint64 {
	v, shift := uint64(0), uint(0)
	for i, b := range c.b {
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 {
			c.skip(uint64(i + 1))
			return v
		}
		if i == 18 {
			break
		}
	}
	c.bad = true
	return 0
}

func (c *cursor) sleb() uint64 {
	start := c.b
	v := c.uleb()
	if c.bad {
		return 0
	}
	n := len(start) - len(c.b)
	if bits := uint(7 * n); bits < 64 && start[n-1]&0x40 != 0 {
		v |= ^uint64(0) << bits
	}
	return v
}

// value reads the form of an encoded pointer, sign-extended where it is signed.
func (c *cursor) value(encoding byte) uint64 {
	switch encoding & 0x0f {
	case peAbsolute, peSigned:
		return c.fixed(c.word)
	case peULEB:
		return c.uleb()
	case peSLEB:
		return c.sleb()
	case peU2:
		return c.fixed(2)
	case peU4:
		return c.fixed(4)
	case peU8, peS8:
		return c.fixed(8)
	case peS2:
		return uint64(int64(int16(c.fixed(2))))
	case peS4:
		return uint64(int64(int32(c.fixed(4))))
	}
	c.bad = true
	return 0
}

// bases are what encoded pointers can be relative to.
type bases struct{ text, data, function uint64 }

// pointer reads an encoded pointer. Zero means a null pointer, whatever it is
// relative to.
func (c *cursor) pointer(encoding byte, b bases) uint64 {
	if encoding == peOmit {
		return 0
	}
	if encoding&0x70 == peAligned {
		c.skip(-c.addr & uint64(c.word-1))
	}
	at := c.addr
	v := c.value(encoding)
	if v == 0 || c.bad {
		return 0
	}
	switch encoding & 0x70 {
	case pePCRel:
		v += at
	case peTextRel:
		v += b.text
	case peDataRel:
		v += b.data
	case peFuncRel:
		v += b.function
	}
	return c.wrap(v)
}

func (c *cursor) wrap(v uint64) uint64 {
	if c.word == 4 {
		v &= 1<<32 - 1
	}
	return v
}

// entry is the position of one call frame entry.
type entry struct {
	at     uint64 // address of the length field
	body   cursor // from the id field to the end
	length uint64 // whole size, length field included
	end    bool   // a terminator
}

// next reads the length field of an entry.
func (c *cursor) next() (entry, bool) {
	e := entry{at: c.addr}
	rest := *c
	n := rest.fixed(4)
	if n == 0xffffffff {
		n = rest.fixed(8)
	}
	if rest.bad || n > uint64(len(rest.b)) {
		return e, false
	}
	e.end = n == 0
	e.body = rest
	e.body.b = rest.b[:n]
	rest.skip(n)
	e.length = rest.addr - e.at
	*c = rest
	return e, true
}
