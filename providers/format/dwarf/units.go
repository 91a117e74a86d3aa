package dwarf

import (
	"fmt"
)

// unit is one unit header and what its root entry says about the whole unit.
type unit struct {
	start, end Ref    // the whole unit, header included
	root       Ref    // its first entry
	data       []byte // the section it lies in
	version    uint16
	wide       bool // 64-bit DWARF
	addrSize   uint8
	kind       uint8 // DW_UT_*
	abbrevOff  uint64
	signature  uint64 // of a type unit
	typeRef    Ref    // the type a type unit describes

	ready          bool // the fields below are read
	failed         bool
	abbrevs        *abbrevTable
	strOffsetsBase uint64
	addrBase       uint64
	rnglistsBase   uint64
	low            uint64
	lowKnown       bool
	ranges         attribute
	high           attribute
	name, dir      string
	stmtList       uint64
	hasLines       bool
	language       uint64
}

const (
	utCompile, utType, utPartial, utSkeleton, utSplitCompile, utSplitType = 1, 2, 3, 4, 5, 6
)

// Languages that change how things are named.
const (
	langC89, langC, langC99, langC11, langC17 = 0x01, 0x02, 0x0c, 0x1d, 0x2c
	langObjC                                  = 0x10
	langGo, langRust                          = 0x16, 0x1c
)

// plainC tells whether struct tags have a name space of their own.
func (u *unit) plainC() bool {
	switch u.language {
	case langC89, langC, langC99, langC11, langC17, langObjC:
		return true
	}
	return false
}

// readUnits walks the unit headers of a section.
func (d *Data) readUnits(data []byte, mark Ref) {
	c := cursor{b: data, order: d.order}
	for c.left() >= 11 {
		u := &unit{start: mark | Ref(c.off), data: data}
		n, wide := c.length()
		if c.bad || n > c.left() || n == 0 {
			d.note(fmt.Sprintf("the unit at %#x claims %#x bytes, %#x are left", uint64(u.start&^typesBit), n, c.left()))
			return
		}
		end := c.off + n
		u.end, u.wide = mark|Ref(end), wide
		if d.readUnitHeader(u, &c, mark) && c.off <= end {
			u.root = mark | Ref(c.off)
			d.units = append(d.units, u)
		}
		c.off, c.bad = end, false
	}
}

func (d *Data) readUnitHeader(u *unit, c *cursor, mark Ref) bool {
	u.version = c.u16()
	if u.version < 2 || u.version > 5 {
		d.note(fmt.Sprintf("units of DWARF version %d are not read", u.version))
		return false
	}
	u.kind = utCompile
	if mark != 0 {
		u.kind = utType
	}
	if u.version >= 5 {
		u.kind = c.u8()
		u.addrSize = c.u8()
		u.abbrevOff = c.offset(u.wide)
	} else {
		u.abbrevOff = c.offset(u.wide)
		u.addrSize = c.u8()
	}
	switch u.kind {
	case utCompile, utPartial:
	case utType, utSplitType:
		u.signature = c.u64()
		u.typeRef = u.start + Ref(c.offset(u.wide))
	case utSkeleton, utSplitCompile:
		c.u64()
		if u.kind == utSkeleton {
			d.note("some units keep their information in separate .dwo files, which are not read")
		}
	default:
		return false
	}
	return !c.bad && (u.addrSize == 4 || u.addrSize == 8 || u.addrSize == 2)
}

// prepare reads a unit's abbreviations and root entry. It tells whether the
// unit can be used.
func (d *Data) prepare(u *unit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u.ready {
		return !u.failed
	}
	u.ready = true
	u.abbrevs = d.abbrevTable(u.abbrevOff)
	if u.abbrevs == nil {
		u.failed = true
		return false
	}
	w := d.walk(u, u.root)
	e, ok := w.next()
	if !ok {
		u.failed = true
		return false
	}
	// The bases come first: other attributes need them.
	u.strOffsetsBase, u.addrBase, u.rnglistsBase = d.defaultBases(u)
	if a := e.get(atStrOffsetsBase); a.ok {
		u.strOffsetsBase = a.u
	}
	if a := e.get(atAddrBase); a.ok {
		u.addrBase = a.u
	}
	if a := e.get(atRnglistsBase); a.ok {
		u.rnglistsBase = a.u
	}
	if a := e.get(atLanguage); a.ok {
		u.language = a.u
	}
	u.name, u.dir = d.str(u, e.get(atName)), d.str(u, e.get(atCompDir))
	if a := e.get(atStmtList); a.ok {
		u.stmtList, u.hasLines = a.u, true
	}
	u.low, u.lowKnown = d.address(u, e.get(atLowPC))
	u.high, u.ranges = e.get(atHighPC), e.get(atRanges)
	return true
}

// defaultBases are those of a version 5 section with one table: after its
// header.
func (d *Data) defaultBases(u *unit) (str, addr, rng uint64) {
	if u.version < 5 {
		return 0, 0, 0
	}
	if u.wide {
		return 16, 16, 20
	}
	return 8, 8, 12
}
