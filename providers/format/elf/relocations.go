package elf

import (
	"slices"

	"rea/providers/format/object"
)

// relocClass is what the dynamic linker does for a relocation type.
type relocClass uint8

const (
	classOther relocClass = iota
	classNone
	classAbsolute // symbol + addend
	classRelative // load base + addend
	classIndirect // result of the resolver at load base + addend
	classGlobDat  // symbol
	classJumpSlot // symbol, perhaps late
	classCopy     // the symbol's bytes
	classPCRel    // symbol + addend - place
)

// reloc is one relocation of a linked file or a relocatable object.
type reloc struct {
	addr   uint64
	typ    uint32
	sym    uint64
	addend uint64
	class  relocClass
	plt    bool // from DT_JMPREL
	table  *symbolTable
}

func classify(machine uint16, typ uint32) relocClass {
	// none, absolute, pc-relative, copy, glob_dat, jump_slot, relative, irelative
	var t [8]uint32
	switch machine {
	case emX86_64:
		t = [8]uint32{0, 1, 2, 5, 6, 7, 8, 37}
	case em386, emIAMCU:
		t = [8]uint32{0, 1, 2, 5, 6, 7, 8, 42}
	case emARM:
		t = [8]uint32{0, 2, 3, 20, 21, 22, 23, 160}
	case emAArch64:
		t = [8]uint32{0, 257, 261, 1024, 1025, 1026, 1027, 1032}
	case emRISCV:
		t = [8]uint32{0, 2, 57, 4, 1 << 31, 5, 3, 58}
	case emPPC64:
		t = [8]uint32{0, 38, 26, 19, 20, 21, 22, 248}
	case emS390:
		t = [8]uint32{0, 22, 5, 9, 10, 11, 12, 61}
	case emLoongArch:
		t = [8]uint32{0, 2, 99, 4, 1 << 31, 5, 3, 12}
	default:
		return classOther
	}
	classes := [8]relocClass{classNone, classAbsolute, classPCRel, classCopy, classGlobDat, classJumpSlot, classRelative, classIndirect}
	if i := slices.Index(t[:], typ); i >= 0 {
		return classes[i]
	}
	return classOther
}

// relocTable is one table of the dynamic linker's.
type relocTable struct {
	addr uint64
	b    []byte
	rela bool
	plt  bool
}

// relocTables lists the tables the dynamic table points to. A PLT table that
// lies inside the main one is cut out of it.
func (f *file) relocTables() []relocTable {
	get := func(addrTag, sizeTag uint64, rela, plt bool) (relocTable, bool) {
		addr, ok := f.dynamic.get(addrTag)
		size, sized := f.dynamic.get(sizeTag)
		if !ok || !sized || size == 0 {
			return relocTable{}, false
		}
		t := relocTable{addr: addr, b: f.mapped(addr, size), rela: rela, plt: plt}
		if uint64(len(t.b)) < size {
			f.im.Note("the relocation table at %#x claims %#x bytes, %#x are mapped", addr, size, len(t.b))
		}
		return t, len(t.b) > 0
	}
	var out []relocTable
	kind, _ := f.dynamic.get(dtPltRel)
	plt, havePLT := get(dtJmpRel, dtPltRelSz, kind == dtRela, true)
	for _, main := range [][2]uint64{{dtRela, dtRelaSz}, {dtRel, dtRelSz}} {
		t, ok := get(main[0], main[1], main[0] == dtRela, false)
		if !ok {
			continue
		}
		if havePLT && plt.addr >= t.addr && plt.addr-t.addr < uint64(len(t.b)) {
			t.b = t.b[:plt.addr-t.addr]
		}
		out = append(out, t)
	}
	if havePLT {
		out = append(out, plt)
	}
	return out
}

func (f *file) relocSize(rela bool) int {
	n := 2
	if rela {
		n = 3
	}
	return n * int(f.wordSize())
}

func (f *file) relocInfo(info uint64) (sym uint64, typ uint32) {
	if f.is64 {
		return info >> 32, uint32(info)
	}
	return info >> 8, uint32(info & 0xff)
}

// relocatedSymbols is one more than the highest symbol a dynamic relocation
// names: a lower bound of the number of symbols.
func (f *file) relocatedSymbols() uint64 {
	n := uint64(0)
	w := int(f.wordSize())
	for _, t := range f.relocTables() {
		size := f.relocSize(t.rela)
		for b := t.b; len(b) >= size; b = b[size:] {
			if sym, _ := f.relocInfo(f.word(b[w:])); sym != 0 {
				n = max(n, sym+1)
			}
		}
	}
	if n > uint64(len(f.data)) { // not a symbol index
		return 0
	}
	return n
}

// decodeRelocs reads whole entries. Without an explicit addend the addend is
// the value at the place.
func (f *file) decodeRelocs(b []byte, rela bool, symbols *symbolTable, plt bool, base uint64) []reloc {
	size, w := f.relocSize(rela), int(f.wordSize())
	out := make([]reloc, 0, len(b)/size)
	for ; len(b) >= size; b = b[size:] {
		r := reloc{addr: f.word(b) + base, plt: plt, table: symbols}
		r.sym, r.typ = f.relocInfo(f.word(b[w:]))
		r.class = classify(f.header.machine, r.typ)
		switch {
		case rela && f.is64:
			r.addend = f.u64(b[16:])
		case rela:
			r.addend = uint64(int64(int32(f.u32(b[8:]))))
		default:
			r.addend = f.implicitAddend(r)
		}
		if r.class != classNone {
			out = append(out, r)
		}
	}
	return out
}

func (f *file) implicitAddend(r reloc) uint64 {
	switch r.class {
	case classRelative, classIndirect, classAbsolute:
		return f.word(f.mapped(r.addr, f.wordSize()))
	case classPCRel:
		return uint64(int64(int32(f.u32(f.mapped(r.addr, 4)))))
	}
	return 0
}

func (f *file) readRelocations() {
	if f.header.typ == etRel {
		f.readObjectRelocations()
	} else {
		for _, t := range f.relocTables() {
			f.relocs = append(f.relocs, f.decodeRelocs(t.b, t.rela, &f.dynsym, t.plt, 0)...)
		}
		f.readRELR()
		f.readAndroidRelocs()
		if !f.dynamic.present {
			f.readStaticRelocs()
		}
	}
	f.publishRelocations()
}

// readStaticRelocs reads the relocations that the start code of a static
// program applies itself; only section headers lead to them.
func (f *file) readStaticRelocs() {
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&shfAlloc != 0 && (s.typ == shtRela || s.typ == shtRel) {
			f.relocs = append(f.relocs, f.decodeRelocs(f.contents(s), s.typ == shtRela, &symbolTable{}, true, 0)...)
		}
	}
}

// readRELR decodes packed relative relocations. An even word is an address; an
// odd one is a bitmap of the words after it. Addresses rise, so what a table
// can make is bounded by the mapped bytes.
func (f *file) readRELR() {
	addr, ok := f.dynamic.get(dtRelr)
	size, sized := f.dynamic.get(dtRelrSz)
	if !ok || !sized {
		return
	}
	w := f.wordSize()
	relative := f.relativeType()
	var next, last uint64
	skipped := 0
	add := func(at uint64) {
		place := f.mapped(at, w)
		if (last != 0 && at <= last) || uint64(len(place)) < w {
			skipped++
			return
		}
		last = at
		f.relocs = append(f.relocs, reloc{addr: at, typ: relative, class: classRelative, addend: f.word(place), table: &f.dynsym})
	}
	for b := f.mapped(addr, size); uint64(len(b)) >= w && skipped <= 64; b = b[w:] {
		v := f.word(b)
		if v&1 == 0 {
			add(v)
			next = v + w
			continue
		}
		for i := uint64(0); i < 8*w-1; i++ {
			if v>>(i+1)&1 != 0 {
				add(next + i*w)
			}
		}
		next += (8*w - 1) * w
	}
	if skipped > 0 {
		f.im.Note("the packed relative relocations at %#x name places that are not mapped or not in order", addr)
	}
}

func (f *file) relativeType() uint32 {
	switch f.header.machine {
	case emX86_64, em386, emIAMCU:
		return 8
	case emARM:
		return 23
	case emAArch64:
		return 1027
	case emPPC64:
		return 22
	case emS390:
		return 12
	}
	return 3
}

// publishRelocations adds the relocations to the image.
func (f *file) publishRelocations() {
	im := f.im
	im.Relocations = make([]object.Relocation, 0, len(f.relocs))
	names := map[uint32]string{}
	lost := 0
	for i := range f.relocs {
		r := &f.relocs[i]
		name, ok := names[r.typ]
		if !ok {
			name = relocationName(f.header.machine, r.typ)
			names[r.typ] = name
		}
		out := object.Relocation{Addr: r.addr, Type: name, Size: f.relocWidth(r)}
		s := r.table.get(r.sym)
		if r.sym != 0 && s == nil {
			lost++
			continue
		}
		if s != nil && r.sym != 0 {
			out.Symbol = s.name
			if out.Symbol == "" && s.typ() == sttSection && int(s.shndx) < len(f.sections) {
				out.Symbol = f.sections[s.shndx].name
			}
		}
		out.Target, out.HasTarget = f.relocTarget(r, s)
		im.Relocations = append(im.Relocations, out)
	}
	if lost > 0 {
		im.Note("%d relocations name symbols beyond the symbol table and are left out", lost)
	}
}

// relocWidth is the number of bytes the loader writes, as far as the type is a
// plain value.
func (f *file) relocWidth(r *reloc) uint8 {
	switch r.class {
	case classCopy:
		return 0
	case classPCRel:
		return 4
	case classOther:
		if f.header.typ == etRel {
			return objectRelocWidth(f.header.machine, r.typ)
		}
	}
	return uint8(f.wordSize())
}

// relocTarget resolves what the loader would write, relative to the file's own
// addresses.
func (f *file) relocTarget(r *reloc, s *symbol) (uint64, bool) {
	mask := ^uint64(0)
	if !f.is64 {
		mask = 1<<32 - 1
	}
	switch r.class {
	case classRelative, classIndirect:
		return r.addend & mask, true
	}
	if s == nil || r.sym == 0 || s.shndx == shnUndef || s.typ() == sttTLS {
		return 0, false
	}
	switch r.class {
	case classGlobDat, classJumpSlot:
		return f.address(s), true
	case classAbsolute:
		return (f.address(s) + r.addend) & mask, true
	case classPCRel, classOther:
		if f.header.typ == etRel {
			return f.objectTarget(r, s)
		}
	}
	return 0, false
}
