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
	got := make([][]jumpSplit, len(open))
	err := each(r.ctx, r.workers, len(open), 8, func(_, i int) {
		got[i] = r.splitsOf(open[i], twice)
	})
	if err != nil {
		return false, err
	}
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

type jumpSplit struct{ from, to uint32 }

// splitsOf judges the jump targets inside one function.
func (r *recovery) splitsOf(f *fn, shared bitset) []jumpSplit {
	var cands []jumpSplit
	for i := range f.blocks {
		b := &f.blocks[i]
		k := r.d.kind(b.last)
		if k != kindJump && k != kindCond {
			continue
		}
		t := r.d.target(b.last)
		if t == none || t == f.entry || f.blockStart(t) < 0 {
			continue
		}
		lo, hi := f.entry, t
		if t < f.entry {
			lo, hi = t, f.entry
		}
		between := r.starts.next(lo+1, hi) < hi || t < f.entry
		if !between && !shared.has(t) && !(k == kindJump && r.behindPadding(t)) {
			continue
		}
		if k == kindCond && (!between || r.sp.addr(t)%16 != 0) {
			continue
		}
		cands = append(cands, jumpSplit{b.last, t})
	}
	if len(cands) == 0 {
		return nil
	}
	slices.SortStableFunc(cands, func(a, b jumpSplit) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	r.computeHeights(f)
	var out []jumpSplit
	for i, c := range cands {
		if i > 0 && cands[i-1].to == c.to {
			continue
		}
		if r.separable(f, c.to) {
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
// without it, and every way to t is a jump made at entry height.
func (r *recovery) separable(f *fn, t uint32) bool {
	n := len(f.blocks)
	ti, ei := f.blockStart(t), f.blockStart(f.entry)
	if ti < 0 || ei < 0 || n > 1<<16 {
		return false
	}
	mark := make([]uint8, n)
	ok := true
	reach := func(from int, bit uint8, stop int) {
		stack := []int{from}
		mark[from] |= bit
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			b := &f.blocks[i]
			r.succ(f, b, func(to uint32, kind EdgeKind) {
				j := f.blockStart(to)
				if j == stop {
					if kind != EdgeJump && kind != EdgeTaken {
						ok = false
						return
					}
					h := r.heightOf(f, b.last)
					if !h.spKnown || h.sp != 0 {
						ok = false
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
	reach(ei, 1, ti)
	if !ok {
		return false
	}
	reach(ti, 2, -1)
	for _, m := range mark {
		if m == 3 {
			return false
		}
	}
	return mark[ei]&2 == 0
}
