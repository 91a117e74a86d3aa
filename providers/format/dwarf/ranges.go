package dwarf

import (
	"cmp"
	"slices"

	"rea/providers/format/object"
)

// maxRanges bounds the ranges of one entry. A list ends with a mark, so only a
// damaged one is longer.
const maxRanges = 1 << 16

// Range list entries of DWARF 5.
const (
	rleEnd, rleBaseX, rleStartXEndX, rleStartXLength = 0, 1, 2, 3
	rleOffsetPair, rleBase, rleStartEnd, rleStartLen = 4, 5, 6, 7
)

// extent reads the code ranges that the attributes of an entry or a unit give,
// in the order they are written.
func (d *Data) extent(u *unit, low, high, ranges attribute) []object.Range {
	if ranges.ok {
		return d.rangeList(u, ranges)
	}
	start, ok := d.address(u, low)
	if !ok || !high.ok {
		return nil
	}
	end, isAddr := d.address(u, high)
	if !isAddr {
		end = start + high.u
	}
	if end <= start {
		return nil
	}
	return []object.Range{{Addr: start, Size: end - start}}
}

func (d *Data) rangeList(u *unit, a attribute) []object.Range {
	if u.version < 5 {
		return d.oldRangeList(u, a.u)
	}
	off := a.u
	if a.form == formRnglistx {
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if a.u > uint64(len(d.sec.rnglists)) {
			return nil
		}
		c := cursor{b: d.sec.rnglists, off: u.rnglistsBase + a.u*size, order: d.order}
		off = u.rnglistsBase + c.offset(u.wide)
		if c.bad {
			return nil
		}
	}
	c := cursor{b: d.sec.rnglists, off: off, order: d.order}
	base := u.low
	var out []object.Range
	add := func(start, end uint64) {
		if end > start {
			out = append(out, object.Range{Addr: start, Size: end - start})
		}
	}
	for !c.bad && len(out) < maxRanges {
		switch c.u8() {
		case rleEnd:
			return out
		case rleBaseX:
			base, _ = d.indexed(u, c.uleb())
		case rleStartXEndX:
			start, _ := d.indexed(u, c.uleb())
			end, _ := d.indexed(u, c.uleb())
			add(start, end)
		case rleStartXLength:
			start, _ := d.indexed(u, c.uleb())
			add(start, start+c.uleb())
		case rleOffsetPair:
			start, end := c.uleb(), c.uleb()
			add(base+start, base+end)
		case rleBase:
			base = c.fixed(u.addrSize)
		case rleStartEnd:
			start, end := c.fixed(u.addrSize), c.fixed(u.addrSize)
			add(start, end)
		case rleStartLen:
			start := c.fixed(u.addrSize)
			add(start, start+c.uleb())
		default:
			return out
		}
	}
	return out
}

// oldRangeList reads .debug_ranges: pairs of offsets from a base, which a pair
// beginning with the largest address changes.
func (d *Data) oldRangeList(u *unit, off uint64) []object.Range {
	c := cursor{b: d.sec.ranges, off: off, order: d.order}
	base := u.low
	selector := ^uint64(0) >> (64 - 8*uint(u.addrSize))
	var out []object.Range
	for len(out) < maxRanges {
		start, end := c.fixed(u.addrSize), c.fixed(u.addrSize)
		switch {
		case c.bad, start == 0 && end == 0:
			return out
		case start == selector:
			base = end
		case end > start:
			out = append(out, object.Range{Addr: base + start, Size: end - start})
		}
	}
	return out
}

// unitSpan ties a code range to its unit.
type unitSpan struct {
	addr, size uint64
	u          *unit
}

// unitAt finds the unit whose code covers an address.
func (d *Data) unitAt(addr uint64) *unit {
	spans := d.unitSpans()
	i, found := slices.BinarySearchFunc(spans, addr, func(s unitSpan, a uint64) int { return cmp.Compare(s.addr, a) })
	if !found {
		i--
	}
	// A damaged or merged unit may span others; look back a little.
	for steps := 0; i >= 0 && steps < 16; i, steps = i-1, steps+1 {
		if addr-spans[i].addr < spans[i].size {
			return spans[i].u
		}
	}
	return nil
}

func (d *Data) unitSpans() []unitSpan {
	d.mu.Lock()
	if d.spansReady {
		defer d.mu.Unlock()
		return d.spans
	}
	d.mu.Unlock()
	var spans []unitSpan
	budget := len(d.sec.ranges) + len(d.sec.rnglists) + len(d.units) + 1024
	for _, u := range d.units {
		if u.kind != utCompile || !d.prepare(u) {
			continue
		}
		low := attribute{ok: u.lowKnown, form: formAddr, u: u.low}
		for _, r := range d.extent(u, low, u.high, u.ranges) {
			if budget--; budget < 0 {
				break
			}
			if d.im.Executable(r.Addr) {
				spans = append(spans, unitSpan{r.Addr, r.Size, u})
			}
		}
	}
	slices.SortStableFunc(spans, func(a, b unitSpan) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size)) })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spans, d.spansReady = spans, true
	return spans
}
