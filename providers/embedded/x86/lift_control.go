package x86

import "rea/providers/embedded/ir"

func controlLifter(name string) func(*lifter) {
	switch name {
	case "jmp", "jmpabs":
		return func(l *lifter) { l.transfer(ir.Jump) }
	case "call":
		return func(l *lifter) { l.transfer(ir.Call) }
	case "j":
		return func(l *lifter) { l.Branch(l.condition(l.e.cond), l.pointer(l.in.Target)) }
	case "jcxz", "jecxz", "jrcxz":
		return func(l *lifter) { l.Branch(l.IsZero(l.counter()), l.pointer(l.in.Target)) }
	case "loop", "loope", "loopne":
		return (*lifter).loop
	case "ret":
		return (*lifter).ret
	case "push2", "push2p":
		return func(l *lifter) {
			a, b := l.Hold(l.read(0)), l.Hold(l.read(1))
			l.push(a)
			l.push(b)
		}
	case "pop2", "pop2p":
		return func(l *lifter) {
			a := l.pop(64)
			b := l.pop(64)
			l.write(0, a)
			l.write(1, b)
		}
	case "push", "pushp":
		return (*lifter).pushOperand
	case "pop", "popp":
		return (*lifter).popOperand
	case "pusha", "pushaw":
		return (*lifter).pushAll
	case "popa", "popaw":
		return (*lifter).popAll
	case "pushf":
		return (*lifter).pushFlags
	case "popf":
		return (*lifter).popFlags
	case "leave":
		return func(l *lifter) {
			l.Set(l.arch.Reg(4), l.arch.Reg(5))
			l.writeGeneral(5, false, l.pop(l.stackWidth()))
		}
	case "enter":
		return (*lifter).enter
	case "ud2", "ud1", "ud0":
		return func(l *lifter) { l.Trap(ir.Bit(true), exceptionUndefined) }
	case "int3":
		return func(l *lifter) { l.Trap(ir.Bit(true), exceptionBreak) }
	case "int1":
		return func(l *lifter) { l.Trap(ir.Bit(true), exceptionDebug) }
	case "hlt":
		return func(l *lifter) { l.Trap(ir.Bit(true), exceptionGeneral) }
	case "into":
		return func(l *lifter) { l.Trap(l.flag(regOF), exceptionOverflow) }
	case "syscall", "sysenter", "int":
		return (*lifter).systemCall
	}
	return nil
}

// counter is rCX at address size.
func (l *lifter) counter() ir.Value { return l.readGeneral(1, false, 16<<l.x.adSize) }

// transfer is jmp and call. A far transfer also changes CS.
func (l *lifter) transfer(op ir.Op) {
	var target ir.Value
	o := l.e.ops[0]
	switch {
	case o.kind == opJ:
		target = l.pointer(l.in.Target)
	case o.kind == opA || o.size == szP:
		target = l.Temp(l.word())
		e := ir.Effect{Name: l.e.name, Reads: []ir.Value{l.arch.Reg(4)}, Writes: []ir.Value{target, l.arch.Reg(regSystem)}, ReadsMemory: true}
		if op == ir.Call {
			e.Writes, e.WritesMemory = append(e.Writes, l.arch.Reg(4)), true
		}
		l.Opaque(e)
		l.Control(op, target)
		return
	default:
		target = l.Hold(l.Zext(l.read(0), l.word()))
	}
	if op == ir.Call {
		l.push(ir.Constant(l.next, l.stackWidth()))
	}
	l.Control(op, target)
}

func (l *lifter) loop() {
	n := l.Sub(l.counter(), ir.Constant(1, 16<<l.x.adSize))
	l.writeGeneral(1, false, n)
	taken := l.Not(l.IsZero(n))
	switch l.e.name {
	case "loope":
		taken = l.And(taken, l.flag(regZF))
	case "loopne":
		taken = l.And(taken, l.Not(l.flag(regZF)))
	}
	l.Branch(taken, l.pointer(l.in.Target))
}

func (l *lifter) ret() {
	target := l.Zext(l.pop(l.stackWidth()), l.word())
	if l.e.nops > 0 {
		sp := l.arch.Reg(4)
		l.Set(sp, l.Add(sp, ir.Constant(uint64(l.in.Imm), sp.Bits)))
	}
	l.Control(ir.Return, target)
}

func (l *lifter) pushOperand() {
	o := l.e.ops[0]
	bits := l.stackWidth()
	switch o.kind {
	case opI:
		v := uint64(l.in.Imm)
		l.push(ir.Constant(v, bits))
	case opSeg:
		l.push(l.Zext(l.opaqueValue(16), bits))
	default:
		l.push(l.read(0))
	}
}

func (l *lifter) popOperand() {
	o := l.e.ops[0]
	if o.kind == opSeg {
		v := l.pop(l.stackWidth())
		l.Opaque(ir.Effect{Name: l.e.name, Reads: []ir.Value{v}, Writes: []ir.Value{l.arch.Reg(regSystem), l.arch.Reg(regFSBase), l.arch.Reg(regGSBase)}})
		return
	}
	// The address of a memory operand is computed after the stack pointer moved.
	l.write(0, l.pop(l.stackWidth()))
}

func (l *lifter) pushAll() {
	sp := l.Hold(l.arch.Reg(4))
	for r := range 8 {
		v := l.arch.Reg(r)
		if r == 4 {
			v = sp
		}
		l.push(l.Extract(v, 0, l.stackWidth()))
	}
}

func (l *lifter) popAll() {
	for r := 7; r >= 0; r-- {
		v := l.pop(l.stackWidth())
		if r != 4 {
			l.writeGeneral(r, false, v)
		}
	}
}

var flagBits = []struct {
	flag int
	bit  uint16
}{{regCF, 0}, {regPF, 2}, {regAF, 4}, {regZF, 6}, {regSF, 7}, {regDF, 10}, {regOF, 11}}

// pushFlags pushes the flags modelled and, unknown, the system flags.
func (l *lifter) pushFlags() {
	bits := l.stackWidth()
	v := l.opaqueValue(bits)
	for _, f := range flagBits {
		mask := uint64(1) << f.bit
		v = l.And(v, ir.Constant(^mask, bits))
		v = l.Or(v, l.Shl(l.Zext(l.flag(f.flag), bits), ir.Constant(uint64(f.bit), 8)))
	}
	l.push(v)
}

func (l *lifter) popFlags() {
	v := l.pop(l.stackWidth())
	for _, f := range flagBits {
		l.setFlag(f.flag, l.Extract(v, f.bit, 1))
	}
	l.Opaque(ir.Effect{Name: l.e.name, Reads: []ir.Value{v}, Writes: []ir.Value{l.arch.Reg(regSystem)}})
}

// enter with a nesting level copies frame pointers, which is opaque.
func (l *lifter) enter() {
	size := uint64(l.b[l.x.immAt]) | uint64(l.b[l.x.immAt+1])<<8
	bp, sp := l.arch.Reg(5), l.arch.Reg(4)
	if l.b[l.x.immAt+2]&31 != 0 {
		l.Opaque(ir.Effect{Name: l.e.name, Reads: []ir.Value{bp, sp}, Writes: []ir.Value{bp, sp}, ReadsMemory: true, WritesMemory: true})
		return
	}
	l.push(l.Extract(bp, 0, l.stackWidth()))
	l.writeGeneral(5, false, l.Extract(sp, 0, l.stackWidth()))
	l.Set(sp, l.Sub(sp, ir.Constant(size, sp.Bits)))
}

// systemCall: what the kernel does is not known, but it keeps the registers
// apart from the result, RCX and R11.
func (l *lifter) systemCall() {
	e := ir.Effect{Name: l.e.name, Writes: []ir.Value{l.arch.Reg(0)}, ReadsMemory: true, WritesMemory: true}
	for r := range 8 {
		e.Reads = append(e.Reads, l.arch.Reg(r))
	}
	if l.e.name == "syscall" && l.d.mode == 1 {
		l.writeGeneral(1, false, l.pointer(l.next))
		e.Writes = append(e.Writes, l.arch.Reg(11))
		for r := 8; r < 11; r++ {
			e.Reads = append(e.Reads, l.arch.Reg(r))
		}
	}
	l.Opaque(e)
}
