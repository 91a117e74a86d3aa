package x86

import "rea/providers/embedded/isa"

// classify settles what depends on the operands at hand rather than on the
// instruction alone.
func (d *Decoder) classify(x *encoding, in *isa.Inst) {
	e := x.entry
	switch e.class {
	case isa.Other:
		if e.flags&(flagRep|flagRepz) != 0 && x.repeat != 0 {
			in.Reads |= 1 << 1
			in.Writes |= 1 << 1
		}
	case isa.Move:
		switch {
		case !in.HasMem:
			if in.Dst == isa.NoReg && in.Src == isa.NoReg || in.Src == isa.NoReg && !in.HasImm || in.Dst == isa.NoReg {
				in.Class = isa.Other // segment, control and debug registers
			}
		case in.Dst != isa.NoReg:
			in.Class = isa.Load
			if in.Src != isa.NoReg || e.ops[1].kind == opS {
				in.Class = isa.Other
			}
		case in.Src != isa.NoReg || in.HasImm:
			in.Class = isa.Store
		default:
			in.Class = isa.Other
		}
		if in.Class == isa.Store && e.ops[0].size == szNone {
			in.Mem.Size = in.Size
		}
	case isa.Xor, isa.Sub:
		if in.Src == in.Src2 && in.Src != isa.NoReg && !in.HasMem && x.sameOperand() {
			in.Reads = 0
		}
	case isa.Shift:
		if e.flags&flagOne != 0 {
			in.Imm, in.HasImm = 1, true
		}
		if in.HasImm {
			mask := int64(31)
			if x.opSize == 2 {
				mask = 63
			}
			in.Imm &= mask
			if e.flags&flagRight != 0 {
				in.Imm = -in.Imm
			}
		}
		if !in.HasImm && e.flags&flagRight != 0 {
			in.Amount = 1
		}
		in.Signed = e.flags&flagSigned != 0
	case isa.Extend:
		in.Signed = e.flags&flagSigned != 0
		if e.nops == 0 { // cbw's kin widen the accumulator
			in.SrcSize = in.Size / 2
		} else {
			in.SrcSize = x.bytes(e.ops[1].size)
		}
	case isa.Address:
		// lea esi, [esi+0] and its longer forms: what assemblers fill 32-bit code with
		if m := &in.Mem; in.Dst != isa.NoReg && m.Base == in.Dst && m.Index == isa.NoReg && m.Disp == 0 && in.Size == uint8(4+4*d.mode) && int(x.adSize) == d.mode+1 {
			in.Class = isa.Nop
			nop(in)
		}
	case isa.Nop:
		nop(in)
		if e.flags&flagEndBranch != 0 {
			in.Class = isa.EndBranch
		}
	case isa.Push, isa.Pop:
		if e.ops[0].kind == opSeg {
			in.Size = x.bytes(szV)
		}
		if e.nops == 2 {
			in.Size *= 2
		}
	}
	if e.flags&flagOne != 0 && e.class != isa.Shift {
		in.Imm, in.HasImm = 1, true
	}
}

// nop takes the operands away.
func nop(in *isa.Inst) {
	in.HasMem = false
	in.Mem = isa.Mem{Base: isa.NoReg, Index: isa.NoReg}
	in.Dst, in.Src = isa.NoReg, isa.NoReg
	in.Reads, in.Writes = 0, 0
}

// sameOperand reports whether two register operands are the same part of the
// register (al and ah are not).
func (x *encoding) sameOperand() bool {
	if x.opcode&1 == 0 {
		return x.modrm>>3&7 == x.modrm&7
	}
	return true
}
