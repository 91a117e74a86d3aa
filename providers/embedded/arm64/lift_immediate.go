package arm64

import (
	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

func (l *lifter) immediateGroup() bool {
	w, bits := l.w, l.bits()
	switch w >> 23 & 7 {
	case 0, 1:
		l.set(rd(w), l.constant(uint64(l.in.Mem.Disp)))
	case 2:
		l.addImmediate(bits)
	case 3:
		return l.minMax(l.x(rn(w), bits), ir.Constant(uint64(l.in.Imm), bits), w>>18&3, w>>22&1 == 1)
	case 4:
		mask, _ := bitMask(w)
		l.logic(l.x(rn(w), bits), ir.Constant(mask, bits), w>>29&3, true)
	case 5:
		l.moveWide(bits)
	case 6:
		l.bitfield(bits)
	default:
		if l.in.Dst == isa.NoReg {
			return false
		}
		n := w >> 10 & 63
		v := l.Concat(l.x(rn(w), bits), l.x(rm(w), bits))
		l.set(rd(w), l.Extract(v, uint16(n), bits))
	}
	return true
}

func (l *lifter) addImmediate(bits uint16) {
	w := l.w
	v := uint64(w >> 10 & 0xfff)
	if w>>22&1 == 1 {
		v <<= 12
	}
	a, b, carry := l.xsp(rn(w), bits), ir.Constant(v, bits), ir.Bit(false)
	if w>>30&1 == 1 {
		b, carry = ir.Constant(^v, bits), ir.Bit(true)
	}
	if w>>29&1 == 1 {
		a = l.Hold(a)
		l.set(rd(w), l.addWithCarry(a, b, carry, true))
		return
	}
	op := ir.Add
	if w>>30&1 == 1 {
		op = ir.Sub
	}
	l.setSP(rd(w), l.Binary(op, a, ir.Constant(v, bits)))
}

// minMax is smax, umax, smin, umin. MTE arithmetic shares the group and is opaque.
func (l *lifter) minMax(a, b ir.Value, kind uint32, ok bool) bool {
	if !ok {
		return false
	}
	less := [4]ir.Op{ir.LtS, ir.LtU, ir.LtS, ir.LtU}[kind]
	a, b = l.Hold(a), l.Hold(b)
	smaller := l.Binary(less, a, b)
	if kind < 2 {
		a, b = b, a
	}
	l.set(rd(l.w), l.Select(smaller, a, b))
	return true
}

// logic is and, orr, eor, ands. Immediate forms may write the stack pointer.
func (l *lifter) logic(a, b ir.Value, opc uint32, immediate bool) {
	r := l.Binary([4]ir.Op{ir.And, ir.Or, ir.Xor, ir.And}[opc], a, b)
	switch {
	case opc == 3:
		l.logicFlags(r)
		l.set(rd(l.w), r)
	case immediate:
		l.setSP(rd(l.w), r)
	default:
		l.set(rd(l.w), r)
	}
}

func (l *lifter) moveWide(bits uint16) {
	w := l.w
	v, shift := uint64(w>>5&0xffff), 16*(w>>21&3)
	switch w >> 29 & 3 {
	case 0:
		l.set(rd(w), ir.Constant(^(v<<shift), bits))
	case 2:
		l.set(rd(w), ir.Constant(v<<shift, bits))
	default:
		old := l.And(l.x(rd(w), bits), ir.Constant(^(uint64(0xffff)<<shift), bits))
		l.set(rd(w), l.Or(old, ir.Constant(v<<shift, bits)))
	}
}

// bitfield is sbfm, bfm and ubfm.
func (l *lifter) bitfield(bits uint16) {
	w := l.w
	opc, immr, imms := w>>29&3, uint16(w>>16&63), uint16(w>>10&63)
	a := l.x(rn(w), bits)
	var width, low uint16 // of the field in the result
	if imms >= immr {
		width = imms - immr + 1
		a = l.Extract(a, immr, width)
	} else {
		width, low = imms+1, bits-immr
		a = l.Extract(a, 0, width)
	}
	if opc == 1 {
		old := l.Hold(l.x(rd(w), bits))
		v := a
		if low > 0 {
			v = l.Concat(v, l.Extract(old, 0, low))
		}
		if top := low + width; top < bits {
			v = l.Concat(l.Extract(old, top, bits-top), v)
		}
		l.set(rd(w), v)
		return
	}
	if opc == 0 {
		a = l.Sext(a, bits-low)
	} else {
		a = l.Zext(a, bits-low)
	}
	if low > 0 {
		a = l.Concat(a, ir.Constant(0, low))
	}
	l.set(rd(w), a)
}
