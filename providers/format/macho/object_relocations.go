package macho

import (
	"rea/providers/format/object"
)

// ObjectBase is what is added to the addresses of an object file, which start
// at 0, so that none of them can be mistaken for an absent one.
const ObjectBase = 0x100000

// Names and sizes of what the layout adds to an object: a place for each
// undefined symbol and a pointer for each symbol that code reaches through one.
const (
	externName = "*UND*"
	slotName   = "*GOT*"
	commonName = "*COM*"
	externSize = 16
)

// Relocation types of objects.
const (
	relX64Unsigned   = 0
	relX64Signed     = 1
	relX64Branch     = 2
	relX64GOTLoad    = 3
	relX64GOT        = 4
	relX64Subtractor = 5
	relX64Signed1    = 6
	relX64Signed2    = 7
	relX64Signed4    = 8
	relX64TLV        = 9

	relARM64Unsigned   = 0
	relARM64Subtractor = 1
	relARM64Branch26   = 2
	relARM64Page21     = 3
	relARM64PageOff12  = 4
	relARM64GOTPage    = 5
	relARM64GOTOff     = 6
	relARM64GOTPointer = 7
	relARM64TLVPage    = 8
	relARM64TLVOff     = 9
	relARM64Addend     = 10
	relARM64Auth       = 11
)

var x64RelocationNames = []string{
	"X86_64_RELOC_UNSIGNED", "X86_64_RELOC_SIGNED", "X86_64_RELOC_BRANCH", "X86_64_RELOC_GOT_LOAD", "X86_64_RELOC_GOT",
	"X86_64_RELOC_SUBTRACTOR", "X86_64_RELOC_SIGNED_1", "X86_64_RELOC_SIGNED_2", "X86_64_RELOC_SIGNED_4", "X86_64_RELOC_TLV",
}

var arm64RelocationNames = []string{
	"ARM64_RELOC_UNSIGNED", "ARM64_RELOC_SUBTRACTOR", "ARM64_RELOC_BRANCH26", "ARM64_RELOC_PAGE21", "ARM64_RELOC_PAGEOFF12",
	"ARM64_RELOC_GOT_LOAD_PAGE21", "ARM64_RELOC_GOT_LOAD_PAGEOFF12", "ARM64_RELOC_POINTER_TO_GOT",
	"ARM64_RELOC_TLVP_LOAD_PAGE21", "ARM64_RELOC_TLVP_LOAD_PAGEOFF12", "ARM64_RELOC_ADDEND", "ARM64_RELOC_AUTHENTICATED_POINTER",
}

// relocation is one record of a section's relocation table.
type relocation struct {
	off    uint32
	symbol uint32 // symbol index, section number or addend
	pcrel  bool
	size   int
	extern bool
	typ    byte
}

func (l *loader) relocation(b []byte) relocation {
	info := l.u32(b[4:])
	return relocation{
		off: l.u32(b), symbol: info & 0xffffff, pcrel: info>>24&1 != 0, size: 1 << (info >> 25 & 3),
		extern: info>>27&1 != 0, typ: byte(info >> 28),
	}
}

// objectLayout holds the addresses made up for an object.
type objectLayout struct {
	next    uint64
	symbols map[uint32]uint64 // by symbol index: undefined and common symbols
	slots   map[uint32]uint64 // by symbol index: pointers
}

// objectRelocations places what an object leaves to the linker and applies its
// relocations to a copy, as a linker would for this layout.
func (l *loader) objectRelocations() {
	if l.cpu != cpuX8664 && l.cpu != cpuARM64 {
		l.im.Note("relocations of %s objects are not applied", l.im.Machine)
		return
	}
	l.placeObjectSymbols()
	l.im.NormalizeSegments()
	l.resolved = append([]byte(nil), l.data...)
	for i := range l.sections {
		s := &l.sections[i]
		if s.nreloc == 0 {
			continue
		}
		b := l.file(uint64(s.relocs), 8*uint64(s.nreloc), "relocations of "+s.name)
		if !s.mapped || s.zero() || !l.spend(len(b)/8) {
			continue
		}
		l.sectionRelocations(s, b)
	}
}

// placeObjectSymbols makes addresses up: commons, undefined symbols, pointers.
func (l *loader) placeObjectSymbols() {
	o := &l.made
	o.symbols, o.slots = map[uint32]uint64{}, map[uint32]uint64{}
	for _, s := range l.segments {
		o.next = max(o.next, s.addr+min(s.size, 1<<40))
	}
	group := func(name string, perm object.Permissions, visit func(place func(size uint64) uint64)) {
		o.next = (o.next + 0xfff) &^ 0xfff
		start := o.next
		visit(func(size uint64) uint64 {
			addr := (o.next + 15) &^ 15
			o.next = addr + size
			return addr
		})
		if o.next > start {
			l.im.Segments = append(l.im.Segments, object.Segment{Name: name, Addr: start, Size: o.next - start, Perm: perm})
		}
	}
	data := object.Permissions{Read: true, Write: true}
	group(commonName, data, func(place func(uint64) uint64) {
		for i := range l.symtab.count {
			if s := l.nlist(i); !s.stab() && s.undefined() && s.value != 0 && s.name != "" {
				o.symbols[uint32(i)] = place(min(s.value, 1<<32))
			}
		}
	})
	group(externName, object.Permissions{Read: true, Execute: true}, func(place func(uint64) uint64) {
		for i := range l.symtab.count {
			s := l.nlistType(i)
			if _, common := o.symbols[uint32(i)]; common || s.stab() || !s.undefined() {
				continue
			}
			n := l.nlist(i)
			if n.name == "" {
				continue
			}
			addr := place(externSize)
			o.symbols[uint32(i)] = addr
			l.im.Imports = append(l.im.Imports, object.Import{Name: n.name, Stub: addr, Ordinal: -1, Weak: n.desc&descWeakRef != 0})
			l.im.Stubs = append(l.im.Stubs, object.Stub{Addr: addr, Size: externSize, Kind: object.StubJump, Name: n.name})
		}
	})
	group(slotName, data, func(place func(uint64) uint64) {
		for i := range l.sections {
			s := &l.sections[i]
			b := l.data
			if uint64(s.relocs) >= uint64(len(b)) {
				continue
			}
			b = b[s.relocs:]
			for n := s.nreloc; n > 0 && len(b) >= 8 && l.spend(1); n, b = n-1, b[8:] {
				r := l.relocation(b)
				if _, have := o.slots[r.symbol]; !have && l.throughSlot(r.typ) && r.extern && r.symbol < uint32(l.symtab.count) {
					o.slots[r.symbol] = place(8)
				}
			}
		}
	})
	l.slotRelocations()
}

// slotRelocations says what the made-up pointers lead to.
func (l *loader) slotRelocations() {
	o := &l.made
	byStub := map[uint64]int{}
	for i, im := range l.im.Imports {
		byStub[im.Stub] = i
	}
	for i := range uint32(l.symtab.count) {
		slot, ok := o.slots[i]
		if !ok {
			continue
		}
		n := l.nlist(int(i))
		r := object.Relocation{Addr: slot, Size: 8, Type: "GOT", Symbol: n.name}
		if target, local, ok := l.symbolAddress(i); ok && local {
			r.Target, r.HasTarget = target, true
		}
		l.im.Relocations = append(l.im.Relocations, r)
		if j, ok := byStub[o.symbols[i]]; ok {
			l.im.Imports[j].Slot = slot
		}
	}
}

func (l *loader) throughSlot(typ byte) bool {
	if l.cpu == cpuX8664 {
		return typ == relX64GOT || typ == relX64GOTLoad || typ == relX64TLV
	}
	return typ >= relARM64GOTPage && typ <= relARM64TLVOff
}

// symbolAddress is where a symbol is in the layout, and whether it is defined here.
func (l *loader) symbolAddress(index uint32) (addr uint64, local, ok bool) {
	if index >= uint32(l.symtab.count) {
		return 0, false, false
	}
	s := l.nlist(int(index))
	switch s.typ & nTypeMask {
	case nSection:
		return s.value, true, true
	case nAbsolute:
		return s.value, true, true
	}
	addr, ok = l.made.symbols[index]
	return addr, s.value != 0, ok
}

func (l *loader) sectionRelocations(s *section, b []byte) {
	var subtract *relocation
	var addend int64
	for ; len(b) >= 8; b = b[8:] {
		r := l.relocation(b)
		if r.off>>31 != 0 {
			l.im.Note("section %s has a scattered relocation, which this machine has not", s.name)
			continue
		}
		switch {
		case l.cpu == cpuARM64 && r.typ == relARM64Addend:
			addend = int64(int32(r.symbol<<8) >> 8)
			continue
		case l.cpu == cpuARM64 && r.typ == relARM64Subtractor, l.cpu == cpuX8664 && r.typ == relX64Subtractor:
			subtract = &r
			continue
		}
		l.applyRelocation(s, r, subtract, addend)
		subtract, addend = nil, 0
	}
}

func (l *loader) applyRelocation(s *section, r relocation, subtract *relocation, addend int64) {
	at := uint64(s.off) + uint64(r.off)
	if uint64(r.off)+uint64(r.size) > s.size || at+uint64(r.size) > uint64(len(l.resolved)) || r.size < 4 {
		l.im.Note("section %s has a relocation that lies outside it", s.name)
		return
	}
	field := l.resolved[at:]
	out := object.Relocation{Addr: s.addr + uint64(r.off), Size: uint8(r.size)}
	names := x64RelocationNames
	if l.cpu == cpuARM64 {
		names = arm64RelocationNames
	}
	if int(r.typ) >= len(names) {
		l.im.Note("section %s has a relocation of unknown type %d", s.name, r.typ)
		return
	}
	out.Type = names[r.typ]
	var target uint64
	local := true
	if r.extern {
		var ok bool
		if target, local, ok = l.symbolAddress(r.symbol); !ok {
			l.im.Note("section %s has a relocation that names no symbol", s.name)
			return
		}
		n := l.nlist(int(r.symbol))
		out.Symbol = n.name
	}
	if l.throughSlot(r.typ) {
		target, local = l.made.slots[r.symbol], false
	}
	switch {
	case subtract != nil:
		if !l.applyDifference(field, r, target, subtract) {
			l.im.Note("section %s has a difference that names no symbol", s.name)
			return
		}
	case l.cpu == cpuARM64 && r.typ != relARM64Unsigned && r.typ != relARM64Auth && r.typ != relARM64GOTPointer:
		target += uint64(addend)
		patchARM64(l.order, field, r.typ, target, out.Addr)
	case r.pcrel:
		v := uint64(int64(int32(l.u32(field))))
		extra := uint64(0)
		switch r.typ {
		case relX64Signed1:
			extra = 1
		case relX64Signed2:
			extra = 2
		case relX64Signed4:
			extra = 4
		}
		if l.cpu == cpuARM64 { // a distance to a pointer, from the field itself
			l.order.PutUint32(field, uint32(target-out.Addr))
			break
		}
		if r.extern {
			l.order.PutUint32(field, uint32(target+v-out.Addr-4))
			target += v + extra
		} else { // sections keep their distances, so the value stays right
			target = out.Addr + 4 + v + extra
		}
	default:
		v := uint64(l.u32(field))
		if r.size == 8 {
			v = l.order.Uint64(field)
		}
		if !r.extern {
			target = ObjectBase
		}
		target += v
		if r.size == 8 {
			l.order.PutUint64(field, target)
		} else {
			l.order.PutUint32(field, uint32(target))
		}
	}
	if local {
		out.Target, out.HasTarget = target, true
	}
	l.im.Relocations = append(l.im.Relocations, out)
}

// applyDifference stores target minus the subtrahend plus the addend in place.
func (l *loader) applyDifference(field []byte, r relocation, target uint64, subtract *relocation) bool {
	base := uint64(ObjectBase)
	if subtract.extern {
		var ok bool
		if base, _, ok = l.symbolAddress(subtract.symbol); !ok {
			return false
		}
	}
	if !r.extern {
		target = ObjectBase
	}
	if r.size == 8 {
		l.order.PutUint64(field, l.order.Uint64(field)+target-base)
	} else {
		l.order.PutUint32(field, l.u32(field)+uint32(target-base))
	}
	return true
}
