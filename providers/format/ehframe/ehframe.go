// Package ehframe reads call frame information as compilers put it into
// programs for exception handling: .eh_frame with its entries (a CIE describes
// a family of functions, an FDE one range of code), the binary search table
// .eh_frame_hdr, and the call-site tables of .gcc_except_table (LSDA) that name
// landing pads. It serves ELF, Mach-O and MinGW PE images alike.
//
// An FDE covers one contiguous range of code. That is a function, or a part of
// one that the compiler moved away (".cold"). Two things prove a part: its
// first instruction already has a frame, which no entry has; or a landing pad
// of another function lies in it.
package ehframe

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// Location says where the tables lie. Frames are the known extents of
// .eh_frame; with none, the table header leads to it.
type Location struct {
	Header, HeaderSize uint64
	Frames             []object.Range
	TextBase, DataBase uint64 // bases of text- and data-relative pointers
}

// FDE is one range of code with unwind data.
type FDE struct {
	Addr, Size  uint64
	At          uint64 // where the FDE itself lies
	LSDA        uint64 // 0 when it has none
	Personality uint64 // the personality routine or, if Indirect, the pointer to it
	Indirect    bool
	Signal      bool // a signal trampoline
	Framed      bool // the frame is already built at Addr
	LandingPads []uint64
	Sites       []object.CallSite
}

// Table is everything that was read, FDEs sorted by address.
type Table struct {
	FDEs  []FDE
	Notes []string
}

// Read parses all tables. It never fails: damage ends the table it is in and
// is named in Notes.
func Read(im *object.Image, loc Location) *Table {
	r := &reader{im: im, loc: loc, cies: map[uint64]*cie{}, table: &Table{}, siteBudget: len(im.Data()) + 1024}
	header, hasHeader := r.readHeader()
	for _, f := range loc.Frames {
		r.readFrames(f.Addr, f.Size, true)
	}
	if hasHeader {
		known := slices.ContainsFunc(loc.Frames, func(f object.Range) bool { return header.frames-f.Addr < f.Size })
		if !known && header.frames != 0 {
			r.readFrames(header.frames, ^uint64(0), false)
		}
		r.readMissing(header)
	}
	t := r.table
	slices.SortStableFunc(t.FDEs, func(a, b FDE) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size)) })
	t.FDEs = slices.CompactFunc(t.FDEs, func(a, b FDE) bool { return a.Addr == b.Addr && a.At == b.At })
	r.summarize()
	return t
}

// AddTo records the table in an image: hints for entries, parts, landing pads
// and notes.
func (t *Table) AddTo(im *object.Image) {
	owner := t.owners()
	im.Hints = slices.Grow(im.Hints, len(t.FDEs))
	for i := range t.FDEs {
		f := &t.FDEs[i]
		im.LandingPads = append(im.LandingPads, f.LandingPads...)
		im.CallSites = append(im.CallSites, f.Sites...)
		switch o := owner[i]; {
		case o >= 0:
			im.Parts = append(im.Parts, object.FunctionPart{Addr: f.Addr, Size: f.Size, Parent: t.FDEs[o].Addr, Source: object.FromEHFrame})
		case f.Framed:
			im.Parts = append(im.Parts, object.FunctionPart{Addr: f.Addr, Size: f.Size, Source: object.FromEHFrame})
		default:
			im.Hints = append(im.Hints, object.FunctionHint{Addr: f.Addr, Size: f.Size, Source: object.FromEHFrame})
		}
	}
	for _, n := range t.Notes {
		im.Note("%s", n)
	}
}

// owners tells for each FDE which other FDE it is a part of, or -1: an
// exception can only be caught within one function, so a landing pad in
// another FDE's range makes the two one function.
func (t *Table) owners() []int {
	owner := make([]int, len(t.FDEs))
	for i := range owner {
		owner[i] = -1
	}
	for i := range t.FDEs {
		a := &t.FDEs[i]
		for _, pad := range a.LandingPads {
			if pad-a.Addr < a.Size {
				continue
			}
			j := t.find(pad)
			if j < 0 || j == i {
				continue
			}
			part, parent := j, i
			if a.Framed && !t.FDEs[j].Framed {
				part, parent = i, j
			}
			if owner[part] < 0 && owner[parent] < 0 {
				owner[part] = parent
			}
		}
	}
	// A part of a part belongs to the whole.
	for i := range owner {
		for steps := 0; owner[i] >= 0 && owner[owner[i]] >= 0 && steps < 4; steps++ {
			owner[i] = owner[owner[i]]
		}
		if owner[i] == i {
			owner[i] = -1
		}
	}
	return owner
}

// find returns the index of the FDE that covers addr, or -1.
func (t *Table) find(addr uint64) int {
	i, found := slices.BinarySearchFunc(t.FDEs, addr, func(f FDE, a uint64) int { return cmp.Compare(f.Addr, a) })
	if !found {
		i--
	}
	if i < 0 || addr-t.FDEs[i].Addr >= t.FDEs[i].Size {
		return -1
	}
	return i
}
