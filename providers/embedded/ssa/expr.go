package ssa

import "rea/providers/embedded/ir"

// constant is the value of a constant. Constants of more than 64 bits are zero
// extended, as in package ir.
func (b *builder) constant(n uint64, bits uint16) ID {
	return b.shared(Value{Kind: Const, Bits: bits, N: ir.Constant(n, bits).N, Var: NoVar})
}

func (b *builder) shared(v Value) ID {
	if id, ok := b.pure[v]; ok {
		return id
	}
	id := b.add(v)
	if b.err == nil {
		b.pure[v] = id
	}
	return id
}

func (b *builder) is(id ID, op ir.Op) (*Value, bool) {
	v := &b.f.Values[id]
	return v, id != 0 && v.Kind == Expr && v.Op == op
}

// number is the value of a constant of at most 64 bits.
func (b *builder) number(id ID) (uint64, bool) {
	v := &b.f.Values[id]
	return v.N, id != 0 && v.Kind == Const && v.Bits <= 64
}

// extract is bits of a value.
func (b *builder) extract(a ID, low, bits uint16) ID {
	for {
		v := b.f.Values[a]
		switch {
		case low == 0 && bits == v.Bits:
			return a
		case v.Kind == Const:
			if low >= 64 {
				return b.constant(0, bits)
			}
			return b.constant(v.N>>low, bits)
		case v.Kind != Expr:
		case v.Op == ir.Extract:
			a, low = v.Args[0], low+uint16(v.N)
			continue
		case v.Op == ir.Zext:
			inner := b.f.Values[v.Args[0]].Bits
			if low >= inner {
				return b.constant(0, bits)
			}
			if low+bits <= inner {
				a = v.Args[0]
				continue
			}
			if low == 0 {
				return b.expr(ir.Zext, bits, v.Args[0], 0, 0)
			}
		case v.Op == ir.Sext:
			inner := b.f.Values[v.Args[0]].Bits
			if low+bits <= inner {
				a = v.Args[0]
				continue
			}
			if low == 0 {
				return b.expr(ir.Sext, bits, v.Args[0], 0, 0)
			}
		case v.Op == ir.Concat:
			lower := b.f.Values[v.Args[1]].Bits
			if low >= lower {
				a, low = v.Args[0], low-lower
				continue
			}
			if low+bits <= lower {
				a = v.Args[1]
				continue
			}
		case low == 0 && (v.Op == ir.Add || v.Op == ir.Sub || v.Op == ir.Mul || v.Op == ir.And || v.Op == ir.Or || v.Op == ir.Xor) && b.narrow(v.Args[0], bits) && b.narrow(v.Args[1], bits):
			return b.expr(v.Op, bits, b.extract(v.Args[0], 0, bits), b.extract(v.Args[1], 0, bits), 0)
		}
		return b.shared(Value{Kind: Expr, Op: ir.Extract, Bits: bits, Var: NoVar, N: uint64(low), Args: [3]ID{a}})
	}
}

// narrow says whether the low bits of a value are known without an Extract.
func (b *builder) narrow(a ID, bits uint16) bool {
	v := &b.f.Values[a]
	if v.Kind == Const {
		return v.Bits <= 64
	}
	return v.Kind == Expr && (v.Op == ir.Zext || v.Op == ir.Sext) && b.f.Values[v.Args[0]].Bits <= bits
}

// expr is the value of an operation, simplified.
func (b *builder) expr(op ir.Op, bits uint16, x, y, z ID) ID {
	if b.err != nil {
		return 1
	}
	n, xKnown := b.number(x)
	m, yKnown := b.number(y)
	xBits := b.f.Values[x].Bits
	if xKnown && bits <= 64 && op != ir.Select && (y == 0 || yKnown) {
		return b.constant(ir.Fold(op, bits, xBits, n, m, b.f.Values[y].Bits), bits)
	}
	switch op {
	case ir.Add, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne:
		if xKnown {
			x, y, m, xKnown, yKnown = y, x, n, false, true
		}
		if !yKnown && x > y && op != ir.Add { // equal formulas are one value
			x, y = y, x
		}
	}
	if id := b.simplify(op, bits, x, y, z, m, yKnown); id != 0 {
		return id
	}
	if xKnown && op == ir.Select {
		if n != 0 {
			return y
		}
		return z
	}
	return b.shared(Value{Kind: Expr, Op: op, Bits: bits, Var: NoVar, Args: [3]ID{x, y, z}})
}

// simplify gives an equal and simpler value, or 0. m is y where known.
func (b *builder) simplify(op ir.Op, bits uint16, x, y, z ID, m uint64, known bool) ID {
	zero := known && m == 0
	if bits == 1 {
		if id := b.comparison(op, x, y); id != 0 {
			return id
		}
	}
	switch op {
	case ir.Add:
		return b.sum(bits, x, y, m, known)
	case ir.Sub:
		switch {
		case x == y:
			return b.constant(0, bits)
		case known && bits <= 64:
			return b.expr(ir.Add, bits, x, b.constant(-m, bits), 0)
		}
	case ir.Xor:
		if x == y {
			return b.constant(0, bits)
		}
		if zero {
			return x
		}
	case ir.Or:
		if x == y || zero {
			return x
		}
		if known && bits <= 64 && m == ir.Constant(^uint64(0), bits).N {
			return y
		}
	case ir.And:
		switch {
		case x == y:
			return x
		case zero:
			return y
		case known && bits <= 64 && m == ir.Constant(^uint64(0), bits).N:
			return x
		}
		if v, ok := b.is(x, ir.Zext); ok && known && bits <= 64 {
			if inner := b.f.Values[v.Args[0]].Bits; inner < 64 && m&(1<<inner-1) == 1<<inner-1 {
				return x
			}
		}
	case ir.Shl, ir.ShrU, ir.ShrS, ir.RotL, ir.RotR:
		if zero {
			return x
		}
	case ir.Mul:
		if known && m == 1 {
			return x
		}
		if zero {
			return y
		}
	case ir.Not:
		return b.not(x)
	case ir.Eq, ir.Ne:
		return b.equality(op, x, y, m, known)
	case ir.Zext:
		if v, ok := b.is(x, ir.Zext); ok {
			return b.expr(ir.Zext, bits, v.Args[0], 0, 0)
		}
	case ir.Sext:
		if v, ok := b.is(x, ir.Sext); ok {
			return b.expr(ir.Sext, bits, v.Args[0], 0, 0)
		}
		if v, ok := b.is(x, ir.Zext); ok {
			return b.expr(ir.Zext, bits, v.Args[0], 0, 0)
		}
	case ir.Concat:
		return b.join(bits, x, y)
	case ir.Select:
		if y == z {
			return y
		}
	case ir.LtU, ir.LtS:
		if x == y {
			return b.constant(0, 1)
		}
	case ir.LeU, ir.LeS:
		if x == y {
			return b.constant(1, 1)
		}
	}
	return 0
}

// join is x above y.
func (b *builder) join(bits uint16, x, y ID) ID {
	if v := &b.f.Values[x]; v.Kind == Const && v.N == 0 {
		return b.expr(ir.Zext, bits, y, 0, 0)
	}
	hi, ok := b.is(x, ir.Extract)
	if !ok {
		return 0
	}
	high := *hi
	yBits := b.f.Values[y].Bits
	whole := b.f.Values[high.Args[0]].Bits
	if lo, ok := b.is(y, ir.Extract); ok && lo.Args[0] == high.Args[0] && lo.N+uint64(yBits) == high.N {
		return b.extract(high.Args[0], uint16(lo.N), bits)
	}
	// The upper part of a value whose lower part was replaced before.
	if inner, ok := b.is(high.Args[0], ir.Concat); ok && uint16(high.N)+high.Bits == whole && b.f.Values[inner.Args[1]].Bits == uint16(high.N) && high.N == uint64(yBits) {
		return b.expr(ir.Concat, bits, inner.Args[0], y, 0)
	}
	return 0
}

func (b *builder) sum(bits uint16, x, y ID, m uint64, known bool) ID {
	if known && m == 0 {
		return x
	}
	if bits > 64 {
		return 0
	}
	if v, ok := b.is(x, ir.Add); ok {
		if k, isConst := b.number(v.Args[1]); isConst {
			left := v.Args[0]
			if known {
				return b.expr(ir.Add, bits, left, b.constant(k+m, bits), 0)
			}
			return b.expr(ir.Add, bits, b.expr(ir.Add, bits, left, y, 0), b.constant(k, bits), 0)
		}
		if w, ok := b.is(v.Args[1], ir.Not); ok && known && m == 1 {
			return b.expr(ir.Sub, bits, v.Args[0], w.Args[0], 0)
		}
	}
	if known {
		return 0
	}
	if x == y {
		return b.expr(ir.Shl, bits, x, b.constant(1, 8), 0)
	}
	if v, ok := b.is(y, ir.Add); ok {
		if k, isConst := b.number(v.Args[1]); isConst {
			return b.expr(ir.Add, bits, b.expr(ir.Add, bits, x, v.Args[0], 0), b.constant(k, bits), 0)
		}
	}
	return 0
}

// opposite is the comparison with swapped operands that holds when op does not.
var opposite = map[ir.Op]ir.Op{ir.LtU: ir.LeU, ir.LeU: ir.LtU, ir.LtS: ir.LeS, ir.LeS: ir.LtS}

func (b *builder) not(x ID) ID {
	v := b.f.Values[x]
	if v.Kind != Expr {
		return 0
	}
	switch v.Op {
	case ir.Not:
		return v.Args[0]
	case ir.Eq:
		return b.expr(ir.Ne, 1, v.Args[0], v.Args[1], 0)
	case ir.Ne:
		return b.expr(ir.Eq, 1, v.Args[0], v.Args[1], 0)
	case ir.LtU, ir.LeU, ir.LtS, ir.LeS:
		return b.expr(opposite[v.Op], 1, v.Args[1], v.Args[0], 0)
	}
	return 0
}

// equality compares a difference with zero as its parts.
func (b *builder) equality(op ir.Op, x, y ID, m uint64, known bool) ID {
	if x == y {
		return b.constant(map[bool]uint64{true: 1, false: 0}[op == ir.Eq], 1)
	}
	if !known {
		return 0
	}
	v := b.f.Values[x]
	if v.Kind != Expr || v.Bits > 64 {
		return 0
	}
	switch {
	case v.Op == ir.Sub && m == 0:
		return b.expr(op, 1, v.Args[0], v.Args[1], 0)
	case v.Op == ir.Add:
		if k, ok := b.number(v.Args[1]); ok {
			return b.expr(op, 1, v.Args[0], b.constant(m-k, v.Bits), 0)
		}
	case v.Op == ir.Zext && b.f.Values[v.Args[0]].Bits == 1 && m == 0: // of a condition
		if op == ir.Ne {
			return v.Args[0]
		}
		return b.expr(ir.Not, 1, v.Args[0], 0, 0)
	}
	return 0
}
