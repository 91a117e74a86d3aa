package signature

import (
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
)

// Compilers write no register for nothing. So a register that is written and
// not read again before a call carries an argument, one that is written and not
// read again before a return carries the result, and one that is read behind a
// call before it is written carries what the call returned. Registers have the
// numbers of the architecture here; vector registers are not followed.

// nearby bounds the blocks that are looked at around one place.
const nearby = 48

func (s *Solver) decode(at uint64, in *isa.Inst) uint64 {
	s.dec.Decode(s.p.Image.Bytes(at, s.dec.MaxLen()), at, in)
	return at + uint64(max(1, in.Len))
}

// block decodes [start, end).
func (s *Solver) block(start, end uint64) []isa.Inst {
	var out []isa.Inst
	for at := start; at < end && len(out) < 4096; {
		var in isa.Inst
		at = s.decode(at, &in)
		out = append(out, in)
	}
	return out
}

// reads are the registers that an instruction makes use of: pushing a register
// keeps it, or aligns the stack.
func reads(in *isa.Inst) uint64 {
	if in.Class == isa.Push && !in.HasMem {
		return 0
	}
	return in.Reads
}

func calls(in *isa.Inst) bool { return in.Flow == isa.Call || in.Flow == isa.IndirectCall }

// carried are the argument registers that were written for nothing but the
// call at site: written in its block behind any other call, and not read since.
func (s *Solver) carried(b *program.Block, site uint64) (regs uint64) {
	code := s.block(b.Start, site)
	var read uint64
	var call isa.Inst
	s.decode(site, &call)
	read = reads(&call)
	var written uint64
	for k := len(code) - 1; k >= 0; k-- {
		in := &code[k]
		if calls(in) {
			break
		}
		w := in.Writes &^ written
		if w&(read|1<<s.c.SP) == 0 {
			regs |= w
		}
		written |= in.Writes
		read |= reads(in)
	}
	return regs
}

// used says whether a register is read behind the instruction at site before it
// is written. decided is false when neither is seen.
func (s *Solver) used(f int, site uint64, reg int) (used, decided bool) {
	return s.usedOrTaken(f, site, reg, func(uint64) bool { return false })
}

// usedOrTaken is used, where taken says whether a call that is reached with the
// register as it was takes a parameter in it.
func (s *Solver) usedOrTaken(f int, site uint64, reg int, taken func(call uint64) bool) (used, decided bool) {
	var in isa.Inst
	bit := uint64(1) << reg
	type part struct{ at, end uint64 }
	seen := map[uint64]bool{}
	b, ok := s.p.BlockAt(f, site)
	if !ok {
		return false, false
	}
	work := []part{{s.decode(site, &in), b.End}}
	decided = true
	for len(work) > 0 && len(seen) < nearby {
		w := work[len(work)-1]
		work = work[:len(work)-1]
		over := false
		for at := w.at; at < w.end && !over; {
			at = s.decode(at, &in)
			switch {
			case reads(&in)&bit != 0, (calls(&in) || in.Flow == isa.Jump && !s.within(f, in.Target)) && taken(in.Addr):
				return true, true
			case in.Writes&bit != 0, calls(&in):
				over = true
			case in.Flow == isa.Return, in.Flow == isa.IndirectJump:
				over, decided = true, false // handed on
			case in.Flow == isa.Jump && !s.within(f, in.Target):
				over, decided = true, false
			}
		}
		if over {
			continue
		}
		blk, ok := s.p.BlockAt(f, w.end-1)
		if !ok {
			continue
		}
		for _, e := range s.p.BlockEdges(blk) {
			if to, ok := s.p.BlockAt(f, e.To); ok && e.Kind != program.EdgeLandingPad && !seen[e.To] {
				seen[e.To] = true
				work = append(work, part{e.To, to.End})
			}
		}
	}
	return false, decided
}

func (s *Solver) within(f int, addr uint64) bool {
	_, ok := s.p.BlockAt(f, addr)
	return ok
}

// left is what is in the result register when a function returns.
type left struct {
	// made: on some path it was written for nothing else.
	made bool
	// kept: on some path it is what it was at entry.
	kept bool
	// calls are calls whose result may be left there.
	calls []uint64
	// always: it was written for nothing else whichever way the function returns.
	always bool
}

// leaves goes back from the returns of a function to what wrote the register.
func (s *Solver) leaves(i int, f *ssa.Func, reg int) (out left) {
	bit := uint64(1) << reg
	returns, missed := 0, false
	for b := range f.Blocks {
		code := f.Blocks[b].Code
		if len(code) == 0 {
			continue
		}
		switch last := &f.Values[code[len(code)-1]]; {
		case last.Kind == ssa.Jump && len(f.Blocks[b].Succs) == 0:
			out.calls = append(out.calls, last.Addr)
			continue
		case last.Kind != ssa.Return:
			continue
		}
		returns++
		type part struct {
			block int32
			read  uint64
		}
		seen := map[int32]bool{}
		work := []part{{int32(b), 0}}
		for len(work) > 0 && len(seen) < nearby {
			w := work[len(work)-1]
			work = work[:len(work)-1]
			if w.block == 0 {
				out.kept = true
				continue
			}
			list := s.block(f.Blocks[w.block].Start, f.Blocks[w.block].End)
			found := false
			for k := len(list) - 1; k >= 0 && !found; k-- {
				in := &list[k]
				switch {
				case calls(in):
					if w.read&bit == 0 {
						out.calls = append(out.calls, in.Addr)
					}
					found, missed = true, true
				case in.Writes&bit != 0:
					compares := in.Class == isa.Other && in.HasMem && in.Reads&bit != 0 // and exchanges
					own := false
					both := len(s.c.Results) == 2 && in.Writes>>s.c.Results[0]&1+in.Writes>>s.c.Results[1]&1 == 2 // a product or a remainder too
					if (!out.made || !missed) && in.Writes&^(1<<s.c.SP)&w.read == 0 && !compares {
						elsewhere, _ := s.used(i, in.Addr, reg) // on another path
						own = !elsewhere
					}
					out.made = out.made || own
					missed = missed || !own || both
					found = true
				default:
					w.read = w.read&^in.Writes | reads(in)
				}
			}
			if found {
				continue
			}
			for _, p := range f.Blocks[w.block].Preds {
				if !seen[p] {
					seen[p] = true
					work = append(work, part{p, w.read})
				}
			}
		}
	}
	out.always = returns > 0 && !missed && !out.kept && len(out.calls) == 0
	return out
}

// leavesFPU says whether a function of IA-32 returns with a number on the stack
// of the x87 unit: instructions are counted backwards from a return to the entry,
// a call, or a join.
func (s *Solver) leavesFPU(f *ssa.Func) bool {
	for b := range f.Blocks {
		code := f.Blocks[b].Code
		if len(code) == 0 || f.Values[code[len(code)-1]].Kind != ssa.Return {
			continue
		}
		height, seen := 0, 0
		for at := int32(b); at != 0 && seen < nearby; seen++ {
			list := s.block(f.Blocks[at].Start, f.Blocks[at].End)
			called := false
			for k := len(list) - 1; k >= 0; k-- {
				if called = calls(&list[k]); called {
					break
				}
				name, _ := s.dec.Text(s.p.Image.Bytes(list[k].Addr, s.dec.MaxLen()), list[k].Addr, nil)
				height += pushesFPU(name)
			}
			if called || len(f.Blocks[at].Preds) != 1 {
				break
			}
			at = f.Blocks[at].Preds[0]
		}
		if height > 0 {
			return true
		}
	}
	return false
}

// pushesFPU is how many numbers more an x87 instruction leaves on the stack.
func pushesFPU(name string) int {
	switch {
	case len(name) < 3 || name[0] != 'f':
		return 0
	case name == "fldcw", name == "fldenv":
		return 0
	case name[:3] == "fld", name == "fild", name == "fbld":
		return 1
	case name == "fcompp", name == "fucompp":
		return -2
	case name == "fnop", name == "ftst":
		return 0
	}
	if name[len(name)-1] == 'p' || name == "fcomip" || name == "fucomip" || name == "fisttp" {
		return -1
	}
	return 0
}
