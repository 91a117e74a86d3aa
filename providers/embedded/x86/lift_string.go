package x86

import "rea/providers/embedded/ir"

func stringLifter(name string) func(*lifter) {
	switch name {
	case "movs", "stos", "lods", "scas", "cmps":
		return (*lifter).stringOperation
	}
	return nil
}

// stringOperation is one step of a string instruction. Repeated, it is guarded
// by the counter and followed by a branch to itself.
func (l *lifter) stringOperation() {
	size := uint16(16) << l.x.adSize
	repeated := l.x.repeat != 0
	if repeated {
		l.Branch(l.IsZero(l.readGeneral(1, false, size)), l.pointer(l.next))
	}
	var bits uint16
	for _, o := range l.e.ops[:l.e.nops] {
		if o.kind == opX || o.kind == opY {
			bits = l.operandBits(o)
		}
	}
	source := l.segmentBase(l.Zext(l.readGeneral(6, false, size), l.word()))
	dest := l.Zext(l.readGeneral(7, false, size), l.word())
	var si, di, compare bool
	switch l.e.name {
	case "movs":
		l.Store(dest, l.Load(source, bits))
		si, di = true, true
	case "stos":
		l.Store(dest, l.readGeneral(0, false, bits))
		di = true
	case "lods":
		l.writeGeneral(0, false, l.Load(source, bits))
		si = true
	case "scas":
		a, b := l.readGeneral(0, false, bits), l.Load(dest, bits)
		a = l.Hold(a)
		l.subFlags(a, b, ir.Bit(false), l.Sub(a, b))
		di, compare = true, true
	case "cmps":
		a, b := l.Load(source, bits), l.Load(dest, bits)
		l.subFlags(a, b, ir.Bit(false), l.Sub(a, b))
		si, di, compare = true, true, true
	}
	n := uint64(bits / 8)
	step := l.Select(l.flag(regDF), ir.Constant(-n, size), ir.Constant(n, size))
	if si {
		l.writeGeneral(6, false, l.Add(l.readGeneral(6, false, size), step))
	}
	if di {
		l.writeGeneral(7, false, l.Add(l.readGeneral(7, false, size), step))
	}
	if !repeated {
		return
	}
	l.writeGeneral(1, false, l.Sub(l.readGeneral(1, false, size), ir.Constant(1, size)))
	self := l.pointer(l.in.Addr)
	switch {
	case !compare:
		l.Control(ir.Jump, self)
	case l.x.repeat == 0xf3:
		l.Branch(l.flag(regZF), self)
	default:
		l.Branch(l.Not(l.flag(regZF)), self)
	}
}
