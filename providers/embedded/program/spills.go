package program

import (
	"rea/providers/embedded/isa"
)

// Compilers that run out of registers keep the address of a table, or the one
// that position-independent code of 32-bit x86 counts from, in the frame. Which
// words of the frame hold which address at the start of a block is a forward
// problem over the pairs of both that the function stores. Stores through other
// registers are taken not to reach them: such words have no address of their own.

const (
	framePairs  = 64 // of one function
	spillRounds = 3  // a pair that is found late counts from the next round on
	spillPasses = 12
)

// framePair says that a word of the frame, by its place relative to the stack
// pointer at entry, holds an address.
type framePair struct{ at, addr int64 }

// frameWords are the pairs of a function, which of them hold at the start of
// each block, and what registers hold there when these are known.
type frameWords struct {
	pairs []framePair
	in    []frameState
}

type frameState struct {
	seen bool
	held uint64 // by number of the pair
	regs consts
}

// value returns what the pairs of a set say of the word at a place.
func (w *frameWords) value(set uint64, at int64) (int64, bool) {
	for i, p := range w.pairs {
		if set&(1<<i) != 0 && p.at == at {
			return p.addr, true
		}
	}
	return 0, false
}

// spilled finds the words of f's frame that hold addresses. It is nil when there
// are none.
func (r *recovery) spilled(f *fn) *frameWords {
	r.computeHeights(f)
	entry := f.blockStart(f.entry)
	if f.heights == nil || entry < 0 || len(f.blocks) > maxFlowBlocks {
		return nil
	}
	s := frameScan{r: r, f: f}
	for range spillRounds {
		n := len(s.pairs)
		if !s.solve(entry) {
			return nil
		}
		if len(s.pairs) == n {
			break
		}
	}
	if len(s.pairs) == 0 {
		return nil
	}
	return &s.frameWords
}

// frameScan follows what a function stores to its frame.
type frameScan struct {
	frameWords
	r   *recovery
	f   *fn
	now frameState
}

// solve computes the state at the start of every block. It gives up, and says
// so, when a few passes do not settle.
func (s *frameScan) solve(entry int) bool {
	s.in = make([]frameState, len(s.f.blocks))
	s.in[entry].seen = true
	for range spillPasses {
		again := false
		for i := range s.f.blocks {
			if !s.in[i].seen {
				continue
			}
			s.now = s.in[i]
			s.block(i)
			s.r.succ(s.f, &s.f.blocks[i], func(to int, kind EdgeKind) {
				out, in := &s.now, &s.in[to]
				if kind == EdgeLandingPad {
					out = &frameState{held: s.now.held}
				}
				if !in.seen {
					*in = *out
					in.seen = true
					again = again || to <= i
					return
				}
				held := in.held & out.held
				if in.regs.meet(&out.regs) || held != in.held {
					again = again || to <= i
				}
				in.held = held
			})
		}
		if !again {
			return true
		}
	}
	return false
}

// block advances the state over block i.
func (s *frameScan) block(i int) {
	b, h, c := &s.f.blocks[i], s.f.heights[i], &s.now.regs
	r := s.r
	var in isa.Inst
	var asked uint64
	for a := b.start; a < b.end; a += uint32(in.Len) {
		r.decode(a, &in)
		s.store(&in, &h)
		load, loaded := s.load(&in, &h)
		stepHeight(r.im.Arch, &h, &in)
		if l := r.leafAt(&in); l != nil {
			if c.forget(l.writes); l.pc < 32 {
				c.put(l.pc, in.Addr+uint64(in.Len))
			}
		} else if asksPC(r.im.Arch, &in) {
			asked = in.Target
			continue
		} else if stepConsts(c, &in, r.im.Arch, r.lost); asked != 0 && in.Class == isa.Pop && in.Dst < 32 {
			c.put(in.Dst, asked)
		} else if loaded {
			c.forget(1 << in.Dst)
			c.put(in.Dst, load)
		}
		asked = 0
	}
}

// place is where in the frame an operand lies.
func (s *frameScan) place(m *isa.Mem, h *height) (int64, bool) {
	sp, fp, _ := stackRegs(s.r.im.Arch)
	switch {
	case m.Segment != 0 || m.Index != isa.NoReg:
	case m.Base == sp && h.spKnown:
		return int64(h.sp) + m.Disp, true
	case m.Base == fp && h.fpKnown:
		return int64(h.fp) + m.Disp, true
	}
	return 0, false
}

// load is the address that an instruction reads from the frame.
func (s *frameScan) load(in *isa.Inst, h *height) (uint64, bool) {
	if in.Class != isa.Load || in.Dst >= 32 || in.Src2 != isa.NoReg {
		return 0, false
	}
	at, ok := s.place(&in.Mem, h)
	if !ok {
		return 0, false
	}
	v, ok := s.value(s.now.held, at)
	return uint64(v), ok
}

// store applies what an instruction writes to the frame. Instructions of which
// it is not known whether they read or write their operand are taken to write.
func (s *frameScan) store(in *isa.Inst, h *height) {
	_, _, word := stackRegs(s.r.im.Arch)
	at, size := int64(0), int64(in.Mem.Size)
	switch in.Class {
	case isa.Push:
		if !h.spKnown {
			return
		}
		size = max(word, int64(in.Size))
		at = int64(h.sp) - size
	case isa.Load, isa.Compare, isa.Test, isa.Address, isa.Extend, isa.Nop, isa.CondSelect:
		return
	case isa.Add, isa.Sub, isa.And, isa.Or, isa.Xor, isa.Shift:
		if in.Dst != isa.NoReg {
			return
		}
	}
	if in.Class != isa.Push {
		var ok bool
		if at, ok = s.place(&in.Mem, h); !in.HasMem || !ok {
			return
		}
	}
	for i, p := range s.pairs {
		if p.at < at+max(size, word) && at < p.at+word {
			s.now.held &^= 1 << i
		}
	}
	if in.Class != isa.Store && in.Class != isa.Push {
		return
	}
	if size == word {
		s.hold(at, in.Src)
	} else if size == 2*word && in.Src2 != isa.NoReg && in.Class == isa.Store {
		s.hold(at, in.Src)
		s.hold(at+word, in.Src2)
	}
}

func (s *frameScan) hold(at int64, src isa.Reg) {
	v, ok := s.now.regs.get(src)
	if !ok || !s.r.placed(v) {
		return
	}
	x := framePair{at, int64(v)}
	for i, p := range s.pairs {
		if p == x {
			s.now.held |= 1 << i
			return
		}
	}
	if n := len(s.pairs); n < framePairs {
		s.pairs = append(s.pairs, x)
		s.now.held |= 1 << n
	}
}
