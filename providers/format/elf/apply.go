package elf

// applyAll applies the relocations of a relocatable object to a copy of the
// file. Types that are not known change nothing.
func (f *file) applyAll() {
	if len(f.relocs) == 0 && len(f.layout.debug) == 0 {
		return
	}
	f.layout.copied = append([]byte(nil), f.data...)
	for i := range f.relocs {
		r := &f.relocs[i]
		s := r.table.get(r.sym)
		if s == nil {
			continue
		}
		value, ok := f.symbolValue(r, s)
		if !ok {
			continue
		}
		place := f.place(r.addr)
		switch f.header.machine {
		case emX86_64:
			f.applyX86_64(r, s, value, place)
		case em386, emIAMCU:
			f.apply386(r, s, value, place)
		case emAArch64:
			f.applyAArch64(r, s, value, place)
		}
	}
	for _, d := range f.layout.debug {
		f.applyDebug(d)
	}
	f.im.SetRelocated(f.layout.copied)
}

// applyDebug applies the relocations of a debug section: plain values of four
// or eight bytes, for addresses and for offsets in other debug sections.
func (f *file) applyDebug(d debugRelocs) {
	b := f.layout.copied[min(d.section.offset, uint64(len(f.data))):]
	b = b[:min(d.section.size, uint64(len(b)))]
	for i := range d.relocs {
		r := &d.relocs[i]
		s := r.table.get(r.sym)
		if s == nil || r.addr >= uint64(len(b)) {
			continue
		}
		place := b[r.addr:]
		width := 4
		if f.is64 && r.class == classAbsolute {
			width = 8
		} else if r.class != classAbsolute && objectRelocWidth(f.header.machine, r.typ) != 4 {
			continue
		}
		value, ok := f.symbolValue(r, s)
		if !ok {
			continue
		}
		addend := r.addend
		if f.header.machine == em386 || f.header.machine == emARM { // REL: the addend is in the place
			addend = uint64(f.u32(place))
		}
		f.put(place, width, value+addend)
	}
}

// symbolValue is where a relocation's symbol lies in our layout.
func (f *file) symbolValue(r *reloc, s *symbol) (uint64, bool) {
	if r.sym == 0 {
		return 0, true
	}
	if s.shndx == shnUndef {
		v, ok := f.layout.externs[s]
		return v, ok
	}
	return f.address(s), s.typ() != sttTLS
}

// place returns the bytes of the copy from a mapped address to the end of its
// section.
func (f *file) place(addr uint64) []byte {
	seg := f.im.SegmentAt(addr)
	if seg == nil || addr-seg.Addr >= seg.FileSize {
		return nil
	}
	return f.layout.copied[seg.Offset+(addr-seg.Addr) : seg.Offset+seg.FileSize]
}

func (f *file) put(b []byte, n int, v uint64) {
	if len(b) < n {
		return
	}
	switch n {
	case 1:
		b[0] = byte(v)
	case 2:
		f.order.PutUint16(b, uint16(v))
	case 4:
		f.order.PutUint32(b, uint32(v))
	case 8:
		f.order.PutUint64(b, v)
	}
}

// gotReloc tells whether a type refers to a GOT slot of its symbol.
func gotReloc(machine uint16, typ uint32) bool {
	switch machine {
	case emX86_64:
		return typ == 9 || typ == 41 || typ == 42 // GOTPCREL, GOTPCRELX, REX_GOTPCRELX
	case em386:
		return typ == 3 || typ == 43 // GOT32, GOT32X
	case emAArch64:
		return typ == 311 || typ == 312 // ADR_GOT_PAGE, LD64_GOT_LO12_NC
	}
	return false
}

func (f *file) applyX86_64(r *reloc, s *symbol, value uint64, b []byte) {
	v := value + r.addend
	switch r.typ {
	case 1: // 64
		f.put(b, 8, v)
	case 2, 4: // PC32, PLT32
		f.put(b, 4, v-r.addr)
	case 9, 41, 42: // GOTPCREL and its relaxable forms
		if slot, ok := f.layout.slots[s]; ok {
			f.put(b, 4, slot+r.addend-r.addr)
		}
	case 10, 11: // 32, 32S
		f.put(b, 4, v)
	case 12: // 16
		f.put(b, 2, v)
	case 13: // PC16
		f.put(b, 2, v-r.addr)
	case 14: // 8
		f.put(b, 1, v)
	case 15: // PC8
		f.put(b, 1, v-r.addr)
	case 24: // PC64
		f.put(b, 8, v-r.addr)
	}
}

// gotBase is what _GLOBAL_OFFSET_TABLE_ stands for: the first slot.
func (f *file) gotBase() uint64 {
	if len(f.layout.targets) > 0 {
		return f.layout.slots[f.layout.targets[0]]
	}
	return f.layout.next
}

func (f *file) apply386(r *reloc, s *symbol, value uint64, b []byte) {
	addend := r.addend
	if r.class == classOther || r.class == classJumpSlot {
		addend = uint64(int64(int32(f.u32(b))))
	}
	switch r.typ {
	case 1: // 32
		f.put(b, 4, value+addend)
	case 2, 4: // PC32, PLT32
		f.put(b, 4, value+addend-r.addr)
	case 3, 43: // GOT32, GOT32X: relative to the table in a register, or absolute without one
		slot, ok := f.layout.slots[s]
		if !ok {
			return
		}
		if off := f.im.SegmentAt(r.addr); r.typ == 43 && r.addr > off.Addr && f.absoluteModRM(r.addr-1) {
			f.put(b, 4, slot+addend)
		} else {
			f.put(b, 4, slot+addend-f.gotBase())
		}
	case 9: // GOTOFF
		f.put(b, 4, value+addend-f.gotBase())
	case 10: // GOTPC
		f.put(b, 4, f.gotBase()+addend-r.addr)
	case 20: // 16
		f.put(b, 2, value+addend)
	case 21: // PC16
		f.put(b, 2, value+addend-r.addr)
	}
}

// absoluteModRM tells whether the ModRM byte at addr has no base register.
func (f *file) absoluteModRM(addr uint64) bool {
	b := f.place(addr)
	return len(b) > 0 && b[0]&0xc7 == 0x05
}

func (f *file) applyAArch64(r *reloc, s *symbol, value uint64, b []byte) {
	if len(b) < 4 {
		return
	}
	v := value + r.addend
	insn := f.u32(b)
	field := func(mask uint32, bits uint32) { f.put(b, 4, uint64(insn&^mask|bits&mask)) }
	page := func(a uint64) uint64 { return a &^ 0xfff }
	adr := func(d uint64) { field(0x60ffffe0, uint32(d&3)<<29|uint32(d>>2&0x7ffff)<<5) }
	switch r.typ {
	case 257: // ABS64
		f.put(b, 8, v)
	case 258: // ABS32
		f.put(b, 4, v)
	case 259: // ABS16
		f.put(b, 2, v)
	case 260: // PREL64
		f.put(b, 8, v-r.addr)
	case 261: // PREL32
		f.put(b, 4, v-r.addr)
	case 262: // PREL16
		f.put(b, 2, v-r.addr)
	case 263, 264: // MOVW_UABS_G0, _NC
		field(0xffff<<5, uint32(v&0xffff)<<5)
	case 265, 266: // MOVW_UABS_G1, _NC
		field(0xffff<<5, uint32(v>>16&0xffff)<<5)
	case 267, 268: // MOVW_UABS_G2, _NC
		field(0xffff<<5, uint32(v>>32&0xffff)<<5)
	case 269: // MOVW_UABS_G3
		field(0xffff<<5, uint32(v>>48)<<5)
	case 273, 280: // LD_PREL_LO19, CONDBR19
		field(0x7ffff<<5, uint32((v-r.addr)>>2)<<5)
	case 274: // ADR_PREL_LO21
		adr(v - r.addr)
	case 275, 276: // ADR_PREL_PG_HI21, _NC
		adr((page(v) - page(r.addr)) >> 12)
	case 277, 278: // ADD_ABS_LO12_NC, LDST8_ABS_LO12_NC
		field(0xfff<<10, uint32(v&0xfff)<<10)
	case 284: // LDST16_ABS_LO12_NC
		field(0xfff<<10, uint32(v&0xfff>>1)<<10)
	case 285: // LDST32_ABS_LO12_NC
		field(0xfff<<10, uint32(v&0xfff>>2)<<10)
	case 286: // LDST64_ABS_LO12_NC
		field(0xfff<<10, uint32(v&0xfff>>3)<<10)
	case 299: // LDST128_ABS_LO12_NC
		field(0xfff<<10, uint32(v&0xfff>>4)<<10)
	case 279: // TSTBR14
		field(0x3fff<<5, uint32((v-r.addr)>>2)<<5)
	case 282, 283: // JUMP26, CALL26
		field(0x03ffffff, uint32((v-r.addr)>>2))
	case 311: // ADR_GOT_PAGE
		if slot, ok := f.layout.slots[s]; ok {
			adr((page(slot+r.addend) - page(r.addr)) >> 12)
		}
	case 312: // LD64_GOT_LO12_NC
		if slot, ok := f.layout.slots[s]; ok {
			field(0xfff<<10, uint32((slot+r.addend)&0xfff>>3)<<10)
		}
	}
}

// objectRelocWidth is the size of the field that a relocation of an object
// file changes.
func objectRelocWidth(machine uint16, typ uint32) uint8 {
	switch machine {
	case emX86_64:
		switch typ {
		case 24, 25, 27, 28, 29, 30, 31, 33, 17, 18:
			return 8
		case 12, 13:
			return 2
		case 14, 15:
			return 1
		}
	case emAArch64:
		if typ == 260 {
			return 8
		}
		if typ == 259 || typ == 262 {
			return 2
		}
	case em386:
		switch typ {
		case 20, 21:
			return 2
		case 22, 23:
			return 1
		}
	}
	return 4
}

// objectTarget resolves a relocation of an object file against a symbol the
// file defines. A PC-relative field's addend also makes up for its distance
// from the end of the instruction, which is taken out again.
func (f *file) objectTarget(r *reloc, s *symbol) (uint64, bool) {
	v := f.address(s)
	mask := uint64(1<<32 - 1)
	switch f.header.machine {
	case emX86_64:
		switch r.typ {
		case 2, 4, 13, 15:
			if f.im.Executable(r.addr) {
				return v + r.addend + 4, true
			}
			return v + r.addend, true
		case 10, 11, 12, 14, 24:
			return v + r.addend, true
		}
	case em386, emIAMCU:
		switch r.typ {
		case 2, 4:
			if f.im.Executable(r.addr) {
				return (v + r.addend + 4) & mask, true
			}
			return (v + r.addend) & mask, true
		}
	case emAArch64:
		if r.typ >= 257 && r.typ <= 300 {
			return v + r.addend, true
		}
	}
	return 0, false
}
