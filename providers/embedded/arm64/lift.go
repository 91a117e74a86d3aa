package arm64

import (
	"encoding/binary"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

// Exceptions raised by Trap statements.
const (
	exceptionUndefined  = 0
	exceptionBreakpoint = 1
	exceptionHalt       = 2
)

// Lift appends the meaning of the instruction at addr to c and returns its
// length. Unallocated words raise the undefined-instruction exception.
// Pointer authentication yields unknown values; memory ordering is not
// represented.
func (d *Decoder) Lift(b []byte, addr uint64, c *ir.Code) int {
	l := lifter{Code: c}
	d.Decode(b, addr, &l.in)
	if l.in.Flow == isa.Invalid {
		c.Trap(ir.Bit(true), exceptionUndefined)
		return int(l.in.Len)
	}
	l.w = binary.LittleEndian.Uint32(b)
	if d.extension(l.w) || !l.lift() {
		d.opaque(&l)
	}
	return 4
}

// lifter translates one instruction. The methods of Code append to the result.
type lifter struct {
	*ir.Code
	w  uint32
	in isa.Inst
}

// lift reports whether the instruction is modelled.
func (l *lifter) lift() bool {
	switch l.w >> 25 & 15 {
	case 0b1000, 0b1001:
		return l.immediateGroup()
	case 0b1010, 0b1011:
		return l.branchGroup()
	case 0b0100, 0b0110, 0b1100, 0b1110:
		return l.loadStoreGroup()
	case 0b0101, 0b1101:
		return l.registerGroup()
	case 0b0111, 0b1111:
		return l.vectorGroup()
	}
	if l.w>>16 == 0 {
		l.Trap(ir.Bit(true), exceptionUndefined)
		return true
	}
	return false
}

// bits is the width of the operation.
func (l *lifter) bits() uint16 { return uint16(32) << (l.w >> 31) }

// x is a general register at a width; 31 is zero.
func (l *lifter) x(n uint32, bits uint16) ir.Value {
	if n == 31 {
		return ir.Constant(0, bits)
	}
	return l.Extract(arch.Reg(int(n)), 0, bits)
}

// xsp is a general register at a width; 31 is the stack pointer.
func (l *lifter) xsp(n uint32, bits uint16) ir.Value {
	return l.Extract(arch.Reg(int(n)), 0, bits)
}

// set writes a general register, clearing what is above the value; 31 is discarded.
func (l *lifter) set(n uint32, v ir.Value) {
	if n != 31 {
		l.Set(arch.Reg(int(n)), l.Zext(v, 64))
	}
}

// setSP writes a general register; 31 is the stack pointer.
func (l *lifter) setSP(n uint32, v ir.Value) {
	l.Set(arch.Reg(int(n)), l.Zext(v, 64))
}

func (l *lifter) constant(v uint64) ir.Value { return ir.Constant(v, 64) }

func flag(n int) ir.Value { return arch.Reg(n) }

// flags sets NZCV.
func (l *lifter) flags(n, z, c, v ir.Value) {
	l.Set(flag(regN), n)
	l.Set(flag(regZ), z)
	l.Set(flag(regC), c)
	l.Set(flag(regV), v)
}

// logicFlags sets NZ from a result and clears CV.
func (l *lifter) logicFlags(r ir.Value) {
	l.flags(l.Top(r), l.IsZero(r), ir.Bit(false), ir.Bit(false))
}

// addWithCarry is the sum of a, b and carry, setting the flags when asked.
// Subtraction is addition of the complement with carry.
func (l *lifter) addWithCarry(a, b, carry ir.Value, setFlags bool) ir.Value {
	n, z, c, v, r := l.sum(a, b, carry)
	if setFlags {
		l.flags(n(), z(), c(), v())
	}
	return r
}

func (l *lifter) sum(a, b, carry ir.Value) (n, z, c, v func() ir.Value, r ir.Value) {
	carry = l.Hold(carry)
	r = l.Add(l.Add(a, b), l.Zext(carry, a.Bits))
	n = func() ir.Value { return l.Top(r) }
	z = func() ir.Value { return l.IsZero(r) }
	c = func() ir.Value { return l.Or(l.Binary(ir.LtU, r, a), l.And(carry, l.Eq(r, a))) }
	v = func() ir.Value { return l.Top(l.And(l.Xor(a, r), l.Xor(b, r))) }
	return n, z, c, v, r
}

// condition is a condition code as one bit.
func (l *lifter) condition(cond uint32) ir.Value {
	var v ir.Value
	n, z, c, o := flag(regN), flag(regZ), flag(regC), flag(regV)
	switch cond >> 1 {
	case 0:
		v = z
	case 1:
		v = c
	case 2:
		v = n
	case 3:
		v = o
	case 4:
		v = l.And(c, l.Not(z))
	case 5:
		v = l.Not(l.Xor(n, o))
	case 6:
		v = l.And(l.Not(l.Xor(n, o)), l.Not(z))
	default:
		return ir.Bit(true)
	}
	if cond&1 == 1 {
		v = l.Not(v)
	}
	return v
}
