package program

import (
	"slices"
	"sync/atomic"
)

// Shared code: a function owns what its entry reaches, so that code which many
// functions jump to is walked once for each of them. Compiled programs share
// little; crafted or random code shares everything, and its cost would be the
// product of functions and instructions. When the walked instructions exceed
// a multiple of the code's bytes, the places where the reach of two functions
// meets become functions of their own (the children of the virtual root in the
// dominator tree of all entries), after which nothing is shared.

const (
	shareFactor = 6       // walked instructions for each byte of code, all functions together
	shareSlack  = 1 << 16 // and beyond, in any program
	meetPasses  = 24      // passes over the code to find exact meeting points
)

// walkBudget counts walked instructions against a limit.
type walkBudget struct {
	used  atomic.Int64
	limit int64
}

func (b *walkBudget) spent() bool { return b.used.Load() > b.limit }

// walkAll walks functions and judges whether they return. When they come to more than the budget allows it
// takes their blocks back, splits what they share and says so; whether it does
// depends on the sum alone, not on the order of the walks.
func (r *recovery) walkAll(walked []*fn) (crowded bool, err error) {
	ends := make([]bool, len(walked))
	err = each(r.ctx, r.workers, len(walked), 16, func(w, i int) {
		if !r.budget.spent() {
			f := walked[i]
			r.budget.used.Add(-f.cost)
			f.cost = 0
			r.walk(&r.walkers[w], f)
			r.budget.used.Add(f.cost)
			r.effort.Add(f.cost)
			ends[i] = r.isNoReturn(f)
		}
	})
	if err != nil {
		return false, err
	}
	if !r.budget.spent() {
		var check []*fn
		for i, f := range walked {
			if ends[i] {
				check = append(check, f)
			}
		}
		r.inferNoReturn(check)
		return false, nil
	}
	for _, f := range walked {
		r.forget(f)
		r.touch(f)
	}
	fresh := r.meetings()
	if len(fresh) == 0 { // nothing is shared: the program is as large as it is
		r.budget.limit *= 2
		return true, nil
	}
	r.note("functions that share most of their code were divided where they meet")
	for _, o := range fresh {
		r.add(o, ByJump, 0)
		r.met.set(o)
	}
	r.settle(fresh)
	return true, nil
}

// forget drops what a walk of f found.
func (r *recovery) forget(f *fn) {
	r.budget.used.Add(-f.cost)
	r.give(f)
	f.cost, f.ended, f.dirty = 0, 0, false
	f.blocks, f.exits, f.calls, f.indirect, f.heights, f.order, f.jumped, f.branched = nil, nil, nil, nil, nil, nil, nil, nil
}

// meetings returns the places that two functions reach and that no other place
// leads to alone: new starts. Each pass gives every instruction the first
// function that reaches it and lists where another one arrives. When a few
// passes do not settle it, every place with two ways to it is listed.
func (r *recovery) meetings() []uint32 {
	m := meeting{r: r, heads: slices.Clone(r.starts), label: make([]uint32, r.sp.size)}
	var all []uint32
	for pass := 0; ; pass++ {
		clear(m.label)
		m.exact, m.met = pass < meetPasses, newBitset(r.sp.size)
		for _, f := range r.funcs {
			m.spread(f, f.entry, f.pads)
		}
		for _, o := range all {
			m.spread(&fn{entry: o}, o, nil)
		}
		n := len(all)
		for o := m.met.next(0, r.sp.size); o < r.sp.size; o = m.met.next(o+1, r.sp.size) {
			m.heads.set(o)
			all = append(all, o)
		}
		if len(all) == n || !m.exact {
			slices.Sort(all)
			return all
		}
	}
}

// meeting is the state of one search for meeting points.
type meeting struct {
	r     *recovery
	heads bitset
	label []uint32 // by instruction: 1 + the entry that reached it
	met   bitset
	exact bool
	stack []uint32
}

// spread labels what entry reaches, as walk would.
func (m *meeting) spread(f *fn, entry uint32, pads []uint32) {
	m.stack = append(m.stack[:0], entry)
	for _, p := range pads {
		if !m.heads.has(p) {
			m.stack = append(m.stack, p)
		}
	}
	for len(m.stack) > 0 {
		off := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		m.run(f, entry, off)
	}
}

func (m *meeting) run(f *fn, entry, off uint32) {
	r, d := m.r, m.r.d
	call := false
	for first := true; ; first = false {
		if d.meta[off] == 0 || off != entry && m.heads.has(off) {
			return
		}
		if !first && !f.inside(off) && (r.covered.has(off) || call && len(f.extents) > 0) {
			return
		}
		if l := m.label[off]; l != 0 {
			if off != entry && (l != entry+1 || !m.exact) {
				m.met.set(off)
			}
			return
		}
		m.label[off] = entry + 1
		k := d.kind(off)
		call = k == kindCall || k == kindIndCall || call && k == kindNop
		switch k {
		case kindJump:
			m.follow(f, entry, d.target(off), exitJump)
			return
		case kindCond:
			m.follow(f, entry, d.target(off), exitCond)
		case kindCall:
			if r.stops(off) {
				return
			}
		case kindIndCall:
			if r.noRetSite[off] {
				return
			}
		case kindIndJump:
			if t := r.tables[off]; t != nil {
				for _, to := range t.once {
					m.follow(f, entry, to, exitJump)
				}
			}
			return
		case kindInvalid, kindReturn, kindTrap, kindIndNoRet, kindExtNoRet:
			return
		}
		off += d.size(off)
	}
}

func (m *meeting) follow(f *fn, entry, t uint32, k exitKind) {
	if t != none && t != entry && !m.heads.has(t) && !m.r.leaves(f, t, k) {
		m.stack = append(m.stack, t)
	}
}
