package x86

import "rea/providers/embedded/ir"

// undefined leaves flags undefined.
func (l *lifter) undefined(flags ...int) {
	for _, f := range flags {
		l.setFlag(f, l.Undef(1))
	}
}

// resultFlags sets ZF, SF and PF from a result.
func (l *lifter) resultFlags(r ir.Value) {
	l.setFlag(regZF, l.IsZero(r))
	l.setFlag(regSF, l.Top(r))
	l.parity(r)
}

// parity sets PF: whether the low byte has an even number of ones.
func (l *lifter) parity(r ir.Value) {
	n := l.Unary(ir.PopCount, l.Extract(r, 0, 8))
	l.setFlag(regPF, l.Not(l.Extract(n, 0, 1)))
}

// addFlags sets the flags of r = a + b + carry.
func (l *lifter) addFlags(a, b, carry, r ir.Value) {
	c := l.Binary(ir.LtU, r, a)
	if !carry.IsConst(0) {
		c = l.Or(c, l.And(carry, l.Eq(r, a)))
	}
	l.setFlag(regCF, c)
	l.setFlag(regOF, l.Top(l.And(l.Xor(a, r), l.Xor(b, r))))
	l.setFlag(regAF, l.Extract(l.Xor(l.Xor(a, b), r), 4, 1))
	l.resultFlags(r)
}

// subFlags sets the flags of r = a - b - borrow.
func (l *lifter) subFlags(a, b, borrow, r ir.Value) {
	c := l.Binary(ir.LtU, a, b)
	if !borrow.IsConst(0) {
		c = l.Or(c, l.And(borrow, l.Eq(a, b)))
	}
	l.setFlag(regCF, c)
	l.setFlag(regOF, l.Top(l.And(l.Xor(a, b), l.Xor(a, r))))
	l.setFlag(regAF, l.Extract(l.Xor(l.Xor(a, b), r), 4, 1))
	l.resultFlags(r)
}

// logicFlags sets the flags of a bitwise operation.
func (l *lifter) logicFlags(r ir.Value) {
	l.setFlag(regCF, ir.Bit(false))
	l.setFlag(regOF, ir.Bit(false))
	l.undefined(regAF)
	l.resultFlags(r)
}
