package program

import (
	"slices"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// The published blocks differ from the walked ones in two ways, both as
// compilers see their code: padding before an aligned block is no block, and a
// conditional jump directly followed by a jump inside the function is one
// two-way end of a block.

// emitting is scratch state of emitBlocks, by block.
type emitting struct {
	pad     []bool   // only padding
	joined  []bool   // the jump of the block before
	entered []bool   // reached by something other than the block before
	real    []uint32 // the first block at or behind each that is no padding
	graph   graph
}

// graph is the successors of the blocks of one function.
type graph struct {
	first []int32 // by block: its first edge, and behind the last block their number
	edges []graphEdge
}

type graphEdge struct {
	to   int32 // a block
	kind EdgeKind
}

// build lists the successors of the blocks of f.
func (g *graph) build(r *recovery, f *fn) {
	g.first, g.edges = g.first[:0], g.edges[:0]
	for i := range f.blocks {
		g.first = append(g.first, int32(len(g.edges)))
		r.succ(f, &f.blocks[i], func(to int, kind EdgeKind) { g.edges = append(g.edges, graphEdge{int32(to), kind}) })
	}
	g.first = append(g.first, int32(len(g.edges)))
}

// of is the successors of block i.
func (g *graph) of(i int) []graphEdge { return g.edges[g.first[i]:g.first[i+1]] }

func (s *emitting) begin(n int) {
	if cap(s.real) < n {
		s.pad, s.joined, s.entered, s.real = make([]bool, n), make([]bool, n), make([]bool, n), make([]uint32, n)
	}
	s.pad, s.joined, s.entered, s.real = s.pad[:n], s.joined[:n], s.entered[:n], s.real[:n]
	clear(s.entered)
}

// emitBlocks appends the blocks and edges of f to o; edge indices are relative
// to o's.
func (r *recovery) emitBlocks(o *output, s *emitting, starts bitset, f *fn, fx uint32) {
	n := len(f.blocks)
	s.begin(n)
	pad, joined, entered, real := s.pad, s.joined, s.entered, s.real
	s.graph.build(r, f)
	r.markEntered(entered, f, &s.graph)
	for i := range f.blocks {
		b := &f.blocks[i]
		pad[i] = b.start != f.entry && i+1 < n && f.blocks[i+1].start == b.end && r.allNops(b)
		joined[i] = i > 0 && !entered[i] && r.joins(f, i)
	}
	for i := n - 1; i >= 0; i-- {
		switch {
		case !pad[i]:
			real[i] = f.blocks[i].start
		case i+1 < n:
			real[i] = real[i+1]
		default:
			real[i] = f.blocks[i].end
		}
	}
	for i := range f.blocks {
		b := &f.blocks[i]
		for a := b.start; a < b.end; a += max(1, r.d.size(a)) {
			starts.share(a)
		}
		if pad[i] || joined[i] {
			continue
		}
		out := Block{Start: r.sp.addr(r.pastPadding(f, i, entered[i])), End: r.sp.addr(b.end-1) + 1, Last: r.sp.addr(b.last), Function: fx}
		out.edges.lo = uint32(len(o.edges))
		for k := i; ; k++ {
			more := k+1 < n && joined[k+1]
			c := &f.blocks[k]
			for _, e := range s.graph.of(k) {
				switch {
				case more && (e.kind == EdgeNotTaken || e.kind == EdgeFall || e.kind == EdgeLandingPad && !r.mayThrow(c.last)):
					continue
				case k > i && e.kind == EdgeJump && r.d.kind(f.blocks[k-1].last) == kindCond:
					e.kind = EdgeNotTaken
				}
				o.edges = append(o.edges, Edge{r.sp.addr(real[e.to]), e.kind})
			}
			if !more {
				out.End, out.Last = r.sp.addr(c.end-1)+1, r.sp.addr(c.last)
				break
			}
		}
		out.edges.hi = uint32(len(o.edges))
		o.blocks = append(o.blocks, out)
	}
}

// isHole says whether the block at o was entered because nothing reached it.
func (r *recovery) isHole(f *fn, o uint32) bool {
	_, ok := slices.BinarySearch(f.holeStarts, o)
	return ok
}

// joins says whether block i goes on with the one before: what is behind a call
// that cannot throw, dead code behind one that was found not to return, a lone jump inside f behind a conditional
// one or behind a call that may throw, or the second half of a floating-point test: a jump on the parity flag.
func (r *recovery) joins(f *fn, i int) bool {
	b, prev := &f.blocks[i], &f.blocks[i-1]
	if prev.end != b.start {
		return false
	}
	call := r.d.kind(prev.last) == kindCall || r.d.kind(prev.last) == kindIndCall
	if call && (r.isHole(f, b.start) || r.throws(prev.last) && !r.mayThrow(prev.last)) {
		return true
	}
	if !call && (r.d.kind(prev.last) != kindCond || b.start != b.last) {
		return false
	}
	switch r.d.kind(b.last) {
	case kindJump:
		return r.d.target(b.last) != none && f.blockStart(r.d.target(b.last)) >= 0 && (!call || r.keepsResult(b))
	case kindCond:
		if call || r.im.Arch == object.ARM64 {
			return false
		}
		var in isa.Inst
		r.decode(b.last, &in)
		return in.Cond == 10 || in.Cond == 11
	}
	return false
}

// keepsResult says whether b, behind a call, only puts what the call returned
// into the frame before it jumps, as code does that is not optimized.
func (r *recovery) keepsResult(b *block) bool {
	results := uint64(1<<0 | 1<<2) // rax, rdx
	if r.im.Arch == object.ARM64 {
		results = 1<<0 | 1<<1
	}
	_, fp, _ := stackRegs(r.im.Arch)
	var in isa.Inst
	for a, n := b.start, 0; a != b.last; a, n = a+uint32(in.Len), n+1 {
		r.decode(a, &in)
		if in.Class != isa.Store || !in.HasMem || in.Mem.Base != fp || in.Src >= 64 || results&(1<<in.Src) == 0 || n == 2 {
			return false
		}
	}
	return true
}

// pastPadding is the start of block i behind alignment nops that only the
// block before runs through.
func (r *recovery) pastPadding(f *fn, i int, entered bool) uint32 {
	b := &f.blocks[i]
	if entered || r.d.kind(b.start) != kindNop {
		return b.start
	}
	a := b.start
	for a < b.last && r.d.kind(a) == kindNop {
		a += max(1, r.d.size(a))
	}
	if r.sp.addr(a)%16 != 0 {
		return b.start
	}
	return a
}

// markEntered marks the blocks that something other than the block before reaches.
func (r *recovery) markEntered(out []bool, f *fn, g *graph) {
	for i := range f.blocks {
		for _, e := range g.of(i) {
			if to := int(e.to); to != i+1 || e.kind != EdgeNotTaken && e.kind != EdgeFall || f.blocks[to].start != f.blocks[i].end {
				out[to] = true
			}
		}
	}
	for _, p := range f.pads {
		if j := f.blockStart(p); j > 0 && !(r.isHole(f, p) && f.blocks[j-1].end == p) {
			out[j] = true
		}
	}
	if j := f.blockStart(f.entry); j >= 0 {
		out[j] = true
	}
}

// allNops says whether b holds nothing but padding.
func (r *recovery) allNops(b *block) bool {
	for a := b.start; a < b.end; a += max(1, r.d.size(a)) {
		if r.d.kind(a) != kindNop {
			return false
		}
	}
	return true
}
