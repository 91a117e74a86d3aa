package x86

import "rea/providers/embedded/ir"

func shiftLifter(name string) func(*lifter) {
	switch name {
	case "shl", "shr", "sar":
		return (*lifter).shift
	case "rol", "ror":
		return (*lifter).rotate
	case "rcl", "rcr":
		return (*lifter).rotateCarry
	case "shld", "shrd":
		return (*lifter).shiftDouble
	case "sarx", "shlx", "shrx":
		return (*lifter).shiftPlain
	case "rorx":
		return func(l *lifter) {
			a := l.read(1)
			l.write(0, l.Binary(ir.RotR, a, l.And(l.immediate(8), ir.Constant(uint64(a.Bits-1), 8))))
		}
	}
	return nil
}

// count is the masked shift count, of eight bits.
func (l *lifter) count(v ir.Value, bits uint16) ir.Value {
	mask := uint64(31)
	if bits == 64 {
		mask = 63
	}
	return l.And(l.Extract(v, 0, 8), ir.Constant(mask, 8))
}

// when sets a flag unless the count is zero, which leaves flags alone.
func (l *lifter) when(zero ir.Value, flag int, v ir.Value) {
	if zero.IsConst(1) {
		return
	}
	l.setFlag(flag, l.Select(zero, l.flag(flag), v))
}

// onlyForOne is v for a count of one, undefined for others.
func (l *lifter) onlyForOne(n, v ir.Value) ir.Value {
	one := l.Eq(n, ir.Constant(1, 8))
	if one.IsConst(1) {
		return v
	}
	return l.Select(one, v, l.Undef(1))
}

func (l *lifter) shift() {
	a := l.Hold(l.read(0))
	bits := a.Bits
	n := l.count(l.countOperand(1), bits)
	zero := l.IsZero(n)
	less := l.Sub(n, ir.Constant(1, 8)) // the bit shifted out last is one shift earlier
	var r, carry, overflow ir.Value
	switch l.e.name {
	case "shl":
		r = l.Shl(a, n)
		carry = l.Top(l.Shl(a, less))
		overflow = l.Xor(l.Top(r), carry)
	case "shr":
		r = l.ShrU(a, n)
		carry = l.Extract(l.ShrU(a, less), 0, 1)
		overflow = l.Top(a)
	default:
		r = l.ShrS(a, n)
		carry = l.Extract(l.ShrS(a, less), 0, 1)
		overflow = ir.Bit(false)
	}
	if bits < 32 && l.e.name != "sar" { // counts above the width leave CF undefined
		carry = l.Select(l.Binary(ir.LtU, ir.Constant(uint64(bits), 8), n), l.Undef(1), carry)
	}
	l.when(zero, regCF, carry)
	l.when(zero, regOF, l.onlyForOne(n, overflow))
	l.when(zero, regAF, l.Undef(1))
	l.whenResult(zero, r)
	l.write(0, r)
}

// whenResult sets ZF, SF and PF unless the count is zero.
func (l *lifter) whenResult(zero, r ir.Value) {
	l.when(zero, regZF, l.IsZero(r))
	l.when(zero, regSF, l.Top(r))
	n := l.Unary(ir.PopCount, l.Extract(r, 0, 8))
	l.when(zero, regPF, l.Not(l.Extract(n, 0, 1)))
}

// countOperand is a shift count in an immediate, CL or the constant one.
func (l *lifter) countOperand(i int) ir.Value {
	switch l.source(i).kind {
	case opI:
		return l.immediate(8)
	case opCL:
		return l.readGeneral(1, false, 8)
	}
	return ir.Constant(1, 8)
}

func (l *lifter) rotate() {
	a := l.Hold(l.read(0))
	n := l.count(l.countOperand(1), a.Bits)
	zero := l.IsZero(n)
	var r, carry, overflow ir.Value
	if l.e.name == "rol" {
		r = l.Binary(ir.RotL, a, n)
		carry = l.Extract(r, 0, 1)
		overflow = l.Xor(l.Top(r), carry)
	} else {
		r = l.Binary(ir.RotR, a, n)
		carry = l.Top(r)
		overflow = l.Xor(carry, l.Extract(r, r.Bits-2, 1))
	}
	l.when(zero, regCF, carry)
	l.when(zero, regOF, l.onlyForOne(n, overflow))
	l.write(0, r)
}

// rotateCarry rotates the operand with CF on top.
func (l *lifter) rotateCarry() {
	a := l.Hold(l.read(0))
	bits := a.Bits
	n := l.count(l.countOperand(1), bits)
	zero := l.IsZero(n)
	wide := l.Concat(l.flag(regCF), a)
	op := ir.RotL
	if l.e.name == "rcr" {
		op = ir.RotR
	}
	r := l.Binary(op, wide, n)
	carry, low := l.Hold(l.Top(r)), l.Extract(r, 0, bits)
	overflow := l.Xor(l.Top(low), carry)
	if op == ir.RotR {
		overflow = l.Xor(l.Top(low), l.Extract(low, bits-2, 1))
	}
	l.when(zero, regOF, l.onlyForOne(n, overflow))
	l.when(zero, regCF, carry)
	l.write(0, low)
}

// shiftDouble is shld and shrd. With 16-bit operands counts above 16 give
// undefined results.
func (l *lifter) shiftDouble() {
	a, b := l.Hold(l.read(0)), l.Hold(l.read(1))
	bits := a.Bits
	n := l.count(l.countOperand(2), bits)
	zero := l.IsZero(n)
	less := l.Sub(n, ir.Constant(1, 8))
	var r, carry ir.Value
	if l.e.name == "shld" {
		wide := l.Concat(a, b)
		r = l.Extract(l.Shl(wide, n), bits, bits)
		carry = l.Top(l.Shl(wide, less))
	} else {
		wide := l.Concat(b, a)
		r = l.Extract(l.ShrU(wide, n), 0, bits)
		carry = l.Extract(l.ShrU(wide, less), 0, 1)
	}
	overflow := l.Xor(l.Top(a), l.Top(r))
	if bits == 16 {
		far := l.Binary(ir.LtU, ir.Constant(16, 8), n)
		r = l.Select(far, l.Undef(16), r)
		carry = l.Select(far, l.Undef(1), carry)
	}
	l.when(zero, regCF, carry)
	l.when(zero, regOF, l.onlyForOne(n, overflow))
	l.when(zero, regAF, l.Undef(1))
	l.whenResult(zero, r)
	l.write(0, r)
}

// shiftPlain is the shifts without flags.
func (l *lifter) shiftPlain() {
	a := l.read(1)
	n := l.count(l.read(2), a.Bits)
	op := map[string]ir.Op{"sarx": ir.ShrS, "shlx": ir.Shl, "shrx": ir.ShrU}[l.e.name]
	l.write(0, l.Binary(op, a, n))
}
