package program

import (
	"cmp"
	"slices"

	"rea/providers/embedded/isa"
)

// findGaps classifies the code bytes no function owns, and finds overlapping
// instructions.
func (r *recovery) findGaps(p *Program) error {
	owned := newBitset(r.sp.size)
	for _, g := range p.Ranges {
		if lo := r.sp.off(g.Start); lo != none {
			owned.setRange(lo, r.sp.endOff(lo, g.End-g.Start))
		}
	}
	var gaps []span
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		for lo := owned.nextClear(g.base, g.end()); lo < g.end(); {
			hi := owned.next(lo, g.end())
			gaps = append(gaps, span{lo, hi})
			lo = owned.nextClear(hi, g.end())
		}
	}
	found := make([][]Gap, r.shards(len(gaps)))
	err := r.eachShard(len(gaps), func(_, k, lo, hi int) {
		for _, g := range gaps[lo:hi] {
			found[k] = r.judgeResidue(found[k], g)
		}
	})
	if err != nil {
		return err
	}
	p.Gaps = slices.Concat(found...)
	if err := r.findOverlaps(p); err != nil {
		return err
	}
	slices.SortFunc(p.Unresolved, func(a, b Unresolved) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Kind, b.Kind))
	})
	p.Unresolved = slices.Compact(p.Unresolved)
	return nil
}

// judgeResidue appends the pieces of one gap.
func (r *recovery) judgeResidue(out []Gap, g span) []Gap {
	for a := g.lo; a < g.hi; {
		e, kind := r.skipPadding(a, g.hi), GapPadding
		if e == a {
			e, kind = r.residue(a, g.hi)
		}
		out = append(out, Gap{r.rangeOf(a, e), kind})
		a = e
	}
	return out
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

// overlapPiece is how much code is searched at a time.
const overlapPiece = 1 << 18

// findOverlaps reports instructions that start inside others.
func (r *recovery) findOverlaps(p *Program) error {
	if r.dec.Align() > 1 {
		return nil
	}
	var pieces []span
	for i := range r.sp.regions {
		g := &r.sp.regions[i]
		for lo := g.base; lo < g.end(); lo += overlapPiece {
			pieces = append(pieces, span{lo, min(g.end(), lo+overlapPiece)})
		}
	}
	found := make([][]Unresolved, len(pieces))
	err := each(r.ctx, r.workers, len(pieces), 1, func(_, k int) {
		end := r.sp.at(pieces[k].lo).end()
		for a := p.starts.next(pieces[k].lo, pieces[k].hi); a < pieces[k].hi; {
			n := r.d.size(a)
			next := p.starts.next(a+1, end)
			if n > 0 && next < a+n {
				found[k] = append(found[k], Unresolved{r.sp.addr(next), OverlappingCode})
			}
			a = next
		}
	})
	p.Unresolved = append(p.Unresolved, slices.Concat(found...)...)
	return err
}
