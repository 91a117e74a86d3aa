package elf

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// bindImports lists what other files must provide: one entry for each slot the
// loader fills, and one without a slot for symbols that no slot refers to.
func (f *file) bindImports() {
	if f.header.typ == etRel {
		f.bindExternals()
		return
	}
	seen := make([]bool, len(f.dynsym.symbols))
	for i := range f.relocs {
		r := &f.relocs[i]
		if r.class != classGlobDat && r.class != classJumpSlot && r.class != classCopy && !f.gotEntry(r) {
			continue
		}
		s := f.dynsym.get(r.sym)
		if s == nil || r.sym == 0 || s.name == "" || (s.shndx != shnUndef && r.class != classCopy) {
			continue
		}
		seen[r.sym] = true
		im := f.importOf(s, int(r.sym))
		if r.class == classCopy {
			im.Data = true
		} else {
			im.Slot = r.addr
		}
		f.im.Imports = append(f.im.Imports, im)
	}
	for i := range f.dynsym.symbols {
		s := &f.dynsym.symbols[i]
		if i > 0 && !seen[i] && s.shndx == shnUndef && s.name != "" {
			f.im.Imports = append(f.im.Imports, f.importOf(s, i))
		}
	}
}

// gotEntry tells whether r fills a GOT entry with a plain absolute relocation,
// as some linkers do.
func (f *file) gotEntry(r *reloc) bool {
	if r.class != classAbsolute || r.addend != 0 {
		return false
	}
	s := f.im.SectionAt(r.addr)
	return s != nil && (s.Name == ".got" || s.Name == ".got.plt")
}

func (f *file) importOf(s *symbol, i int) object.Import {
	v := f.versions.of(f, i)
	return object.Import{
		Name: s.name, Library: v.library, Version: v.name, Ordinal: -1, Weak: s.bind() == stbWeak,
		Data: s.typ() == sttObject || s.typ() == sttTLS || s.typ() == sttCommon,
	}
}

// hint lists where the tables say that functions start.
func (f *file) hint() {
	add := func(addr uint64, source object.HintSource, what string) {
		if f.header.machine == emARM {
			addr &^= 1
		}
		if !f.im.Executable(addr) {
			f.im.Note("%s names %#x, which is no code", what, addr)
			return
		}
		f.im.Hints = append(f.im.Hints, object.FunctionHint{Addr: addr, Source: source})
	}
	if f.im.HasEntry {
		add(f.im.Entry, object.FromEntry, "the entry point")
	}
	for _, tag := range []uint64{dtInit, dtFini} {
		if v, ok := f.dynamic.get(tag); ok && v != 0 {
			add(v, object.FromDynamic, "the dynamic table")
		}
	}
	for i := range f.relocs {
		if r := &f.relocs[i]; r.class == classIndirect {
			if target, ok := f.relocTarget(r, r.table.get(r.sym)); ok {
				add(target, object.FromIFunc, "an indirect relocation")
			}
		}
	}
	targets := f.pointerTargets()
	for _, a := range f.arrays() {
		w := f.wordSize()
		b := f.mapped(a.Addr, a.Size)
		for at := a.Addr; uint64(len(b)) >= w; b, at = b[w:], at+w {
			v := f.word(b)
			i, ok := slices.BinarySearchFunc(targets, at, func(r reloc, at uint64) int { return cmp.Compare(r.addr, at) })
			if ok {
				r := &targets[i]
				v, ok = f.relocTarget(r, r.table.get(r.sym))
				if !ok {
					continue
				}
			}
			if v == 0 || v == 1<<(8*w)-1 || w == 8 && v == ^uint64(0) {
				continue // unused entries hold 0 or -1
			}
			add(v, object.FromInitArray, "an array of start or exit functions")
		}
	}
}

// arrays finds the arrays of start and exit functions.
func (f *file) arrays() []object.Range {
	var out []object.Range
	for _, t := range [][2]uint64{{dtPreinitArray, dtPreinitArraySz}, {dtInitArray, dtInitArraySz}, {dtFiniArray, dtFiniArraySz}} {
		addr, ok := f.dynamic.get(t[0])
		size, sized := f.dynamic.get(t[1])
		if ok && sized && size != 0 {
			out = append(out, object.Range{Addr: addr, Size: size})
		}
	}
	if f.dynamic.present {
		return out
	}
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&shfAlloc != 0 && (s.typ == shtInitArray || s.typ == shtFiniArray || s.typ == shtPreinitArray) {
			out = append(out, object.Range{Addr: s.addr, Size: s.size})
		}
	}
	return out
}

// pointerTargets are the relocations of the arrays of start and exit
// functions, by place.
func (f *file) pointerTargets() []reloc {
	arrays := f.arrays()
	var out []reloc
	for i := range f.relocs {
		r := &f.relocs[i]
		for _, a := range arrays {
			if r.addr-a.Addr < a.Size {
				out = append(out, *r)
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b reloc) int { return cmp.Compare(a.addr, b.addr) })
	return out
}
