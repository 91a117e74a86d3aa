// Package gopclntab reads the function table that the Go linker puts into
// every Go program for tracebacks. It survives stripping: names, code ranges,
// files and lines of all Go functions.
//
// Layouts, by the Go release that introduced them: 1.2, 1.16 (separate name,
// file and line tables), 1.18 (32-bit offsets from the start of the text) and
// 1.20 (the function's first line). The magic number tells them apart; when it
// has been changed, the layout whose structure verifies is taken.
package gopclntab

import (
	"sort"
	"strings"

	"rea/providers/format/object"
)

// Layout names a table layout by the Go release that introduced it.
type Layout string

const (
	Go12  Layout = "1.2"
	Go116 Layout = "1.16"
	Go118 Layout = "1.18"
	Go120 Layout = "1.20"
)

// Table is one verified function table.
type Table struct {
	Addr      uint64
	Layout    Layout
	TextStart uint64 // what 1.18 tables count from; the image's "runtime.text"
	PtrSize   int
	Quantum   int
	Notes     []string

	funcs []Func
	r     *reader
}

// Func is one Go function. End is where the next one begins, less padding.
type Func struct {
	Name       string
	Entry, End uint64
	StartLine  int // of the func keyword; 0 before layout 1.20
	offset     uint64
}

// Functions returns all functions by address. Callers must not change it.
func (t *Table) Functions() []Func { return t.funcs }

// FuncAt returns the function that covers pc, or nil.
func (t *Table) FuncAt(pc uint64) *Func {
	i := sort.Search(len(t.funcs), func(i int) bool { return t.funcs[i].Entry > pc })
	if i == 0 || pc >= t.funcs[i-1].End {
		return nil
	}
	return &t.funcs[i-1]
}

// Line returns the source position of pc.
func (t *Table) Line(pc uint64) (file string, line int, ok bool) {
	f := t.FuncAt(pc)
	if f == nil {
		return "", 0, false
	}
	return t.r.line(f, pc)
}

// AddTo records the functions as hints in an image.
func (t *Table) AddTo(im *object.Image) {
	for _, f := range t.funcs {
		if strings.HasPrefix(f.Name, "go:") || strings.HasPrefix(f.Name, "go.buildid") {
			continue // marks of the linker
		}
		im.Hints = append(im.Hints, object.FunctionHint{Addr: f.Entry, Size: f.End - f.Entry, Name: f.Name, Source: object.FromPCLNTab})
	}
	for _, n := range t.Notes {
		im.Note("%s", n)
	}
	im.NormalizeHints()
}

// Find locates and verifies the table of a Go program, or returns nil.
func Find(im *object.Image) *Table {
	seen := map[uint64]bool{}
	try := func(addr uint64, anyMagic bool) *Table {
		if addr == 0 || seen[addr] {
			return nil
		}
		seen[addr] = true
		return parse(im, addr, anyMagic)
	}
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Mapped && strings.HasSuffix(s.Name, "gopclntab") {
			if t := try(s.Addr, true); t != nil {
				return t
			}
		}
	}
	for i := range im.Symbols {
		if s := &im.Symbols[i]; s.Defined && strings.TrimPrefix(s.Name, "_") == "runtime.pclntab" {
			if t := try(s.Addr, true); t != nil {
				return t
			}
		}
	}
	var byStructure []uint64
	structure := object.Beside(func() { byStructure = scanStructure(im) })
	byMagic := scanMagic(im)
	structure()
	for _, addr := range byMagic {
		if t := try(addr, false); t != nil {
			return t
		}
	}
	for _, addr := range byStructure {
		delete(seen, addr)
		if t := try(addr, true); t != nil {
			return t
		}
	}
	return findByModule(im)
}
