package program

import (
	"bytes"
	"cmp"
	"slices"

	"rea/providers/embedded/isa"
)

// Tail calls where no table states extents: a walk follows every jump, so a
// function that ends in a jump to another one first swallows it. A target is
// split off as a function when the stack is back at its entry height at every
// jump to it, nothing falls into it, what it reaches is apart from the rest,
// and its place speaks for it: another function lies between, several
// functions share it, it starts aligned behind padding, or it builds a frame
// right after the jump's was taken down.

// splitJumps finds such targets.
func (r *recovery) splitJumps() (bool, error) {
	var open []*fn
	for _, f := range r.funcs {
		if len(f.extents) == 0 && !r.stubs.has(f.entry) {
			open = append(open, f)
		}
	}
	if len(open) == 0 {
		return false, nil
	}
	for len(r.splitSets) < 2 {
		r.splitSets = append(r.splitSets, newBitset(r.sp.size+regionGuard))
	}
	once, twice := r.splitSets[0], r.splitSets[1]
	_ = r.eachPiece(once, func(_, lo, hi int) { clear(once[lo:hi]); clear(twice[lo:hi]) })
	err := each(r.ctx, r.workers, len(open), 64, func(_, i int) {
		for _, b := range open[i].blocks {
			if !once.claim(b.start) {
				twice.share(b.start)
			}
		}
	})
	if err != nil {
		return false, err
	}
	if r.shared == nil {
		r.shared = newBitset(r.sp.size + regionGuard)
	}
	changed := r.shared // whether places are shared, since the last time
	parts := make([][]uint32, pieces(changed))
	err = r.eachPiece(changed, func(k, lo, hi int) {
		for i := lo; i < hi; i++ {
			changed[i] ^= twice[i]
		}
		parts[k] = changed.members(lo, hi)
	})
	if err != nil {
		return false, err
	}
	r.shared, r.splitSets[1] = twice, changed
	listed := slices.Concat(parts...)
	align := r.usualAlignment()
	got := make([][]jumpSplit, len(open))
	err = each(r.ctx, r.workers, len(open), 8, func(_, i int) {
		if f := open[i]; r.splitStale(f, changed, listed) {
			got[i] = r.splitsOf(f, twice, align)
			f.split, f.after = len(got[i]) == 0, r.startAfter(f)
		}
	})
	if err != nil {
		return false, err
	}
	splits := slices.Concat(got...)
	slices.SortStableFunc(splits, func(a, b jumpSplit) int { return cmp.Compare(a.to, b.to) })
	var fresh []uint32
	known := len(r.funcs)
	for _, s := range splits {
		if r.rejected[s.to] {
			continue
		}
		if r.holds(r.funcs[:known], s.to) {
			r.rejected[s.to] = true
		} else if r.add(s.to, ByJump, r.sp.addr(s.from)) {
			fresh = append(fresh, s.to)
		}
	}
	if len(fresh) == 0 {
		return false, nil
	}
	r.settle(fresh)
	return true, r.d.run(r.ctx, r.workers, fresh)
}

// holds says whether the function right before t runs on into t, not behind a
// call, or jumps there conditionally: what another function jumps to is a block
// of it. funcs are those in order.
func (r *recovery) holds(funcs []*fn, t uint32) bool {
	k, _ := slices.BinarySearchFunc(funcs, t, func(f *fn, t uint32) int { return cmp.Compare(f.entry, t) })
	if k == 0 {
		return false
	}
	f := funcs[k-1]
	i := f.blockStart(t)
	if i <= 0 || r.startAfter(f) < t {
		return false
	}
	if _, branch := slices.BinarySearch(r.branchTargets(f), t); branch {
		return true
	}
	if f.blocks[i-1].end != t {
		return false
	}
	b := &f.blocks[i-1]
	falls := false
	for a := b.start; a < b.end; a += max(1, r.d.size(a)) {
		switch r.d.kind(a) {
		case kindNop:
		case kindNext, kindCond:
			falls = true
		default:
			falls = false
		}
	}
	return falls
}

// splitStale says whether the answer for f may have changed since it was last
// asked: f was walked again, another start is the next one behind it, or which
// of its blocks it shares changed.
func (r *recovery) splitStale(f *fn, changed bitset, listed []uint32) bool {
	if !f.split || f.after != r.startAfter(f) {
		return true
	}
	k, _ := slices.BinarySearch(listed, f.lo)
	return k < len(listed) && listed[k] < f.hi && slices.ContainsFunc(f.blocks, func(b block) bool { return changed.has(b.start) })
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
		if !between && !shared.has(t) && !next && !(k == kindJump && (r.behindPadding(t) || r.opensFrame(t) && r.tearsDown(b))) {
			continue
		}
		if k == kindCond && (!between || r.sp.addr(t)%uint64(align) != 0 || r.firstPart(t, align)) {
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
	sp := newSplitter(r, f, after)
	for budget := splitBudget + 32*len(f.blocks); len(cands) > 0 && budget > 0; {
		first := sp.frontier(cands)
		var out []jumpSplit
		for _, c := range first {
			if sp.separable(c.to) && !r.continues(c.to) {
				out = append(out, c)
			}
		}
		budget -= sp.work
		r.effort.Add(int64(sp.work))
		sp.work = 0
		if len(first) == 0 || len(out) > 0 {
			return out
		}
		cands = slices.DeleteFunc(cands, func(c jumpSplit) bool { return slices.Contains(first, c) })
	}
	return nil
}

// firstPart says whether t, where a conditional jump leads, is where the linker
// put the first of the parts that compilers move out of functions: before all
// other code of its section, or with more of them right behind it, where no
// function begins.
func (r *recovery) firstPart(t, align uint32) bool {
	if s := r.sectionAt(r.sp.addr(t)); s != nil && s.Addr == r.sp.addr(t) {
		return true
	}
	if align < 16 {
		return false
	}
	a, end := t, r.sp.at(t).end()
	for n := 0; a < end && n < continuationInsts; n++ {
		k := r.d.kind(a)
		if k == kindCond || r.d.meta[a] == 0 {
			return false
		}
		a += r.d.size(a)
		if k == kindJump || k == kindReturn || k == kindTrap || k == kindCall && r.stops(a-r.d.size(a)) {
			break
		}
	}
	return a < end && r.sp.addr(a)%uint64(align) != 0 && r.insnStart(a) && !r.starts.has(a) && r.skipPadding(a, end) == a
}

// splitBudget bounds, with some passes over all of its blocks, the blocks looked
// at to judge the jumps of one function.
const splitBudget = 1 << 20

// startAfter is the first function start behind f's entry in its region.
func (r *recovery) startAfter(f *fn) uint32 {
	return r.starts.next(f.entry+1, r.sp.at(f.entry).end())
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

var nopARM64 = []byte{0x1f, 0x20, 0x03, 0xd5}

// isPadding says whether an instruction is what linkers and assemblers fill
// with.
func isPadding(b []byte, in *isa.Inst) bool {
	if in.Class == isa.Nop && in.Addr%16 != 12 && len(b) >= 8 && bytes.HasPrefix(b, nopARM64) && (b[7]&0x9f == 0x10 || b[7]&0x3b == 0x18) {
		return false // nop, adr or nop, ldr: an adrp and what completes it, made shorter by the linker
	}
	if in.Class == isa.Nop || len(b) > 0 && b[0] == 0xcc {
		return true
	}
	if n := 16 - int(in.Addr%16); n < 4 && len(b) >= n && zeroes(b[:n]) {
		return true // what is left of zeroes up to an aligned address
	}
	return len(b) >= 4 && zeroes(b[:4])
}

func zeroes(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// splitter judges the candidates of one function over the graph of its blocks.
type splitter struct {
	r     *recovery
	f     *fn
	after uint32
	entry int
	graph graph
	mark  []uint8
	last  uint32 // start of the last block that the entry reaches
	stack []int32
	work  int // blocks looked at
}

const (
	markStop    uint8 = 1 << iota // a candidate starts here: both sides leave it alone
	markReached                   // by the entry, not through a candidate
	markMet                       // a candidate that the entry reaches
	markBuilt                     // and by something other than a tail call
	markApart                     // by the candidate that is judged
)

func newSplitter(r *recovery, f *fn, after uint32) *splitter {
	s := &splitter{r: r, f: f, after: after, entry: f.blockStart(f.entry), mark: make([]uint8, len(f.blocks))}
	s.graph.build(r, f)
	return s
}

func (s *splitter) apart(t uint32) bool { return t < s.f.entry || s.after < t }

// frontier keeps the candidates that the entry reaches without passing through
// another one: what lies behind a split is judged once it is a function.
func (s *splitter) frontier(cands []jumpSplit) []jumpSplit {
	if s.entry < 0 {
		return nil
	}
	clear(s.mark)
	s.work += len(s.mark)
	for _, c := range cands {
		s.mark[s.f.blockStart(c.to)] |= markStop
	}
	s.last = 0
	s.stack = append(s.stack[:0], int32(s.entry))
	s.mark[s.entry] |= markReached
	for len(s.stack) > 0 {
		i := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		b := &s.f.blocks[i]
		s.last = max(s.last, b.start)
		for _, e := range s.graph.of(int(i)) {
			switch m := &s.mark[e.to]; {
			case *m&markStop != 0:
				*m |= markMet
				if *m&markBuilt == 0 && !s.r.mayTailCall(s.f, b, e.kind, s.apart(s.f.blocks[e.to].start)) {
					*m |= markBuilt
				}
			case *m&markReached == 0:
				*m |= markReached
				s.stack = append(s.stack, e.to)
			}
		}
	}
	var out []jumpSplit
	for _, c := range cands {
		if s.mark[s.f.blockStart(c.to)]&markMet != 0 {
			out = append(out, c)
		}
	}
	return out
}

// separable says whether the blocks t reaches are apart from those reached
// without it, and every way to t is a jump made at entry height.
func (s *splitter) separable(t uint32) bool {
	ti := s.f.blockStart(t)
	apart := s.apart(t)
	if ti < 0 || ti == s.entry || len(s.f.blocks) > 1<<16 || s.mark[ti]&markBuilt != 0 || !apart && s.last > t {
		return false // or the function goes on behind t
	}
	if !apart && !s.r.opensFrame(t) && !s.r.jumpsNext(s.f, t) {
		return false
	}
	s.stack = append(s.stack[:0], int32(ti))
	seen := append([]int32(nil), int32(ti))
	s.mark[ti] |= markApart
	shared := false
	for len(s.stack) > 0 && !shared {
		i := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		for _, e := range s.graph.of(int(i)) {
			m := &s.mark[e.to]
			switch {
			case int(e.to) == s.entry && e.kind != EdgeFall: // a tail call back
			case *m&(markStop|markApart) != 0:
			case *m&markReached != 0:
				shared = true
			default:
				*m |= markApart
				s.stack = append(s.stack, e.to)
				seen = append(seen, e.to)
			}
		}
	}
	for _, i := range seen {
		s.mark[i] &^= markApart
	}
	s.work += len(seen)
	return !shared
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

// jumpsNext says whether what lies right before t does nothing but jump there,
// as no compiler ends a block: over the padding before t, or as a wrapper of a few
// instructions before the function it wraps.
func (r *recovery) jumpsNext(f *fn, t uint32) bool {
	i := f.blockStart(t) - 1
	if i < 0 || r.d.kind(f.blocks[i].last) != kindJump || r.d.target(f.blocks[i].last) != t {
		return false
	}
	b := &f.blocks[i]
	if b.end < t {
		return r.sp.addr(t)%16 == 0 && t-b.end < 16 && r.skipPadding(b.end, t) == t
	}
	return b.start == f.entry && t-f.entry <= 16
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

// tearsDown says whether b takes down a frame: none is built again within a
// function.
func (r *recovery) tearsDown(b *block) bool {
	sp, _, _ := stackRegs(r.im.Arch)
	var in isa.Inst
	for a := b.start; a < b.last; a += max(1, uint32(in.Len)) {
		r.decode(a, &in)
		if in.Writes&(1<<sp) == 0 {
			continue
		}
		switch {
		case in.Class == isa.Pop, in.Class == isa.Leave, in.Class == isa.Add && in.Dst == sp && in.HasImm && in.Imm > 0, r.dec.Align() == 4 && in.Class == isa.Load:
			return true
		}
	}
	return false
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
