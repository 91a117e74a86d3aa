package program

import (
	"slices"

	"rea/providers/embedded/isa"
)

// A probe decodes ahead from a possible function start without claiming
// anything, and judges what it meets.

const probeInsts = 600 // instructions a probe looks at

type probe struct {
	ok       bool   // decodes to proper ends
	end      uint32 // first byte behind the contiguous part
	insts    int
	returns  bool
	leaves   bool // jumps to a known function
	calls    int  // calls to known functions
	inner    *fn  // a function whose middle it jumps to
	odd      bool // returns or leaves with the stack not as at the start
	prologue bool // the first instructions set up a frame
	traps    bool // ends in a trap
	zeroes   bool // starts like zero-filled data
	long     bool // so many instructions that they are no accident
	known    int  // jumps to known functions
	computed bool // jumps to where a register says
	joins    bool // jumps to owned code, be it behind a call
	seen     []uint32
}

// probeItem is a place to go on from. Behind a call everything is softer: the
// call may not return, and what follows may be something else.
type probeItem struct {
	off  uint32
	h    height
	soft bool
}

// probeAt explores from off; bytes in owned belong to functions already known.
func (r *recovery) probeAt(off uint32, owned bitset) probe {
	p := probe{ok: true, end: off}
	g := r.sp.at(off)
	visited := map[uint32]bool{}
	stack := []probeItem{{off: off, h: height{set: true, spKnown: true}}}
	var in isa.Inst
	for len(stack) > 0 && p.ok {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		a, h, soft := it.off, it.h, it.soft
	run:
		for {
			if a >= g.end() {
				p.ok = p.ok && soft
				break
			}
			if visited[a] {
				break
			}
			if a != off && r.starts.has(a) {
				p.leaves = true
				break
			}
			if a != off && (r.covered.has(a) || owned.has(a)) {
				if f := r.ownerOf(a); f != nil && !soft {
					p.inner = f
				}
				break
			}
			if r.d.data != nil && r.d.data.has(a) {
				p.ok = p.ok && soft
				break
			}
			i := a - g.base
			r.dec.Decode(g.data[i:], g.addr+uint64(i), &in)
			n := uint32(in.Len)
			if n == 0 || in.Flow == isa.Invalid || n > g.end()-a || r.implausible(&in) {
				p.ok = p.ok && soft
				break
			}
			if n > 1 && r.runsInto(a+1, a+n, owned) {
				p.ok = p.ok && soft
				break
			}
			if soft && isPadding(g.data[i:], &in) {
				break // padding behind a call: it does not return
			}
			visited[a] = true
			p.seen = append(p.seen, a)
			p.insts++
			if p.insts > probeInsts {
				p.long = true
				break
			}
			if p.insts <= 4 && r.prologueInst(&in) {
				p.prologue = true
			}
			if p.insts == 1 && n == 2 && g.data[i] == 0 && g.data[i+1] == 0 {
				p.zeroes = true
			}
			switch in.Flow {
			case isa.Jump, isa.CondJump:
				t := r.sp.off(in.Target)
				switch {
				case t == none:
					p.ok = p.ok && soft
				case t == off:
				case r.starts.has(t):
					p.known++
					if in.Flow == isa.Jump {
						p.leaves = true
						if h.spKnown && h.sp != 0 && !soft {
							p.odd = true
						}
					}
				case r.covered.has(t) || owned.has(t):
					p.joins = true
					if !soft {
						p.inner = r.ownerOf(t)
						if p.inner != nil && !r.insnStart(t) {
							p.ok = false
						}
					}
				case r.sp.at(t) != g || in.Flow == isa.Jump && t < off:
					p.leaves = true
				default:
					stack = append(stack, probeItem{t, h, soft})
				}
				if in.Flow == isa.Jump || !p.ok {
					break run
				}
			case isa.Call:
				t := r.sp.off(in.Target)
				if t == none || r.covered.has(t) && !r.starts.has(t) && !r.insnStart(t) {
					p.ok = p.ok && soft
					break run
				}
				if r.starts.has(t) {
					p.calls++
				}
				p.leaves = true
				if r.noRet.has(t) {
					break run
				}
				soft = true
			case isa.IndirectCall:
				if in.HasMem && in.Mem.Index == isa.NoReg && (in.Mem.Base == isa.PC || in.Mem.Base == isa.NoReg) {
					p.calls++ // through a fixed pointer, as imports are called
				}
				p.leaves, soft = true, true
			case isa.Return:
				p.returns = true
				if h.spKnown && h.sp != 0 && !soft {
					p.odd = true
				}
				break run
			case isa.IndirectJump:
				p.leaves = true
				if !in.HasMem || in.Mem.Index != isa.NoReg || in.Mem.Base != isa.PC && in.Mem.Base != isa.NoReg {
					p.computed = true
				} else {
					p.known++
				}
				break run
			case isa.Trap:
				p.traps = true
				break run
			}
			stepHeight(r.im.Arch, &h, &in)
			if h.spKnown && h.sp > 0 && !soft {
				p.odd = true
			}
			a += n
		}
		if p.insts > probeInsts {
			break
		}
	}
	for p.end = off; visited[p.end]; { // the contiguous part
		r.decode(p.end, &in)
		p.end += uint32(in.Len)
	}
	if r.readAt.next(off, p.end) < p.end {
		p.ok = false // something reads it as data
	}
	return p
}

// runsInto says whether what is known to be code begins at one of [lo, hi): an
// instruction that begins before it and goes on into it is data.
func (r *recovery) runsInto(lo, hi uint32, owned bitset) bool {
	return r.starts.next(lo, hi) < hi || owned.next(lo, hi) < hi || r.covered.next(lo, hi) < hi
}

// insnStart says whether off was decoded as an instruction start.
func (r *recovery) insnStart(off uint32) bool { return r.d.meta[off] != 0 }

// implausible recognizes instructions that compiled code does not hold but
// data decoded as code often does.
func (r *recovery) implausible(in *isa.Inst) bool {
	return in.HasMem && in.Mem.Segment != 0 && in.Mem.Segment != 'f' && in.Mem.Segment != 'g'
}

// prologueInst recognizes instructions that open a frame.
func (r *recovery) prologueInst(in *isa.Inst) bool {
	sp, fp, _ := stackRegs(r.im.Arch)
	switch in.Class {
	case isa.EndBranch:
		return true
	case isa.Push:
		return in.Src != isa.NoReg
	case isa.Sub:
		return in.Dst == sp && in.HasImm
	case isa.Move:
		return in.Dst == fp && in.Src == sp
	}
	return in.HasMem && in.Mem.Base == sp && in.Writes&(1<<sp) != 0 && in.Mem.Disp < 0
}

// looksLikeFunction judges a start that something points to. Where there is
// reason for doubt it must open a frame and come to known code.
func (r *recovery) looksLikeFunction(off uint32, owned bitset, doubt bool) bool {
	p := r.probeAt(off, owned)
	if doubt && (!p.prologue || p.calls == 0 && !p.returns) {
		return false
	}
	return p.ok && (p.returns || p.leaves || p.traps && p.prologue) && p.inner == nil && !p.odd && !p.zeroes
}

// splitHere says whether a start found by other evidence may cut a function
// that was walked into it: the walk came over a call and padding, so that the
// call does not return.
func (r *recovery) splitHere(off uint32) bool {
	f := r.ownerOf(off)
	if f == nil {
		return false
	}
	i := f.blockAt(off)
	if i < 0 {
		return false
	}
	last, pad := r.instBefore(f, i, off)
	if last == none || r.d.kind(last) != kindCall && r.d.kind(last) != kindIndCall || !pad && r.sp.addr(off)%16 != 0 {
		return false
	}
	jumped := r.jumpTargets(f)
	if k, _ := slices.BinarySearch(jumped, last+1); k < len(jumped) && jumped[k] <= off {
		return false // a jump from elsewhere shows that it is a block
	}
	r.noRetSite[last] = true
	r.touch(f)
	return true
}

// instBefore returns the last instruction before off in block i of f that is
// no padding, or none, and whether padding lies between.
func (r *recovery) instBefore(f *fn, i int, off uint32) (last uint32, pad bool) {
	if f.order == nil {
		f.order = []uint32{}
		for k := range f.blocks {
			for a := f.blocks[k].start; a < f.blocks[k].end; a += max(1, r.d.size(a)) {
				f.order = append(f.order, a)
			}
		}
		slices.Sort(f.order)
	}
	k, exact := slices.BinarySearch(f.order, off)
	if !exact {
		return none, false
	}
	for k--; k >= 0 && f.order[k] >= f.blocks[i].start && off-f.order[k] < 256; k-- {
		if r.d.kind(f.order[k]) != kindNop {
			return f.order[k], pad
		}
		pad = true
	}
	return none, pad
}

// jumpTargets are the targets of the direct jumps of f, sorted.
func (r *recovery) jumpTargets(f *fn) []uint32 {
	r.listTargets(f)
	return f.jumped
}

// branchTargets are those of the conditional ones.
func (r *recovery) branchTargets(f *fn) []uint32 {
	r.listTargets(f)
	return f.branched
}

func (r *recovery) listTargets(f *fn) {
	if f.jumped != nil {
		return
	}
	f.jumped = []uint32{}
	for k := range f.blocks {
		t := f.blocks[k].last
		kind := r.d.kind(t)
		if kind != kindJump && kind != kindCond {
			continue
		}
		if x := r.d.target(t); x != none {
			f.jumped = append(f.jumped, x)
			if kind == kindCond {
				f.branched = append(f.branched, x)
			}
		}
	}
	slices.Sort(f.jumped)
	slices.Sort(f.branched)
}
