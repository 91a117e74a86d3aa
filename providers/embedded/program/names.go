package program

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// NameSource says which table a name was read from, the most telling first.
type NameSource uint8

const (
	NameSymbol NameSource = iota
	NameDWARF
	NameGoTable
	NameExport
	NameImport // of a stub
	NameSlot   // of the pointer of an import
	NameHint   // of another table
)

var nameSources = [...]string{"symbol", "dwarf", "go_table", "export", "import", "import_pointer", "table"}

func (s NameSource) String() string { return nameSources[s] }

// Name ties a raw name to an address. An address may have several.
type Name struct {
	Addr   uint64
	Name   string
	Source NameSource
	Global bool
	Func   bool
}

// startsAt says whether a function begins at a that no table names one.
func (r *recovery) startsAt(a uint64) bool {
	o := r.sp.off(a)
	return o != none && r.starts.has(o) && !r.vouched.has(o)
}

func (r *recovery) collectNames(p *Program) {
	add := func(a uint64, name string, src NameSource, global, fn bool) {
		if name != "" && a != 0 {
			p.Names = append(p.Names, Name{a, name, src, global, fn})
		}
	}
	for i := range r.im.Symbols {
		s := &r.im.Symbols[i]
		if s.Defined && (s.Kind == object.SymFunction || s.Kind == object.SymIFunc || s.Kind == object.SymObject || s.Kind == object.SymLabel) {
			add(s.Addr, s.Name, NameSymbol, s.Global || s.Weak, s.Kind == object.SymFunction || s.Kind == object.SymIFunc || s.Kind == object.SymLabel && s.Global && r.startsAt(s.Addr))
		}
	}
	for _, h := range r.im.Hints {
		src := NameHint
		switch h.Source {
		case object.FromPCLNTab:
			src = NameGoTable
		case object.FromDWARF:
			src = NameDWARF
		}
		add(h.Addr, h.Name, src, true, true)
	}
	for _, e := range r.im.Exports {
		if e.Forward == "" {
			add(e.Addr, e.Name, NameExport, true, !e.Data)
		}
	}
	for _, im := range r.im.Imports {
		add(im.Stub, im.Name, NameImport, true, true)
		add(im.Slot, im.Name, NameSlot, true, false)
	}
	for _, s := range r.im.Stubs {
		add(s.Addr, s.Name, NameImport, true, true)
	}
	slices.SortStableFunc(p.Names, func(a, b Name) int {
		later := func(n Name) int {
			if n.Global {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Source, b.Source), cmp.Compare(later(a), later(b)), cmp.Compare(a.Name, b.Name))
	})
	p.Names = slices.CompactFunc(p.Names, func(a, b Name) bool { return a.Addr == b.Addr && a.Name == b.Name && a.Source == b.Source })
}

// nameFunctions gives every function the first function name at its entry,
// else any name there.
func (r *recovery) nameFunctions(p *Program) {
	i := 0
	for k := range p.Functions {
		f := &p.Functions[k]
		for i < len(p.Names) && p.Names[i].Addr < f.Entry {
			i++
		}
		for j := i; j < len(p.Names) && p.Names[j].Addr == f.Entry; j++ {
			if n := &p.Names[j]; n.Func {
				f.Name = n.Name
				break
			} else if f.Name == "" {
				f.Name = n.Name
			}
		}
		if f.Name == "" && f.Kind == KindImportStub {
			if c := p.CallsIn(k); len(c) == 1 && c[0].Import >= 0 {
				f.Name = r.im.Imports[c[0].Import].Name
			}
		}
	}
}
