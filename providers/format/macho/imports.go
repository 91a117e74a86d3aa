package macho

import (
	"sort"

	"rea/providers/format/object"
)

// sectionIndex finds a section by address with a table sorted once.
func (l *loader) sectionIndex(addr uint64) (int, bool) {
	if l.bySect == nil {
		l.bySect = []int{}
		for i := range l.sections {
			if l.sections[i].mapped && l.sections[i].size > 0 {
				l.bySect = append(l.bySect, i)
			}
		}
		sort.SliceStable(l.bySect, func(i, j int) bool {
			return l.sections[l.bySect[i]].addr < l.sections[l.bySect[j]].addr
		})
	}
	i := sort.Search(len(l.bySect), func(i int) bool { return l.sections[l.bySect[i]].addr > addr })
	if i == 0 {
		return 0, false
	}
	s := &l.sections[l.bySect[i-1]]
	return l.bySect[i-1], addr-s.addr < s.size
}

// importTables turns pointers and stubs into imports. What the linker will bind
// a slot to is said by its fixup, and where it has none by the indirect symbol
// table. A stub belongs to the slot that its own code jumps through.
func (l *loader) importTables() {
	if l.ftype == typeObject && len(l.im.Imports) > 0 {
		return // its undefined symbols have been placed
	}
	used := map[string]bool{}  // imported names with a slot
	bySlot := map[uint64]int{} // index of the import of a slot
	slotOf := map[string]uint64{}
	for i := range l.sections {
		s := &l.sections[i]
		switch s.kind() {
		case sectNonLazyPointers, sectLazyPointers, sectLazyDylib, sectTLSPointers:
			l.pointerSection(s, used, bySlot, slotOf)
		}
	}
	for i := range l.sections {
		if s := &l.sections[i]; s.kind() == sectStubs {
			l.stubSection(s, used, bySlot, slotOf)
		}
	}
	for _, b := range l.binds {
		if b.name == "" || used[b.name] || l.coalesced(&b) {
			continue
		}
		used[b.name] = true
		l.im.Imports = append(l.im.Imports, object.Import{Name: b.name, Library: b.library, Weak: b.weak, Ordinal: -1})
	}
	l.undefined(used)
}

// undefined adds the symbols that nothing but the symbol table mentions.
func (l *loader) undefined(used map[string]bool) {
	for i := range l.symtab.count {
		s := l.nlistType(i)
		if s.stab() || !s.undefined() {
			continue
		}
		n := l.nlist(i)
		if n.name == "" || used[n.name] {
			continue
		}
		used[n.name] = true
		l.im.Imports = append(l.im.Imports, object.Import{
			Name: n.name, Library: l.symbolLibrary(&n), Weak: n.desc&descWeakRef != 0, Ordinal: -1,
		})
	}
}

// nlistType reads a record without its name.
func (l *loader) nlistType(i int) nlist {
	r := l.symtab.records[i*l.symtab.size:]
	return nlist{typ: r[4], sect: r[5]}
}

// coalesced tells whether a pointer is bound to a name that this image defines
// too: the linker then looks for one definition for all images, mostly this one.
func (l *loader) coalesced(b *bind) bool {
	_, defined := l.symtab.defined[b.name]
	return defined && b.library == ""
}

// slotImport is the import that is bound to a pointer.
func (l *loader) slotImport(slot, indirect uint64) (object.Import, bool) {
	if i, ok := l.slots[slot]; ok {
		b := &l.binds[i]
		if l.coalesced(b) {
			return object.Import{}, false
		}
		return object.Import{Name: b.name, Library: b.library, Weak: b.weak, Ordinal: -1}, b.name != ""
	}
	s, ok := l.indirectSymbol(indirect)
	if !ok || !s.undefined() {
		return object.Import{}, false
	}
	return object.Import{Name: s.name, Library: l.symbolLibrary(&s), Weak: s.desc&descWeakRef != 0, Ordinal: -1}, true
}

func (l *loader) pointerSection(s *section, used map[string]bool, bySlot map[uint64]int, slotOf map[string]uint64) {
	size := uint64(l.pointerSize())
	n := min(s.size/size, uint64(len(l.data))/size)
	if !s.mapped || !l.spend(int(n)) {
		return
	}
	for i := range n {
		slot := s.addr + i*size
		im, ok := l.slotImport(slot, uint64(s.res1)+i)
		if !ok {
			continue
		}
		im.Slot, im.Data = slot, s.kind() == sectTLSPointers
		if _, dup := bySlot[slot]; dup {
			continue
		}
		bySlot[slot] = len(l.im.Imports)
		l.im.Imports = append(l.im.Imports, im)
		used[im.Name] = true
		// A lazy pointer is what a stub of that name uses.
		if _, have := slotOf[im.Name]; !have || s.kind() == sectLazyPointers {
			slotOf[im.Name] = slot
		}
	}
}

func (l *loader) stubSection(s *section, used map[string]bool, bySlot map[uint64]int, slotOf map[string]uint64) {
	size := uint64(s.res2)
	if l.cpu == cpuARM64 && size < 12 {
		size = 12 // three instructions; Go's linker writes the size of x86 stubs
	}
	if !s.mapped || size == 0 || size > s.size {
		return
	}
	n := min(s.size/size, uint64(len(l.data))/size)
	if !l.spend(int(n)) {
		return
	}
	for i := range n {
		addr := s.addr + i*size
		stub := object.Stub{Addr: addr, Size: size, Kind: object.StubJump}
		sym, named := l.indirectSymbol(uint64(s.res1) + i)
		if named {
			stub.Name = sym.name
		}
		slot, decoded := l.stubSlot(addr, size)
		if !decoded && named {
			slot = slotOf[sym.name]
		}
		stub.Slot = slot
		if slot != 0 {
			if im, ok := l.slotImport(slot, ^uint64(0)); ok {
				stub.Name = im.Name
			}
		}
		if named && !sym.undefined() && sym.name == stub.Name && sym.typ&nTypeMask == nSection {
			stub.Target, stub.HasTarget = sym.value, true
		} else if i, ok := l.slots[slot]; ok && slot != 0 && l.coalesced(&l.binds[i]) {
			stub.Name = l.binds[i].name
			stub.Target, stub.HasTarget = l.symtab.defined[stub.Name], true
		}
		l.im.Stubs = append(l.im.Stubs, stub)
		if at, ok := bySlot[slot]; ok && slot != 0 {
			if im := &l.im.Imports[at]; im.Stub == 0 {
				im.Stub = addr
				continue
			}
			im := l.im.Imports[at]
			im.Stub = addr
			l.im.Imports = append(l.im.Imports, im)
			continue
		}
		im, ok := l.slotImport(slot, uint64(s.res1)+i)
		if !ok {
			continue
		}
		im.Slot, im.Stub = slot, addr
		used[im.Name] = true
		l.im.Imports = append(l.im.Imports, im)
	}
}

// stubSlot decodes the pointer that a stub jumps through.
func (l *loader) stubSlot(addr, size uint64) (uint64, bool) {
	b := l.im.Bytes(addr, int(min(size, 16)))
	switch l.cpu {
	case cpuX8664: // jmp *disp(%rip)
		for i := 0; i+6 <= len(b) && i <= 1; i++ {
			if b[i] == 0xff && b[i+1] == 0x25 {
				return addr + uint64(i) + 6 + uint64(int64(int32(l.u32(b[i+2:])))), true
			}
		}
	case cpuX86: // jmp *address
		if len(b) >= 6 && b[0] == 0xff && b[1] == 0x25 {
			return uint64(l.u32(b[2:])), true
		}
	case cpuARM64, cpuARM6432:
		if len(b) >= 12 {
			return arm64StubSlot(addr, l.u32(b), l.u32(b[4:]), l.u32(b[8:]))
		}
	}
	return 0, false
}

// arm64StubSlot reads "adrp; ldr" and, in authenticated stubs, "adrp; add; ldr".
func arm64StubSlot(addr uint64, w0, w1, w2 uint32) (uint64, bool) {
	if w0&0x9f000000 == 0x10000000 || w0&0xff000000 == 0x58000000 { // adr or ldr literal
		if w0&0xff000000 == 0x58000000 {
			off := int64(int32(w0<<8)) >> 13 << 2
			return addr + uint64(off), true
		}
		return 0, false
	}
	if w0&0x9f000000 != 0x90000000 {
		return 0, false
	}
	reg := w0 & 31
	imm := int64(w0>>5&0x7ffff)<<2 | int64(w0>>29&3)
	imm = imm << 43 >> 43 // sign of 21 bits
	page := addr&^0xfff + uint64(imm<<12)
	load := func(w, base uint32) (uint64, bool) {
		if w&0xffc00000 == 0xf9400000 && w>>5&31 == base {
			return uint64(w>>10&0xfff) * 8, true
		}
		if w&0xffc00000 == 0xb9400000 && w>>5&31 == base { // 32-bit pointers
			return uint64(w>>10&0xfff) * 4, true
		}
		return 0, false
	}
	if off, ok := load(w1, reg); ok {
		return page + off, true
	}
	if w1&0xffc00000 == 0x91000000 && w1>>5&31 == reg {
		if off, ok := load(w2, w1&31); ok {
			return page + uint64(w1>>10&0xfff) + off, true
		}
	}
	return 0, false
}
