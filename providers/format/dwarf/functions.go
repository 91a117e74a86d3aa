package dwarf

import (
	"cmp"
	"context"
	"slices"

	"rea/providers/format/object"
)

// Function is a subprogram that has code.
type Function struct {
	Ref         Ref
	Name        string // as in the source; Go and some others write it qualified
	LinkageName string // the symbol's name when it differs, as in C++ and Rust
	Addr        uint64 // the entry
	Size        uint64 // of the range that holds the entry
	Ranges      []object.Range
	File        string
	Line        int
	Unit        string // name of the compilation unit
	External    bool
	NoReturn    bool
}

// SymbolName is the name that a symbol table would give it.
func (f *Function) SymbolName() string {
	if f.LinkageName != "" {
		return f.LinkageName
	}
	return f.Name
}

// chainLimit bounds how many references lead from an entry to the one that
// names it.
const chainLimit = 8

// Functions lists all subprograms with code, by address. What linkers removed
// (an address that is no code) is left out.
func (d *Data) Functions(ctx context.Context) ([]Function, error) {
	var out []Function
	names := 16*(len(d.sec.str)+len(d.sec.info)) + 1<<20
	for _, u := range d.units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if (u.kind == utCompile || u.kind == utPartial) && d.prepare(u) {
			out = d.unitFunctions(u, out, &names)
		}
	}
	slices.SortStableFunc(out, func(a, b Function) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Ref, b.Ref)) })
	return out, nil
}

// unitFunctions adds the functions of a unit. names is how many bytes of names
// may still be handed out: entries can share a long string.
func (d *Data) unitFunctions(u *unit, out []Function, names *int) []Function {
	budget := len(d.sec.ranges) + len(d.sec.rnglists) + 1024
	for w := d.walk(u, u.root); ; {
		e, ok := w.next()
		if !ok {
			return out
		}
		if e.tag != tagSubprogram || e.flag(atDeclaration) {
			continue
		}
		list := e.get(atRanges)
		if list.ok && budget < 0 {
			continue // entries that share long range lists
		}
		ranges := d.extent(u, e.get(atLowPC), e.get(atHighPC), list)
		if list.ok {
			budget -= len(ranges)
		}
		if len(ranges) == 0 {
			continue
		}
		f := Function{Ref: e.ref, Addr: ranges[0].Addr, Unit: u.name}
		if entry, ok := d.address(u, e.get(atEntryPC)); ok {
			f.Addr = entry
		} else if low, ok := d.address(u, e.get(atLowPC)); ok && low != 0 {
			f.Addr = low
		}
		for _, r := range ranges {
			if f.Addr-r.Addr < r.Size {
				f.Size = r.Size - (f.Addr - r.Addr)
			}
		}
		if f.Size == 0 || !d.im.Executable(f.Addr) {
			continue
		}
		if len(ranges) > 1 {
			f.Ranges = ranges
		}
		d.describe(u, e, &f)
		if *names -= len(f.Name) + len(f.LinkageName); *names < 0 {
			return out
		}
		out = append(out, f)
	}
}

// describe follows an entry to its specification and abstract origin, which
// hold what all instances share.
func (d *Data) describe(u *unit, e *entry, f *Function) {
	for range chainLimit {
		if f.Name == "" {
			f.Name = d.str(u, e.get(atName))
		}
		if f.LinkageName == "" {
			f.LinkageName = d.str(u, e.get(atLinkageName))
		}
		if f.LinkageName == "" {
			f.LinkageName = d.str(u, e.get(atMIPSLinkageName))
		}
		if f.Line == 0 {
			if line := e.get(atDeclLine); line.ok && line.u < 1<<31 {
				f.Line = int(line.u)
			}
		}
		if f.File == "" {
			if file := e.get(atDeclFile); file.ok {
				f.File = d.fileName(u, file.u)
			}
		}
		f.External = f.External || e.flag(atExternal)
		f.NoReturn = f.NoReturn || e.flag(atNoReturn)
		next, ok := d.reference(u, e.get(atSpecification))
		if !ok {
			next, ok = d.reference(u, e.get(atAbstractOrigin))
		}
		if !ok {
			break
		}
		if u, e, _, ok = d.at(next); !ok {
			break
		}
	}
	if f.LinkageName == f.Name {
		f.LinkageName = ""
	}
}

// AddTo records the functions in an image: hints, parts for the ranges away
// from a function's entry, and what does not return. It returns how many functions there are.
func (d *Data) AddTo(ctx context.Context, im *object.Image) (int, error) {
	fs, err := d.Functions(ctx)
	if err != nil {
		return 0, err
	}
	for i := range fs {
		f := &fs[i]
		im.Hints = append(im.Hints, object.FunctionHint{Addr: f.Addr, Size: f.Size, Name: f.SymbolName(), Source: object.FromDWARF})
		if f.NoReturn {
			im.NoReturn = append(im.NoReturn, f.Addr)
		}
		for _, r := range f.Ranges {
			if f.Addr-r.Addr >= r.Size && im.Executable(r.Addr) {
				im.Parts = append(im.Parts, object.FunctionPart{Addr: r.Addr, Size: r.Size, Parent: f.Addr, Source: object.FromDWARF})
			}
		}
	}
	for _, n := range d.Notes {
		im.Note("%s", n)
	}
	im.NormalizeHints()
	slices.Sort(im.NoReturn)
	im.NoReturn = slices.Compact(im.NoReturn)
	slices.SortFunc(im.Parts, func(a, b object.FunctionPart) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Source, b.Source))
	})
	im.Parts = slices.Compact(im.Parts)
	return len(fs), nil
}
