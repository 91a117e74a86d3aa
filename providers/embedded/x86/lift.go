package x86

import (
	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

// Exceptions raised by Trap statements.
const (
	exceptionDivide    = 0
	exceptionDebug     = 1
	exceptionBreak     = 3
	exceptionOverflow  = 4
	exceptionUndefined = 6
	exceptionGeneral   = 13
)

// Lift appends the meaning of the instruction at addr to c and returns its
// length. What cannot be decoded raises the undefined-instruction exception.
// Atomicity of LOCK is not represented.
func (d *Decoder) Lift(b []byte, addr uint64, c *ir.Code) int {
	l := lifter{d: d, Code: c, arch: d.Arch()}
	n := copy(l.b[:], b)
	d.decode(&l.b, addr, &l.in, &l.x)
	if l.in.Flow == isa.Invalid || int(l.in.Len) > n {
		c.Trap(ir.Bit(true), exceptionUndefined)
		return 1
	}
	l.next = addr + uint64(l.in.Len)
	l.e = l.x.entry
	l.quiet = l.e.quiet && l.x.mask&4 != 0
	if l.x.opcode == 0x90 && l.e.name == "nop" {
		return int(l.in.Len)
	}
	if l.e.lift != nil {
		l.e.lift(&l)
	} else {
		l.opaque()
	}
	return int(l.in.Len)
}

// lifter translates one instruction. The methods of Code append to the result.
type lifter struct {
	*ir.Code
	d    *Decoder
	arch *ir.Arch
	e    *entry
	x    encoding
	in   isa.Inst
	b    [window]byte
	next uint64
	at   ir.Value // address of the memory operand, once computed

	quiet bool // flags are left alone
}

// word is the width of an address.
func (l *lifter) word() uint16 { return l.arch.Bits }

// pointer is a constant address.
func (l *lifter) pointer(v uint64) ir.Value { return ir.Constant(v, l.word()) }

func (l *lifter) flag(n int) ir.Value { return l.arch.Reg(n) }

// setFlag writes a flag, unless the encoding says to leave flags alone.
func (l *lifter) setFlag(n int, v ir.Value) {
	if !l.quiet {
		l.Set(l.arch.Reg(n), v)
	}
}

// register is a general register by the number of its encoding.
func (l *lifter) register(n int) ir.Value {
	if n >= 16 {
		n += regUpper - 16
	}
	return l.arch.Reg(n)
}

// operandBits is the width of an operand in bits.
func (l *lifter) operandBits(o operand) uint16 {
	switch o.size {
	case szA:
		return 16 << l.x.adSize
	case szK:
		return l.word()
	case szS, szV:
		return 16 << l.x.opSize
	}
	return 8 * uint16(l.x.bytes(o.size))
}

// general is the number of the general register an operand names, and whether
// it is the second byte of the register.
func (l *lifter) general(o operand) (reg int, high bool) {
	x := &l.x
	var n uint8
	switch o.kind {
	case opE, opR:
		n = x.rm()
	case opG:
		n = x.reg()
	case opZ:
		n = x.opcode&7 | x.rex<<3&8 | x.rex&0x10
	case opB:
		n = x.vvvv
	case opCL:
		n = 1
	case opDX:
		n = 2
	}
	if o.size == szB && n >= 4 && n < 8 && !x.rexSeen && x.vector == 0 && o.kind != opB {
		return int(n - 4), true
	}
	return int(n), false
}

// inMemory reports whether an operand that may be either is in memory.
func (l *lifter) inMemory(o operand) bool {
	switch o.kind {
	case opE, opW, opQ, opKE, opBE:
		return l.x.modrm < 0xc0
	case opM, opO, opX, opY:
		return true
	}
	return false
}

// readGeneral is the low part of a register, or its second byte.
func (l *lifter) readGeneral(reg int, high bool, bits uint16) ir.Value {
	if high {
		return l.Extract(l.register(reg), 8, 8)
	}
	return l.Extract(l.register(reg), 0, bits)
}

// writeGeneral writes part of a register: 32-bit writes clear the rest of it in
// 64-bit mode, narrower ones keep it.
func (l *lifter) writeGeneral(reg int, high bool, v ir.Value) {
	r := l.register(reg)
	full := r.Bits
	switch {
	case high:
		v = l.Concat(l.Extract(r, 16, full-16), v, l.Extract(r, 0, 8))
	case v.Bits == 32 && full == 64:
		v = l.Zext(v, 64)
	case v.Bits < full:
		v = l.Concat(l.Extract(r, v.Bits, full-v.Bits), v)
	}
	l.Set(r, v)
}

// address is the address of the memory operand.
func (l *lifter) address() ir.Value {
	if l.at.Kind == ir.None {
		l.at = l.effective(true)
	}
	return l.at
}

// effective computes the effective address, with the base of the segment when wanted.
func (l *lifter) effective(segment bool) ir.Value {
	in := isa.Inst{Addr: l.in.Addr, Mem: isa.Mem{Base: isa.NoReg, Index: isa.NoReg}}
	m := &l.in.Mem
	if !l.in.HasMem {
		l.d.memory(&l.b, int(l.x.modrmAt)+1, l.x.rm(), &l.x, &in)
		m = &in.Mem
		if m.Base == isa.PC {
			m.Disp += int64(l.next)
		}
	}
	bits := uint16(16) << l.x.adSize
	a := ir.Constant(uint64(m.Disp), bits)
	if m.Base < 32 {
		a = l.Add(l.Extract(l.register(int(m.Base)), 0, bits), a)
	}
	if m.Index < 32 {
		i := l.Extract(l.register(int(m.Index)), 0, bits)
		shift := uint64(0)
		for s := m.Scale; s > 1; s >>= 1 {
			shift++
		}
		a = l.Add(a, l.Shl(i, ir.Constant(shift, 8)))
	}
	a = l.Zext(a, l.word())
	if segment {
		switch m.Segment {
		case 'f':
			a = l.Add(a, l.arch.Reg(regFSBase))
		case 'g':
			a = l.Add(a, l.arch.Reg(regGSBase))
		}
	}
	return l.Hold(a)
}

// immediate is an immediate operand, extended to so many bits.
func (l *lifter) immediate(bits uint16) ir.Value {
	n := int(immBytes[l.e.imm][l.x.opSize])
	var v uint64
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(l.b[int(l.x.immAt)+i])
	}
	if n < 8 && v>>(8*n-1)&1 == 1 {
		v |= ^uint64(0) << (8 * n)
	}
	return ir.Constant(v, bits)
}

// source is operand i, not counting a destination apart from the sources.
func (l *lifter) source(i int) operand { return l.e.ops[i+int(l.e.newDest)] }

// read is the value of source i.
func (l *lifter) read(i int) ir.Value {
	i += int(l.e.newDest)
	o := l.e.ops[i]
	bits := l.operandBits(o)
	switch o.kind {
	case opI:
		if o.size == szB && i > 0 {
			return l.immediate(8)
		}
		if i > 0 {
			bits = l.operandBits(l.e.ops[i-1])
			if o.size == szS || o.size == szZ || o.size == szV {
				bits = 16 << l.x.opSize
			}
		}
		return l.immediate(bits)
	case opAcc:
		return l.readGeneral(0, false, bits)
	case opOne:
		return ir.Constant(1, 8)
	case opS, opSeg, opC, opD:
		return l.opaqueValue(l.operandBitsOr(o, 16))
	}
	if l.inMemory(o) {
		return l.Load(l.address(), bits)
	}
	reg, high := l.general(o)
	return l.readGeneral(reg, high, bits)
}

func (l *lifter) operandBitsOr(o operand, bits uint16) uint16 {
	if o.kind == opS || o.kind == opSeg {
		return bits
	}
	if n := l.operandBits(o); n != 0 {
		return n
	}
	return bits
}

// opaqueValue is a value read from system state.
func (l *lifter) opaqueValue(bits uint16) ir.Value {
	t := l.Temp(bits)
	l.Opaque(ir.Effect{Name: l.e.name, Reads: []ir.Value{l.arch.Reg(regSystem)}, Writes: []ir.Value{t}})
	return t
}

// write assigns operand i.
func (l *lifter) write(i int, v ir.Value) {
	o := l.e.ops[i]
	switch {
	case o.kind == opAcc:
		l.writeGeneral(0, false, v)
	case l.inMemory(o):
		l.Store(l.address(), v)
	default:
		reg, high := l.general(o)
		if l.e.newDest != 0 || l.e.name == "imulzu" {
			v = l.Zext(v, l.word()) // whatever its width
		}
		l.writeGeneral(reg, high, v)
	}
}

// condition is a condition code as one bit.
func (l *lifter) condition(cc uint8) ir.Value {
	var v ir.Value
	switch cc >> 1 {
	case 0:
		v = l.flag(regOF)
	case 1:
		v = l.flag(regCF)
	case 2:
		v = l.flag(regZF)
	case 3:
		v = l.Or(l.flag(regCF), l.flag(regZF))
	case 4:
		v = l.flag(regSF)
	case 5:
		v = l.flag(regPF)
	case 6:
		v = l.Xor(l.flag(regSF), l.flag(regOF))
	case 7:
		v = l.Or(l.flag(regZF), l.Xor(l.flag(regSF), l.flag(regOF)))
	}
	if cc&1 == 1 {
		v = l.Not(v)
	}
	return v
}

// stackWidth is the width of a push or pop of operand size.
func (l *lifter) stackWidth() uint16 { return 16 << l.x.opSize }

func (l *lifter) push(v ir.Value) {
	sp := l.arch.Reg(4)
	v = l.Hold(v)
	a := l.Sub(sp, ir.Constant(uint64(v.Bits/8), sp.Bits))
	l.Store(a, v)
	l.Set(sp, a)
}

func (l *lifter) pop(bits uint16) ir.Value {
	sp := l.arch.Reg(4)
	v := l.Load(sp, bits)
	l.Set(sp, l.Add(sp, ir.Constant(uint64(bits/8), sp.Bits)))
	return v
}
