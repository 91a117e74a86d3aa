package ssa

import "rea/providers/embedded/ir"

// Conditions are formulas over flags. comparison recognizes the ones that
// comparisons of two values amount to, on any architecture:
//
//	top(a-b) ^ top((a^b) & (a^(a-b)))    a < b, signed
//	a < b | a == b                       a <= b
//	a <= b & a != b                      a < b
//	a-b <= a                             b <= a, unsigned: no borrow
func (b *builder) comparison(op ir.Op, x, y ID) ID {
	switch op {
	case ir.Xor:
		if id := b.signed(x, y); id != 0 {
			return id
		}
		return b.signed(y, x)
	case ir.Or:
		if id := b.merge(x, y, ir.Eq, ir.LtU, ir.LeU, ir.LtS, ir.LeS); id != 0 {
			return id
		}
		return b.merge(y, x, ir.Eq, ir.LtU, ir.LeU, ir.LtS, ir.LeS)
	case ir.And:
		if id := b.merge(x, y, ir.Ne, ir.LeU, ir.LtU, ir.LeS, ir.LtS); id != 0 {
			return id
		}
		return b.merge(y, x, ir.Ne, ir.LeU, ir.LtU, ir.LeS, ir.LtS)
	case ir.LeU:
		return b.noBorrow(x, y)
	}
	return 0
}

// merge joins a comparison x and the (in)equality y of the same operands: from
// becomes to, or from2 becomes to2.
func (b *builder) merge(x, y ID, equality, from, to, from2, to2 ir.Op) ID {
	v := b.f.Values[x]
	if v.Kind != Expr || v.Op != from && v.Op != from2 {
		return 0
	}
	if w := &b.f.Values[y]; w.Kind != Expr || w.Op != equality {
		return 0
	}
	if b.expr(equality, 1, v.Args[0], v.Args[1], 0) != y {
		return 0
	}
	if v.Op == from2 {
		to = to2
	}
	return b.expr(to, 1, v.Args[0], v.Args[1], 0)
}

// noBorrow is r <= a where r is a - k, k not 0.
func (b *builder) noBorrow(r, a ID) ID {
	v := b.f.Values[r]
	if v.Kind != Expr || v.Args[0] != a {
		return 0
	}
	switch v.Op {
	case ir.Sub:
		return b.expr(ir.LeU, 1, v.Args[1], a, 0)
	case ir.Add:
		if k, ok := b.number(v.Args[1]); ok {
			return b.expr(ir.LeU, 1, b.constant(-k, v.Bits), a, 0)
		}
	}
	return 0
}

// top is the value whose most significant bit v is.
func (b *builder) top(v ID) (ID, bool) {
	x, ok := b.is(v, ir.Extract)
	if !ok || x.Bits != 1 {
		return 0, false
	}
	return x.Args[0], x.N+1 == uint64(b.f.Values[x.Args[0]].Bits)
}

// signed recognizes sign ^ overflow of a subtraction.
func (b *builder) signed(sign, overflow ID) ID {
	r, ok := b.top(sign)
	if !ok {
		return 0
	}
	over, ok := b.top(overflow)
	if !ok {
		return 0
	}
	and, ok := b.is(over, ir.And)
	if !ok {
		return 0
	}
	p, q := and.Args[0], and.Args[1]
	v := b.f.Values[r]
	if v.Kind != Expr || v.Op != ir.Sub && v.Op != ir.Add {
		return 0
	}
	bits := v.Bits
	left, right := v.Args[0], v.Args[1]
	if v.Op == ir.Add { // of the constant's opposite
		k, known := b.number(right)
		if !known {
			return 0
		}
		right = b.constant(-k, bits)
	}
	// x86 writes a^b, AArch64, which adds the complement of b, ~b^r.
	fromRight := []ID{b.expr(ir.Xor, bits, left, right, 0), b.expr(ir.Xor, bits, b.expr(ir.Not, bits, right, 0, 0), r, 0)}
	fromLeft := b.expr(ir.Xor, bits, left, r, 0)
	for _, w := range fromRight {
		if p == w && q == fromLeft || q == w && p == fromLeft {
			return b.expr(ir.LtS, 1, left, right, 0)
		}
	}
	return 0
}
