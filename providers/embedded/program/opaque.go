package program

import (
	"slices"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

// What protected code does to be misread: conditional jumps whose outcome is
// known, with anything behind them, and calls that only tell the callee where
// the data behind them lies.

// settled is a conditional jump whose outcome the instructions since first
// settle, unless something jumps in between.
type settled struct {
	first, site uint32
	taken       bool
}

const settledBack = 4 // instructions looked back for the value that is tested

// recent are the last instructions of a run, the last one first.
type recent struct {
	at [settledBack + 1]uint32
	n  int
}

func (p *recent) push(off uint32) {
	copy(p.at[1:], p.at[:])
	p.at[0] = off
	p.n = min(p.n+1, len(p.at))
}

// settles says whether the instructions before the conditional jump at site
// settle whether it is taken.
func (r *recovery) settles(site uint32, before *recent) (settled, bool) {
	s := settled{site: site}
	if before.n == 0 || r.dec.Align() != 1 {
		return s, false
	}
	cond, ok := conditionOf(r.sp.bytes(site))
	if !ok {
		return s, false
	}
	prev := before.at[0]
	s.first = prev
	b := r.sp.bytes(prev)
	if r.d.kind(prev) == kindCond { // not taken; the flags are the same
		p, ok := conditionOf(b)
		s.taken = p == cond^1
		return s, ok && p>>1 == cond>>1
	}
	if len(b) > 2 && b[0]&0xf0 == 0x40 && r.im.Arch == object.X86_64 {
		if b[0]&5 != 0 && b[0]&5 != 5 {
			return s, false // not the same register twice
		}
		b = b[1:]
	}
	if len(b) < 2 {
		return s, false
	}
	same := b[1] >= 0xc0 && b[1]>>3&7 == b[1]&7
	switch {
	case b[0] == 0xf8 || b[0] == 0xf9: // clc, stc
		s.taken = (b[0] == 0xf9) == (cond == 2)
		return s, cond>>1 == 1
	case same && zeroesOrEquals(b[0]):
		s.taken = holds(cond, 0)
		return s, true
	case same && (b[0] == 0x85 || b[0] == 0x84):
		v, first, ok := r.constantBefore(before)
		s.first, s.taken = first, holds(cond, v)
		return s, ok
	}
	return s, false
}

// zeroesOrEquals says whether op, of a register and itself, is xor, sub or cmp,
// all of which leave the flags of zero.
func zeroesOrEquals(op byte) bool {
	switch op {
	case 0x28, 0x29, 0x2a, 0x2b, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b:
		return true
	}
	return false
}

// conditionOf returns the condition code of a conditional jump on flags.
func conditionOf(b []byte) (byte, bool) {
	switch {
	case len(b) > 0 && b[0]&0xf0 == 0x70:
		return b[0] & 15, true
	case len(b) > 1 && b[0] == 0x0f && b[1]&0xf0 == 0x80:
		return b[1] & 15, true
	}
	return 0, false
}

// holds says whether an x86 condition holds after v was tested: no carry and no
// overflow. v has 32 bits.
func holds(cond byte, v int32) (yes bool) {
	switch cond >> 1 {
	case 0, 1: // overflow; carry
	case 2, 3: // zero; carry or zero
		yes = v == 0
	case 4, 6: // sign; less
		yes = v < 0
	case 5: // even parity of the low byte
		p := uint8(v)
		p ^= p >> 4
		p ^= p >> 2
		yes = (p^p>>1)&1 == 0
	case 7:
		yes = v <= 0
	}
	return yes != (cond&1 != 0)
}

// constantBefore returns the value of the register that the last instruction of
// before tests, where one of those before it makes it a constant.
func (r *recovery) constantBefore(before *recent) (v int32, first uint32, ok bool) {
	var in isa.Inst
	r.decode(before.at[0], &in)
	reg := in.Src
	if in.Class != isa.Test || reg >= 16 || in.Size < 4 {
		return 0, 0, false
	}
	for _, a := range before.at[1:before.n] {
		if k := r.d.kind(a); k != kindNext && k != kindNop {
			return 0, 0, false
		}
		r.decode(a, &in)
		if in.Flow != isa.Next { // the system's answer
			return 0, 0, false
		}
		if in.Writes&(1<<reg) == 0 {
			continue
		}
		switch {
		case in.Dst != reg || in.Size < 4 || in.HasMem:
		case (in.Class == isa.Xor || in.Class == isa.Sub) && in.Src == reg && (in.Src2 == reg || in.Src2 == isa.NoReg) && !in.HasImm:
			return 0, a, true
		case in.Class == isa.Move && in.HasImm && in.Imm > 0 && in.Imm < 1<<31 && (!r.static || uint64(in.Imm) < r.lowMapped): // no address, nor what linkers make of a weak one
			return int32(in.Imm), a, true
		}
		return 0, 0, false
	}
	return 0, 0, false
}

// mostRevived bounds how often the ways that were left out are looked at again in
// one walk; code in which one opens another so often has all of them followed.
const mostRevived = 8

// revive follows the ways that settled jumps do not go where something jumps
// behind what settles them, and says whether it did.
func (r *recovery) revive(w *walker, f *fn) bool {
	if len(w.settled) == 0 {
		return false
	}
	w.revived++
	r.effort.Add(int64(len(w.settled)))
	slices.Sort(w.leaders)
	left, alive := w.settled[:0], false
	for _, s := range w.settled {
		k, _ := slices.BinarySearch(w.leaders, s.first+1)
		if w.revived <= mostRevived && (k == len(w.leaders) || w.leaders[k] > s.site) {
			left = append(left, s)
			continue
		}
		alive = true
		if s.taken {
			w.stack = append(w.stack, s.site+r.d.size(s.site))
		} else {
			r.follow(w, f, s.site, r.d.target(s.site), exitCond)
		}
	}
	w.settled = left
	return alive
}

const (
	inlineData  = 4096 // bytes that a call may step over, or back
	inlineInsts = 32   // instructions looked at for what becomes of its return address
)

// takesReturn says whether the call from off to the near place t only hands it
// the address behind the call: it is popped there and not returned to.
func (d *descent) takesReturn(off, t uint32) bool {
	if d.dec.x86 == nil || max(off, t)-min(off, t) > inlineData || d.starts.has(t) || d.covered.has(t) {
		return false
	}
	g := d.sp.at(t)
	if d.sp.at(off) != g {
		return false
	}
	var in isa.Inst
	i := t - g.base
	if b := g.data[i]; b&0xf8 != 0x58 && b != 0x41 {
		return false
	}
	d.dec.Decode(g.data[i:], g.addr+uint64(i), &in)
	if in.Class != isa.Pop || in.HasMem || in.Dst >= 16 || in.Dst == 4 {
		return false
	}
	reg := in.Dst
	for n := 0; n < inlineInsts; n++ {
		i += uint32(in.Len)
		if int(i) >= len(g.data) {
			return false
		}
		d.dec.Decode(g.data[i:], g.addr+uint64(i), &in)
		switch in.Flow {
		case isa.Invalid:
			return false
		case isa.Return, isa.Jump, isa.Trap:
			return true
		case isa.IndirectJump:
			return in.HasMem || in.Src != reg && in.Reads&(1<<reg) == 0
		}
		if (in.Class == isa.Push || in.HasMem && in.Class == isa.Store && in.Mem.Base == 4) && in.Reads&(1<<reg) != 0 {
			return false // to return to, perhaps
		}
		if in.Writes&(1<<reg) != 0 && in.Class != isa.Add && in.Class != isa.Sub {
			return true
		}
	}
	return true
}
