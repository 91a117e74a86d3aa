package arm64

import "rea/providers/embedded/isa"

// branch decodes "branches, exception generating and system instructions".
func branch(w uint32, in *isa.Inst) bool {
	switch w >> 29 {
	case 0b000, 0b100:
		in.Target = in.Addr + uint64(signed(w, 0, 26)<<2)
		in.Flow = isa.Jump
		if w>>31 == 1 {
			in.Flow, in.Writes = isa.Call, 1<<30
		}
		return true
	case 0b001, 0b101:
		compareBranch(w, in)
		return true
	case 0b011, 0b111:
		return compareRegisters(w, in)
	case 0b010:
		if w&0xffc0001f == 0x5500001f { // retaasppc, retabsppc
			in.Flow, in.Src, in.Reads, in.Size = isa.Return, 30, 1<<30|1<<31, 8
			return true
		}
		if w>>24 != 0x54 {
			return false
		}
		in.Target = in.Addr + uint64(signed(w, 5, 19)<<2)
		in.Flow, in.Cond = isa.CondJump, uint8(w&15)
		return true
	case 0b110:
		switch w >> 24 {
		case 0xd4:
			return exception(w, in)
		case 0xd5:
			return system(w, in)
		case 0xd6, 0xd7:
			return branchRegister(w, in)
		}
	}
	return false
}

// compareBranch is cbz, cbnz, tbz, tbnz.
func compareBranch(w uint32, in *isa.Inst) {
	in.Flow = isa.CondJump
	in.Src, in.Reads = zr(rd(w)), bit(rd(w))
	in.Size = size(w)
	nonzero := uint8(w >> 24 & 1)
	if w>>25&1 == 0 {
		in.Target = in.Addr + uint64(signed(w, 5, 19)<<2)
		in.Cond = isa.CondZero + nonzero
		return
	}
	in.Target = in.Addr + uint64(signed(w, 5, 14)<<2)
	in.Cond = isa.CondBitClear + nonzero
	in.Imm, in.HasImm = int64(w>>26&32|w>>19&31), true
}

// compareRegisters is the branches that compare two registers, or a register
// and a number (FEAT_CMPBR).
func compareRegisters(w uint32, in *isa.Inst) bool {
	cc, number := w>>21&7, w>>24&1 == 1
	if w>>25&1 != 0 || cc == 4 || cc == 5 || number && w>>14&1 != 0 || !number && (w>>14&3 == 1 || w>>14&3 != 0 && w>>31 != 0) {
		return false
	}
	in.Flow, in.Cond = isa.CondJump, isa.CondOther
	in.Target = in.Addr + uint64(signed(w, 5, 9)<<2)
	in.Src, in.Reads = zr(rd(w)), bit(rd(w))
	in.Size = size(w)
	if number {
		in.Imm, in.HasImm = int64(w>>15&63), true
		return true
	}
	in.Src2 = zr(rm(w))
	in.Reads |= bit(rm(w))
	switch w >> 14 & 3 {
	case 2:
		in.Size = 1
	case 3:
		in.Size = 2
	}
	return true
}

func exception(w uint32, in *isa.Inst) bool {
	in.Imm, in.HasImm = int64(w>>5&0xffff), true
	switch w & 0xffe0001f {
	case 0xd4000001, 0xd4000002, 0xd4000003: // svc, hvc, smc
		in.Flow = isa.Syscall
	case 0xd4200000, 0xd4400000: // brk, hlt
		in.Flow = isa.Trap
	case 0xd4600000: // tcancel
		in.Flow = isa.Trap
	case 0xd4a00001, 0xd4a00002, 0xd4a00003: // dcps
		in.Flow = isa.Trap
	default:
		return false
	}
	return true
}

func branchRegister(w uint32, in *isa.Inst) bool {
	if w>>16&31 != 31 {
		return false
	}
	opc, op3, op4 := w>>21&15, w>>10&63, w&31
	authenticated := op3 == 2 || op3 == 3
	n := rn(w)
	in.Src, in.Reads, in.Size = zr(n), bit(n), 8
	switch {
	case opc <= 2 && op3 == 0 && op4 == 0,
		opc <= 1 && authenticated && op4 == 31,
		(opc == 8 || opc == 9) && authenticated:
		if opc >= 8 {
			in.Src2 = isa.Reg(op4) // the modifier; 31 is SP
			in.Reads |= spBit(op4)
		}
		switch opc & 7 {
		case 0:
			in.Flow = isa.IndirectJump
		case 1:
			in.Flow, in.Writes = isa.IndirectCall, 1<<30
		case 2:
			in.Flow = isa.Return
		}
		return true
	case opc == 2 && authenticated && op4 == 31 && n == 31: // retaa, retab
		in.Flow, in.Src, in.Reads = isa.Return, 30, 1<<30|1<<31
		return true
	case opc == 2 && authenticated && n == 31: // retaasppcr, retabsppcr
		in.Flow, in.Src, in.Src2, in.Reads = isa.Return, 30, zr(op4), 1<<30|1<<31|bit(op4)
		return true
	case opc == 4 && n == 31 && (op3 == 0 && op4 == 0 || authenticated && op4 == 31): // eret
		in.Flow, in.Src, in.Reads = isa.Return, isa.NoReg, 0
		return true
	case opc == 5 && n == 31 && op3 == 0 && op4 == 0: // drps
		in.Flow, in.Src, in.Reads = isa.Return, isa.NoReg, 0
		return true
	}
	return false
}

func system(w uint32, in *isa.Inst) bool {
	if w>>22&3 == 1 {
		return systemPair(w, in)
	}
	if w>>22&3 != 0 {
		return false
	}
	l, op0, op1, crn, crm, op2, rt := w>>21&1, w>>19&3, w>>16&7, w>>12&15, w>>8&15, w>>5&7, w&31
	switch op0 {
	case 0:
		if l == 1 {
			return op1 == 3 && crn == 3 && op2 == 3 && crm <= 1 && registerWrite(rt, in) // tstart, ttest
		}
		return systemZero(op1, crn, crm, op2, rt, in)
	case 1: // sys, sysl
		if l == 1 {
			return registerWrite(rt, in)
		}
		in.Src, in.Reads = zr(rt), bit(rt)
	default: // msr, mrs
		if l == 1 {
			return registerWrite(rt, in)
		}
		in.Src, in.Reads = zr(rt), bit(rt)
	}
	return true
}

// systemPair is msrr, mrrs and sysp: 128 bits in two registers.
func systemPair(w uint32, in *isa.Inst) bool {
	op0, rt := w>>19&3, w&31
	none := op0 == 1 && rt == 31 && w>>21&1 == 0 // sysp without registers
	if op0 == 0 || op0 == 1 && w>>21&1 == 1 || rt&1 != 0 && !none {
		return false
	}
	in.Size = 8
	if none {
		return true
	}
	in.Src2 = zr(rt + 1)
	both := bit(rt) | bit(rt+1)
	if w>>21&1 == 1 {
		in.Dst, in.Writes = zr(rt), both
	} else {
		in.Src, in.Reads = zr(rt), both
	}
	return true
}

func registerWrite(rt uint32, in *isa.Inst) bool {
	in.Dst, in.Writes, in.Size = zr(rt), bit(rt), 8
	return true
}

// systemZero is the system instructions with op0 zero: hints, barriers, and
// writes of PSTATE fields.
func systemZero(op1, crn, crm, op2, rt uint32, in *isa.Inst) bool {
	if op1 == 3 && crn == 0 && crm == 0 || op1 == 3 && crn == 1 && crm == 0 {
		if op2 > 1 || crn != 1 {
			return false
		}
		in.Src, in.Reads = zr(rt), bit(rt) // wfet, wfit
		return true
	}
	if rt != 31 {
		return false
	}
	switch {
	case op1 == 3 && crn == 2:
		hint(crm<<3|op2, in)
		return true
	case op1 == 3 && crn == 3: // barriers
		switch op2 {
		case 2, 4, 5, 6:
			return true
		case 7:
			return crm == 0
		case 3:
			return crm == 0
		case 1:
			return crm&3 == 2
		}
		return false
	case crn == 4:
		switch op1<<3 | op2 {
		case 0, 1, 2:
			return crm == 0
		case 3, 4, 5, 0o31, 0o32, 0o34, 0o36, 0o37:
			return true
		case 0o33:
			return crm >= 2 && crm <= 7
		case 0o10:
			return crm < 4
		}
	}
	return false
}

// hint classifies the hint space; all of it executes as no-operation where the
// extension is absent.
func hint(n uint32, in *isa.Inst) {
	switch {
	case n == 0:
		in.Class = isa.Nop
	case n >= 32 && n < 40 && n&1 == 0: // bti
		in.Class = isa.EndBranch
	case n == 7: // xpaclri
		in.Reads, in.Writes = 1<<30, 1<<30
	case n == 8 || n == 10 || n == 12 || n == 14: // pacia1716…
		in.Reads, in.Writes = 1<<16|1<<17, 1<<17
	case n == 24 || n == 26 || n == 28 || n == 30: // paciaz…
		in.Reads, in.Writes = 1<<30, 1<<30
	case n == 25 || n == 27: // paciasp, pacibsp: landing pads as bti c is
		in.Class = isa.EndBranch
		in.Reads, in.Writes = 1<<30|1<<31, 1<<30
	case n == 29 || n == 31: // autiasp, autibsp
		in.Reads, in.Writes = 1<<30|1<<31, 1<<30
	}
}
