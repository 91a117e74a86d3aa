package arm64

import "rea/providers/embedded/isa"

// register decodes "data processing, register".
func register(w uint32, in *isa.Inst) bool {
	in.Size = size(w)
	in.Dst, in.Src, in.Src2 = zr(rd(w)), zr(rn(w)), zr(rm(w))
	in.Reads, in.Writes = bit(rn(w))|bit(rm(w)), bit(rd(w))
	if w>>28&1 == 0 {
		if w>>24&1 == 0 {
			return logicalShifted(w, in)
		}
		if w>>21&1 == 0 {
			return addShifted(w, in)
		}
		return addExtended(w, in)
	}
	if w>>24&1 == 1 {
		return threeSource(w, in)
	}
	switch w >> 21 & 7 {
	case 0:
		return carry(w, in)
	case 2:
		return conditionalCompare(w, in)
	case 4:
		return conditionalSelect(w, in)
	case 6:
		if w>>30&1 == 0 {
			return twoSource(w, in)
		}
		return oneSource(w, in)
	}
	return false
}

func logicalShifted(w uint32, in *isa.Inst) bool {
	opc, n, kind, amount := w>>29&3, w>>21&1, w>>22&3, w>>10&63
	if w>>31 == 0 && amount > 31 {
		return false
	}
	in.Amount = uint8(amount)
	if opc == 3 && rd(w) == 31 {
		in.Dst = isa.NoReg
	}
	switch {
	case n == 1 || kind != 0 && amount != 0:
		in.Amount = 0
	case opc == 0:
		in.Class = isa.And
	case opc == 1:
		in.Class = isa.Or
		if rn(w) == 31 && amount == 0 {
			in.Class, in.Src, in.Src2 = isa.Move, in.Src2, isa.NoReg
		}
	case opc == 2:
		in.Class = isa.Xor
	case rd(w) == 31:
		in.Class = isa.Test
	default:
		in.Class = isa.And
	}
	if (opc == 2 && n == 0) && kind == 0 && amount == 0 && rn(w) == rm(w) {
		in.Reads = 0
	}
	return true
}

func addShifted(w uint32, in *isa.Inst) bool {
	kind, amount := w>>22&3, w>>10&63
	if kind == 3 || w>>31 == 0 && amount > 31 {
		return false
	}
	if kind == 0 || amount == 0 {
		addClass(w, in)
		in.Amount = uint8(amount)
	} else if w>>29&1 == 1 && rd(w) == 31 {
		in.Dst = isa.NoReg
	}
	return true
}

// addClass classifies add, sub, adds, subs of registers.
func addClass(w uint32, in *isa.Inst) {
	sub := w>>30&1 == 1
	if w>>29&1 == 1 && rd(w) == 31 {
		in.Dst = isa.NoReg
		if sub {
			in.Class = isa.Compare
		}
		return
	}
	in.Class = isa.Add
	if sub {
		in.Class = isa.Sub
	}
}

func addExtended(w uint32, in *isa.Inst) bool {
	option, amount := w>>13&7, w>>10&7
	if w>>22&3 != 0 || amount > 4 {
		return false
	}
	addClass(w, in)
	in.Src = isa.Reg(rn(w))
	in.Reads = spBit(rn(w)) | bit(rm(w))
	if w>>29&1 == 0 {
		in.Dst, in.Writes = isa.Reg(rd(w)), spBit(rd(w))
	}
	in.Amount = uint8(amount)
	in.SrcSize, in.Signed = 1<<(option&3), option >= 4
	if in.SrcSize >= in.Size {
		in.SrcSize, in.Signed = 0, false
	}
	return true
}

func threeSource(w uint32, in *isa.Inst) bool {
	if w>>29&3 != 0 {
		return false
	}
	op31, o0, sf := w>>21&7, w>>15&1, w>>31
	switch op31 {
	case 0:
	case 1, 5:
		if sf == 0 {
			return false
		}
	case 2, 6:
		return sf == 1 && o0 == 0 && ra(w) == 31 // smulh, umulh have no Ra
	default:
		return false
	}
	in.Reads |= bit(ra(w))
	return true
}

// carry is adc and sbc, rmif, setf8 and setf16.
func carry(w uint32, in *isa.Inst) bool {
	switch {
	case w>>10&63 == 0:
		return true
	case w>>29 == 0b101 && w>>10&31 == 1 && w>>4&1 == 0: // rmif
		in.Dst, in.Src2, in.Writes, in.Reads = isa.NoReg, isa.NoReg, 0, bit(rn(w))
		return true
	case w&0xffffbc1f == 0x3a00080d: // setf8, setf16
		in.Dst, in.Src2, in.Writes, in.Reads = isa.NoReg, isa.NoReg, 0, bit(rn(w))
		return true
	}
	return false
}

func conditionalCompare(w uint32, in *isa.Inst) bool {
	if w>>29&1 == 0 || w>>10&1 == 1 || w>>4&1 == 1 {
		return false
	}
	in.Dst, in.Writes = isa.NoReg, 0
	in.Cond = uint8(w >> 12 & 15)
	if w>>11&1 == 1 {
		in.Src2, in.Reads = isa.NoReg, bit(rn(w))
		in.Imm, in.HasImm = int64(rm(w)), true
	}
	return true
}

func conditionalSelect(w uint32, in *isa.Inst) bool {
	if w>>29&1 == 1 || w>>11&1 == 1 {
		return false
	}
	in.Cond = uint8(w >> 12 & 15)
	if w>>30&1 == 0 && w>>10&1 == 0 {
		in.Class = isa.CondSelect
	}
	return true
}

func twoSource(w uint32, in *isa.Inst) bool {
	s, sf, op := w>>29&1, w>>31, w>>10&63
	if s == 1 {
		return sf == 1 && op == 0 && tagDifference(w, in) // subps
	}
	switch {
	case op == 2 || op == 3: // udiv, sdiv
	case op >= 8 && op <= 11:
		if op == 8 || op == 9 || op == 10 {
			in.Class = isa.Shift
			if op != 8 {
				in.Amount, in.Signed = 1, op == 10
			}
		}
	case op >= 16 && op <= 23: // crc32
		if (op&3 == 3) != (sf == 1) {
			return false
		}
		in.Size = 4
	case op >= 24 && op <= 27: // smax, umax, smin, umin
	case sf == 1 && op == 0: // subp
		return tagDifference(w, in)
	case sf == 1 && op == 4: // irg
		in.Dst, in.Src = isa.Reg(rd(w)), isa.Reg(rn(w))
		in.Reads, in.Writes = spBit(rn(w))|bit(rm(w)), spBit(rd(w))
	case sf == 1 && op == 5: // gmi
		in.Src = isa.Reg(rn(w))
		in.Reads = spBit(rn(w)) | bit(rm(w))
	case sf == 1 && op == 12: // pacga
		in.Src2 = isa.Reg(rm(w))
		in.Reads = bit(rn(w)) | spBit(rm(w))
	default:
		return false
	}
	return true
}

func tagDifference(w uint32, in *isa.Inst) bool {
	in.Src, in.Src2 = isa.Reg(rn(w)), isa.Reg(rm(w))
	in.Reads = spBit(rn(w)) | spBit(rm(w))
	return true
}

func oneSource(w uint32, in *isa.Inst) bool {
	sf, op := w>>31, w>>10&63
	in.Src2, in.Reads = isa.NoReg, bit(rn(w))
	if w>>29&1 == 1 {
		return false
	}
	switch rm(w) {
	case 0:
		if op == 3 {
			return sf == 1
		}
		return op <= 8
	case 1: // pointer authentication
		if sf == 1 && rd(w) == 30 && (rn(w) == 31 && (op == 32 || op == 33 || op == 40 || op == 41) || op == 36 || op == 37) { // paciasppc…, autiasppcr
			in.Reads |= 1<<30 | 1<<31
			in.Src = isa.NoReg
			return true
		}
		if sf == 0 || op > 17 || op >= 8 && rn(w) != 31 {
			return false
		}
		in.Reads = bit(rd(w))
		in.Src = in.Dst
		if op < 8 {
			in.Src2 = isa.Reg(rn(w))
			in.Reads |= spBit(rn(w))
		}
		return true
	}
	return false
}
