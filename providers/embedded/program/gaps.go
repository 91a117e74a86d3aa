package program

import (
	"cmp"
	"slices"
	"sync"

	"rea/providers/embedded/isa"
)

// Gaps: code bytes that no table, call, jump or pointer led to. Functions that
// are never used, or only through pointers computed at run time, are found
// here; so are blocks of known functions that an unresolved jump leads to.
// The rules ask for agreement of placement (behind the end of another
// function, at the usual alignment), of decoding (proper ends, targets that
// are known code) and of the stack.

// maxGapRounds bounds the rounds, each of which takes one start from each gap.
const maxGapRounds = 256

// fillGaps looks through all gaps and adds what it accepts. Where it accepts few
// starts, those gaps are looked at again at once: long rows of small functions
// that nothing leads to are not worth a round of all stages for each of them.
func (r *recovery) fillGaps() (bool, error) {
	if r.allCovered() {
		return false, nil
	}
	changed := false
	var again []span // the gaps to look at; nil for all
	for r.gapRounds < maxGapRounds {
		r.gapRounds++
		finds, err := r.judgeGaps(again)
		if err != nil || len(finds) == 0 {
			return changed, err
		}
		if slices.ContainsFunc(finds, func(x find) bool { return !x.loose }) {
			finds = slices.DeleteFunc(finds, func(x find) bool { return x.loose })
		}
		again = again[:0]
		var fresh []uint32
		for _, x := range finds {
			if x.parent != nil {
				r.attach(x.parent, x.off, x.end)
			} else if !r.add(x.off, ByGap, 0) {
				continue
			}
			fresh = append(fresh, x.off)
			again = append(again, x.gap)
		}
		if len(fresh) == 0 {
			return changed, nil
		}
		changed = true
		r.sortFuncs()
		slices.Sort(fresh)
		if err := r.d.run(r.ctx, r.workers, fresh); err != nil {
			return changed, err
		}
		if len(fresh)*fewFinds > len(r.funcs) || r.tired() {
			return true, nil
		}
		for more := true; more; { // the code behind a jump through a table is no gap
			if err := r.own(); err != nil {
				return true, err
			}
			if more, err = r.resolveTables(); err != nil {
				return true, err
			}
		}
	}
	return changed, nil
}

// fewFinds is how many functions make one new start in a gap few.
const fewFinds = 64

// judgeGaps looks for a start in each of the gaps, or in each of those in within.
func (r *recovery) judgeGaps(within []span) ([]find, error) {
	owned := r.ownedBytes()
	r.strayOnce = new(sync.Once)
	if within == nil {
		for i := range r.sp.regions {
			within = append(within, span{r.sp.regions[i].base, r.sp.regions[i].end()})
		}
	}
	gaps, err := r.gapsIn(within, owned)
	if err != nil {
		return nil, err
	}
	align := r.usualAlignment()
	type judged struct {
		finds   []find
		refused []uint32
	}
	got := make([]judged, r.shards(len(gaps)))
	err = r.eachShard(len(gaps), func(_, k, lo, hi int) {
		for _, g := range gaps[lo:hi] {
			got[k].finds, got[k].refused = r.judgeGap(g, align, owned, got[k].finds, got[k].refused)
		}
	})
	var finds []find
	for _, j := range got {
		finds = append(finds, j.finds...)
		for _, a := range j.refused {
			r.refused[a]++
		}
	}
	return finds, err
}

// gapPiece is how much code is searched for gaps at a time.
const gapPiece = 1 << 18

// gapsIn lists the gaps in the spans.
func (r *recovery) gapsIn(within []span, owned bitset) ([]span, error) {
	var pieces []span
	for _, g := range within {
		for ; g.hi-g.lo > gapPiece; g.lo += gapPiece {
			pieces = append(pieces, span{g.lo, g.lo + gapPiece})
		}
		pieces = append(pieces, g)
	}
	found := make([][]span, len(pieces))
	err := each(r.ctx, r.workers, len(pieces), 4, func(_, k int) {
		g := pieces[k]
		for lo := r.nextGap(owned, g.lo, g.hi); lo < g.hi; {
			hi := r.gapEnd(owned, lo, g.hi)
			found[k] = append(found[k], span{lo, hi})
			lo = r.nextGap(owned, hi, g.hi)
		}
	})
	var gaps []span
	for k, gs := range found {
		if n := len(gaps); n > 0 && len(gs) > 0 && k > 0 && pieces[k-1].hi == pieces[k].lo && gaps[n-1].hi == gs[0].lo {
			gaps[n-1].hi, gs = gs[0].hi, gs[1:] // divided between the pieces
		}
		gaps = append(gaps, gs...)
	}
	return gaps, err
}

// find is a start in a gap, or a piece of the function before it.
type find struct {
	off    uint32
	end    uint32 // of the contiguous part
	parent *fn
	gap    span
	loose  bool // a piece of it by its place alone, among parts
}

// judgeGap looks for the first start in the gap g, and for those that follow it
// in a row: each behind all that the one before reaches, which decides where the
// next gap begins. Anything else waits until the starts found are functions. The
// places it refuses are appended to refused.
func (r *recovery) judgeGap(g span, align uint32, owned bitset, finds []find, refused []uint32) ([]find, []uint32) {
	a, first := r.skipPadding(g.lo, g.hi), len(finds)
	var piece *fn // who got what lies right before a
	for tries := 0; a < g.hi && tries < gapTries && r.ctx.Err() == nil; {
		row := len(finds) > first
		if r.refused[a] < maxRefusals {
			p := r.probeAt(a, owned)
			if p.ok && p.insts > 0 && !p.zeroes && (r.continues(a) || r.dead(a, owned)) {
				f, loose := r.holderOf(a, &p, owned, piece)
				if f != nil {
					finds = append(finds, find{a, p.end, f, g, loose})
					if loose {
						return finds, refused
					}
					piece = f
					a = r.skipPadding(p.end, g.hi)
					continue
				}
				if row {
					return finds, refused
				}
				tries++
				a, piece = r.skipPadding(r.skipRun(a, g.hi, align), g.hi), nil
				continue
			}
			if !row && p.ok && p.inner != nil && p.insts > 0 && p.inner.entry < a && !p.zeroes && r.belongs(p.inner, a) {
				return append(finds, find{a, p.end, p.inner, g, false}), refused
			}
			accepted := r.acceptGap(a, g.hi, align, &p) && (r.firm(&p) || r.tiled(p.end, g.hi, owned))
			if accepted && (r.open(a) || r.certain(&p) || r.importJump(a)) {
				if row && slices.Min(p.seen) < a {
					return finds, refused
				}
				finds = append(finds, find{a, p.end, nil, g, false})
				if p.insts > probeInsts || p.computed || slices.Max(p.seen) >= p.end { // what follows may be code of its own
					return finds, refused
				}
				a, piece = r.skipPadding(p.end, g.hi), nil
				continue
			}
			if !accepted && !row { // what its neighbours speak against is judged again when they change
				refused = append(refused, a)
			}
		}
		if row {
			break
		}
		tries++
		a = r.skipPadding(r.skipRun(a, g.hi, align), g.hi)
	}
	return finds, refused
}

const (
	gapTries    = 64 // starts tried in one gap and round
	maxRefusals = 3  // times one start is judged
)

// skipRun passes the straight run at a: to behind its end or, where it does
// not decode, to the next aligned address.
func (r *recovery) skipRun(a, hi, align uint32) uint32 {
	var in isa.Inst
	for first := a; a < hi; {
		r.decode(a, &in)
		switch in.Flow {
		case isa.Invalid:
			return min(hi, nextAligned(r, first, align))
		case isa.Jump, isa.IndirectJump, isa.Return, isa.Trap:
			return a + uint32(in.Len)
		}
		a += uint32(in.Len)
	}
	return hi
}

// belongs says whether f is the function right before a.
func (r *recovery) belongs(f *fn, a uint32) bool {
	if len(f.extents) > 0 {
		return false
	}
	next := r.starts.next(f.entry+1, r.sp.at(a).end())
	return a < next
}

// certain says whether a probe is long enough to be no accident: half of all
// AArch64 words decode, x86 decodes nearly anything.
func (r *recovery) certain(p *probe) bool {
	return r.dec.Align() == 4 && p.insts >= 12 && p.returns
}

func nextAligned(r *recovery, a uint32, align uint32) uint32 {
	g := r.sp.at(a)
	step := max(align, uint32(r.dec.Align()))
	if step < 4 {
		step = 4
	}
	addr := g.addr + uint64(a-g.base)
	return a + uint32(uint64(step)-addr%uint64(step))
}

// nextGap returns the first byte at or after lo that nothing owns.
func (r *recovery) nextGap(owned bitset, lo, end uint32) uint32 {
	for lo < end {
		lo = owned.nextClear(lo, end)
		if lo < end && r.covered.has(lo) {
			lo = r.covered.nextClear(lo, end)
			continue
		}
		if lo < end && r.d.data != nil && r.d.data.has(lo) {
			lo = r.d.data.nextClear(lo, end)
			continue
		}
		return lo
	}
	return end
}

func (r *recovery) gapEnd(owned bitset, lo, end uint32) uint32 {
	hi := owned.next(lo, end) // each search is bounded by the one before, so that all of them together are linear
	hi = r.covered.next(lo, hi)
	if r.d.data != nil {
		hi = r.d.data.next(lo, hi)
	}
	return hi
}

func (r *recovery) skipPadding(a, end uint32) uint32 {
	g := r.sp.at(a)
	var in isa.Inst
	for a < end {
		i := a - g.base
		r.dec.Decode(g.data[i:], g.addr+uint64(i), &in)
		if in.Len == 0 || !isPadding(g.data[i:], &in) {
			break
		}
		if in.Class != isa.Nop && g.data[i] == 0 {
			a += uint32(r.dec.Align())
			continue
		}
		a += uint32(in.Len)
	}
	return min(a, end)
}

// usualAlignment is the alignment nearly all well-founded starts have: 16, 4 or 1.
func (r *recovery) usualAlignment() uint32 {
	if r.align == 0 || r.alignOf != len(r.funcs) {
		r.align, r.alignOf = r.measureAlignment(), len(r.funcs)
	}
	return r.align
}

func (r *recovery) measureAlignment() uint32 {
	n, by16, by4 := 0, 0, 0
	for _, f := range r.funcs {
		if f.why.ev > ByCall || r.stubs.has(f.entry) {
			continue
		}
		a := r.sp.addr(f.entry)
		n++
		if a%16 == 0 {
			by16++
		}
		if a%4 == 0 {
			by4++
		}
	}
	switch {
	case n >= 4 && by16*100 >= n*93:
		return 16
	case n >= 4 && by4*100 >= n*93:
		return 4
	}
	return uint32(r.dec.Align())
}

// firm says whether a probe can stand for itself: it comes to known code, opens
// a frame, or is long.
func (r *recovery) firm(p *probe) bool {
	return p.prologue || p.calls > 0 || p.known > 0 || p.insts >= firmInsts
}

const (
	firmInsts = 24
	tiles     = 3
)

// tiled says whether what follows a short piece of code in its gap, up to the
// gap's end or for a few pieces more, is code as well: data decodes now and
// then, but not for long.
func (r *recovery) tiled(a, hi uint32, owned bitset) bool {
	for range tiles {
		if a = r.skipPadding(a, hi); a >= hi {
			return true
		}
		p := r.probeAt(a, owned)
		if !p.ok || p.zeroes || p.end == a {
			return false
		}
		if r.firm(&p) {
			return true
		}
		a = p.end
	}
	return true
}

// nearAlignment is the alignment of the well-founded starts around a, when it
// differs from align: objects of one program are compiled with different options.
func (r *recovery) nearAlignment(a, align uint32) uint32 {
	g, at := r.sp.at(a), r.sp.addr(a)
	k, _ := slices.BinarySearchFunc(r.funcs, a, func(f *fn, o uint32) int { return cmp.Compare(f.entry, o) })
	n, by16, less := 0, 0, 0 // less aligned, of the nearest two on either side
	for _, step := range [...]int{-1, 1} {
		i, seen := k, 0
		if step < 0 {
			i--
		}
		for looked := 0; i >= 0 && i < len(r.funcs) && looked < nearStarts; i, looked = i+step, looked+1 {
			f := r.funcs[i]
			if f.entry < g.base || f.entry >= g.end() || max(f.entry, a)-min(f.entry, a) > nearBytes {
				break
			}
			if f.why.ev > ByCall || r.stubs.has(f.entry) {
				continue
			}
			x := r.sp.addr(f.entry)
			if n++; x%16 == 0 {
				by16++
			}
			if seen++; seen <= 2 && x%uint64(align) != 0 {
				less++
			}
		}
	}
	switch {
	case n >= nearEnough && by16 == n && at%16 == 0:
		return 16
	case less >= 2:
		return uint32(r.dec.Align())
	}
	return align
}

const (
	nearStarts = 8    // functions looked at on either side
	nearBytes  = 2048 // as far as these
	nearEnough = 4
)

// acceptGap judges a possible function start.
func (r *recovery) acceptGap(a, hi, align uint32, p *probe) bool {
	if !p.ok || p.insts == 0 || p.odd || p.inner != nil || p.zeroes {
		return false
	}
	if r.importJump(a) {
		return true
	}
	if near := r.nearAlignment(a, align); near < align && r.sp.addr(a)%uint64(align) != 0 {
		return p.prologue && (p.returns || p.leaves || p.long || p.traps && p.insts >= 3) // parts of functions lie there as well
	} else {
		align = near
	}
	if r.sp.addr(a)%uint64(max(align, 1)) != 0 && !r.branchesIn(a) {
		return false
	}
	if p.traps && p.prologue && p.insts >= 3 {
		return true
	}
	if !p.returns && !p.leaves && !p.long {
		return false
	}
	if align >= 16 {
		return p.insts >= 2 || p.returns || p.leaves
	}
	if p.returns && p.insts == 1 { // an empty function, right before another one; on x86 one byte is too little
		return r.dec.Align() > 1 && p.end == hi && hi < r.sp.at(a).end() && r.starts.has(hi)
	}
	return p.prologue || p.returns && p.insts >= 2 || p.calls > 0 || p.leaves && p.insts >= 1 || p.long
}

// branchesIn says whether what begins at a is marked for indirect branches and
// opens a frame, as functions do wherever they lie.
func (r *recovery) branchesIn(a uint32) bool {
	var in isa.Inst
	r.decode(a, &in)
	if a += uint32(in.Len); in.Class != isa.EndBranch || a >= r.sp.at(a).end() {
		return false
	}
	r.decode(a, &in)
	return r.prologueInst(&in)
}

// importJump says whether the instruction at a is a jump through the pointer
// of an import: a stub, which needs no alignment.
func (r *recovery) importJump(a uint32) bool {
	var in isa.Inst
	r.decode(a, &in)
	if in.Flow != isa.IndirectJump || !in.HasMem || in.Mem.Index != isa.NoReg || in.Mem.Base != isa.PC && in.Mem.Base != isa.NoReg {
		return false
	}
	_, ok := r.slots[r.wrap(in.Mem.Disp)]
	return ok
}
