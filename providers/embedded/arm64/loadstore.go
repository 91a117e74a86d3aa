package arm64

import "rea/providers/embedded/isa"

// loadStore decodes the load and store group.
func loadStore(w uint32, in *isa.Inst) bool {
	vector := w>>26&1 == 1
	switch w >> 27 & 7 {
	case 0b001: // 001000, 001100, 001101: exclusive, structures
		if w>>25&1 == 1 {
			return false
		}
		if vector {
			return structures(w, in)
		}
		if w>>24&1 == 1 {
			return false
		}
		return exclusive(w, in)
	case 0b011:
		if w>>25&1 == 1 {
			return false
		}
		if w>>24&1 == 0 {
			return literal(w, vector, in)
		}
		return unscaledOrdered(w, vector, in)
	case 0b101:
		if w>>25&1 == 1 {
			return false
		}
		return pair(w, vector, in)
	case 0b111:
		if w>>25&1 == 1 {
			return false
		}
		if w>>24&1 == 1 {
			return unsignedOffset(w, vector, in)
		}
		return offsetForms(w, vector, in)
	}
	return false
}

// base sets the memory operand [Rn|SP, disp].
func base(w uint32, disp int64, size uint8, in *isa.Inst) {
	in.Mem = isa.Mem{Base: isa.Reg(rn(w)), Index: isa.NoReg, Scale: 1, Size: size, Disp: disp}
	in.HasMem = true
	in.Reads |= spBit(rn(w))
}

// exclusive is the exclusive and ordered accesses and compare-and-swap.
func exclusive(w uint32, in *isa.Inst) bool {
	sz, o2, l, o1, o0 := w>>30, w>>23&1, w>>22&1, w>>21&1, w>>15&1
	rs, rt2, rt := rm(w), ra(w), rd(w)
	bytes := uint8(1 << sz)
	in.Size = min(max(bytes, 4), 8)
	switch {
	case o2 == 1 && o1 == 0: // ldar, stlr, ldlar, stllr
		if rs != 31 || rt2 != 31 {
			return false
		}
		base(w, 0, bytes, in)
		loadOrStore(l == 1, rt, in)
		return true
	case o2 == 1 && o1 == 1: // cas
		if rt2 != 31 {
			return false
		}
		base(w, 0, bytes, in)
		in.Dst, in.Src, in.Src2 = zr(rs), zr(rs), zr(rt)
		in.Reads |= bit(rs) | bit(rt)
		in.Writes |= bit(rs)
		return true
	case o1 == 0: // ldxr, stxr
		if rt2 != 31 || l == 1 && rs != 31 {
			return false
		}
		base(w, 0, bytes, in)
		if l == 0 {
			in.Dst, in.Writes = zr(rs), bit(rs)
		}
		loadOrStore(l == 1, rt, in)
		return true
	case sz >= 2: // ldxp, stxp
		if l == 1 && rs != 31 {
			return false
		}
		base(w, 0, 2*bytes, in)
		if l == 0 {
			in.Dst, in.Writes = zr(rs), bit(rs)
		}
		loadOrStore(l == 1, rt, in)
		in.Src2 = zr(rt2)
		if l == 1 {
			in.Writes |= bit(rt2)
		} else {
			in.Reads |= bit(rt2)
		}
		return true
	default: // casp
		if rt2 != 31 || rs&1 == 1 || rt&1 == 1 {
			return false
		}
		_ = o0
		in.Size = uint8(4 << sz)
		base(w, 0, 2*in.Size, in)
		in.Dst, in.Src, in.Src2 = zr(rs), zr(rs), zr(rt)
		in.Reads |= bit(rs) | bit(rs+1) | bit(rt) | bit(rt+1)
		in.Writes |= bit(rs) | bit(rs+1)
		return true
	}
}

// loadOrStore sets class and data register of a plain access of one register.
func loadOrStore(load bool, rt uint32, in *isa.Inst) {
	if load {
		in.Class, in.Dst = isa.Load, zr(rt)
		in.Writes |= bit(rt)
		return
	}
	in.Class, in.Src = isa.Store, zr(rt)
	in.Reads |= bit(rt)
}

// literal is the pc-relative loads.
func literal(w uint32, vector bool, in *isa.Inst) bool {
	opc := w >> 30
	in.Mem = isa.Mem{Base: isa.PC, Index: isa.NoReg, Scale: 1, Disp: int64(in.Addr) + signed(w, 5, 19)<<2}
	in.HasMem = true
	if vector {
		if opc == 3 {
			return false
		}
		in.Mem.Size = 4 << opc
		in.Size = in.Mem.Size
		return true
	}
	switch opc {
	case 3: // prfm
		return true
	case 2:
		in.Signed, in.Size, in.Mem.Size = true, 8, 4
	default:
		in.Size = uint8(4 << opc)
		in.Mem.Size = in.Size
	}
	loadOrStore(true, rd(w), in)
	return true
}

// unscaledOrdered is the group with 01 in bits 25:24 and 011 in 29:27: ordered
// accesses with an offset, memory tags, memory copy and set.
func unscaledOrdered(w uint32, vector bool, in *isa.Inst) bool {
	if w>>10&3 == 1 && w>>21&1 == 0 {
		return memoryCopy(w, in)
	}
	if vector {
		return false
	}
	if w>>21&1 == 1 {
		if w>>30 != 3 {
			return false
		}
		return tags(w, in)
	}
	if w>>10&3 != 0 {
		return false
	}
	return scalar(w, signed(w, 12, 9), in) && in.Class != isa.Other
}

// memoryCopy is cpyf…, cpy… and set…: three registers, all updated.
func memoryCopy(w uint32, in *isa.Inst) bool {
	op1, s, n, d := w>>22&3, rm(w), rn(w), rd(w)
	if w>>30 != 0 {
		return false
	}
	if s == n || s == d || n == d || d == 31 {
		return false
	}
	if op1 == 3 { // set: Xs is data, may be zero
		if w>>14&3 == 3 || n == 31 {
			return false
		}
		in.Reads = bit(s) | bit(n) | bit(d)
		in.Writes = bit(n) | bit(d)
		return true
	}
	if n == 31 || s == 31 {
		return false
	}
	in.Reads = bit(s) | bit(n) | bit(d)
	in.Writes = in.Reads
	return true
}

// tags is the memory tagging loads and stores.
func tags(w uint32, in *isa.Inst) bool {
	opc, op2, imm9 := w>>22&3, w>>10&3, signed(w, 12, 9)
	if op2 == 0 {
		if opc != 1 && imm9 != 0 {
			return false
		}
		base(w, imm9<<4, 0, in)
		switch opc {
		case 1: // ldg
			in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
			in.Reads |= bit(rd(w))
		case 3: // ldgm
			in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
		default: // stzgm, stgm
			in.Src = zr(rd(w))
			in.Reads |= bit(rd(w))
		}
		return true
	}
	in.Src = isa.Reg(rd(w))
	base(w, imm9<<4, uint8(16<<(opc>>1)), in) // stg, stzg, st2g, stz2g
	in.Reads |= spBit(rd(w))
	writeback(w, op2 == 1, imm9<<4, in)
	if op2 == 2 {
		in.Writes = 0
	}
	return true
}

// writeback marks the base register as updated; post-indexed accesses are at
// the base itself and have the increment as immediate.
func writeback(w uint32, post bool, v int64, in *isa.Inst) {
	in.Writes |= spBit(rn(w))
	if post {
		in.Mem.Disp = 0
		in.Imm, in.HasImm = v, true
	}
}

// pair is ldp, stp, their non-temporal and unprivileged forms, ldpsw and stgp.
func pair(w uint32, vector bool, in *isa.Inst) bool {
	opc, mode, load := w>>30, w>>23&3, w>>22&1 == 1
	if load && rd(w) == ra(w) {
		return false
	}
	unit := uint8(4 << (opc >> 1 & 1))
	tagged := false
	if opc == 3 { // ldtp, sttp
		if vector {
			unit = 16
		}
	} else if vector {
		unit = 4 << opc
	} else if opc == 1 {
		if mode == 0 {
			return false
		}
		if load { // ldpsw
			if mode&1 == 1 && rn(w) != 31 && (rd(w) == rn(w) || ra(w) == rn(w)) {
				return false
			}
			in.Signed = true
		} else { // stgp
			tagged, unit = true, 8
		}
	}
	scale := int64(unit)
	if tagged {
		scale = 16
	}
	v := signed(w, 15, 7) * scale
	base(w, v, 2*unit, in)
	in.Size = unit
	if in.Signed {
		in.Size = 8
	}
	if !vector {
		loadOrStore(load, rd(w), in)
		in.Src2 = zr(ra(w))
		if load {
			in.Writes |= bit(ra(w))
		} else {
			in.Reads |= bit(ra(w))
		}
	}
	if mode == 1 || mode == 3 {
		writeback(w, mode == 1, v, in)
	}
	return true
}

// scalar sets up an access by the size and opc fields of the single-register
// forms, at [Rn, disp].
func scalar(w uint32, disp int64, in *isa.Inst) bool {
	sz, opc := w>>30, w>>22&3
	bytes := uint8(1 << sz)
	base(w, disp, bytes, in)
	in.Size = max(bytes, 4)
	switch opc {
	case 0:
		loadOrStore(false, rd(w), in)
	case 1:
		loadOrStore(true, rd(w), in)
	case 2:
		if sz == 3 { // prfm
			in.Mem.Size, in.Size = 0, 0
			return true
		}
		in.Signed, in.Size = true, 8
		loadOrStore(true, rd(w), in)
	case 3:
		if sz >= 2 {
			return false
		}
		in.Signed, in.Size = true, 4
		loadOrStore(true, rd(w), in)
	}
	return true
}

// vectorAccess is scalar for SIMD registers.
func vectorAccess(w uint32, disp int64, in *isa.Inst) bool {
	sz, opc := w>>30, w>>22&3
	bytes := uint8(1 << sz)
	if opc >= 2 {
		if sz != 0 {
			return false
		}
		bytes = 16
	}
	base(w, disp, bytes, in)
	in.Size = bytes
	return true
}

// accessBytes is the scale of the offset of a single-register form.
func accessBytes(w uint32, vector bool) uint {
	if vector && w>>23&1 == 1 {
		return 4
	}
	return uint(w >> 30)
}

func access(w uint32, vector bool, disp int64, in *isa.Inst) bool {
	if vector {
		return vectorAccess(w, disp, in)
	}
	return scalar(w, disp, in)
}

func unsignedOffset(w uint32, vector bool, in *isa.Inst) bool {
	return access(w, vector, int64(w>>10&0xfff)<<accessBytes(w, vector), in)
}

// offsetForms is the forms with a 9-bit or register offset, and the atomics.
func offsetForms(w uint32, vector bool, in *isa.Inst) bool {
	kind := w >> 10 & 3
	if w>>21&1 == 1 {
		switch kind {
		case 0:
			return !vector && atomic(w, in)
		case 2:
			return registerOffset(w, vector, in)
		}
		if vector || w>>30 != 3 {
			return false
		}
		// ldraa, ldrab
		v := (signed(w, 22, 1)<<9 | int64(w>>12&0x1ff)) << 3
		base(w, v, 8, in)
		in.Size = 8
		loadOrStore(true, rd(w), in)
		if kind == 3 {
			writeback(w, false, v, in)
		}
		return true
	}
	v := signed(w, 12, 9)
	if !access(w, vector, v, in) {
		return false
	}
	if kind == 2 {
		return !vector && in.Class != isa.Other // unprivileged
	}
	if kind != 0 {
		if in.Size == 0 { // prfm has no writeback
			return false
		}
		writeback(w, kind == 1, v, in)
	}
	return true
}

func registerOffset(w uint32, vector bool, in *isa.Inst) bool {
	option := w >> 13 & 7
	if option&2 == 0 || !access(w, vector, 0, in) {
		return false
	}
	in.Mem.Index = zr(rm(w))
	in.Reads |= bit(rm(w))
	if w>>12&1 == 1 {
		in.Mem.Scale = 1 << accessBytes(w, vector)
	}
	if option != 3 && option != 7 {
		in.SrcSize = 4 // of the index
	}
	return true
}

// atomic is the LSE read-modify-write operations, ldapr and the 64-byte accesses.
func atomic(w uint32, in *isa.Inst) bool {
	sz, a, r, rs, o3, opc, rt := w>>30, w>>23&1, w>>22&1, rm(w), w>>15&1, w>>12&7, rd(w)
	bytes := uint8(1 << sz)
	in.Size = max(bytes, 4)
	if o3 == 1 {
		switch {
		case opc == 0: // swp
		case opc == 4 && a == 1 && r == 0 && rs == 31: // ldapr
			base(w, 0, bytes, in)
			loadOrStore(true, rt, in)
			return true
		case sz == 3 && a == 0 && r == 0 && (opc == 1 || opc == 5) && rs == 31 && rt&1 == 0 && rt <= 22, // st64b, ld64b
			sz == 3 && a == 0 && r == 0 && (opc == 2 || opc == 3) && rt&1 == 0 && rt <= 22: // st64bv0, st64bv
			base(w, 0, 64, in)
			data := uint64(0xff) << rt
			if opc == 5 {
				in.Writes |= data
				return true
			}
			in.Reads |= data
			if opc != 1 {
				in.Dst = zr(rs)
				in.Writes |= bit(rs)
			}
			return true
		default:
			return false
		}
	}
	base(w, 0, bytes, in)
	in.Src = zr(rs)
	in.Reads |= bit(rs)
	in.Dst = zr(rt)
	in.Writes |= bit(rt)
	return true
}

// structures is the SIMD loads and stores of one to four registers.
func structures(w uint32, in *isa.Inst) bool {
	single, post, load := w>>24&1 == 1, w>>23&1 == 1, w>>22&1 == 1
	if w>>31 == 1 || !post && rm(w) != 0 {
		return false
	}
	q, opcode, sz := w>>30&1, w>>12&15, w>>10&3
	var bytes uint8
	if !single {
		if w>>21&1 == 1 {
			return false
		}
		registers := [16]uint8{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}[opcode]
		interleaved := opcode == 0 || opcode == 4 || opcode == 8
		if registers == 0 || interleaved && sz == 3 && q == 0 {
			return false
		}
		bytes = registers * uint8(8<<q)
	} else {
		r, s := w>>21&1, w>>12&1
		op := w >> 13 & 7
		registers := uint8((op&1)<<1+r) + 1
		scale := op >> 1
		switch scale {
		case 1:
			if sz&1 == 1 {
				return false
			}
		case 2:
			if sz&2 != 0 || sz == 1 && s == 1 {
				return false
			}
			scale += sz & 1
		case 3:
			if !load || s == 1 {
				return false
			}
			scale = sz
		}
		bytes = registers << scale
	}
	base(w, 0, bytes, in)
	if post {
		in.Writes |= spBit(rn(w))
		if rm(w) == 31 {
			in.Imm, in.HasImm = int64(bytes), true
		} else {
			in.Reads |= bit(rm(w))
		}
	}
	return true
}
