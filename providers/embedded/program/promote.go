package program

import (
	"cmp"
	"slices"

	"rea/providers/embedded/isa"
)

// Tail calls where no table states extents: a walk follows every jump, so a
// function that ends in a jump to another one first swallows it. A target is
// split off as a function when the stack is back at its entry height at every
// jump to it, nothing falls into it, what it reaches is apart from the rest,
// and its place speaks for it: another function lies between, several
// functions share it, or it starts aligned behind padding.

// splitJumps finds such targets.
func (r *recovery) splitJumps() (bool, error) {
	var open []*fn
	once, twice := newBitset(r.sp.size), newBitset(r.sp.size)
	for _, f := range r.funcs {
		if len(f.extents) > 0 || r.stubs[f.entry] {
			continue
		}
		open = append(open, f)
		for i := range f.blocks {
			if o := f.blocks[i].start; once.has(o) {
				twice.set(o)
			} else {
				once.set(o)
			}
		}
	}
	if len(open) == 0 {
		return false, nil
	}
	align := r.usualAlignment()
	got := make([][]jumpSplit, len(open))
	err := each(r.ctx, r.workers, len(open), 8, func(_, i int) {
		if f := open[i]; r.splitStale(f, twice) {
			got[i] = r.splitsOf(f, twice, align)
			f.split = len(got[i]) == 0
		}
	})
	if err != nil {
		return false, err
	}
	r.recent = newBitset(r.sp.size)
	var fresh []uint32
	for _, g := range got {
		for _, s := range g {
			if r.add(s.to, ByJump, r.sp.addr(s.from)) {
				fresh = append(fresh, s.to)
			}
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	slices.Sort(fresh)
	r.settle(fresh)
	return true, r.d.run(r.ctx, r.workers, fresh)
}

// splitStale says whether the answer for f may have changed since it was last
// asked: f was walked again, a start was added among its blocks, or it shares
// some.
func (r *recovery) splitStale(f *fn, shared bitset) bool {
	if !f.split || r.recent == nil {
		return true
	}
	lo, hi := f.entry, f.entry
	for i := range f.blocks {
		b := &f.blocks[i]
		lo, hi = min(lo, b.start), max(hi, b.end)
		if shared.has(b.start) {
			return true
		}
	}
	return r.recent.next(lo, hi) < hi
}

type jumpSplit struct{ from, to uint32 }

// splitsOf judges the jump targets inside one function.
func (r *recovery) splitsOf(f *fn, shared bitset, align uint32) []jumpSplit {
	var cands []jumpSplit
	after := r.startAfter(f)
	for i := range f.blocks {
		b := &f.blocks[i]
		k := r.d.kind(b.last)
		if k != kindJump && k != kindCond {
			continue
		}
		t := r.d.target(b.last)
		if t == none || t == f.entry || r.rejected[t] || f.blockStart(t) < 0 {
			continue
		}
		between := t < f.entry || after < t
		next := k == kindJump && t == b.end && b.start == f.entry // no compiler begins a function so that optimizes
		if !between && !shared.has(t) && !next && !(k == kindJump && r.behindPadding(t)) {
			continue
		}
		if k == kindCond && (!between || r.sp.addr(t)%uint64(align) != 0) {
			continue
		}
		cands = append(cands, jumpSplit{b.last, t})
	}
	if len(cands) == 0 {
		return nil
	}
	slices.SortStableFunc(cands, func(a, b jumpSplit) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	cands = slices.CompactFunc(cands, func(a, b jumpSplit) bool { return a.to == b.to })
	r.computeHeights(f)
	r.effort.Add(f.cost)
	for budget := splitBudget + 32*len(f.blocks); len(cands) > 0 && budget > 0; {
		stops := make([]bool, len(f.blocks))
		for _, c := range cands {
			stops[f.blockStart(c.to)] = true
		}
		first := r.frontier(f, cands)
		if len(first) == 0 {
			return nil
		}
		budget -= len(f.blocks) * (len(first) + 1)
		r.effort.Add(int64(len(f.blocks)) * int64(len(first)+1))
		var out []jumpSplit
		for _, c := range first {
			if r.separable(f, c.to, after, stops) {
				out = append(out, c)
			}
		}
		if len(out) > 0 {
			return out
		}
		cands = slices.DeleteFunc(cands, func(c jumpSplit) bool { return slices.Contains(first, c) })
	}
	return nil
}

// splitBudget bounds, with some passes over all of its blocks, the blocks looked
// at to judge the jumps of one function.
const splitBudget = 1 << 20

// startAfter is the first function start behind f's entry in its region.
func (r *recovery) startAfter(f *fn) uint32 {
	return r.starts.next(f.entry+1, r.sp.at(f.entry).end())
}

// frontier keeps the candidates that the entry reaches without passing through
// another one: what lies behind a split is judged once it is a function.
func (r *recovery) frontier(f *fn, cands []jumpSplit) []jumpSplit {
	ei := f.blockStart(f.entry)
	if ei < 0 {
		return nil
	}
	const seen, stop, met = 1, 2, 4
	mark := make([]uint8, len(f.blocks))
	for _, c := range cands {
		mark[f.blockStart(c.to)] |= stop
	}
	stack := []int{ei}
	mark[ei] |= seen
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.succ(f, &f.blocks[i], func(to uint32, _ EdgeKind) {
			j := f.blockStart(to)
			if mark[j]&stop != 0 {
				mark[j] |= met
			} else if mark[j]&seen == 0 {
				mark[j] |= seen
				stack = append(stack, j)
			}
		})
	}
	var out []jumpSplit
	for _, c := range cands {
		if mark[f.blockStart(c.to)]&met != 0 {
			out = append(out, c)
		}
	}
	return out
}

// behindPadding says whether t is aligned and the bytes before it are padding
// of at least one byte, or the end of an instruction stream at the usual
// alignment.
func (r *recovery) behindPadding(t uint32) bool {
	g := r.sp.at(t)
	if r.sp.addr(t)%16 != 0 || t == g.base {
		return false
	}
	return r.paddingBefore(t) > 0
}

// paddingBefore is the number of bytes of nops, traps or zeroes that end at t,
// looking back at most 16 bytes.
func (r *recovery) paddingBefore(t uint32) uint32 {
	g := r.sp.at(t)
	most := min(t-g.base, 16)
	var in isa.Inst
	for n := most; n > 0; n-- {
		a, ok := t-n, true
		for a < t {
			i := a - g.base
			r.dec.Decode(g.data[i:], g.addr+uint64(i), &in)
			if !isPadding(g.data[i:], &in) || a+uint32(in.Len) > t {
				ok = false
				break
			}
			a += uint32(in.Len)
		}
		if ok {
			return n
		}
	}
	return 0
}

// isPadding says whether an instruction is what linkers and assemblers fill
// with.
func isPadding(b []byte, in *isa.Inst) bool {
	if in.Class == isa.Nop || len(b) > 0 && b[0] == 0xcc {
		return true
	}
	return len(b) >= 4 && b[0]|b[1]|b[2]|b[3] == 0
}

// separable says whether the blocks t reaches are apart from those reached
// without it, and every way to t is a jump made at entry height. stops marks
// the blocks other candidates start, which both sides leave alone.
func (r *recovery) separable(f *fn, t, after uint32, stops []bool) bool {
	n := len(f.blocks)
	ti, ei := f.blockStart(t), f.blockStart(f.entry)
	if ti < 0 || ei < 0 || n > 1<<16 {
		return false
	}
	mark := make([]uint8, n)
	ok := true
	apart := t < f.entry || after < t
	reach := func(from int, bit uint8) {
		stack := []int{from}
		mark[from] |= bit
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			b := &f.blocks[i]
			r.succ(f, b, func(to uint32, kind EdgeKind) {
				j := f.blockStart(to)
				if bit == 2 && j == ei && kind != EdgeFall {
					return // a tail call back
				}
				if stops[j] {
					if j == ti && bit == 1 {
						ok = ok && r.mayTailCall(f, b, kind, apart)
					}
					return
				}
				if mark[j]&bit == 0 {
					mark[j] |= bit
					stack = append(stack, j)
				}
			})
		}
	}
	reach(ei, 1)
	if !ok {
		return false
	}
	reach(ti, 2)
	for i, m := range mark {
		if m == 3 || m == 1 && !apart && f.blocks[i].start > t {
			return false // shared, or the function goes on behind t
		}
	}
	return mark[ei]&2 == 0 && (apart || r.opensFrame(t) || r.jumpsNext(f, t))
}

// mayTailCall says whether an edge can be a tail call.
func (r *recovery) mayTailCall(f *fn, b *block, kind EdgeKind, apart bool) bool {
	switch kind {
	case EdgeJump:
	case EdgeTaken:
		if !apart {
			return false
		}
	case EdgeFall:
		k := r.d.kind(b.last) // running on behind a call: the call does not return
		return k == kindCall || k == kindIndCall || r.endsInPadding(b)
	default:
		return false
	}
	h := r.heightOf(f, b.last)
	return h.spKnown && h.sp == 0
}

// jumpsNext says whether f is, but for a few instructions, a jump to t right
// behind it: a wrapper before the function it wraps.
func (r *recovery) jumpsNext(f *fn, t uint32) bool {
	i := f.blockStart(t) - 1
	return i >= 0 && f.blocks[i].start == f.entry && f.blocks[i].end == t && t-f.entry <= 16 && r.d.kind(f.blocks[i].last) == kindJump && r.d.target(f.blocks[i].last) == t
}

// endsInPadding says whether b ends in nops behind a call.
func (r *recovery) endsInPadding(b *block) bool {
	call := false
	for a := b.start; a < b.end; a += max(1, r.d.size(a)) {
		switch r.d.kind(a) {
		case kindNop:
		case kindCall, kindIndCall:
			call = true
		default:
			call = false
		}
	}
	return call
}

// opensFrame says whether one of the first instructions at t sets up a frame.
func (r *recovery) opensFrame(t uint32) bool {
	var in isa.Inst
	for range 4 {
		if r.d.meta[t] == 0 {
			return false
		}
		r.decode(t, &in)
		if r.prologueInst(&in) {
			return true
		}
		if in.Flow != isa.Next {
			return false
		}
		t += uint32(in.Len)
	}
	return false
}
