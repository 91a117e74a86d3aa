package arm64

import (
	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

func (l *lifter) branchGroup() bool {
	w := l.w
	target := l.constant(l.in.Target)
	switch l.in.Flow {
	case isa.Jump:
		l.Control(ir.Jump, target)
	case isa.Call:
		l.link()
		l.Control(ir.Call, target)
	case isa.CondJump:
		l.Branch(l.branchCondition(), target)
	case isa.IndirectJump, isa.IndirectCall, isa.Return:
		return l.branchRegister()
	case isa.Trap:
		n := uint64(exceptionBreakpoint)
		if w>>21 == 0xd44>>1 {
			n = exceptionHalt
		}
		l.Trap(ir.Bit(true), n)
	case isa.Syscall:
		e := ir.Effect{Name: "svc", Writes: []ir.Value{arch.Reg(0), arch.Reg(regSystem)}, ReadsMemory: true, WritesMemory: true}
		for i := range 9 {
			e.Reads = append(e.Reads, arch.Reg(i))
		}
		l.Opaque(e)
	default:
		return l.system()
	}
	return true
}

func (l *lifter) link() { l.Set(arch.Reg(30), l.constant(l.in.Addr+4)) }

func (l *lifter) branchCondition() ir.Value {
	w := l.w
	if l.in.Cond < 16 {
		return l.condition(w & 15)
	}
	if l.in.Cond == isa.CondOther {
		return l.comparison()
	}
	var v ir.Value
	if l.in.Cond <= isa.CondNonZero {
		v = l.IsZero(l.x(rd(w), l.bits()))
	} else {
		v = l.Not(l.Extract(l.x(rd(w), 64), uint16(l.in.Imm), 1))
	}
	if w>>24&1 == 1 {
		v = l.Not(v)
	}
	return v
}

// comparison is the condition of a branch that compares registers.
func (l *lifter) comparison() ir.Value {
	w := l.w
	bits := 8 * uint16(l.in.Size)
	a := l.Hold(l.x(rd(w), bits))
	b := ir.Constant(uint64(l.in.Imm), bits)
	if !l.in.HasImm {
		b = l.Hold(l.x(rm(w), bits))
	}
	switch comparisons[w>>24&1][w>>21&7] {
	case "gt":
		return l.Binary(ir.LtS, b, a)
	case "ge":
		return l.Not(l.Binary(ir.LtS, a, b))
	case "lt":
		return l.Binary(ir.LtS, a, b)
	case "hi":
		return l.Binary(ir.LtU, b, a)
	case "hs":
		return l.Not(l.Binary(ir.LtU, a, b))
	case "lo":
		return l.Binary(ir.LtU, a, b)
	case "ne":
		return l.Not(l.Eq(a, b))
	}
	return l.Eq(a, b)
}

// branchRegister is br, blr, ret. The authenticated forms strip the signature
// from the pointer, which is not modelled.
func (l *lifter) branchRegister() bool {
	if l.in.Src == isa.NoReg { // eret, drps
		t := l.Temp(64)
		l.Opaque(ir.Effect{Name: "eret", Reads: []ir.Value{arch.Reg(regSystem)}, Writes: []ir.Value{t, arch.Reg(regSystem)}})
		l.Control(ir.Return, t)
		return true
	}
	target := ir.Constant(0, 64)
	if l.in.Src != isa.ZR {
		target = l.Hold(arch.Reg(int(l.in.Src)))
	}
	if l.w>>24 == 0x55 || l.w>>11&1 == 1 { // authenticated
		t := l.Temp(64)
		l.Opaque(ir.Effect{Name: "authenticate", Reads: []ir.Value{target, arch.Reg(regSystem)}, Writes: []ir.Value{t}})
		target = t
	}
	switch l.in.Flow {
	case isa.IndirectCall:
		l.link()
		l.Control(ir.Call, target)
	case isa.Return:
		l.Control(ir.Return, target)
	default:
		l.Control(ir.Jump, target)
	}
	return true
}

// system models hints, barriers and the flags; the rest is opaque.
func (l *lifter) system() bool {
	w := l.w
	if w>>24 != 0xd5 {
		return false
	}
	switch {
	case w&0xfffff01f == 0xd503201f: // hints: those without register effects do nothing
		return l.in.Writes == 0
	case w&0xfffff01f == 0xd503301f: // barriers
		if w>>5&7 == 2 {
			l.Opaque(ir.Effect{Name: "clrex", Writes: []ir.Value{arch.Reg(regMonitor)}})
		}
		return true
	case w&0xffffffe0 == 0xd53b4200: // mrs, nzcv
		l.set(rd(w), l.Zext(l.Concat(flag(regN), flag(regZ), flag(regC), flag(regV), ir.Constant(0, 28)), 64))
		return true
	case w&0xffffffe0 == 0xd51b4200: // msr nzcv
		v := l.Hold(l.x(rd(w), 64))
		for i, f := range []int{regV, regC, regZ, regN} {
			l.Set(flag(f), l.Extract(v, uint16(28+i), 1))
		}
		return true
	case w == 0xd500401f: // cfinv
		l.Set(flag(regC), l.Not(flag(regC)))
		return true
	}
	return false
}
