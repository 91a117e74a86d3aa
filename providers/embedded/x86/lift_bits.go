package x86

import "rea/providers/embedded/ir"

func bitLifter(name string) func(*lifter) {
	switch name {
	case "bt", "bts", "btr", "btc":
		return (*lifter).bitTest
	case "bsf", "bsr":
		return (*lifter).bitScan
	case "tzcnt", "lzcnt":
		return (*lifter).countZeros
	case "popcnt":
		return (*lifter).populationCount
	case "andn":
		return func(l *lifter) {
			r := l.And(l.Not(l.read(1)), l.read(2))
			l.bitwiseFlags(r, ir.Bit(false))
			l.write(0, r)
		}
	case "blsi", "blsr", "blsmsk":
		return (*lifter).lowestBit
	case "bextr":
		return (*lifter).bitExtract
	case "bzhi":
		return (*lifter).zeroHigh
	case "mulx":
		return (*lifter).multiplyNoFlags
	case "adcx", "adox":
		return (*lifter).addOneFlag
	}
	return nil
}

// bitTest is bt, bts, btr and btc. A register index into memory selects from
// a bit string: it is signed and not limited to the operand.
func (l *lifter) bitTest() {
	o, p := l.e.ops[0], l.e.ops[1]
	bits := l.operandBits(o)
	index := l.Hold(l.second(bits))
	width := ir.Constant(uint64(bits-1), bits)
	n := l.And(index, width)
	var a, at ir.Value
	if l.inMemory(o) && p.kind != opI {
		log := map[uint16]uint64{16: 4, 32: 5, 64: 6}[bits]
		offset := l.ShrS(index, ir.Constant(log, 8))
		offset = l.Shl(l.Sext(l.wide(offset), l.word()), ir.Constant(log-3, 8))
		at = l.Hold(l.Add(l.address(), offset))
		a = l.Load(at, bits)
	} else {
		a = l.Hold(l.read(0))
	}
	carry := l.Extract(l.ShrU(a, n), 0, 1)
	mask := l.Shl(ir.Constant(1, bits), n)
	var r ir.Value
	switch l.e.name {
	case "bts":
		r = l.Or(a, mask)
	case "btr":
		r = l.And(a, l.Not(mask))
	case "btc":
		r = l.Xor(a, mask)
	}
	l.setFlag(regCF, carry)
	l.undefined(regOF, regSF, regAF, regPF)
	switch {
	case r.Kind == ir.None:
	case at.Kind != ir.None:
		l.Store(at, r)
	default:
		l.write(0, r)
	}
}

// bitScan leaves the destination undefined when the source is zero.
func (l *lifter) bitScan() {
	a := l.Hold(l.read(1))
	zero := l.IsZero(a)
	var r ir.Value
	if l.e.name == "bsf" {
		r = l.Unary(ir.CountTrailing, a)
	} else {
		r = l.Sub(ir.Constant(uint64(a.Bits-1), a.Bits), l.Unary(ir.CountLeading, a))
	}
	l.setFlag(regZF, zero)
	l.undefined(regCF, regOF, regSF, regAF, regPF)
	o := l.e.ops[0]
	reg, _ := l.general(o)
	old := l.Hold(l.register(reg))
	l.write(0, r)
	// A zero source leaves also the upper half of the register open.
	l.Set(l.register(reg), l.Select(zero, l.Undef(old.Bits), l.Hold(l.register(reg))))
}

func (l *lifter) countZeros() {
	a := l.Hold(l.read(1))
	op := ir.CountTrailing
	if l.e.name == "lzcnt" {
		op = ir.CountLeading
	}
	r := l.Unary(op, a)
	l.setFlag(regCF, l.IsZero(a))
	l.setFlag(regZF, l.IsZero(r))
	l.undefined(regOF, regSF, regAF, regPF)
	l.write(0, r)
}

func (l *lifter) populationCount() {
	a := l.Hold(l.read(1))
	l.setFlag(regZF, l.IsZero(a))
	for _, f := range []int{regCF, regOF, regSF, regAF, regPF} {
		l.setFlag(f, ir.Bit(false))
	}
	l.write(0, l.Unary(ir.PopCount, a))
}

// bitwiseFlags is the flags of the BMI instructions: AF and PF are undefined.
func (l *lifter) bitwiseFlags(r, carry ir.Value) {
	l.setFlag(regCF, carry)
	l.setFlag(regOF, ir.Bit(false))
	l.setFlag(regZF, l.IsZero(r))
	l.setFlag(regSF, l.Top(r))
	l.undefined(regAF, regPF)
}

// lowestBit is blsi, blsr and blsmsk.
func (l *lifter) lowestBit() {
	a := l.Hold(l.read(1))
	zero := l.IsZero(a)
	less := l.Sub(a, ir.Constant(1, a.Bits))
	switch l.e.name {
	case "blsi":
		r := l.And(l.Neg(a), a)
		l.bitwiseFlags(r, l.Not(zero))
		l.write(0, r)
	case "blsr":
		r := l.And(less, a)
		l.bitwiseFlags(r, zero)
		l.write(0, r)
	default:
		r := l.Xor(less, a)
		l.bitwiseFlags(r, zero)
		l.setFlag(regZF, ir.Bit(false))
		l.write(0, r)
	}
}

// bitExtract takes start and length from the two low bytes of the control.
func (l *lifter) bitExtract() {
	a := l.Hold(l.read(1))
	control := l.Hold(l.second2(a.Bits))
	start, length := l.Extract(control, 0, 8), l.Extract(control, 8, 8)
	mask := l.Sub(l.Shl(ir.Constant(1, a.Bits), length), ir.Constant(1, a.Bits))
	r := l.And(l.ShrU(a, start), mask)
	l.setFlag(regZF, l.IsZero(r))
	l.setFlag(regCF, ir.Bit(false))
	l.setFlag(regOF, ir.Bit(false))
	l.undefined(regSF, regAF, regPF)
	l.write(0, r)
}

// second2 is the third operand at a width.
func (l *lifter) second2(bits uint16) ir.Value {
	if l.e.ops[2].kind == opI {
		return l.Zext(l.immediate(32), bits)
	}
	return l.read(2)
}

func (l *lifter) zeroHigh() {
	a := l.Hold(l.read(1))
	n := l.Extract(l.read(2), 0, 8)
	carry := l.Binary(ir.LtU, ir.Constant(uint64(a.Bits-1), 8), n)
	mask := l.Sub(l.Shl(ir.Constant(1, a.Bits), n), ir.Constant(1, a.Bits))
	r := l.And(a, mask)
	l.bitwiseFlags(r, carry)
	l.write(0, r)
}

// multiplyNoFlags is mulx: high half first, so that it wins when both are one register.
func (l *lifter) multiplyNoFlags() {
	b := l.read(2)
	bits := b.Bits
	full := l.Mul(l.Zext(l.readGeneral(2, false, bits), 2*bits), l.Zext(b, 2*bits))
	low, high := l.Extract(full, 0, bits), l.Extract(full, bits, bits)
	l.write(1, low)
	l.write(0, high)
}

// addOneFlag is adcx, which carries in CF alone, and adox, in OF.
func (l *lifter) addOneFlag() {
	f := regCF
	if l.e.name == "adox" {
		f = regOF
	}
	a, b := l.Hold(l.read(0)), l.read(1)
	carry := l.Hold(l.flag(f))
	r := l.Add(l.Add(a, b), l.Zext(carry, a.Bits))
	l.setFlag(f, l.Or(l.Binary(ir.LtU, r, a), l.And(carry, l.Eq(r, a))))
	l.write(0, r)
}
