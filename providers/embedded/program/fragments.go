package program

import (
	"cmp"
	"slices"
)

// Parts of split functions: compilers move unlikely blocks into sections of
// their own (".cold"), with unwind entries that look like functions. A part is
// never called and no pointer leads to it; its parent jumps to it with the
// frame still built, or conditionally, or it jumps back into its parent, or
// holds its parent's landing pads.

// incoming is what leads to a start other than calls.
type incoming struct {
	to   uint32
	from *fn
	site uint32
	kind exitKind
	pad  bool
}

// mergeParts finds starts that are parts and gives their ranges to their
// parents.
func (r *recovery) mergeParts() (bool, error) {
	if len(r.parts) == 0 && !slices.ContainsFunc(r.funcs, func(f *fn) bool { return f.why.ev == ByUnwind }) {
		return false, nil
	}
	may := r.mayBeParts()
	defer r.giveBack(may)
	left := make([][]incoming, r.shards(len(r.funcs)))
	err := r.eachShard(len(r.funcs), func(_, s, lo, hi int) {
		for _, f := range r.funcs[lo:hi] {
			for _, e := range f.exits {
				// running on behind a call only says that the call does not return
				// and from one part into the next that nothing comes to the end of it
				if e.to != none && e.kind != exitLost && e.kind != exitFallCall && may.has(e.to) && !(e.kind == exitFall && may.has(f.entry)) {
					left[s] = append(left[s], incoming{to: e.to, from: f, site: e.from, kind: e.kind})
				}
			}
		}
	})
	if err != nil {
		return false, err
	}
	ins := slices.Concat(left...)
	ins = append(ins, r.intoParts()...)
	for _, c := range r.callSites {
		if i := r.extentAt(c.owner); i >= 0 && r.extents[i].lo <= c.lo && c.lo < r.extents[i].hi {
			continue // the pad lies where the call does
		}
		if p, s := r.ownerOf(c.owner), r.ownerOf(c.lo); p != nil && s != nil && p != s && may.has(p.entry) {
			ins = append(ins, incoming{to: p.entry, from: s, site: c.lo, pad: true})
		}
	}
	slices.SortStableFunc(ins, func(a, b incoming) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.site, b.site)) })
	type merge struct {
		part   uint32
		parent *fn
	}
	var merges []merge
	for lo := 0; lo < len(ins); {
		hi := lo
		for hi < len(ins) && ins[hi].to == ins[lo].to {
			hi++
		}
		group := ins[lo:hi]
		lo = hi
		c := group[0].to
		_, orphan := r.parts[c]
		if p := r.parentOf(c, group, orphan); p != nil {
			merges = append(merges, merge{c, p})
		}
	}
	merged := r.borrow()
	defer r.giveBack(merged)
	for _, m := range merges {
		merged.set(m.part)
	}
	// parts nothing jumps to: their own jumps back name the parent
	for _, o := range may.members(0, len(may)) {
		f := r.byEntry[o]
		if _, orphan := r.parts[o]; !orphan {
			continue
		}
		if merged.has(f.entry) {
			continue
		}
		for _, e := range f.exits {
			if e.to == none || r.starts.has(e.to) {
				continue
			}
			if p := r.ownerOf(e.to); p != nil && p != f {
				merges = append(merges, merge{f.entry, p})
				break
			}
		}
	}
	if len(merges) == 0 {
		r.orphanParts(may, ins)
		return false, nil
	}
	into := map[uint32]*fn{}
	for _, m := range merges {
		p := m.parent
		for i := 0; i < 16; i++ { // parts of parts belong to the root
			q, ok := into[p.entry]
			if !ok {
				break
			}
			p = q
		}
		if p.entry != m.part {
			into[m.part] = p
		}
	}
	var leaders []uint32
	for _, m := range merges {
		p := into[m.part]
		for i := 0; i < 16 && p != nil; i++ {
			q, ok := into[p.entry]
			if !ok {
				break
			}
			p = q
		}
		if p == nil || p.entry == m.part || into[p.entry] != nil {
			continue
		}
		if r.absorb(r.byEntry[m.part], p) {
			leaders = append(leaders, m.part)
		}
	}
	slices.Sort(leaders)
	r.dropAll(leaders)
	r.touchLeaving(leaders) // whoever left for a part may now enter it, or not
	r.reownExtents()
	return true, r.d.run(r.ctx, r.workers, leaders)
}

// intoParts lists the jumps into the middle of parts whose parents are not known.
func (r *recovery) intoParts() []incoming {
	if len(r.parts) == 0 {
		return nil
	}
	left := make([][]incoming, r.shards(len(r.funcs)))
	_ = r.eachShard(len(r.funcs), func(_, s, lo, hi int) {
		for _, f := range r.funcs[lo:hi] {
			for _, e := range f.exits {
				if e.to == none || e.kind > exitCond || !r.covered.has(e.to) || r.starts.has(e.to) {
					continue
				}
				i := r.extentAt(e.to)
				if i < 0 {
					continue
				}
				p := r.extents[i].owner
				if parent, part := r.parts[p]; part && parent == none && r.starts.has(p) && p != f.entry {
					left[s] = append(left[s], incoming{to: p, from: f, site: e.from, kind: e.kind})
				}
			}
		}
	})
	return slices.Concat(left...)
}

// mayBeParts is the set of starts that may be parts: those that are known to be,
// and those only unwind data names, that nothing calls and no pointer leads to.
// The caller gives it back.
func (r *recovery) mayBeParts() bitset {
	r.countCalls()
	if r.pointed == nil {
		r.pointed = newBitset(r.sp.size + regionGuard)
		for _, p := range r.dataPointers() {
			r.pointed.set(p.to)
		}
	}
	may := r.borrow()
	_ = r.eachShard(len(r.funcs), func(_, _, lo, hi int) {
		for _, f := range r.funcs[lo:hi] {
			if o := f.entry; f.why.ev == ByUnwind && !r.vouched.has(o) && !r.called.has(o) && !r.pointed.has(o) && !r.stubs.has(o) {
				may.share(o)
			}
		}
	})
	for o, owner := range r.parts {
		switch {
		case !r.starts.has(o):
		case owner == none && r.called.has(o): // its frame looks like a part's: code that a compiler moved out of functions
			delete(r.parts, o)
		default:
			may.set(o)
		}
	}
	return may
}

// absorb makes part a piece of p. The caller drops it from the functions.
func (r *recovery) absorb(part, p *fn) bool {
	if part == nil || part == p {
		return false
	}
	if len(part.extents) > 0 && len(p.extents) > 0 {
		p.extents = append(p.extents, part.extents...)
		slices.SortFunc(p.extents, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	}
	p.pads = append(p.pads, part.pads...)
	if _, orphan := r.parts[part.entry]; orphan {
		p.pads = append(p.pads, part.entry) // reached from p, whether or not the jump is seen
	}
	r.touch(p)
	r.parts[part.entry] = p.entry
	return true
}

// reownExtents gives the extents of parts to the functions they belong to now.
func (r *recovery) reownExtents() {
	for i := range r.extents {
		e := &r.extents[i]
		for k := 0; k < 16; k++ {
			p, ok := r.parts[e.owner]
			if !ok || p == none || r.byEntry[e.owner] != nil {
				break
			}
			e.owner = p
		}
	}
}

// ownerOf returns the function whose stated extent or blocks hold off.
func (r *recovery) ownerOf(off uint32) *fn {
	if i := r.extentAt(off); i >= 0 {
		return r.byEntry[r.extents[i].owner]
	}
	i, ok := slices.BinarySearchFunc(r.funcs, off, func(f *fn, o uint32) int { return cmp.Compare(f.entry, o) })
	if !ok {
		i--
	}
	if i >= 0 && r.funcs[i].blockAt(off) >= 0 {
		return r.funcs[i]
	}
	return nil
}

// parentOf judges whether the start c, reached by group, is a part of one of
// the functions that reach it.
func (r *recovery) parentOf(c uint32, group []incoming, orphan bool) *fn {
	self := r.byEntry[c]
	first := group[0].from
	single := true
	for _, g := range group {
		if g.from != first {
			single = false
		}
	}
	if orphan { // a jump or a landing pad names the parent, running on into it hardly
		for _, k := range [...]exitKind{exitJump, exitCond, exitFall} {
			for _, g := range group {
				if g.from != self && (g.kind == k || k == exitJump && g.pad) {
					return g.from
				}
			}
		}
		return nil
	}
	if !single || first == self || self == nil {
		return nil
	}
	loose := r.sp.addr(c)%16 != 0 || r.besidePart(c)
	for _, e := range self.exits { // jumps back into the middle of its parent
		if loose && e.to != none && e.kind <= exitCond && !r.starts.has(e.to) && first.inside(e.to) {
			return first
		}
	}
	cond := false
	for _, g := range group {
		if g.pad {
			return first
		}
		switch g.kind {
		case exitJump, exitCond:
			r.computeHeights(first)
			if h := r.heightOf(first, g.site); h.spKnown && h.sp < 0 {
				return first
			}
			cond = cond || g.kind == exitCond
		case exitFall:
			if first.entry < c && r.starts.next(first.entry+1, c) >= c {
				cond = true // it runs on into c
			}
		default:
			return nil
		}
	}
	if cond && self.returns && r.usualAlignment() < 16 && r.opensFrame(c) {
		return nil // a conditional tail call: parts of functions without a frame do not build one to return
	}
	if loose && (cond || self.noReturn && (r.besidePart(c) || r.usualAlignment() == 16)) {
		return first
	}
	return nil
}

// besidePart says whether a known part lies right before or behind the extent
// at c: linkers collect the parts of all functions in one place.
func (r *recovery) besidePart(c uint32) bool {
	before, behind := r.partsBeside(c)
	return before || behind
}

func (r *recovery) partsBeside(c uint32) (before, behind bool) {
	i := r.extentAt(c)
	if i < 0 {
		return false, false
	}
	near := func(k int) bool {
		if k < 0 || k >= len(r.extents) || r.sp.at(r.extents[k].lo) != r.sp.at(c) {
			return false
		}
		_, part := r.parts[r.extents[k].lo]
		return part
	}
	return near(i - 1), near(i + 1)
}

// orphanParts marks starts that lie among parts, that nothing leads to and
// that never return and have no frame to set up: parts whose parents no longer
// jump to them.
func (r *recovery) orphanParts(may bitset, ins []incoming) {
	reached := r.borrow()
	defer r.giveBack(reached)
	for _, x := range ins {
		reached.set(x.to)
	}
	align := r.usualAlignment()
	judge := func(f *fn) {
		o := f.entry
		if _, part := r.parts[o]; part || !may.has(o) || reached.has(o) || r.alts[o] {
			return
		}
		before, behind := r.partsBeside(o)
		if (before && behind || f.noReturn && (before || behind) || f.noReturn && align == 16 && r.sp.addr(o)%16 != 0) && !r.opensFrame(o) {
			r.parts[o] = none
		}
	}
	listed := may.members(0, len(may))
	for _, o := range listed { // a part makes parts of its neighbours on either side
		judge(r.byEntry[o])
	}
	for _, o := range slices.Backward(listed) {
		judge(r.byEntry[o])
	}
}
