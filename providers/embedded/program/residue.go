package program

import (
	"slices"

	"rea/providers/embedded/isa"
)

// findGaps classifies the code bytes no function owns, and finds overlapping
// instructions.
func (r *recovery) findGaps(p *Program) {
	owned := newBitset(r.sp.size)
	for _, g := range p.Ranges {
		if lo := r.sp.off(g.Start); lo != none {
			owned.setRange(lo, r.sp.endOff(lo, g.End-g.Start))
		}
	}
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		for lo := g.base; lo < g.end(); {
			lo = owned.nextClear(lo, g.end())
			hi := owned.next(lo, g.end())
			for a := lo; a < hi; {
				e := r.skipPadding(a, hi)
				if e > a {
					p.Gaps = append(p.Gaps, Gap{r.rangeOf(a, e), GapPadding})
					a = e
					continue
				}
				e, kind := r.residue(a, hi)
				p.Gaps = append(p.Gaps, Gap{r.rangeOf(a, e), kind})
				a = e
			}
			lo = hi
		}
	}
	r.findOverlaps(p)
	slices.SortFunc(p.Unresolved, func(a, b Unresolved) int {
		if a.Addr != b.Addr {
			if a.Addr < b.Addr {
				return -1
			}
			return 1
		}
		return int(a.Kind) - int(b.Kind)
	})
	p.Unresolved = slices.Compact(p.Unresolved)
}

func (r *recovery) rangeOf(lo, hi uint32) Range { return Range{r.sp.addr(lo), r.sp.addr(hi-1) + 1} }

// residue takes the bytes from a on up to the next padding and says whether
// they decode.
func (r *recovery) residue(a, hi uint32) (uint32, GapKind) {
	kind := GapUnknown
	var in isa.Inst
	for a < hi {
		if r.d.data != nil && r.d.data.has(a) {
			return min(hi, r.d.data.nextClear(a, hi)), GapData
		}
		g := r.sp.at(a)
		r.decode(a, &in)
		if in.Flow == isa.Invalid {
			kind = GapData
		}
		if isPadding(g.data[a-g.base:], &in) {
			return a, kind
		}
		a += uint32(in.Len)
	}
	return hi, kind
}

// findOverlaps reports instructions that start inside others.
func (r *recovery) findOverlaps(p *Program) {
	if r.dec.Align() > 1 {
		return
	}
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		for a := p.starts.next(g.base, g.end()); a < g.end(); {
			n := r.d.size(a)
			next := p.starts.next(a+1, g.end())
			if n > 0 && next < a+n {
				p.Unresolved = append(p.Unresolved, Unresolved{r.sp.addr(next), OverlappingCode})
			}
			a = next
		}
	}
}
