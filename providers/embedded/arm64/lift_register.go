package arm64

import "rea/providers/embedded/ir"

func (l *lifter) registerGroup() bool {
	w, bits := l.w, l.bits()
	if w>>28&1 == 0 {
		switch {
		case w>>24&1 == 0:
			b := l.shifted(bits)
			if w>>21&1 == 1 {
				b = l.Not(b)
			}
			a := l.x(rn(w), bits)
			if w>>29&3 == 2 && w>>21&1 == 0 && rn(w) == rm(w) && w>>10&63 == 0 {
				l.set(rd(w), ir.Constant(0, bits))
				return true
			}
			l.logic(a, b, w>>29&3, false)
		case w>>21&1 == 0:
			l.add(l.x(rn(w), bits), l.shifted(bits), false)
		default:
			l.add(l.xsp(rn(w), bits), l.extended(bits), true)
		}
		return true
	}
	if w>>24&1 == 1 {
		l.threeSource(bits)
		return true
	}
	switch w >> 21 & 7 {
	case 0:
		return l.carry(bits)
	case 2:
		l.conditionalCompare(bits)
		return true
	case 4:
		l.conditionalSelect(bits)
		return true
	}
	if w>>30&1 == 0 {
		return l.twoSource(bits)
	}
	return l.oneSource(bits)
}

// shifted is Rm shifted.
func (l *lifter) shifted(bits uint16) ir.Value {
	op := [4]ir.Op{ir.Shl, ir.ShrU, ir.ShrS, ir.RotR}[l.w>>22&3]
	return l.Binary(op, l.x(rm(l.w), bits), ir.Constant(uint64(l.w>>10&63), 8))
}

// extended is Rm extended and shifted.
func (l *lifter) extended(bits uint16) ir.Value {
	return l.extend(rm(l.w), l.w>>13&7, l.w>>10&7, bits)
}

// extend is a register extended by an option field and shifted left.
func (l *lifter) extend(n, option, amount uint32, bits uint16) ir.Value {
	width := min(uint16(8)<<(option&3), bits)
	v := l.x(n, width)
	if option >= 4 {
		v = l.Sext(v, bits)
	} else {
		v = l.Zext(v, bits)
	}
	return l.Shl(v, ir.Constant(uint64(amount), 8))
}

// add is add, adds, sub and subs of registers.
func (l *lifter) add(a, b ir.Value, extended bool) {
	w := l.w
	sub := w>>30&1 == 1
	if w>>29&1 == 1 {
		carry := ir.Bit(false)
		if sub {
			b, carry = l.Not(b), ir.Bit(true)
		}
		l.set(rd(w), l.addWithCarry(l.Hold(a), l.Hold(b), carry, true))
		return
	}
	op := ir.Add
	if sub {
		op = ir.Sub
	}
	r := l.Binary(op, a, b)
	if extended {
		l.setSP(rd(w), r)
	} else {
		l.set(rd(w), r)
	}
}

func (l *lifter) threeSource(bits uint16) {
	w := l.w
	op31, sub := w>>21&7, w>>15&1 == 1
	a := l.x(ra(w), bits)
	var product ir.Value
	switch op31 {
	case 0:
		product = l.Mul(l.x(rn(w), bits), l.x(rm(w), bits))
	case 1:
		product = l.Mul(l.Sext(l.x(rn(w), 32), 64), l.Sext(l.x(rm(w), 32), 64))
	case 5:
		product = l.Mul(l.Zext(l.x(rn(w), 32), 64), l.Zext(l.x(rm(w), 32), 64))
	case 2:
		full := l.Mul(l.Sext(l.x(rn(w), 64), 128), l.Sext(l.x(rm(w), 64), 128))
		l.set(rd(w), l.Extract(full, 64, 64))
		return
	default:
		full := l.Mul(l.Zext(l.x(rn(w), 64), 128), l.Zext(l.x(rm(w), 64), 128))
		l.set(rd(w), l.Extract(full, 64, 64))
		return
	}
	op := ir.Add
	if sub {
		op = ir.Sub
	}
	l.set(rd(w), l.Binary(op, a, product))
}

func (l *lifter) carry(bits uint16) bool {
	w := l.w
	switch {
	case w>>10&63 == 0: // adc, sbc
		a, b := l.Hold(l.x(rn(w), bits)), l.x(rm(w), bits)
		if w>>30&1 == 1 {
			b = l.Not(b)
		}
		l.set(rd(w), l.addWithCarry(a, l.Hold(b), flag(regC), w>>29&1 == 1))
	case w>>10&31 == 1: // rmif
		v := l.Binary(ir.RotR, l.x(rn(w), 64), ir.Constant(uint64(w>>15&63), 8))
		for i, f := range []int{regV, regC, regZ, regN} {
			if w>>i&1 == 1 {
				l.Set(flag(f), l.Extract(v, uint16(i), 1))
			}
		}
	default: // setf8, setf16
		width := uint16(8) << (w >> 14 & 1)
		v := l.x(rn(w), 32)
		l.Set(flag(regN), l.Extract(v, width-1, 1))
		l.Set(flag(regZ), l.IsZero(l.Extract(v, 0, width)))
		l.Set(flag(regV), l.Xor(l.Extract(v, width, 1), l.Extract(v, width-1, 1)))
	}
	return true
}

func (l *lifter) conditionalCompare(bits uint16) {
	w := l.w
	a := l.x(rn(w), bits)
	b := l.x(rm(w), bits)
	if w>>11&1 == 1 {
		b = ir.Constant(uint64(rm(w)), bits)
	}
	carry := ir.Bit(false)
	if w>>30&1 == 1 {
		b, carry = l.Not(b), ir.Bit(true)
	}
	holds := l.Hold(l.condition(w >> 12 & 15))
	n, z, c, v, _ := l.sum(a, b, carry)
	pick := func(f func() ir.Value, bit uint32) ir.Value { return l.Select(holds, f(), ir.Bit(w>>bit&1 == 1)) }
	l.flags(pick(n, 3), pick(z, 2), pick(c, 1), pick(v, 0))
}

func (l *lifter) conditionalSelect(bits uint16) {
	w := l.w
	b := l.x(rm(w), bits)
	switch w>>30&1<<1 | w>>10&1 {
	case 1:
		b = l.Add(b, ir.Constant(1, bits))
	case 2:
		b = l.Not(b)
	case 3:
		b = l.Neg(b)
	}
	l.set(rd(w), l.Select(l.condition(w>>12&15), l.x(rn(w), bits), b))
}

func (l *lifter) twoSource(bits uint16) bool {
	w := l.w
	op := w >> 10 & 63
	a, b := l.x(rn(w), bits), l.x(rm(w), bits)
	switch {
	case w>>29&1 == 1 || op == 0 || op == 4 || op == 5 || op == 12:
		return false
	case op == 2:
		l.set(rd(w), l.Binary(ir.DivU, a, b))
	case op == 3:
		l.set(rd(w), l.Binary(ir.DivS, a, b))
	case op >= 8 && op <= 11:
		n := l.And(b, ir.Constant(uint64(bits-1), bits))
		l.set(rd(w), l.Binary([4]ir.Op{ir.Shl, ir.ShrU, ir.ShrS, ir.RotR}[op-8], a, n))
	case op >= 24:
		return l.minMax(a, b, op-24, true)
	default:
		return false // crc32
	}
	return true
}

func (l *lifter) oneSource(bits uint16) bool {
	w := l.w
	if rm(w) != 0 {
		return false
	}
	a := l.x(rn(w), bits)
	var r ir.Value
	switch w >> 10 & 63 {
	case 0:
		r = l.Unary(ir.ReverseBits, a)
	case 1:
		r = l.reverseWithin(a, 16)
	case 2:
		r = l.reverseWithin(a, 32)
	case 3:
		r = l.Unary(ir.ReverseBytes, a)
	case 4:
		r = l.Unary(ir.CountLeading, a)
	case 5: // zeros of a ^ a>>1, not counting the first
		x := l.Xor(a, l.ShrS(a, ir.Constant(1, 8)))
		r = l.Sub(l.Unary(ir.CountLeading, x), ir.Constant(1, bits))
	case 6:
		r = l.Unary(ir.CountTrailing, a)
	case 7:
		r = l.Unary(ir.PopCount, a)
	default:
		a = l.Hold(a)
		r = l.Select(l.Top(a), l.Neg(a), a)
	}
	l.set(rd(w), r)
	return true
}

// reverseWithin reverses the bytes of every unit of a value.
func (l *lifter) reverseWithin(a ir.Value, unit uint16) ir.Value {
	var r ir.Value
	for low := uint16(0); low < a.Bits; low += unit {
		part := l.Unary(ir.ReverseBytes, l.Extract(a, low, unit))
		if low == 0 {
			r = part
		} else {
			r = l.Concat(part, r)
		}
	}
	return r
}
