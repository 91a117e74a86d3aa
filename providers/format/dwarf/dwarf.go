// Package dwarf reads DWARF debug information, versions 2 to 5, from an image
// of any container format: functions with names, ranges and source positions,
// their parameters and variables, line tables, and the layout of data types.
//
// Nothing is read before it is asked for. Every walk is iterative or bounded
// in depth, every count is bounded by the bytes it is read from, and tables
// that many units share are decoded once, so that hostile debug information
// costs no more than its size.
//
// The words are DWARF's: the information is a forest of entries (DIEs) in
// units; an abbreviation gives an entry's tag and attributes; a form says how
// an attribute is written.
package dwarf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"rea/providers/format/object"
)

// ErrNone says that an image has no debug information.
var ErrNone = errors.New("no DWARF debug information")

// Data is the debug information of one image. Its methods may be called
// concurrently.
type Data struct {
	// Notes are limitations met on opening.
	Notes []string

	im    *object.Image
	order binary.ByteOrder
	sec   sections
	units []*unit // by place, .debug_info before .debug_types

	mu           sync.Mutex
	abbrevs      map[uint64]*abbrevTable
	abbrevBudget int
	lines        map[uint64]*lineTable
	lineRows     int
	lineBudget   int
	files        map[uint64]*fileTable
	signatures   map[uint64]Ref
	spans        []unitSpan
	spansReady   bool
	types        *typeIndex
	scopedNames  map[*unit]map[Ref]string // of types in namespaces and classes, by unit
}

// Ref is the place of a debugging information entry.
type Ref uint64

// typesBit marks references into .debug_types, which has offsets of its own.
const typesBit Ref = 1 << 63

// Open finds the debug sections and the units in them.
func Open(im *object.Image) (*Data, error) {
	d := &Data{im: im, order: binary.LittleEndian, abbrevs: map[uint64]*abbrevTable{}, lines: map[uint64]*lineTable{}, files: map[uint64]*fileTable{}, scopedNames: map[*unit]map[Ref]string{}}
	if im.BigEndian {
		d.order = binary.BigEndian
	}
	if err := d.readSections(); err != nil {
		return nil, err
	}
	if len(d.sec.info) == 0 {
		return nil, ErrNone
	}
	d.lineBudget = 64*len(d.sec.line) + 1<<26
	d.abbrevBudget = 4*len(d.sec.abbrev) + 1<<16
	d.readUnits(d.sec.info, 0)
	d.readUnits(d.sec.types, typesBit)
	if len(d.units) == 0 {
		return nil, &object.FormatError{Format: im.Format, What: "no unit of .debug_info can be read"}
	}
	return d, nil
}

func (d *Data) note(s string) {
	if len(d.Notes) < 64 && !slices.Contains(d.Notes, s) {
		d.Notes = append(d.Notes, s)
	}
}

// unitOf returns the unit that holds a reference, or nil.
func (d *Data) unitOf(r Ref) *unit {
	i, found := slices.BinarySearchFunc(d.units, r, func(u *unit, r Ref) int { return cmp.Compare(u.start, r) })
	if !found {
		i--
	}
	if i < 0 || r >= d.units[i].end {
		return nil
	}
	return d.units[i]
}
