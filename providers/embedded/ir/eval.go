package ir

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
)

// signed is the sign extension of the low width bits of v.
func signed(v uint64, width uint16) uint64 {
	if width >= 64 {
		return v
	}
	return uint64(int64(v<<(64-width)) >> (64 - width))
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// fold computes operations on at most 64 bits. The result may have bits above
// the width, which the caller drops.
func fold(op Op, width uint16, a, b uint64, bWidth uint16) uint64 {
	switch op {
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case Not:
		return ^a
	case Neg:
		return -a
	case Eq:
		return truth(a == b)
	case Ne:
		return truth(a != b)
	case LtU:
		return truth(a < b)
	case LeU:
		return truth(a <= b)
	case LtS:
		return truth(int64(signed(a, width)) < int64(signed(b, width)))
	case LeS:
		return truth(int64(signed(a, width)) <= int64(signed(b, width)))
	case Concat:
		return a<<bWidth | b
	case PopCount:
		return uint64(bits.OnesCount64(a))
	case CountLeading:
		return uint64(bits.LeadingZeros64(a)) - 64 + uint64(width)
	case CountTrailing:
		return uint64(min(bits.TrailingZeros64(a), int(width)))
	case ReverseBits:
		return bits.Reverse64(a) >> (64 - width)
	case ReverseBytes:
		return bits.ReverseBytes64(a) >> (64 - width)
	case Copy:
		return a
	}
	if op >= Shl && op <= RotR {
		return foldShift(op, width, a, b)
	}
	return foldDivision(op, width, a, b)
}

func foldShift(op Op, width uint16, a, b uint64) uint64 {
	w := uint64(width)
	switch op {
	case Shl:
		if b >= w {
			return 0
		}
		return a << b
	case ShrU:
		if b >= w {
			return 0
		}
		return a >> b
	case ShrS:
		return uint64(int64(signed(a, width)) >> min(b, 63))
	case RotR:
		b = w - b%w
	}
	b %= w
	if b == 0 {
		return a
	}
	return a<<b | a>>(w-b)
}

func foldDivision(op Op, width uint16, a, b uint64) uint64 {
	sa, sb := int64(signed(a, width)), int64(signed(b, width))
	switch {
	case op == DivU && b != 0:
		return a / b
	case op == RemU && b != 0:
		return a % b
	case op == RemU:
		return a
	case op == DivS && sb == -1:
		return -a
	case op == DivS && sb != 0:
		return uint64(sa / sb)
	case op == RemS && sb == -1:
		return 0
	case op == RemS && sb != 0:
		return uint64(sa % sb)
	case op == RemS:
		return a
	}
	return 0
}

// State is a machine state for Run. Values that are nil are unknown: undefined,
// or written by an opaque effect.
type State struct {
	Regs   []*big.Int
	Memory Memory
	// After Run: where control went, and how, when the code said so.
	Target *big.Int
	Flow   Op // Branch, Jump, Call, Return; Undef when control fell through
	Trap   uint64
	// MemoryUnknown is set when an opaque effect may have written memory.
	MemoryUnknown bool
}

// Memory is what Load and Store access, in little-endian order.
type Memory interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
}

// ErrUnknown is returned when what happens depends on an unknown value: an
// address or a condition.
var ErrUnknown = errors.New("unknown value decides")

// Run executes code until its end or until control is transferred. It defines
// what the statements mean.
func Run(c *Code, s *State) error {
	temps := make([]*big.Int, c.Temps)
	s.Flow = Undef
	for i := range c.Insts {
		in := &c.Insts[i]
		done, err := s.step(c, in, temps)
		if err != nil {
			return fmt.Errorf("statement %d (%s): %w", i, in.Op, err)
		}
		if done {
			return nil
		}
	}
	return nil
}

func (s *State) value(v Value, temps []*big.Int) *big.Int {
	switch v.Kind {
	case Const:
		return new(big.Int).SetUint64(v.N)
	case Reg:
		return s.Regs[v.N]
	case Temp:
		return temps[v.N]
	}
	return nil
}

func (s *State) assign(v Value, n *big.Int, temps []*big.Int) {
	if n != nil {
		n = modulo(n, v.Bits)
	}
	if v.Kind == Reg {
		s.Regs[v.N] = n
	} else {
		temps[v.N] = n
	}
}

// modulo is n reduced to a width, not negative.
func modulo(n *big.Int, width uint16) *big.Int {
	mask := new(big.Int).Lsh(big.NewInt(1), uint(width))
	return new(big.Int).Mod(n, mask)
}

func (s *State) step(c *Code, in *Inst, temps []*big.Int) (done bool, err error) {
	a, b := s.value(in.A, temps), s.value(in.B, temps)
	switch in.Op {
	case Undef:
		s.assign(in.Dst, nil, temps)
	case Load:
		if a == nil {
			return false, ErrUnknown
		}
		if s.MemoryUnknown {
			s.assign(in.Dst, nil, temps)
			return false, nil
		}
		buf := make([]byte, in.Dst.Bits/8)
		if err := s.Memory.Load(a.Uint64(), buf); err != nil {
			return false, err
		}
		reverse(buf)
		s.assign(in.Dst, new(big.Int).SetBytes(buf), temps)
	case Store:
		if a == nil {
			return false, ErrUnknown
		}
		if b == nil {
			s.MemoryUnknown = true
			return false, nil
		}
		buf := make([]byte, in.B.Bits/8)
		b.FillBytes(buf)
		reverse(buf)
		return false, s.Memory.Store(a.Uint64(), buf)
	case Branch, Trap:
		if a == nil {
			return false, ErrUnknown
		}
		if a.Sign() == 0 {
			return false, nil
		}
		if in.Op == Trap {
			s.Trap = b.Uint64()
		}
		s.Flow, s.Target = in.Op, b
		return true, nil
	case Jump, Call, Return:
		s.Flow, s.Target = in.Op, a
		return true, nil
	case Opaque:
		e := &c.Effects[in.Effect]
		for _, w := range e.Writes {
			s.assign(w, nil, temps)
		}
		s.MemoryUnknown = s.MemoryUnknown || e.WritesMemory
	case Select:
		switch {
		case a == nil:
			s.assign(in.Dst, nil, temps)
		case a.Sign() != 0:
			s.assign(in.Dst, b, temps)
		default:
			s.assign(in.Dst, s.value(in.C, temps), temps)
		}
	default:
		if a == nil || b == nil && in.B.Kind != None {
			s.assign(in.Dst, nil, temps)
			return false, nil
		}
		s.assign(in.Dst, compute(in, a, b), temps)
	}
	return false, nil
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// compute is the result of an operation on known values.
func compute(in *Inst, a, b *big.Int) *big.Int {
	switch in.Op {
	case Zext, Copy:
		return a
	case Sext:
		return negative(a, in.A.Bits)
	case Extract:
		return new(big.Int).Rsh(a, uint(b.Uint64()))
	case Concat:
		return new(big.Int).Or(new(big.Int).Lsh(a, uint(in.B.Bits)), b)
	}
	if in.A.Bits <= 64 && in.B.Bits <= 64 {
		var n uint64
		if b != nil {
			n = b.Uint64()
		}
		return new(big.Int).SetUint64(fold(in.Op, in.A.Bits, a.Uint64(), n, in.B.Bits))
	}
	return computeWide(in, a, b)
}

// negative is the value of a as a two's complement number of a width.
func negative(a *big.Int, width uint16) *big.Int {
	if a.Bit(int(width)-1) == 0 {
		return a
	}
	return new(big.Int).Sub(a, new(big.Int).Lsh(big.NewInt(1), uint(width)))
}

// computeWide is compute for operands of more than 64 bits.
func computeWide(in *Inst, a, b *big.Int) *big.Int {
	out := new(big.Int)
	width := in.A.Bits
	is := func(c bool) *big.Int { return out.SetUint64(truth(c)) }
	switch in.Op {
	case Add:
		return out.Add(a, b)
	case Sub:
		return out.Sub(a, b)
	case Mul:
		return out.Mul(a, b)
	case And:
		return out.And(a, b)
	case Or:
		return out.Or(a, b)
	case Xor:
		return out.Xor(a, b)
	case Not:
		return out.Not(a)
	case Neg:
		return out.Neg(a)
	case Shl, ShrU, ShrS, RotL, RotR:
		return shiftWide(in.Op, width, a, b)
	case Eq:
		return is(a.Cmp(b) == 0)
	case Ne:
		return is(a.Cmp(b) != 0)
	case LtU:
		return is(a.Cmp(b) < 0)
	case LeU:
		return is(a.Cmp(b) <= 0)
	case LtS:
		return is(negative(a, width).Cmp(negative(b, width)) < 0)
	case LeS:
		return is(negative(a, width).Cmp(negative(b, width)) <= 0)
	case DivU, RemU, DivS, RemS:
		return divideWide(in.Op, width, a, b)
	case PopCount:
		n := 0
		for i := range int(width) {
			n += int(a.Bit(i))
		}
		return out.SetInt64(int64(n))
	case CountLeading:
		return out.SetInt64(int64(width) - int64(a.BitLen()))
	case CountTrailing:
		if a.Sign() == 0 {
			return out.SetInt64(int64(width))
		}
		return out.SetInt64(int64(a.TrailingZeroBits()))
	case ReverseBits:
		for i := range int(width) {
			out.SetBit(out, int(width)-1-i, a.Bit(i))
		}
		return out
	case ReverseBytes:
		buf := make([]byte, width/8)
		a.FillBytes(buf)
		reverse(buf)
		return out.SetBytes(buf)
	}
	return out
}

func shiftWide(op Op, width uint16, a, b *big.Int) *big.Int {
	w := uint64(width)
	n := w
	if b.IsUint64() {
		n = b.Uint64()
	}
	out := new(big.Int)
	switch op {
	case Shl:
		return out.Lsh(a, uint(min(n, w)))
	case ShrU:
		return out.Rsh(a, uint(min(n, w)))
	case ShrS:
		return out.Rsh(negative(a, width), uint(min(n, w)))
	case RotR:
		n = w - n%w
	}
	n %= w
	return out.Or(new(big.Int).Lsh(a, uint(n)), new(big.Int).Rsh(a, uint(w-n)))
}

func divideWide(op Op, width uint16, a, b *big.Int) *big.Int {
	out := new(big.Int)
	if b.Sign() == 0 {
		if op == RemU || op == RemS {
			return a
		}
		return out
	}
	switch op {
	case DivU:
		return out.Quo(a, b)
	case RemU:
		return out.Rem(a, b)
	case DivS:
		return out.Quo(negative(a, width), negative(b, width))
	}
	return out.Rem(negative(a, width), negative(b, width))
}
