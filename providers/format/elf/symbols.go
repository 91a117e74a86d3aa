package elf

import (
	"slices"

	"rea/providers/format/object"
)

// readSymbols decodes the dynamic and the static symbol tables and publishes
// them.
func (f *file) readSymbols() {
	f.readDynsym()
	f.readVersions()
	f.publish(&f.dynsym, "dynsym")
	f.im.Strip = true
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ != shtSymtab || int(s.link) >= len(f.sections) {
			continue
		}
		names := newStringTable(f.contents(&f.sections[s.link]))
		t := f.decodeSymbols(f.contents(s), names, f.extendedIndices(i))
		if f.header.typ == etRel {
			f.layout.tables[i] = &t
			f.placeCommons(&t)
		}
		f.publish(&t, "symtab")
		f.readMappingSymbols(&t)
	}
}

// extendedIndices finds the section that holds the wide section indices of
// symbol table number i.
func (f *file) extendedIndices(i int) []byte {
	for j := range f.sections {
		if s := &f.sections[j]; s.typ == shtSymtabShndx && int(s.link) == i {
			return f.contents(s)
		}
	}
	return nil
}

func symbolKind(typ byte) object.SymbolKind {
	switch typ {
	case sttObject, sttCommon:
		return object.SymObject
	case sttFunc:
		return object.SymFunction
	case sttSection:
		return object.SymSection
	case sttFile:
		return object.SymFile
	case sttTLS:
		return object.SymTLS
	case sttIfunc:
		return object.SymIFunc
	}
	return object.SymLabel
}

// address is where a defined symbol lies in the image.
func (f *file) address(s *symbol) uint64 {
	addr := s.value
	if f.header.typ == etRel {
		switch {
		case s.shndx == shnCommon:
			return f.layout.commons[s]
		case s.shndx > 0 && int(s.shndx) < len(f.sections):
			addr += f.sections[s.shndx].addr
		}
	}
	if f.header.machine == emARM && (s.typ() == sttFunc || s.typ() == sttIfunc) {
		addr &^= 1 // the low bit selects Thumb
	}
	return addr
}

// publish adds a table's entries to the image.
func (f *file) publish(t *symbolTable, source string) {
	im := f.im
	im.Symbols = slices.Grow(im.Symbols, len(t.symbols))
	for i := range t.symbols {
		s := &t.symbols[i]
		if i == 0 || f.mappingSymbol(s) {
			continue
		}
		out := object.Symbol{
			Name: s.name, Size: s.size, Kind: symbolKind(s.typ()), Source: source,
			Global: s.bind() != stbLocal, Weak: s.bind() == stbWeak, Defined: s.shndx != shnUndef, Dynamic: source == "dynsym",
		}
		if out.Defined {
			out.Addr = f.address(s)
		}
		switch {
		case s.shndx > 0 && int(s.shndx) < len(f.sections):
			out.Section = f.sections[s.shndx].name
		case s.shndx == shnAbs:
			out.Section = "*ABS*"
		case s.shndx == shnCommon:
			out.Section = "*COM*"
		}
		if s.typ() == sttSection && out.Name == "" {
			out.Name = out.Section
		}
		if out.Name == "" && out.Addr == 0 && out.Size == 0 {
			continue
		}
		if out.Dynamic {
			out.Version = f.versions.of(f, i).name
		}
		im.Symbols = append(im.Symbols, out)
		code := out.Kind == object.SymFunction || out.Kind == object.SymIFunc
		if out.Defined && code && im.Executable(out.Addr) {
			im.Hints = append(im.Hints, object.FunctionHint{Addr: out.Addr, Size: s.size, Source: object.FromSymbol})
		}
		if source == "symtab" && s.typ() != sttSection && s.typ() != sttFile {
			im.Strip = false
		}
		if f.exported(s, out.Dynamic) {
			im.Exports = append(im.Exports, object.Export{
				Name: s.name, Addr: out.Addr, Ordinal: -1, Data: !code && s.typ() != sttNotype,
			})
		}
	}
}

// exported tells whether other files can bind to s: through the dynamic table
// of a linked file, through the symbol table of a relocatable object.
func (f *file) exported(s *symbol, dynamic bool) bool {
	if s.shndx == shnUndef || s.bind() == stbLocal || s.name == "" || s.typ() == sttSection || s.typ() == sttFile {
		return false
	}
	if v := s.visibility(); v == stvHidden || v == stvInternal {
		return false
	}
	if !dynamic {
		return f.header.typ == etRel
	}
	return s.shndx != shnAbs || !f.versions.verdefs[s.name]
}

// mappingSymbol tells whether s is one of the ARM symbols that mark where
// instructions and data begin; they are no names.
func (f *file) mappingSymbol(s *symbol) bool {
	if f.header.machine != emARM && f.header.machine != emAArch64 || s.typ() != sttNotype || s.bind() != stbLocal {
		return false
	}
	if len(s.name) < 2 || s.name[0] != '$' || len(s.name) > 2 && s.name[2] != '.' {
		return false
	}
	switch s.name[1] {
	case 'a', 't', 'x', 'd':
		return true
	}
	return false
}

// readMappingSymbols turns mapping symbols into ranges of data inside code.
func (f *file) readMappingSymbols(t *symbolTable) {
	type mark struct {
		addr uint64
		data bool
	}
	bySection := map[uint32][]mark{}
	for i := range t.symbols {
		s := &t.symbols[i]
		if f.mappingSymbol(s) && int(s.shndx) < len(f.sections) && f.sections[s.shndx].flags&shfExecinstr != 0 {
			bySection[s.shndx] = append(bySection[s.shndx], mark{f.address(s), s.name[1] == 'd'})
		}
	}
	for i := range f.sections {
		marks := bySection[uint32(i)]
		slices.SortStableFunc(marks, func(a, b mark) int {
			switch {
			case a.addr < b.addr:
				return -1
			case a.addr > b.addr:
				return 1
			}
			return 0
		})
		end := f.sections[i].addr + f.sections[i].size
		for j, m := range marks {
			next := end
			if j+1 < len(marks) {
				next = marks[j+1].addr
			}
			if m.data && next > m.addr && f.im.Executable(m.addr) {
				f.im.DataInCode = append(f.im.DataInCode, object.Range{Addr: m.addr, Size: next - m.addr})
			}
		}
	}
}
