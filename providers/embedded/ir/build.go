package ir

// The methods of Code append a statement and return its result. They fold
// what is constant and drop what has no effect, so that lifters can be written
// without regard to special cases.

// Temp gives out a temporary.
func (c *Code) Temp(bits uint16) Value {
	c.Temps++
	return Value{Temp, bits, uint64(c.Temps - 1)}
}

func (c *Code) emit(op Op, bits uint16, a, b, x Value) Value {
	t := c.Temp(bits)
	c.Insts = append(c.Insts, Inst{Op: op, Dst: t, A: a, B: b, C: x})
	return t
}

// Undef is an undefined value.
func (c *Code) Undef(bits uint16) Value { return c.emit(Undef, bits, Value{}, Value{}, Value{}) }

// Set assigns a register.
func (c *Code) Set(reg, v Value) {
	c.Insts = append(c.Insts, Inst{Op: Copy, Dst: reg, A: v})
}

// Hold copies a register into a temporary, so that a later write to the
// register does not change it.
func (c *Code) Hold(v Value) Value {
	if v.Kind != Reg {
		return v
	}
	return c.emit(Copy, v.Bits, v, Value{}, Value{})
}

// Binary appends an operation of two operands.
func (c *Code) Binary(op Op, a, b Value) Value {
	bits := a.Bits
	switch op {
	case Eq, Ne, LtU, LeU, LtS, LeS:
		bits = 1
	case Concat:
		bits = a.Bits + b.Bits
	}
	if a.Kind == Const && b.Kind == Const && a.Bits <= 64 && bits <= 64 {
		return Constant(fold(op, a.Bits, a.N, b.N, b.Bits), bits)
	}
	if a.Kind == Const && b.Kind != Const {
		switch op {
		case Add, Mul, And, Or, Xor, Eq, Ne:
			a, b = b, a
		}
	}
	switch {
	case op == And && b.IsConst(0):
		return Constant(0, bits)
	case op == And && b.Kind == Const && bits <= 64 && b == Constant(^uint64(0), bits), op == Mul && b.IsConst(1):
		return a
	}
	if b.IsConst(0) {
		switch op {
		case Add, Sub, Or, Xor, Shl, ShrU, ShrS, RotL, RotR:
			return a
		}
	}
	return c.emit(op, bits, a, b, Value{})
}

// Unary appends an operation of one operand and the same width.
func (c *Code) Unary(op Op, a Value) Value {
	if a.Kind == Const && a.Bits <= 64 {
		return Constant(fold(op, a.Bits, a.N, 0, 0), a.Bits)
	}
	return c.emit(op, a.Bits, a, Value{}, Value{})
}

func (c *Code) Add(a, b Value) Value  { return c.Binary(Add, a, b) }
func (c *Code) Sub(a, b Value) Value  { return c.Binary(Sub, a, b) }
func (c *Code) Mul(a, b Value) Value  { return c.Binary(Mul, a, b) }
func (c *Code) And(a, b Value) Value  { return c.Binary(And, a, b) }
func (c *Code) Or(a, b Value) Value   { return c.Binary(Or, a, b) }
func (c *Code) Xor(a, b Value) Value  { return c.Binary(Xor, a, b) }
func (c *Code) Shl(a, b Value) Value  { return c.Binary(Shl, a, b) }
func (c *Code) ShrU(a, b Value) Value { return c.Binary(ShrU, a, b) }
func (c *Code) ShrS(a, b Value) Value { return c.Binary(ShrS, a, b) }
func (c *Code) Eq(a, b Value) Value   { return c.Binary(Eq, a, b) }
func (c *Code) Not(a Value) Value     { return c.Unary(Not, a) }
func (c *Code) Neg(a Value) Value     { return c.Unary(Neg, a) }

// IsZero is one bit: whether a is zero.
func (c *Code) IsZero(a Value) Value { return c.Binary(Eq, a, Constant(0, a.Bits)) }

// Zext widens, or narrows to the low bits.
func (c *Code) Zext(a Value, bits uint16) Value {
	switch {
	case bits == a.Bits:
		return a
	case bits < a.Bits:
		return c.Extract(a, 0, bits)
	case a.Kind == Const:
		return Constant(a.N, bits)
	}
	return c.emit(Zext, bits, a, Value{}, Value{})
}

// Sext widens with the sign, or narrows to the low bits.
func (c *Code) Sext(a Value, bits uint16) Value {
	switch {
	case bits == a.Bits:
		return a
	case bits < a.Bits:
		return c.Extract(a, 0, bits)
	case a.Kind == Const && bits <= 64:
		return Constant(signed(a.N, a.Bits), bits)
	}
	return c.emit(Sext, bits, a, Value{}, Value{})
}

// Extract is bits of a from low on.
func (c *Code) Extract(a Value, low, bits uint16) Value {
	if low == 0 && bits == a.Bits {
		return a
	}
	if a.Kind == Const {
		if low >= 64 {
			return Constant(0, bits)
		}
		return Constant(a.N>>low, bits)
	}
	return c.emit(Extract, bits, a, Constant(uint64(low), 16), Value{})
}

// Top is the most significant bit.
func (c *Code) Top(a Value) Value { return c.Extract(a, a.Bits-1, 1) }

// Concat joins values, the first one on top.
func (c *Code) Concat(vs ...Value) Value {
	v := vs[0]
	for _, w := range vs[1:] {
		v = c.Binary(Concat, v, w)
	}
	return v
}

// Select is cond ? a : b.
func (c *Code) Select(cond, a, b Value) Value {
	switch {
	case cond.IsConst(1) || a == b:
		return a
	case cond.IsConst(0):
		return b
	}
	return c.emit(Select, a.Bits, cond, a, b)
}

// Load reads memory.
func (c *Code) Load(addr Value, bits uint16) Value {
	return c.emit(Load, bits, addr, Value{}, Value{})
}

// Store writes memory.
func (c *Code) Store(addr, v Value) {
	c.Insts = append(c.Insts, Inst{Op: Store, A: addr, B: v})
}

// Branch transfers control to target when cond holds.
func (c *Code) Branch(cond, target Value) {
	switch {
	case cond.IsConst(0):
	case cond.IsConst(1):
		c.Control(Jump, target)
	default:
		c.Insts = append(c.Insts, Inst{Op: Branch, A: cond, B: target})
	}
}

// Control appends Jump, Call or Return.
func (c *Code) Control(op Op, target Value) {
	c.Insts = append(c.Insts, Inst{Op: op, A: target})
}

// Trap raises an exception when cond holds.
func (c *Code) Trap(cond Value, number uint64) {
	if !cond.IsConst(0) {
		c.Insts = append(c.Insts, Inst{Op: Trap, A: cond, B: Constant(number, 32)})
	}
}

// Opaque appends an unmodelled effect.
func (c *Code) Opaque(e Effect) {
	c.Insts = append(c.Insts, Inst{Op: Opaque, Effect: int32(len(c.Effects))})
	c.Effects = append(c.Effects, e)
}
