package macho

// opcodes is a cursor over the opcode streams of LC_DYLD_INFO and other tables
// of LEB128 numbers. ok turns false at the first misread.
type opcodes struct {
	b  []byte
	ok bool
}

func (c *opcodes) more() bool { return c.ok && len(c.b) > 0 }

func (c *opcodes) byte() byte {
	if len(c.b) == 0 {
		c.ok = false
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *opcodes) uint() uint64 {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		b := c.byte()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 || !c.ok {
			return v
		}
	}
	c.ok = false
	return 0
}

func (c *opcodes) int() int64 {
	var v int64
	for shift := uint(0); shift < 70; shift += 7 {
		b := c.byte()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 || !c.ok {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	c.ok = false
	return 0
}

// dyldInfo interprets the compressed fixups of LC_DYLD_INFO.
func (l *loader) dyldInfo() {
	c, ok := l.find(48, cmdDyldInfo, cmdDyldInfoOnly)
	if !ok {
		return
	}
	part := func(at int, what string) []byte {
		return l.file(uint64(l.u32(c.data[at:])), uint64(l.u32(c.data[at+4:])), what)
	}
	l.rebaseOpcodes(part(8, "rebase information"))
	l.bindOpcodes(part(16, "bind information"), "bind")
	l.bindOpcodes(part(24, "weak bind information"), "weak_bind")
	l.bindOpcodes(part(32, "lazy bind information"), "lazy_bind")
}

// place is the position of an opcode stream: an offset into a segment.
type place struct {
	seg *segment
	off uint64
}

// set moves to a segment; ok is false if there is no such segment.
func (p *place) set(l *loader, index byte, off uint64) bool {
	if int(index) >= len(l.segments) {
		return false
	}
	p.seg, p.off = &l.segments[index], off
	return true
}

// addr is the current address, if a pointer fits there.
func (p *place) addr(pointer uint64) (uint64, bool) {
	if p.seg == nil || p.seg.size < pointer || p.off > p.seg.size-pointer {
		return 0, false
	}
	return p.seg.addr + p.off, true
}

func (l *loader) rebaseOpcodes(b []byte) {
	c := &opcodes{b, true}
	p := &place{}
	pointer := uint64(l.pointerSize())
	size := uint8(pointer)
	run := func(n, skip uint64) bool {
		for ; n > 0; n-- {
			addr, ok := p.addr(pointer)
			if !ok {
				l.im.Note("rebase information leaves its segment")
				return false
			}
			if !l.spend(1) {
				return false
			}
			if v, ok := l.pointerAt(addr); ok {
				l.addRebase(addr, v, size, "rebase")
			}
			p.off += pointer + skip
		}
		return true
	}
	for c.more() {
		op := c.byte()
		imm := uint64(op & 15)
		good := true
		switch op & 0xf0 {
		case 0x00: // done
			return
		case 0x10: // type
		case 0x20:
			good = p.set(l, byte(imm), c.uint())
		case 0x30:
			p.off += c.uint()
		case 0x40:
			p.off += imm * pointer
		case 0x50:
			good = run(imm, 0)
		case 0x60:
			good = run(c.uint(), 0)
		case 0x70:
			good = run(1, 0)
			p.off += c.uint()
		case 0x80:
			n := c.uint()
			good = run(n, c.uint())
		default:
			good = false
			l.im.Note("unknown rebase opcode %#x", op)
		}
		if !good || !c.ok {
			l.im.Note("rebase information can't be read to its end")
			return
		}
	}
}

func (l *loader) bindOpcodes(b []byte, kind string) {
	c := &opcodes{b, true}
	p := &place{}
	pointer := uint64(l.pointerSize())
	cur := bind{kind: kind}
	var ordinals []bind // of threaded binds
	threaded := false
	one := func() bool {
		if threaded {
			ordinals = append(ordinals, cur)
			return l.spend(1)
		}
		addr, ok := p.addr(pointer)
		if !ok {
			l.im.Note("%s information leaves its segment", kind)
			return false
		}
		cur.addr = addr
		l.addBind(cur)
		return l.budget > 0
	}
	for c.more() {
		op := c.byte()
		imm := uint64(op & 15)
		good := true
		switch op & 0xf0 {
		case 0x00: // done; between the entries of lazy binds only a separator
			if kind != "lazy_bind" {
				return
			}
		case 0x10:
			cur.library = l.library(int(imm))
		case 0x20:
			cur.library = l.library(int(min(c.uint(), 1<<30)))
		case 0x30: // special: this image, main executable, flat, weak look-up
			cur.library = ""
		case 0x40:
			cur.weak = imm&1 != 0
			name, ok := l.name(c.b)
			good = ok
			if ok {
				c.b = c.b[len(name)+1:]
				cur.name = name
			}
		case 0x50: // type
		case 0x60:
			c.int()
		case 0x70:
			good = p.set(l, byte(imm), c.uint())
		case 0x80:
			p.off += c.uint()
		case 0x90:
			good = one()
			p.off += pointer
		case 0xa0:
			good = one()
			p.off += pointer + c.uint()
		case 0xb0:
			good = one()
			p.off += pointer + imm*pointer
		case 0xc0:
			n, skip := c.uint(), c.uint()
			for ; n > 0 && good; n-- {
				good = one()
				p.off += pointer + skip
			}
		case 0xd0:
			switch imm {
			case 0:
				threaded = true
				c.uint()
			case 1:
				good = l.threadedChain(p, ordinals)
			default:
				good = false
			}
		default:
			good = false
			l.im.Note("unknown bind opcode %#x", op)
		}
		if !good || !c.ok {
			l.im.Note("%s information can't be read to its end", kind)
			return
		}
	}
}

// threadedChain follows the arm64e chains that preceded chained fixups: same
// pointers, started by an opcode, ended by a distance of zero.
func (l *loader) threadedChain(p *place, ordinals []bind) bool {
	for {
		addr, ok := p.addr(8)
		if !ok || !l.spend(1) {
			return false
		}
		raw, ok := l.rawPointer(addr)
		if !ok {
			return false
		}
		// Targets of plain rebases are addresses, as in the first arm64e format.
		l.chainedPointer(addr, raw, formatARM64E, ordinals, 0)
		next := raw >> 51 & 0x7ff
		if next == 0 {
			return true
		}
		p.off += next * 8
	}
}
