package macho

import "rea/providers/format/object"

// functionStarts reads the distances between functions that the linker wrote.
func (l *loader) functionStarts() {
	b := l.linkEdit("function starts", cmdFuncStarts)
	c := &opcodes{b, true}
	addr := l.im.Base
	first := len(l.im.Hints)
	for c.more() && l.spend(1) {
		d := c.uint()
		if !c.ok {
			l.im.Note("function starts are cut off")
			break
		}
		if d == 0 { // the end; padding follows
			break
		}
		addr += d
		before := len(l.im.Hints)
		l.hint(addr, 0, "", object.FromFunctionStarts)
		if len(l.im.Hints) == before {
			l.im.Note("function starts name addresses that are not code")
		}
	}
	if first == len(l.im.Hints) && len(b) > 0 && l.ftype != typeObject {
		l.im.Note("the function starts are empty")
	}
}

// dataInCode reads the ranges of jump tables and constants within code.
func (l *loader) dataInCode() {
	b := l.linkEdit("data in code", cmdDataInCode)
	for ; len(b) >= 8 && l.spend(1); b = b[8:] {
		off, size := uint64(l.u32(b)), uint64(l.order.Uint16(b[4:]))
		if addr, ok := l.addressOf(off); ok && size > 0 {
			l.im.DataInCode = append(l.im.DataInCode, object.Range{Addr: addr, Size: size})
		}
	}
}

// addressOf is where a file offset is mapped. In objects, offsets count from
// the first section.
func (l *loader) addressOf(off uint64) (uint64, bool) {
	if l.ftype == typeObject {
		return ObjectBase + off, l.im.SegmentAt(ObjectBase+off) != nil
	}
	for _, s := range l.segments {
		if off >= s.off && off-s.off < s.fileSize {
			return s.addr + (off - s.off), true
		}
	}
	return 0, false
}

// entry reads where execution begins: an offset for dyld's main, or the
// registers of a thread.
func (l *loader) entry() {
	if c, ok := l.find(24, cmdMain); ok {
		if addr, ok := l.addressOf(l.order.Uint64(c.data[8:])); ok {
			l.setEntry(addr)
		} else {
			l.im.Note("the entry point lies outside the file")
		}
		return
	}
	c, ok := l.find(16, cmdUnixThread, cmdThread)
	if !ok {
		return
	}
	// Thread states: flavor, count of 32-bit words, registers.
	for b := c.data[8:]; len(b) >= 8; {
		flavor, words := l.u32(b), uint64(l.u32(b[4:]))
		state := b[8:]
		if words > uint64(len(state)/4) {
			l.im.Note("a thread state claims %d words, its command holds %d", words, len(state)/4)
			return
		}
		if pc, ok := l.programCounter(flavor, state[:4*words]); ok {
			l.setEntry(pc)
			return
		}
		b = state[4*words:]
	}
}

func (l *loader) setEntry(addr uint64) {
	l.im.Entry, l.im.HasEntry = addr, true
	if !l.executable(addr) {
		l.im.Note("entry point %#x is not in executable memory", addr)
	}
	l.hint(addr, 0, "", object.FromEntry)
}

func (l *loader) programCounter(flavor uint32, state []byte) (uint64, bool) {
	at, size := -1, 8
	switch {
	case l.cpu == cpuX8664 && flavor == 4:
		at = 16 * 8
	case l.cpu == cpuX86 && flavor == 1:
		at, size = 10*4, 4
	case l.cpu == cpuARM64 && flavor == 6:
		at = 32 * 8
	case l.cpu == cpuARM && flavor == 1:
		at, size = 15*4, 4
	}
	if at < 0 || at+size > len(state) {
		return 0, false
	}
	if size == 4 {
		return uint64(l.u32(state[at:])), true
	}
	return l.order.Uint64(state[at:]), true
}

// initializers reads the functions that run before and after main.
func (l *loader) initializers() {
	for i := range l.sections {
		s := &l.sections[i]
		if !s.mapped {
			continue
		}
		switch s.kind() {
		case sectModInit, sectModTerm, sectTLSInit:
			l.pointerHints(s)
		case sectInitOffsets:
			for b := l.im.Bytes(s.addr, int(min(s.size, uint64(len(l.data))))); len(b) >= 4 && l.spend(1); b = b[4:] {
				l.hint(l.im.Base+uint64(l.u32(b)), 0, "", object.FromInitArray)
			}
		}
	}
	if c, ok := l.find(24, cmdRoutines64); ok {
		l.hint(l.order.Uint64(c.data[8:]), 0, "", object.FromInitArray)
	} else if c, ok := l.find(16, cmdRoutines); ok {
		l.hint(uint64(l.u32(c.data[8:])), 0, "", object.FromInitArray)
	}
}

func (l *loader) pointerHints(s *section) {
	size := uint64(l.pointerSize())
	n := min(s.size/size, uint64(len(l.data))/size)
	if !l.spend(int(n)) {
		return
	}
	for i := range n {
		if v, ok := l.pointerAt(s.addr + i*size); ok && v != 0 {
			l.hint(v, 0, "", object.FromInitArray)
		}
	}
}
