package program

import (
	"slices"
	"sort"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// Ownership: the blocks of a function are what its entry reaches without
// passing through another function's entry and, where a table states the
// function's extent, without leaving it.

// span is [lo, hi) in code offsets.
type span struct{ lo, hi uint32 }

// extent is a range that a table gives to the function at owner.
type extent struct {
	span
	owner uint32
}

// block is a straight run of instructions of one function.
type block struct {
	start, end uint32
	last       uint32 // its last instruction
}

// exitKind says how control leaves a function.
type exitKind uint8

const (
	exitJump exitKind = iota
	exitCond
	exitFall     // runs into another function
	exitFallCall // the same, behind a call: the call does not return
	exitLost     // runs into bytes that do not decode, or out of the region
)

// exit is control leaving a function; to is none for an external target.
type exit struct {
	from, to uint32
	kind     exitKind
}

// fn is a function under recovery.
type fn struct {
	entry    uint32
	lo, hi   uint32 // of its blocks
	why      why
	gone     bool   // taken back
	extents  []span // sorted; empty when unknown
	pads     []uint32
	blocks   []block
	exits    []exit
	calls    []flow   // direct calls
	indirect []uint32 // indirect jump sites
	heights  []height // of blocks, when computed
	cost     int64    // instructions walked
	ended    int      // so many of its exits do not return
	order    []uint32 // its instructions and
	jumped   []uint32 // jump targets, sorted, and
	branched []uint32 // those of conditional jumps, when asked for
	defers   uint8    // 1: it has no deferred calls, 2: it has
	returns  bool     // a return instruction is reached
	noReturn bool
	dirty    bool
	whole    bool // its holes were looked for since the last walk
	holes    int
	split    bool   // no tail call to split off was found since the last walk,
	after    uint32 // when this was the next start
	// holeStarts are the pads among pads that only a hole accounts for
	holeStarts []uint32
	leaf       bool    // a few instructions that return
	writes     uint64  // a leaf's: registers written
	pc         isa.Reg // a leaf's: the register that gets its return address
	scanned    bool    // its jump tables were looked for since the last walk
	read       bool    // the addresses it takes were read since then
}

func (f *fn) inside(t uint32) bool {
	for _, s := range f.extents {
		if t-s.lo < s.hi-s.lo {
			return true
		}
	}
	return false
}

// blockAt returns the index of the block that holds off, or -1.
func (f *fn) blockAt(off uint32) int {
	i := f.blocksUpTo(off) - 1
	if i >= 0 && off < f.blocks[i].end {
		return i
	}
	return -1
}

// blocksUpTo is the number of blocks that start at or before off.
func (f *fn) blocksUpTo(off uint32) int {
	lo, hi := 0, len(f.blocks)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); f.blocks[m].start <= off {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// blockStart returns the index of the block that starts at off, or -1.
func (f *fn) blockStart(off uint32) int {
	if i := f.blocksUpTo(off) - 1; i >= 0 && f.blocks[i].start == off {
		return i
	}
	return -1
}

// walker is one worker's scratch state.
type walker struct {
	visited trail
	stack   []uint32
	leaders []uint32
	settled []settled
	revived int // times that those were looked at again

	// what the walk at hand found, and places to keep it
	blocks        []block
	exits         []exit
	calls         []flow
	indirect      []uint32
	blockStore    store[block]
	exitStore     store[exit]
	callStore     store[flow]
	indirectStore store[uint32]

	freed []span   // blocks that walks no longer found since owned bytes were last asked for
	leads []caller // found since callers were last indexed
}

// store hands out slices cut from larger ones.
type store[T any] struct{ free []T }

const storeChunk = 1 << 12

// keep returns a copy of list, in the place of old when that is large enough.
func (s *store[T]) keep(old, list []T) []T {
	n := len(list)
	if n <= cap(old) {
		return append(old[:0], list...)
	}
	if n > len(s.free) {
		if n >= storeChunk/4 {
			return slices.Clone(list)
		}
		s.free = make([]T, storeChunk)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	copy(out, list)
	return out
}

func (w *walker) begin(n uint32) {
	w.visited.begin(n)
	w.stack, w.leaders, w.settled = w.stack[:0], w.leaders[:0], w.settled[:0]
	w.revived = 0
	w.blocks, w.exits, w.calls, w.indirect = w.blocks[:0], w.exits[:0], w.calls[:0], w.indirect[:0]
}

// walk recomputes the blocks of f.
func (r *recovery) walk(w *walker, f *fn) {
	w.begin(r.sp.size)
	f.heights, f.order, f.jumped, f.branched, f.ended = nil, nil, nil, nil, 0
	f.returns, f.dirty, f.scanned, f.read, f.whole, f.split = false, false, false, false, false, false
	w.stack = append(w.stack, f.entry)
	for _, p := range f.pads {
		if !r.starts.has(p) {
			w.stack = append(w.stack, p)
		}
	}
	for len(w.stack) > 0 || r.revive(w, f) {
		if len(w.stack) == 0 {
			continue
		}
		off := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.leaders = append(w.leaders, off)
		r.walkFrom(w, f, off)
	}
	r.cutBlocks(w)
	slices.SortFunc(w.exits, func(a, b exit) int { return int(int64(a.from) - int64(b.from)) })
	slices.SortFunc(w.calls, func(a, b flow) int { return int(int64(a.off) - int64(b.off)) })
	slices.Sort(w.indirect)
	r.keep(w, f)
	r.measureLeaf(f)
}

// keep gives f what the walk found, and tells the lists of who calls whom.
func (r *recovery) keep(w *walker, f *fn) {
	k := 0
	for _, c := range w.calls {
		for ; k < len(f.calls) && f.calls[k].off < c.off; k++ {
			r.callsLost.Store(true)
		}
		if k < len(f.calls) && f.calls[k].off == c.off {
			k++
		} else if c.target != none {
			r.called.share(c.target)
		}
	}
	if k < len(f.calls) {
		r.callsLost.Store(true)
	}
	if r.callers.made {
		w.leads = leads(w.leads, f, w.calls, f.calls, w.exits, f.exits)
	}
	if r.owned != nil && !slices.Equal(f.blocks, w.blocks) {
		for i := range f.blocks {
			w.freed = append(w.freed, span{f.blocks[i].start, f.blocks[i].end})
		}
		for i := range w.blocks {
			r.owned.shareRange(w.blocks[i].start, w.blocks[i].end)
		}
	}
	f.blocks = w.blockStore.keep(f.blocks, w.blocks)
	f.exits = w.exitStore.keep(f.exits, w.exits)
	f.calls = w.callStore.keep(f.calls, w.calls)
	f.indirect = w.indirectStore.keep(f.indirect, w.indirect)
	f.lo, f.hi = none, 0
	for i := range f.blocks {
		f.lo, f.hi = min(f.lo, f.blocks[i].start), max(f.hi, f.blocks[i].end)
	}
}

func (r *recovery) walkFrom(w *walker, f *fn, off uint32) {
	d := r.d
	prev, prevCall, lastCall := off, false, none
	var run recent
	for first := true; ; first = false {
		if w.visited.has(off) {
			return
		}
		if d.meta[off] == 0 {
			w.exits = append(w.exits, exit{prev, none, exitLost})
			return
		}
		if !first && off != f.entry && (r.starts.has(off) || r.covered.has(off) && !f.inside(off) || prevCall && len(f.extents) > 0 && !f.inside(off)) {
			if prevCall {
				w.exits = append(w.exits, exit{lastCall, off, exitFallCall})
			} else {
				w.exits = append(w.exits, exit{prev, off, exitFall})
			}
			return
		}
		w.visited.add(off)
		f.cost++
		before := prev
		prev = off
		if d.kind(off) != kindNop {
			prevCall = false
		}
		n := d.size(off)
		switch d.kind(off) {
		case kindInvalid:
			w.exits = append(w.exits, exit{off, none, exitLost})
			return
		case kindJump:
			r.follow(w, f, off, d.target(off), exitJump)
			return
		case kindCond:
			s, known := r.settles(off, &run)
			if known {
				w.settled = append(w.settled, s)
			}
			if !known || s.taken {
				r.follow(w, f, off, d.target(off), exitCond)
			}
			if known && s.taken {
				return
			}
			w.leaders = append(w.leaders, off+n)
		case kindCall:
			t := d.target(off)
			w.calls = append(w.calls, flow{off, t})
			if t != none && r.noRet.has(t) || r.noRetSite[off] {
				if before != off && r.resumeStub == t && r.reloads(before) {
					w.leaders = append(w.leaders, before)
				}
				return
			}
			prevCall, lastCall = true, off
			if r.throws(off) {
				w.leaders = append(w.leaders, off+n)
			}
		case kindIndCall:
			if r.noRetSite[off] {
				return
			}
			prevCall, lastCall = true, off
			if r.throws(off) {
				w.leaders = append(w.leaders, off+n)
			}
		case kindIndJump:
			w.indirect = append(w.indirect, off)
			if t := r.tables[off]; t != nil {
				for _, to := range t.once {
					r.follow(w, f, off, to, exitJump)
				}
			}
			return
		case kindReturn:
			f.returns = true
			return
		case kindExtNoRet:
			w.calls = append(w.calls, flow{off, none})
			return
		case kindTrap, kindIndNoRet:
			return
		}
		run.push(off)
		off += n
	}
}

// follow continues at t when it belongs to f, else records an exit.
func (r *recovery) follow(w *walker, f *fn, from, t uint32, k exitKind) {
	switch {
	case t == none:
		w.exits = append(w.exits, exit{from, t, k})
	case t == f.entry:
		w.leaders = append(w.leaders, t)
	case r.starts.has(t):
		w.exits = append(w.exits, exit{from, t, k})
	case r.leaves(f, t, k):
		w.exits = append(w.exits, exit{from, t, k})
	default:
		w.stack = append(w.stack, t)
	}
}

// leaves says whether a jump to t, which is no start, leaves what may belong to f.
func (r *recovery) leaves(f *fn, t uint32, k exitKind) bool {
	if len(f.extents) == 0 {
		return r.covered.has(t)
	}
	return !f.inside(t) && (k == exitJump || r.covered.has(t) || r.sp.addr(t)%16 == 0)
}

// cutBlocks makes blocks of the leaders and the instructions walked.
func (r *recovery) cutBlocks(w *walker) {
	d := r.d
	slices.Sort(w.leaders)
	w.leaders = slices.Compact(w.leaders)
	for i, l := range w.leaders {
		if !w.visited.has(l) {
			continue
		}
		b := block{start: l}
		next := i + 1
		for off := l; ; {
			b.last = off
			n := d.size(off)
			off += n
			b.end = off
			k := d.kind(b.last)
			if k == kindInvalid || k == kindJump || k == kindIndJump || k == kindReturn || k == kindTrap || k == kindIndNoRet || k == kindExtNoRet {
				break
			}
			for next < len(w.leaders) && w.leaders[next] < off {
				next++
			}
			if next < len(w.leaders) && w.leaders[next] == off || !w.visited.has(off) {
				break
			}
			if k == kindCall && r.stops(b.last) || k == kindIndCall && r.noRetSite[b.last] {
				break
			}
		}
		w.blocks = append(w.blocks, b)
	}
}

// stops says whether the direct call at off does not return.
func (r *recovery) stops(off uint32) bool {
	t := r.d.target(off)
	return t != none && r.noRet.has(t) || r.noRetSite[off]
}

// throws says whether the call at off continues at a landing pad when it throws.
func (r *recovery) throws(off uint32) bool { return r.padOf(off) != none }

// reloads says whether the instruction at off loads the first argument from the
// frame: before a call that goes on unwinding it begins the block that all
// landing pads of a function share where nothing is optimized.
func (r *recovery) reloads(off uint32) bool {
	var in isa.Inst
	r.decode(off, &in)
	_, fp, _ := stackRegs(r.im.Arch)
	return r.im.Arch == object.X86_64 && in.Class == isa.Load && in.Dst == 7 && in.Mem.Base == fp && in.Mem.Index == isa.NoReg
}

// padOf returns the landing pad of the call at off, or none.
func (r *recovery) padOf(off uint32) uint32 {
	i := sort.Search(len(r.callSites), func(i int) bool { return r.callSites[i].lo > off }) - 1
	if i >= 0 && off < r.callSites[i].hi {
		return r.callSites[i].owner
	}
	return none
}

// succ calls yield for every successor of b inside f, by its index among the
// blocks, in a fixed order.
func (r *recovery) succ(f *fn, b *block, yield func(to int, kind EdgeKind)) {
	d := r.d
	in := func(t uint32, k EdgeKind) {
		if t != none {
			if i := f.blockStart(t); i >= 0 {
				yield(i, k)
			}
		}
	}
	switch d.kind(b.last) {
	case kindJump:
		in(d.target(b.last), EdgeJump)
		return
	case kindCond:
		in(d.target(b.last), EdgeTaken)
		in(b.end, EdgeNotTaken)
		return
	case kindIndJump:
		if t := r.tables[b.last]; t != nil {
			for _, to := range t.once {
				in(to, EdgeTable)
			}
		}
		return
	case kindExtNoRet:
		if p := r.padOf(b.last); p != none {
			in(p, EdgeLandingPad)
		}
		return
	case kindInvalid, kindReturn, kindTrap, kindIndNoRet:
		return
	case kindCall:
		if p := r.padOf(b.last); p != none {
			in(p, EdgeLandingPad)
		}
		if r.stops(b.last) {
			return
		}
	case kindIndCall:
		if p := r.padOf(b.last); p != none {
			in(p, EdgeLandingPad)
		}
		if r.noRetSite[b.last] {
			return
		}
	}
	in(b.end, EdgeFall)
}
