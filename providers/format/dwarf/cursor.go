package dwarf

import (
	"bytes"
	"encoding/binary"
)

// cursor reads a section. off is the place in the section; a read beyond the
// end sets bad and gives zero, and every later read does too.
type cursor struct {
	b     []byte
	off   uint64
	order binary.ByteOrder
	bad   bool
}

func (c *cursor) left() uint64 {
	if c.off >= uint64(len(c.b)) {
		return 0
	}
	return uint64(len(c.b)) - c.off
}

func (c *cursor) fail() { c.bad, c.off = true, uint64(len(c.b)) }

func (c *cursor) bytes(n uint64) []byte {
	if n > c.left() {
		c.fail()
		return nil
	}
	b := c.b[c.off : c.off+n]
	c.off += n
	return b
}

func (c *cursor) u8() uint8 {
	if c.off >= uint64(len(c.b)) {
		c.bad = true
		return 0
	}
	v := c.b[c.off]
	c.off++
	return v
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u24() uint32 {
	b := c.bytes(3)
	if b == nil {
		return 0
	}
	if c.order == binary.ByteOrder(binary.BigEndian) {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// fixed reads an unsigned value of 1, 2, 4 or 8 bytes.
func (c *cursor) fixed(n uint8) uint64 {
	switch n {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.fail()
	return 0
}

// offset reads a section offset of the 32-bit or 64-bit format.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		if c.off >= uint64(len(c.b)) {
			c.bad = true
			return 0
		}
		b := c.b[c.off]
		c.off++
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	start := c.off
	v := c.uleb()
	if c.bad {
		return 0
	}
	if bits := 7 * (c.off - start); bits < 64 && c.b[c.off-1]&0x40 != 0 {
		v |= ^uint64(0) << bits
	}
	return int64(v)
}

// length reads a unit's length field.
func (c *cursor) length() (n uint64, wide bool) {
	n = uint64(c.u32())
	if n == 0xffffffff {
		return c.u64(), true
	}
	if n >= 0xfffffff0 {
		c.fail()
	}
	return n, false
}

// maxText bounds a string read from debug information.
const maxText = 1 << 16

// text returns the NUL-ended string at the cursor and steps over it.
func (c *cursor) text() string {
	if c.off >= uint64(len(c.b)) {
		c.bad = true
		return ""
	}
	n := bytes.IndexByte(c.b[c.off:], 0)
	if n < 0 {
		c.fail()
		return ""
	}
	s := c.b[c.off : c.off+uint64(n)]
	c.off += uint64(n) + 1
	return string(s[:min(n, maxText)])
}

// skipText steps over a string.
func (c *cursor) skipText() {
	n := -1
	if c.off < uint64(len(c.b)) {
		n = bytes.IndexByte(c.b[c.off:], 0)
	}
	if n < 0 {
		c.fail()
		return
	}
	c.off += uint64(n) + 1
}

// textAt returns the NUL-ended string at an offset of a string section.
func textAt(b []byte, off uint64) string {
	if off >= uint64(len(b)) {
		return ""
	}
	b = b[off:min(uint64(len(b)), off+maxText)]
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return ""
	}
	return string(b[:n])
}
