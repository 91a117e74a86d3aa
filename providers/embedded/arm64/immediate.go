package arm64

import (
	"math/bits"

	"rea/providers/embedded/isa"
)

// immediate decodes "data processing, immediate".
func immediate(w uint32, in *isa.Inst) bool {
	switch w >> 23 & 7 {
	case 0, 1:
		pcRelative(w, in)
		return true
	case 2:
		addImmediate(w, in)
		return true
	case 3:
		return tagImmediate(w, in)
	case 4:
		return logicalImmediate(w, in)
	case 5:
		return moveWide(w, in)
	case 6:
		return bitfield(w, in)
	}
	if w&0xffc0001f == 0xf380001f { // autiasppc, autibsppc
		in.Reads, in.Writes = 1<<30|1<<31, 1<<30
		return true
	}
	return extract(w, in)
}

func pcRelative(w uint32, in *isa.Inst) {
	v := signed(w, 5, 19)<<2 | int64(w>>29&3)
	base := in.Addr
	if w>>31 == 1 {
		v <<= 12
		base &^= 0xfff
	}
	in.Class = isa.Address
	in.Mem.Base, in.Mem.Disp = isa.PC, int64(base)+v
	in.HasMem = true
	in.Size = 8
	in.Dst = zr(rd(w))
	in.Writes = bit(rd(w))
}

// addImmediate is add, sub, adds, subs with a 12-bit immediate.
func addImmediate(w uint32, in *isa.Inst) {
	v := int64(w >> 10 & 0xfff)
	if w>>22&1 == 1 {
		v <<= 12
	}
	setsFlags := w>>29&1 == 1
	in.Size = size(w)
	in.Imm, in.HasImm = v, true
	in.Src = isa.Reg(rn(w))
	in.Reads = spBit(rn(w))
	sub := w>>30&1 == 1
	if setsFlags && rd(w) == 31 {
		in.Class = isa.Compare
		if !sub {
			in.Imm = -v
		}
		return
	}
	in.Class = isa.Add
	if sub {
		in.Class = isa.Sub
	}
	if setsFlags {
		in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
		return
	}
	in.Dst, in.Writes = isa.Reg(rd(w)), spBit(rd(w))
	if v == 0 && !sub && (rd(w) == 31 || rn(w) == 31) {
		in.Class, in.HasImm = isa.Move, false
	}
}

// tagImmediate is addg and subg, and the minimum and maximum with an immediate.
func tagImmediate(w uint32, in *isa.Inst) bool {
	if w>>22&1 == 1 {
		if w>>29&3 != 0 || w>>20&3 != 0 {
			return false
		}
		in.Size = size(w)
		in.Imm, in.HasImm = signed(w, 10, 8), true
		if w>>18&1 == 1 {
			in.Imm = int64(w >> 10 & 0xff)
		}
		in.Dst, in.Src = zr(rd(w)), zr(rn(w))
		in.Reads, in.Writes = bit(rn(w)), bit(rd(w))
		return true
	}
	if w>>31 == 0 || w>>29&1 == 1 || w>>14&3 != 0 {
		return false
	}
	in.Size = 8
	in.Dst, in.Src = isa.Reg(rd(w)), isa.Reg(rn(w))
	in.Reads, in.Writes = spBit(rn(w)), spBit(rd(w))
	return true
}

// bitMask expands the immediate of a logical instruction.
func bitMask(w uint32) (uint64, bool) {
	n, immr, imms := w>>22&1, w>>16&63, w>>10&63
	length := bits.Len32(n<<6 | ^imms&63)
	if length <= 1 || w>>31 == 0 && n == 1 {
		return 0, false
	}
	esize := uint(1) << (length - 1)
	levels := uint32(esize - 1)
	s, r := imms&levels, uint(immr&levels)
	if s == levels {
		return 0, false
	}
	pattern := uint64(1)<<(s+1) - 1
	if r > 0 {
		pattern = pattern>>r | pattern<<(esize-r)
		if esize < 64 {
			pattern &= 1<<esize - 1
		}
	}
	for e := esize; e < 64; e *= 2 {
		pattern |= pattern << e
	}
	if w>>31 == 0 {
		pattern &= 0xffffffff
	}
	return pattern, true
}

func logicalImmediate(w uint32, in *isa.Inst) bool {
	mask, ok := bitMask(w)
	if !ok {
		return false
	}
	in.Size = size(w)
	in.Imm, in.HasImm = int64(mask), true
	if in.Size == 4 {
		in.Imm = int64(int32(mask))
	}
	in.Src = zr(rn(w))
	in.Reads = bit(rn(w))
	switch w >> 29 & 3 {
	case 3:
		if rd(w) == 31 {
			in.Class = isa.Test
			return true
		}
		in.Class = isa.And
		in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
		return true
	case 0:
		in.Class = isa.And
	case 1:
		in.Class = isa.Or
		if rn(w) == 31 {
			in.Class, in.Src = isa.Move, isa.NoReg
		}
	case 2:
		in.Class = isa.Xor
	}
	in.Dst, in.Writes = isa.Reg(rd(w)), spBit(rd(w))
	return true
}

func moveWide(w uint32, in *isa.Inst) bool {
	opc, hw := w>>29&3, w>>21&3
	if opc == 1 || w>>31 == 0 && hw > 1 {
		return false
	}
	in.Size = size(w)
	in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
	v := int64(w>>5&0xffff) << (16 * hw)
	in.HasImm = true
	switch opc {
	case 0:
		v = ^v
	case 3:
		in.Class, in.Amount = isa.Insert, uint8(16*hw)
		in.Src, in.Reads = in.Dst, in.Writes
		in.Imm = int64(w >> 5 & 0xffff)
		return true
	}
	if in.Size == 4 {
		v = int64(int32(v))
	}
	in.Class, in.Imm = isa.Move, v
	return true
}

func bitfield(w uint32, in *isa.Inst) bool {
	opc, sf, n := w>>29&3, w>>31, w>>22&1
	immr, imms := w>>16&63, w>>10&63
	if opc == 3 || n != sf || sf == 0 && (immr > 31 || imms > 31) {
		return false
	}
	in.Size = size(w)
	in.Dst, in.Src = zr(rd(w)), zr(rn(w))
	in.Reads, in.Writes = bit(rn(w)), bit(rd(w))
	last := uint32(in.Size)*8 - 1
	switch {
	case opc == 1:
		in.Reads |= bit(rd(w))
	case immr == 0 && (imms == 7 || imms == 15 || imms == 31 && sf == 1):
		in.Class, in.SrcSize, in.Signed = isa.Extend, uint8((imms+1)/8), opc == 0
	case imms == last:
		in.Class, in.Imm, in.HasImm, in.Signed = isa.Shift, -int64(immr), true, opc == 0
	case opc == 2 && imms+1 == immr:
		in.Class, in.Imm, in.HasImm = isa.Shift, int64(last-imms), true
	}
	return true
}

func extract(w uint32, in *isa.Inst) bool {
	sf, n, imms := w>>31, w>>22&1, w>>10&63
	if w>>29&3 != 0 || w>>21&1 != 0 || n != sf || sf == 0 && imms > 31 {
		return false
	}
	in.Size = size(w)
	in.Imm, in.HasImm = int64(imms), true
	in.Dst, in.Src, in.Src2 = zr(rd(w)), zr(rn(w)), zr(rm(w))
	in.Reads, in.Writes = bit(rn(w))|bit(rm(w)), bit(rd(w))
	return true
}
