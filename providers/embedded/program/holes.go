package program

import (
	"slices"

	"rea/providers/embedded/isa"
)

// Holes: code inside a function's own range that its walk did not reach. A
// language runtime may enter it (Go's deferred returns), an unresolved jump may
// lead there, or it is dead behind a call that does not return. Whatever it
// is, it belongs to the function; it is entered as a block of it when it
// decodes to a proper end.

const maxHoles = 64 // rounds of the same function

// fillHoles adds the first hole of every function, once the walks have settled.
func (r *recovery) fillHoles() (bool, error) {
	found := make([][]uint32, len(r.funcs))
	err := each(r.ctx, r.workers, len(r.funcs), 64, func(_, i int) {
		if f := r.funcs[i]; !f.whole && !r.stubs.has(f.entry) {
			found[i] = r.holesOf(f)
		}
	})
	if err != nil {
		return false, err
	}
	var leaders []uint32
	for i, hs := range found {
		f := r.funcs[i]
		f.whole = true
		if len(hs) == 0 || f.holes >= maxHoles {
			continue
		}
		f.holes++
		f.pads = append(f.pads, hs...)
		slices.Sort(f.pads)
		f.pads = slices.Compact(f.pads)
		f.holeStarts = append(f.holeStarts, hs...)
		slices.Sort(f.holeStarts)
		r.touch(f)
		leaders = append(leaders, hs...)
	}
	if len(leaders) == 0 {
		return false, nil
	}
	slices.Sort(leaders)
	return true, r.d.run(r.ctx, r.workers, leaders)
}

// holesOf lists the starts of f's holes that decode.
func (r *recovery) holesOf(f *fn) []uint32 {
	var out []uint32
	pads := f.pads
	if !slices.IsSorted(pads) {
		pads = slices.Sorted(slices.Values(pads))
	}
	try := func(lo, hi uint32) {
		a := r.skipPadding(lo, hi)
		if a >= hi {
			return
		}
		if _, known := slices.BinarySearch(pads, a); !known && r.sound(f, a, hi) {
			out = append(out, a)
		}
	}
	if len(f.extents) > 0 {
		k := 0
		for _, e := range f.extents {
			at := e.lo
			for ; k < len(f.blocks) && f.blocks[k].start < e.hi; k++ {
				if b := &f.blocks[k]; b.start > at {
					try(at, b.start)
				}
				at = max(at, f.blocks[k].end)
			}
			if at < e.hi {
				try(at, e.hi)
			}
		}
		return out
	}
	for k := 1; k < len(f.blocks); k++ {
		lo, hi := f.blocks[k-1].end, f.blocks[k].start
		if hi > lo && hi-lo <= 4096 && r.sp.at(lo) == r.sp.at(hi) && r.starts.next(lo, hi) == hi && r.covered.next(lo, hi) == hi {
			try(lo, hi)
		}
	}
	return out
}

// sound says whether the straight run from a on decodes up to an end that stays
// below hi or joins f, with targets in f or at functions.
func (r *recovery) sound(f *fn, a, hi uint32) bool {
	var in isa.Inst
	g := r.sp.at(a)
	for n := 0; a < hi && n < probeInsts; n++ {
		if r.d.data != nil && r.d.data.has(a) {
			return false
		}
		r.decode(a, &in)
		if in.Flow == isa.Invalid || a+uint32(in.Len) > hi || r.implausible(&in) || n == 0 && in.Len == 2 && g.data[a-g.base] == 0 {
			return false
		}
		switch in.Flow {
		case isa.Jump, isa.CondJump:
			t := r.sp.off(in.Target)
			if t != none && in.Flow == isa.Jump && !r.covered.has(t) && f.inside(a) && r.plausible(t) {
				return true // to code no table states: its start, perhaps
			}
			if t == none || !r.starts.has(t) && !f.inside(t) && (len(f.extents) > 0 || f.blockAt(t) < 0 && (t < a || t >= hi)) {
				return false
			}
			if in.Flow == isa.Jump {
				return true
			}
		case isa.Call:
			if t := r.sp.off(in.Target); t == none || !r.starts.has(t) && r.d.meta[t] == 0 {
				return false
			}
		case isa.Return, isa.Trap, isa.IndirectJump:
			return true
		}
		a += uint32(in.Len)
	}
	return a == hi
}
