package x86

import "rea/providers/embedded/ir"

// lifterOf finds the translation of a mnemonic (without its condition, or with
// its number of operands). Instructions that have none are opaque.
func lifterOf(name string) func(*lifter) {
	switch name {
	case "add", "adc", "sub", "sbb", "cmp":
		return (*lifter).arithmetic
	case "and", "or", "xor", "test":
		return (*lifter).logic
	case "inc", "dec":
		return (*lifter).increment
	case "neg":
		return (*lifter).negate
	case "not":
		return func(l *lifter) { l.write(0, l.Not(l.read(0))) }
	case "mov", "movabs", "movnti", "movdiri":
		return (*lifter).move
	case "movzx":
		return func(l *lifter) { l.write(0, l.Zext(l.read(1), l.operandBits(l.e.ops[0]))) }
	case "movsx", "movsxd":
		return func(l *lifter) { l.write(0, l.Sext(l.read(1), l.operandBits(l.e.ops[0]))) }
	case "movbe":
		return func(l *lifter) { l.write(0, l.Unary(ir.ReverseBytes, l.read(1))) }
	case "lea":
		return func(l *lifter) { l.write(0, l.Zext(l.effective(false), l.operandBits(l.e.ops[0]))) }
	case "ccmp", "ctest":
		return (*lifter).conditionalCompare
	case "cfcmov":
		return (*lifter).conditionalMove
	case "setzu":
		return func(l *lifter) { l.write(0, l.Zext(l.condition(l.e.cond), 64)) }
	case "xchg":
		return (*lifter).exchange
	case "xadd":
		return (*lifter).exchangeAdd
	case "cmpxchg":
		return (*lifter).compareExchange
	case "cmpxchg8b", "cmpxchg16b":
		return (*lifter).compareExchangeWide
	case "imul/2", "imul/3", "imulzu":
		return (*lifter).multiplySigned
	case "mul", "imul/1":
		return (*lifter).multiplyWide
	case "div", "idiv":
		return (*lifter).divide
	case "cbw", "cwde", "cdqe":
		return func(l *lifter) {
			bits := uint16(16) << l.x.opSize
			l.writeGeneral(0, false, l.Sext(l.readGeneral(0, false, bits/2), bits))
		}
	case "cwd", "cdq", "cqo":
		return func(l *lifter) {
			bits := uint16(16) << l.x.opSize
			l.writeGeneral(2, false, l.ShrS(l.readGeneral(0, false, bits), ir.Constant(uint64(bits-1), 8)))
		}
	case "cmov":
		return func(l *lifter) { l.write(0, l.Select(l.condition(l.e.cond), l.read(1), l.read(0))) }
	case "set":
		return func(l *lifter) { l.write(0, l.Zext(l.condition(l.e.cond), 8)) }
	case "bswap":
		return (*lifter).byteSwap
	case "lahf":
		return (*lifter).loadFlags
	case "sahf":
		return (*lifter).storeFlags
	case "clc":
		return func(l *lifter) { l.setFlag(regCF, ir.Bit(false)) }
	case "stc":
		return func(l *lifter) { l.setFlag(regCF, ir.Bit(true)) }
	case "cmc":
		return func(l *lifter) { l.setFlag(regCF, l.Not(l.flag(regCF))) }
	case "cld":
		return func(l *lifter) { l.setFlag(regDF, ir.Bit(false)) }
	case "std":
		return func(l *lifter) { l.setFlag(regDF, ir.Bit(true)) }
	case "xlat":
		return (*lifter).translate
	case "nop", "endbr64", "endbr32", "pause", "fnop", "lfence", "mfence", "sfence", "prefetch", "prefetchw", "prefetchwt1", "prefetchnta", "prefetcht0", "prefetcht1", "prefetcht2", "cldemote":
		return func(*lifter) {}
	}
	if f := shiftLifter(name); f != nil {
		return f
	}
	if f := bitLifter(name); f != nil {
		return f
	}
	if f := controlLifter(name); f != nil {
		return f
	}
	if f := stringLifter(name); f != nil {
		return f
	}
	return vectorLifter(name)
}

// second is the second operand at the width of the first.
func (l *lifter) second(bits uint16) ir.Value {
	if o := l.source(1); o.kind == opI {
		return l.immediate(bits)
	}
	return l.read(1)
}

func (l *lifter) arithmetic() {
	a := l.read(0)
	b := l.second(a.Bits)
	carry := ir.Bit(false)
	name := l.e.name
	if name == "adc" || name == "sbb" {
		carry = l.Hold(l.flag(regCF))
	}
	if name == "add" || name == "adc" {
		r := l.Add(l.Add(a, b), l.Zext(carry, a.Bits))
		l.addFlags(a, b, carry, r)
		l.write(0, r)
		return
	}
	r := l.Sub(l.Sub(a, b), l.Zext(carry, a.Bits))
	l.subFlags(a, b, carry, r)
	if name != "cmp" {
		l.write(0, r)
	}
}

func (l *lifter) logic() {
	a := l.read(0)
	b := l.second(a.Bits)
	op := ir.And
	switch l.e.name {
	case "or":
		op = ir.Or
	case "xor":
		op = ir.Xor
	}
	r := l.Binary(op, a, b)
	if op == ir.Xor && a.Kind == ir.Temp && l.sameRegisters() {
		r = ir.Constant(0, a.Bits)
	}
	l.logicFlags(r)
	if l.e.name != "test" {
		l.write(0, r)
	}
}

// conditionalCompare is ccmp and ctest: cmp or test where the condition of the
// encoding holds, given flags where it does not.
func (l *lifter) conditionalCompare() {
	holds := ir.Bit(l.x.sourceCondition() == 10)
	if cc := l.x.sourceCondition(); cc < 10 || cc > 11 {
		holds = l.Hold(l.condition(cc))
	}
	all := [6]int{regOF, regSF, regZF, regCF, regAF, regPF}
	a := l.Hold(l.read(0))
	b := l.Hold(l.second(a.Bits))
	if l.e.name == "ctest" {
		l.logicFlags(l.And(a, b))
	} else {
		l.subFlags(a, b, ir.Bit(false), l.Sub(a, b))
	}
	for i, f := range all {
		other := ir.Bit(false) // of AF; PF is CF
		switch {
		case i < 4:
			other = ir.Bit(l.x.flagValue(i))
		case f == regPF:
			other = ir.Bit(l.x.flagValue(3))
		}
		l.setFlag(f, l.Select(holds, l.flag(f), other))
	}
}

// conditionalMove is cfcmov: zero, or with a new destination the first source,
// takes the place of what is not moved. Memory is accessed only when the
// condition holds, which is not represented for loads.
func (l *lifter) conditionalMove() {
	holds := l.Hold(l.condition(l.e.cond))
	o := l.e.ops[0]
	bits := l.operandBits(o)
	switch {
	case l.e.newDest != 0:
		l.write(0, l.Select(holds, l.read(1), l.read(0)))
	case l.inMemory(o):
		l.Store(l.address(), l.Select(holds, l.read(1), l.Load(l.address(), bits)))
	default:
		reg, _ := l.general(o)
		l.writeGeneral(reg, false, l.Zext(l.Select(holds, l.read(1), ir.Constant(0, bits)), 64))
	}
}

// sameRegisters reports whether the first two operands are one register.
func (l *lifter) sameRegisters() bool {
	o, p := l.source(0), l.source(1)
	if p.kind == opI || l.inMemory(o) || l.inMemory(p) {
		return false
	}
	a, ah := l.general(o)
	b, bh := l.general(p)
	return a == b && ah == bh
}

func (l *lifter) increment() {
	a := l.read(0)
	one := ir.Constant(1, a.Bits)
	carry := l.Hold(l.flag(regCF))
	var r ir.Value
	if l.e.name == "inc" {
		r = l.Add(a, one)
		l.addFlags(a, one, ir.Bit(false), r)
	} else {
		r = l.Sub(a, one)
		l.subFlags(a, one, ir.Bit(false), r)
	}
	l.setFlag(regCF, carry)
	l.write(0, r)
}

func (l *lifter) negate() {
	a := l.read(0)
	r := l.Neg(a)
	l.subFlags(ir.Constant(0, a.Bits), a, ir.Bit(false), r)
	l.write(0, r)
}

func (l *lifter) move() {
	o, p := l.e.ops[0], l.e.ops[1]
	for _, k := range []operand{o, p} {
		if k.kind == opC || k.kind == opD || k.kind == opS {
			l.moveSystem(o, p)
			return
		}
	}
	l.write(0, l.second(l.operandBits(o)))
}

// moveSystem is moves to and from segment, control and debug registers.
func (l *lifter) moveSystem(o, p operand) {
	if p.kind == opS || p.kind == opC || p.kind == opD {
		v := l.opaqueValue(l.operandBitsOr(p, 16))
		bits := l.operandBits(o)
		if o.kind == opE && bits > 16 && p.kind == opS {
			v = l.Zext(v, bits)
		}
		l.write(0, l.Zext(v, bits))
		return
	}
	// Loading FS or GS also changes the base in use.
	l.Opaque(ir.Effect{Name: l.e.name, Reads: []ir.Value{l.Hold(l.read(1))},
		Writes: []ir.Value{l.arch.Reg(regSystem), l.arch.Reg(regFSBase), l.arch.Reg(regGSBase)}})
}

func (l *lifter) exchange() {
	a, b := l.Hold(l.read(0)), l.Hold(l.read(1))
	l.write(0, b)
	l.write(1, a)
}

func (l *lifter) exchangeAdd() {
	a, b := l.Hold(l.read(0)), l.Hold(l.read(1))
	r := l.Add(a, b)
	l.addFlags(a, b, ir.Bit(false), r)
	l.write(1, a)
	l.write(0, r)
}

func (l *lifter) compareExchange() {
	a, b := l.Hold(l.read(0)), l.Hold(l.read(1))
	acc := l.Hold(l.readGeneral(0, false, a.Bits))
	l.subFlags(acc, a, ir.Bit(false), l.Sub(acc, a))
	equal := l.Eq(acc, a)
	// Registers are written only when they get a new value, so that the upper
	// half of the others stays; memory is written in any case.
	if l.inMemory(l.e.ops[0]) {
		l.Store(l.address(), l.Select(equal, b, a))
	} else {
		reg, _ := l.general(l.e.ops[0])
		old := l.Hold(l.register(reg))
		l.write(0, b)
		l.Set(l.register(reg), l.Select(equal, l.Hold(l.register(reg)), old))
		if l.destinationIsAccumulator() {
			return
		}
	}
	old := l.Hold(l.arch.Reg(0))
	l.writeGeneral(0, false, a)
	l.Set(l.arch.Reg(0), l.Select(equal, old, l.Hold(l.arch.Reg(0))))
}

// destinationIsAccumulator: cmpxchg of the accumulator itself always succeeds.
func (l *lifter) destinationIsAccumulator() bool {
	o := l.e.ops[0]
	if l.inMemory(o) {
		return false
	}
	reg, high := l.general(o)
	return reg == 0 && !high
}

func (l *lifter) compareExchangeWide() {
	half := uint16(32)
	if l.x.opSize == 2 {
		half = 64
	}
	a := l.Load(l.address(), 2*half)
	part := func(r int) ir.Value { return l.readGeneral(r, false, half) }
	equal := l.Eq(l.Concat(part(2), part(0)), a)
	l.Store(l.address(), l.Select(equal, l.Concat(part(1), part(3)), a))
	for i, r := range []int{0, 2} { // EDX:EAX or RDX:RAX are written only on failure
		old := l.Hold(l.arch.Reg(r))
		l.Set(l.arch.Reg(r), l.Select(equal, old, l.Zext(l.Extract(a, uint16(i)*half, half), old.Bits)))
	}
	l.setFlag(regZF, equal)
}

// multiplySigned is imul with two and three operands.
func (l *lifter) multiplySigned() {
	bits := l.operandBits(l.e.ops[0])
	a, b := l.read(0), l.read(1)
	if l.e.nops == 3 && l.e.newDest == 0 {
		a, b = b, l.immediate(bits)
	}
	full := l.Mul(l.Sext(a, 2*bits), l.Sext(l.wide(b), 2*bits))
	r := l.Extract(full, 0, bits)
	l.overflowFlags(l.Binary(ir.Ne, l.Sext(r, 2*bits), full))
	l.write(0, r)
}

// wide is a value that may be widened to more than 64 bits: constants of 64
// bits become temporaries, since constants are zero extended.
func (l *lifter) wide(v ir.Value) ir.Value {
	if v.Kind != ir.Const || v.Bits < 64 {
		return v
	}
	t := l.Temp(v.Bits)
	l.Insts = append(l.Insts, ir.Inst{Op: ir.Copy, Dst: t, A: v})
	return t
}

// overflowFlags is the flags of a multiplication.
func (l *lifter) overflowFlags(overflow ir.Value) {
	l.setFlag(regCF, overflow)
	l.setFlag(regOF, overflow)
	l.undefined(regSF, regZF, regAF, regPF)
}

// multiplyWide is mul and imul with one operand.
func (l *lifter) multiplyWide() {
	b := l.read(0)
	bits := b.Bits
	a := l.readGeneral(0, false, bits)
	var full, overflow ir.Value
	if l.e.name == "mul" {
		full = l.Mul(l.Zext(a, 2*bits), l.Zext(b, 2*bits))
		overflow = l.Not(l.IsZero(l.Extract(full, bits, bits)))
	} else {
		full = l.Mul(l.Sext(a, 2*bits), l.Sext(b, 2*bits))
		overflow = l.Binary(ir.Ne, l.Sext(l.Extract(full, 0, bits), 2*bits), full)
	}
	l.overflowFlags(overflow)
	if bits == 8 {
		l.writeGeneral(0, false, full)
		return
	}
	l.writeGeneral(0, false, l.Extract(full, 0, bits))
	l.writeGeneral(2, false, l.Extract(full, bits, bits))
}

func (l *lifter) divide() {
	b := l.read(0)
	bits := b.Bits
	var a ir.Value
	if bits == 8 {
		a = l.readGeneral(0, false, 16)
	} else {
		a = l.Concat(l.readGeneral(2, false, bits), l.readGeneral(0, false, bits))
	}
	l.Trap(l.IsZero(b), exceptionDivide)
	var q, r, fits ir.Value
	if l.e.name == "div" {
		d := l.Zext(b, 2*bits)
		q, r = l.Binary(ir.DivU, a, d), l.Binary(ir.RemU, a, d)
		fits = l.IsZero(l.Extract(q, bits, bits))
	} else {
		d := l.Sext(b, 2*bits)
		q, r = l.Binary(ir.DivS, a, d), l.Binary(ir.RemS, a, d)
		fits = l.Eq(l.Sext(l.Extract(q, 0, bits), 2*bits), q)
	}
	l.Trap(l.Not(fits), exceptionDivide)
	l.undefined(regCF, regOF, regSF, regZF, regAF, regPF)
	if bits == 8 {
		l.writeGeneral(0, false, l.Concat(l.Extract(r, 0, 8), l.Extract(q, 0, 8)))
		return
	}
	l.writeGeneral(0, false, l.Extract(q, 0, bits))
	l.writeGeneral(2, false, l.Extract(r, 0, bits))
}

func (l *lifter) byteSwap() {
	a := l.read(0)
	if a.Bits == 16 {
		l.write(0, l.Undef(16))
		return
	}
	l.write(0, l.Unary(ir.ReverseBytes, a))
}

// loadFlags is lahf: SF ZF 0 AF 0 PF 1 CF.
func (l *lifter) loadFlags() {
	l.writeGeneral(0, true, l.Concat(l.flag(regSF), l.flag(regZF), ir.Bit(false), l.flag(regAF), ir.Bit(false), l.flag(regPF), ir.Bit(true), l.flag(regCF)))
}

func (l *lifter) storeFlags() {
	ah := l.readGeneral(0, true, 8)
	for _, f := range []struct {
		flag int
		bit  uint16
	}{{regCF, 0}, {regPF, 2}, {regAF, 4}, {regZF, 6}, {regSF, 7}} {
		l.setFlag(f.flag, l.Extract(ah, f.bit, 1))
	}
}

// translate is xlat: AL from the table at rBX.
func (l *lifter) translate() {
	bits := uint16(16) << l.x.adSize
	a := l.Add(l.readGeneral(3, false, bits), l.Zext(l.readGeneral(0, false, 8), bits))
	l.writeGeneral(0, false, l.Load(l.segmentBase(l.Zext(a, l.word())), 8))
}

// segmentBase adds the base of an FS or GS override.
func (l *lifter) segmentBase(a ir.Value) ir.Value {
	switch l.x.segment {
	case 0x64:
		return l.Add(a, l.arch.Reg(regFSBase))
	case 0x65:
		return l.Add(a, l.arch.Reg(regGSBase))
	}
	return a
}
