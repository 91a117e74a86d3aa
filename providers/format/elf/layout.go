package elf

import (
	"strings"

	"rea/providers/format/object"
)

// RelocatableBase is where the first section of a relocatable object is put.
// It is not zero, so that no code has the address that stands for "none".
const RelocatableBase = 0x100000

// Sizes of what the layout makes up: a place for each undefined symbol, and
// how it names the two ranges.
const (
	externSize  = 16
	externName  = "*UND*"
	slotsName   = "*GOT*"
	commonsName = "*COM*"
	maxAlign    = 1 << 24
)

// layout places what a relocatable object leaves to the linker.
type layout struct {
	next    uint64 // first free address
	limit   uint64 // end of the address space used
	tables  map[int]*symbolTable
	commons map[*symbol]uint64
	externs map[*symbol]uint64
	slots   map[*symbol]uint64
	order   []*symbol // undefined symbols in order of placing
	targets []*symbol // symbols with a slot, in order of placing
	debug   []debugRelocs
	copied  []byte
}

// debugRelocs are the relocations of a debug section, which has no address;
// their places are offsets in it.
type debugRelocs struct {
	section *section
	relocs  []reloc
}

// place reserves size bytes and returns their address, or false when they do
// not fit the address space.
func (l *layout) place(size, align uint64) (uint64, bool) {
	if align == 0 || align&(align-1) != 0 || align > maxAlign {
		align = 16
	}
	addr := (l.next + align - 1) &^ (align - 1)
	if addr > l.limit || size > l.limit-addr {
		return 0, false
	}
	l.next = addr + size
	return addr, true
}

// layOut gives the allocated sections of a relocatable object addresses.
func (f *file) layOut() {
	l := &layout{
		next: RelocatableBase, limit: 1 << 31, tables: map[int]*symbolTable{}, commons: map[*symbol]uint64{},
		externs: map[*symbol]uint64{}, slots: map[*symbol]uint64{},
	}
	f.layout = l
	f.im.Base = RelocatableBase
	for i := range f.sections {
		s := &f.sections[i]
		s.addr = 0
		if s.flags&shfAlloc == 0 || s.typ == shtNull || s.tbss() {
			continue
		}
		size := s.size
		if s.typ != shtNobits {
			size = uint64(len(f.contents(s)))
		}
		addr, ok := l.place(size, s.align)
		if !ok {
			f.im.Note("section %q (%#x bytes) does not fit the address space and is not mapped", s.name, s.size)
			continue
		}
		s.addr, s.placed = addr, true
		if size > 0 {
			seg := f.sectionSegment(s)
			seg.Size = size
			f.im.Segments = append(f.im.Segments, seg)
		}
	}
	f.im.NormalizeSegments()
}

// placeCommons gives tentative definitions room, as a linker would.
func (f *file) placeCommons(t *symbolTable) {
	l := f.layout
	start := l.next
	for i := range t.symbols {
		if s := &t.symbols[i]; s.shndx == shnCommon {
			addr, ok := l.place(max(s.size, 1), s.value)
			if !ok {
				f.im.Note("the common symbol %q (%#x bytes) does not fit the address space", s.name, s.size)
				continue
			}
			l.commons[s] = addr
		}
	}
	f.synthesize(commonsName, start, object.Permissions{Read: true, Write: true})
}

// synthesize maps the range from start to the next free address.
func (f *file) synthesize(name string, start uint64, perm object.Permissions) {
	if f.layout.next <= start {
		return
	}
	f.im.Segments = append(f.im.Segments, object.Segment{Name: name, Addr: start, Size: f.layout.next - start, Perm: perm})
	f.im.NormalizeSegments()
}

// readObjectRelocations places undefined symbols and GOT slots, then applies
// the relocations of all mapped sections to a copy of the file.
func (f *file) readObjectRelocations() {
	l := f.layout
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ != shtRela && s.typ != shtRel || int(s.info) >= len(f.sections) || s.info == 0 {
			continue
		}
		target, table := &f.sections[s.info], l.tables[int(s.link)]
		if table != nil && strings.HasPrefix(target.name, ".debug_") && target.flags&(shfAlloc|shfCompressed) == 0 {
			l.debug = append(l.debug, debugRelocs{target, f.decodeRelocs(f.contents(s), s.typ == shtRela, table, false, 0)})
		}
		if !target.placed || table == nil || target.typ == shtNobits {
			continue
		}
		for _, r := range f.decodeRelocs(f.contents(s), s.typ == shtRela, table, false, target.addr) {
			if r.addr-target.addr >= max(target.size, 1) {
				f.im.Note("a relocation of section %q lies outside it (%#x)", target.name, r.addr-target.addr)
				continue
			}
			f.relocs = append(f.relocs, r)
		}
	}
	// Undefined symbols that relocations name get a place, in file order.
	start := f.alignNext()
	for i := range f.relocs {
		r := &f.relocs[i]
		s := r.table.get(r.sym)
		if s == nil || s.shndx != shnUndef || r.sym == 0 || s.name == "" {
			continue
		}
		if _, ok := l.externs[s]; !ok {
			if addr, ok := l.place(externSize, externSize); ok {
				l.externs[s] = addr
				l.order = append(l.order, s)
			}
		}
	}
	f.synthesize(externName, start, object.Permissions{Read: true, Execute: true})
	start = f.alignNext()
	for i := range f.relocs {
		r := &f.relocs[i]
		s := r.table.get(r.sym)
		if s == nil || r.sym == 0 || !gotReloc(f.header.machine, r.typ) {
			continue
		}
		if _, ok := l.slots[s]; !ok {
			if addr, ok := l.place(f.wordSize(), f.wordSize()); ok {
				l.slots[s] = addr
				l.targets = append(l.targets, s)
			}
		}
	}
	f.synthesize(slotsName, start, object.Permissions{Read: true, Write: true})
	f.applyAll()
}

func (f *file) alignNext() uint64 {
	l := f.layout
	l.next = min((l.next+0xfff)&^0xfff, l.limit)
	return l.next
}

// bindExternals makes the undefined symbols of a relocatable object imports.
// Stub is the symbol's made-up place, which is where applied calls lead.
func (f *file) bindExternals() {
	l := f.layout
	w := uint8(f.wordSize())
	for _, s := range l.order {
		f.im.Imports = append(f.im.Imports, object.Import{
			Name: s.name, Ordinal: -1, Stub: l.externs[s], Slot: l.slots[s], Weak: s.bind() == stbWeak,
			Data: s.typ() == sttObject || s.typ() == sttTLS,
		})
		f.im.Stubs = append(f.im.Stubs, object.Stub{Addr: l.externs[s], Size: externSize, Kind: object.StubJump, Slot: l.slots[s], Name: s.name})
	}
	for _, s := range l.targets {
		r := object.Relocation{Addr: l.slots[s], Size: w, Type: "GOT", Symbol: s.name}
		if s.shndx != shnUndef {
			r.Target, r.HasTarget = f.address(s), true
		}
		f.im.Relocations = append(f.im.Relocations, r)
	}
	for _, i := range f.tableOrder() {
		t := l.tables[i]
		for j := range t.symbols {
			s := &t.symbols[j]
			if _, placed := l.externs[s]; !placed && j > 0 && s.shndx == shnUndef && s.name != "" {
				f.im.Imports = append(f.im.Imports, object.Import{Name: s.name, Ordinal: -1, Weak: s.bind() == stbWeak, Data: s.typ() == sttObject})
			}
		}
	}
}

func (f *file) tableOrder() []int {
	var out []int
	for i := range f.sections {
		if f.layout.tables[i] != nil {
			out = append(out, i)
		}
	}
	return out
}
