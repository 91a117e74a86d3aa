package ir

import "fmt"

// Check reports the first statement that breaks a rule of the representation:
// widths that don't fit, temporaries used before or assigned after their one
// assignment, unknown registers.
func (c *Code) Check(arch *Arch) error {
	assigned := make([]bool, c.Temps)
	for i := range c.Insts {
		if err := c.checkInst(&c.Insts[i], arch, assigned); err != nil {
			return fmt.Errorf("statement %d (%s): %w", i, c.Insts[i].Op, err)
		}
	}
	return nil
}

func (c *Code) checkInst(in *Inst, arch *Arch, assigned []bool) error {
	use := func(v Value) error {
		switch v.Kind {
		case Reg:
			if v.N >= uint64(len(arch.Register)) || arch.Register[v.N].Bits != v.Bits || v.Bits == 0 {
				return fmt.Errorf("register %d of %d bits", v.N, v.Bits)
			}
		case Temp:
			if v.N >= uint64(len(assigned)) || !assigned[v.N] {
				return fmt.Errorf("t%d is used before it is assigned", v.N)
			}
		case Const:
			if v.Bits < 64 && v.N>>v.Bits != 0 {
				return fmt.Errorf("constant %#x in %d bits", v.N, v.Bits)
			}
		}
		if v.Kind != None && v.Bits == 0 {
			return fmt.Errorf("a value without width")
		}
		return nil
	}
	define := func(v Value) error {
		if v.Kind == Temp {
			if v.N >= uint64(len(assigned)) || assigned[v.N] {
				return fmt.Errorf("t%d is assigned again", v.N)
			}
			assigned[v.N] = true
			return nil
		}
		if v.Kind != Reg {
			return fmt.Errorf("the destination is neither register nor temporary")
		}
		return use(v)
	}
	for _, v := range []Value{in.A, in.B, in.C} {
		if err := use(v); err != nil {
			return err
		}
	}
	if in.Op == Opaque {
		if int(in.Effect) >= len(c.Effects) {
			return fmt.Errorf("effect %d of %d", in.Effect, len(c.Effects))
		}
		e := &c.Effects[in.Effect]
		for _, v := range e.Reads {
			if err := use(v); err != nil {
				return err
			}
		}
		for _, v := range e.Writes {
			if err := define(v); err != nil {
				return err
			}
		}
		return nil
	}
	if err := checkWidths(in, arch); err != nil {
		return err
	}
	if in.Dst.Kind != None {
		return define(in.Dst)
	}
	return nil
}

func checkWidths(in *Inst, arch *Arch) error {
	a, b, x, d := in.A.Bits, in.B.Bits, in.C.Bits, in.Dst.Bits
	ok := true
	switch in.Op {
	case Undef:
		ok = d > 0
	case Copy, Not, Neg, PopCount, CountLeading, CountTrailing, ReverseBits:
		ok = d == a && b == 0
	case ReverseBytes:
		ok = d == a && a%8 == 0
	case Add, Sub, Mul, DivU, DivS, RemU, RemS, And, Or, Xor:
		ok = d == a && a == b
	case Shl, ShrU, ShrS, RotL, RotR:
		ok = d == a && b > 0
	case Eq, Ne, LtU, LeU, LtS, LeS:
		ok = d == 1 && a == b && a > 0
	case Zext, Sext:
		ok = d > a && a > 0
	case Extract:
		ok = in.B.Kind == Const && uint64(d)+in.B.N <= uint64(a) && d > 0
	case Concat:
		ok = d == a+b && b > 0
	case Select:
		ok = a == 1 && d == b && b == x
	case Load:
		ok = a == arch.Bits && d%8 == 0 && d > 0
	case Store:
		ok = a == arch.Bits && b%8 == 0 && b > 0 && d == 0
	case Branch:
		ok = a == 1 && b == arch.Bits && d == 0
	case Jump, Call, Return:
		ok = a == arch.Bits && d == 0
	case Trap:
		ok = a == 1 && in.B.Kind == Const && d == 0
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("widths %d = %d, %d, %d", d, a, b, x)
	}
	return nil
}
