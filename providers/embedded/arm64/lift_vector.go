package arm64

import "rea/providers/embedded/ir"

// vector is the low bits of a vector register.
func (l *lifter) vector(n uint32, bits uint16) ir.Value {
	return l.Extract(arch.Reg(regVec0+int(n)), 0, bits)
}

// setVector writes a vector register, clearing what is above the value.
func (l *lifter) setVector(n uint32, v ir.Value) {
	l.Set(arch.Reg(regVec0+int(n)), l.Zext(v, 128))
}

// vectorGroup models moves, bitwise operations and selection; arithmetic is opaque.
func (l *lifter) vectorGroup() bool {
	w := l.w
	q := uint16(64) << (w >> 30 & 1)
	switch {
	case w&0x5f20fc00 == 0x1e200000:
		return l.moveGeneral()
	case w&0xff3ffc00 == 0x1e204000 && w>>22&3 != 2: // fmov between registers
		l.setVector(rd(w), l.vector(rn(w), floatBits(w)))
	case w&0xff200c00 == 0x1e200c00 && w>>22&3 != 2: // fcsel
		bits := floatBits(w)
		l.setVector(rd(w), l.Select(l.condition(w>>12&15), l.vector(rn(w), bits), l.vector(rm(w), bits)))
	case w&0x9f20fc00 == 0x0e201c00:
		return l.vectorLogic(q)
	case w&0x9fe08400 == 0x0e000400:
		return l.copyElement(q)
	case w&0xffe0fc00 == 0x5e000400: // dup, scalar
		size := elementBits(w)
		l.setVector(rd(w), l.element(rn(w), w>>16&31>>(log2(size)-2), size))
	case w&0x9ff80c00 == 0x0f000400:
		return l.modifiedImmediate(q)
	default:
		return false
	}
	return true
}

// floatBits is the width of the scalar type field.
func floatBits(w uint32) uint16 { return [4]uint16{32, 64, 0, 16}[w>>22&3] }

func log2(n uint16) uint32 {
	k := uint32(0)
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}

// elementBits is the width of the lane that the lowest one of imm5 names.
func elementBits(w uint32) uint16 {
	for i := range 4 {
		if w>>(16+i)&1 == 1 {
			return 8 << i
		}
	}
	return 64
}

// element is one lane of a vector register.
func (l *lifter) element(n, index uint32, size uint16) ir.Value {
	return l.Extract(arch.Reg(regVec0+int(n)), uint16(index)*size, size)
}

// moveGeneral is fmov between floating-point and general registers.
func (l *lifter) moveGeneral() bool {
	w := l.w
	mode, op, kind := w>>19&3, w>>16&7, w>>22&3
	if op != 6 && op != 7 || mode > 1 {
		return false
	}
	bits := l.bits()
	switch {
	case mode == 1 && kind == 2: // the upper half
		if op == 6 {
			l.set(rd(w), l.element(rn(w), 1, 64))
		} else {
			l.Set(arch.Reg(regVec0+int(rd(w))), l.Concat(l.x(rn(w), 64), l.vector(rd(w), 64)))
		}
		return true
	case kind == 3:
		bits = 16
	}
	if op == 6 {
		l.set(rd(w), l.vector(rn(w), bits))
	} else {
		l.setVector(rd(w), l.x(rn(w), bits))
	}
	return true
}

// vectorLogic is and, bic, orr, orn, eor, bsl, bit and bif.
func (l *lifter) vectorLogic(bits uint16) bool {
	w := l.w
	a, b, d := l.vector(rn(w), bits), l.vector(rm(w), bits), l.vector(rd(w), bits)
	var r ir.Value
	switch w>>29&1<<2 | w>>22&3 {
	case 0:
		r = l.And(a, b)
	case 1:
		r = l.And(a, l.Not(b))
	case 2:
		r = l.Or(a, b)
		if rn(w) == rm(w) {
			r = a
		}
	case 3:
		r = l.Or(a, l.Not(b))
	case 4:
		r = l.Xor(a, b)
		if rn(w) == rm(w) {
			r = ir.Constant(0, bits)
		}
	case 5:
		r = l.Xor(b, l.And(l.Xor(b, a), d))
	case 6:
		r = l.Xor(d, l.And(l.Xor(d, a), b))
	default:
		r = l.Xor(d, l.And(l.Xor(d, a), l.Not(b)))
	}
	l.setVector(rd(w), r)
	return true
}

// copyElement is dup, ins, smov and umov.
func (l *lifter) copyElement(bits uint16) bool {
	w := l.w
	size := elementBits(w)
	index := w >> 16 & 31 >> (log2(size) - 2)
	if w>>29&1 == 1 { // ins, element
		l.insert(index, size, l.element(rn(w), w>>11&15>>(log2(size)-3), size))
		return true
	}
	switch w >> 11 & 15 {
	case 0, 1: // dup
		v := l.element(rn(w), index, size)
		if w>>11&1 == 1 {
			v = l.x(rn(w), size)
		}
		r := v
		for r.Bits < bits {
			r = l.Concat(r, r)
		}
		l.setVector(rd(w), r)
	case 3: // ins, general
		l.insert(index, size, l.x(rn(w), size))
	case 5: // smov
		l.set(rd(w), l.Sext(l.element(rn(w), index, size), bits/2))
	case 7: // umov
		l.set(rd(w), l.element(rn(w), index, size))
	default:
		return false
	}
	return true
}

// insert replaces one lane of the destination.
func (l *lifter) insert(index uint32, size uint16, v ir.Value) {
	r := arch.Reg(regVec0 + int(rd(l.w)))
	low := uint16(index) * size
	if low > 0 {
		v = l.Concat(v, l.Extract(r, 0, low))
	}
	if v.Bits < 128 {
		v = l.Concat(l.Extract(r, v.Bits, 128-v.Bits), v)
	}
	l.Set(r, v)
}

// modifiedImmediate is movi, mvni, and orr and bic with an immediate. The
// floating-point forms are opaque.
func (l *lifter) modifiedImmediate(bits uint16) bool {
	w := l.w
	cmode, op := w>>12&15, w>>29&1
	imm := uint64(w>>16&7<<5 | w>>5&31)
	var v uint64
	repeat := func(x uint64, size uint) uint64 {
		for s := size; s < 64; s *= 2 {
			x |= x << s
		}
		return x
	}
	switch {
	case cmode < 8:
		v = repeat(imm<<(8*(cmode>>1)), 32)
	case cmode < 12:
		v = repeat(imm<<(8*(cmode>>1&1)), 16)
	case cmode < 14:
		shift := 8 << (cmode & 1)
		v = repeat(imm<<shift|(1<<shift-1), 32)
	case cmode == 14 && op == 0:
		v = repeat(imm, 8)
	case cmode == 14:
		for i := range 8 {
			if imm>>i&1 == 1 {
				v |= 0xff << (8 * i)
			}
		}
		op = 0
	default:
		return false
	}
	half := l.constant(v)
	r := half
	if bits == 128 {
		r = l.emitConcat(half)
	}
	modify := cmode&1 == 1 && cmode < 12
	switch d := l.vector(rd(w), bits); {
	case modify && op == 0:
		r = l.Or(d, r)
	case modify:
		r = l.And(d, l.Not(r))
	case op == 1:
		r = l.Not(r)
	}
	l.setVector(rd(w), r)
	return true
}

// emitConcat repeats a constant of 64 bits, which wider constants can't express.
func (l *lifter) emitConcat(v ir.Value) ir.Value {
	if v.N == 0 {
		return ir.Constant(0, 128)
	}
	return l.Concat(v, v)
}
