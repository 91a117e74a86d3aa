package arm64

import "rea/providers/embedded/isa"

// simd decodes "data processing, scalar floating-point and advanced SIMD". Of
// its effects isa sees only the general registers.
func simd(w uint32, in *isa.Inst) bool {
	switch {
	case w&0x5f200c00 == 0x1e200000 && w>>10&63 == 0:
		return floatInteger(w, in)
	case w&0x5f200000 == 0x1e000000:
		return floatFixed(w, in)
	case w&0x9fe08400 == 0x0e000400:
		return copyElement(w, in)
	}
	return true
}

// floatInteger is the conversions and moves between floating-point and general registers.
func floatInteger(w uint32, in *isa.Inst) bool {
	mode, op := w>>19&3, w>>16&7
	in.Size = size(w)
	toGeneral := op <= 1 || op == 4 || op == 5 || op == 6
	_ = mode
	if toGeneral {
		in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
	} else {
		in.Src, in.Reads = zr(rn(w)), bit(rn(w))
	}
	return true
}

func floatFixed(w uint32, in *isa.Inst) bool {
	in.Size = size(w)
	if w>>19&3 == 3 {
		in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
	} else {
		in.Src, in.Reads = zr(rn(w)), bit(rn(w))
	}
	return true
}

// copyElement is dup, ins, smov, umov.
func copyElement(w uint32, in *isa.Inst) bool {
	if w>>29&1 == 1 {
		return true // ins, element
	}
	switch w >> 11 & 15 {
	case 1, 3: // dup, ins from a general register
		in.Src, in.Reads = zr(rn(w)), bit(rn(w))
	case 5, 7: // smov, umov
		in.Size = uint8(4 << (w >> 30 & 1))
		in.Dst, in.Writes = zr(rd(w)), bit(rd(w))
	}
	return true
}

func sve(w uint32, in *isa.Inst) bool { return true }

func sme(w uint32, in *isa.Inst) bool { return true }
