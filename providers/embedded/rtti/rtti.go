// Package rtti reads the run-time type information of C++: class hierarchies
// and the virtual tables that belong to them, as the Itanium ABI (gcc, clang;
// also in PE files of those compilers) and Microsoft's compiler lay them out.
//
// Itanium: a type_info object begins with a pointer into the virtual table of
// its own class, which the C++ library defines and which tells what follows:
// the name only, one base class, or a list of bases. A virtual table is
// preceded by the distance to the top of the object and a pointer to the
// type_info.
//
// Microsoft: a virtual table is preceded by a pointer to a complete object
// locator, which leads to the type descriptor, with the name, and to the array
// of bases.
//
// Classes compiled without RTTI have no such data; nothing is said of them.
package rtti

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rea/providers/embedded/program"
	"rea/providers/format/object"
)

// Memory is what the tables are read from: the contents after loading.
type Memory interface {
	// Pointer is the pointer at addr: an address of the image, or the name of
	// what the loader binds.
	Pointer(addr uint64) (target uint64, symbol string, ok bool)
	// Bytes are up to n bytes of the file at addr.
	Bytes(addr uint64, n int) []byte
}

// ABI names a layout.
type ABI string

const (
	Itanium   ABI = "itanium"
	Microsoft ABI = "microsoft"
)

// Class is one class with its type information.
type Class struct {
	Name     string // readable
	Raw      string // as the file has it
	TypeInfo uint64 // type_info or type descriptor
	ABI      ABI
	Bases    []Base
	Tables   []Table
}

// Base is a direct base class.
type Base struct {
	Name     string
	TypeInfo uint64 // 0 when another image has it
	Offset   int64  // of the base in the object; of virtual bases the place of the offset in the virtual table
	Virtual  bool
	Public   bool
}

// Table is a virtual table. Objects point to Addr, the first method.
type Table struct {
	Addr    uint64
	Offset  int64 // of the part of the object that points to it, from the top of the object
	Methods []Method
}

// Method is an entry of a virtual table.
type Method struct {
	Slot   uint64
	Target uint64 // 0 when the loader binds it
	Import string
}

// Hierarchy is everything that was found, classes by name.
type Hierarchy struct {
	Classes []Class
	Notes   []string
	tables  []tableAt
}

type tableAt struct {
	addr  uint64
	class int
	table int
}

const (
	mostClasses = 1 << 16
	mostMethods = 4096
	mostBases   = 256
	longestName = 4096
)

type reader struct {
	ctx  context.Context
	p    *program.Program
	m    Memory
	word uint64
	h    *Hierarchy
}

// Read finds the classes of a program.
func Read(ctx context.Context, p *program.Program, m Memory) (*Hierarchy, error) {
	r := &reader{ctx: ctx, p: p, m: m, word: uint64(p.Image.Bits / 8), h: &Hierarchy{}}
	if err := r.itanium(); err != nil {
		return nil, err
	}
	if p.Image.Format == object.PE {
		if err := r.microsoft(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.h.Classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.TypeInfo, b.TypeInfo))
	})
	for i := range r.h.Classes {
		for k := range r.h.Classes[i].Tables {
			r.h.tables = append(r.h.tables, tableAt{r.h.Classes[i].Tables[k].Addr, i, k})
		}
	}
	slices.SortFunc(r.h.tables, func(a, b tableAt) int { return cmp.Compare(a.addr, b.addr) })
	return r.h, nil
}

// TableAt is the class whose virtual table begins at addr.
func (h *Hierarchy) TableAt(addr uint64) (*Class, *Table, bool) {
	i, ok := slices.BinarySearchFunc(h.tables, addr, func(t tableAt, a uint64) int { return cmp.Compare(t.addr, a) })
	if !ok {
		return nil, nil, false
	}
	t := h.tables[i]
	return &h.Classes[t.class], &h.Classes[t.class].Tables[t.table], true
}

// Implementations are the methods in the slot at an offset of all tables that
// have it, in order of address.
func (h *Hierarchy) Implementations(offset uint64, word uint64) []uint64 {
	var out []uint64
	for i := range h.Classes {
		for k := range h.Classes[i].Tables {
			ms := h.Classes[i].Tables[k].Methods
			if n := offset / word; offset%word == 0 && n < uint64(len(ms)) && ms[n].Target != 0 {
				out = append(out, ms[n].Target)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// text is the string at addr.
func (r *reader) text(addr uint64) string {
	b := r.m.Bytes(addr, longestName)
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
		if c < 0x20 || c == 0x7f {
			return ""
		}
	}
	return ""
}

// slots yields the places in data that hold a pointer to addr.
func (r *reader) slots(addr uint64) []uint64 {
	var out []uint64
	for ref := range r.p.RefsTo(addr, addr+1) {
		if ref.Kind == program.RefPointer {
			out = append(out, ref.From)
		}
	}
	return out
}

// methods reads a virtual table.
func (r *reader) methods(addr uint64) []Method {
	var out []Method
	for at := addr; len(out) < mostMethods; at += r.word {
		if at != addr && slices.ContainsFunc(r.p.NamesAt(at), func(n program.Name) bool { return !n.Func }) {
			return out // another object begins
		}
		target, symbol, ok := r.m.Pointer(at)
		switch {
		case !ok:
			return out
		case symbol != "":
			if typeData(symbol) {
				return out // a type_info follows, or something is copied here
			}
			out = append(out, Method{Slot: at, Import: symbol})
		case r.isCode(target):
			out = append(out, Method{Slot: at, Target: target})
		default:
			return out
		}
	}
	return out
}

// typeData says whether a symbol of the Itanium ABI names data: a table of
// virtual methods or of bases, a type_info or its name.
func typeData(symbol string) bool {
	for _, p := range [...]string{"_ZTV", "_ZTT", "_ZTI", "_ZTS", "__ZTV", "__ZTT", "__ZTI", "__ZTS"} {
		if strings.HasPrefix(symbol, p) {
			return true
		}
	}
	return false
}

// isCode says whether an address is in executable memory: a table may name
// functions that nothing else leads to.
func (r *reader) isCode(addr uint64) bool {
	if _, ok := r.p.FunctionAt(addr); ok {
		return true
	}
	s := r.p.Image.SegmentAt(addr)
	if s == nil || !s.Perm.Execute || !r.p.IsInstruction(addr) {
		return false
	}
	_, ok := r.p.FunctionContaining(addr)
	return ok
}

func (r *reader) full() bool {
	if len(r.h.Classes) < mostClasses {
		return false
	}
	if len(r.h.Notes) == 0 {
		r.h.Notes = append(r.h.Notes, "more classes than are listed")
	}
	return true
}
