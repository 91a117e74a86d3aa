package x86

import (
	"strings"

	"rea/providers/embedded/ir"
)

// vectorLifter translates moves and bitwise operations of vector registers.
func vectorLifter(name string) func(*lifter) {
	base := strings.TrimPrefix(name, "v")
	switch base {
	case "movaps", "movups", "movapd", "movupd", "movdqa", "movdqu", "lddqu", "movntdq", "movntps", "movntpd", "movntdqa",
		"movdqa32", "movdqa64", "movdqu8", "movdqu16", "movdqu32", "movdqu64":
		return (*lifter).vectorMove
	case "movd", "movq":
		return (*lifter).vectorMoveLow
	case "movss", "movsd":
		return (*lifter).scalarMove
	case "movlps", "movlpd", "movhps", "movhpd", "movlhps", "movhlps":
		return (*lifter).halfMove
	case "pxor", "xorps", "xorpd", "pand", "andps", "andpd", "por", "orps", "orpd", "pandn", "andnps", "andnpd":
		return (*lifter).vectorLogic
	}
	if name == "vzeroupper" || name == "vzeroall" {
		return (*lifter).vectorZero
	}
	return nil
}

// plainVector reports whether the lifter may treat the instruction: masked
// EVEX forms and MMX registers are left to opaque.
func (l *lifter) plainVector() bool {
	if l.x.vector == 2 && (l.x.mask != 0 || l.x.bcast) {
		return false
	}
	for _, o := range l.e.ops[:l.e.nops] {
		switch o.kind {
		case opP, opQ, opN:
			return false
		}
	}
	return true
}

// vectorNumber is the vector register an operand names.
func (l *lifter) vectorNumber(o operand) int {
	x := &l.x
	var n uint8
	switch o.kind {
	case opV:
		n = x.vectorReg()
	case opW, opU:
		n = x.modrm&7 | x.rex<<3&8
		if x.vector == 2 {
			n |= x.rex << 3 & 0x10
		}
	case opH:
		n = x.vvvv
	case opL:
		n = l.b[x.immAt] >> 4
	}
	if l.d.mode == 0 {
		n &= 7
	}
	return int(n)
}

func (l *lifter) vector(o operand) ir.Value { return l.arch.Reg(regVec0 + l.vectorNumber(o)) }

// registerBits is the width of the part of a vector register an operand uses.
func (l *lifter) registerBits(o operand) uint16 {
	switch o.size {
	case szX:
		return uint16(128) << l.x.vectorLength()
	case szN:
		return 256
	case szU:
		return 512
	case szH:
		return max(128, uint16(64)<<l.x.vectorLength())
	}
	return 128
}

// readVector is the low bits of a vector or memory operand.
func (l *lifter) readVector(i int, bits uint16) ir.Value {
	o := l.e.ops[i]
	if l.inMemory(o) {
		return l.Load(l.address(), bits)
	}
	return l.Extract(l.vector(o), 0, bits)
}

// writeVector writes the low part of a vector register. Legacy encodings keep
// the rest of it, VEX and EVEX clear it.
func (l *lifter) writeVector(o operand, v ir.Value) {
	r := l.vector(o)
	switch {
	case v.Bits == vectorBits:
	case l.x.vector != 0:
		v = l.Zext(v, vectorBits)
	default:
		v = l.Concat(l.Extract(r, v.Bits, vectorBits-v.Bits), v)
	}
	l.Set(r, v)
}

func (l *lifter) vectorMove() {
	if !l.plainVector() {
		l.opaque()
		return
	}
	o, p := l.e.ops[0], l.e.ops[1]
	bits := l.registerBits(o)
	if l.inMemory(o) {
		l.Store(l.address(), l.Extract(l.vector(p), 0, l.registerBits(p)))
		return
	}
	l.writeVector(o, l.readVector(1, bits))
}

// isVector reports whether an operand is a vector register or memory in its place.
func isVector(o operand) bool {
	switch o.kind {
	case opV, opW, opU, opH:
		return true
	}
	return false
}

// vectorMoveLow is movd and movq: 32 or 64 bits, a vector register gets zeros above.
func (l *lifter) vectorMoveLow() {
	if !l.plainVector() {
		l.opaque()
		return
	}
	o, p := l.e.ops[0], l.e.ops[1]
	bits := l.operandBits(p)
	if isVector(p) && !l.inMemory(p) {
		bits = l.operandBits(o)
	}
	if bits == 0 || bits > 64 {
		bits = 64
	}
	var v ir.Value
	if isVector(p) {
		v = l.readVector(1, bits)
	} else {
		v = l.read(1)
	}
	switch {
	case l.inMemory(o):
		l.Store(l.address(), v)
	case isVector(o):
		l.writeVector(o, l.Zext(v, 128))
	default:
		l.write(0, v)
	}
}

// scalarMove is movss and movsd. From memory the rest of 128 bits is cleared;
// between registers it is kept, or comes from the second source.
func (l *lifter) scalarMove() {
	if !l.plainVector() {
		l.opaque()
		return
	}
	bits := uint16(32)
	if strings.HasSuffix(l.e.name, "d") {
		bits = 64
	}
	o := l.e.ops[0]
	last := l.e.ops[l.e.nops-1]
	switch {
	case l.inMemory(o):
		l.Store(l.address(), l.Extract(l.vector(l.e.ops[1]), 0, bits))
	case l.inMemory(last):
		l.writeVector(o, l.Zext(l.Load(l.address(), bits), 128))
	default:
		upper := l.vector(o)
		if l.e.nops == 3 {
			upper = l.vector(l.e.ops[1])
		}
		l.writeVector(o, l.Concat(l.Extract(upper, bits, 128-bits), l.Extract(l.vector(last), 0, bits)))
	}
}

// halfMove moves 64 bits into or out of one half of 128 bits.
func (l *lifter) halfMove() {
	if !l.plainVector() {
		l.opaque()
		return
	}
	name := strings.TrimPrefix(l.e.name, "v")
	high := strings.HasPrefix(name, "movh") && name != "movhlps" || name == "movlhps"
	o := l.e.ops[0]
	last := l.e.ops[l.e.nops-1]
	if l.inMemory(o) {
		low := uint16(0)
		if high {
			low = 64
		}
		l.Store(l.address(), l.Extract(l.vector(last), low, 64))
		return
	}
	other := l.vector(l.e.ops[l.e.nops-2]) // what the untouched half comes from
	var v ir.Value
	switch {
	case l.inMemory(last):
		v = l.Load(l.address(), 64)
	case name == "movhlps":
		v = l.Extract(l.vector(last), 64, 64)
	default:
		v = l.Extract(l.vector(last), 0, 64)
	}
	if high {
		l.writeVector(o, l.Concat(v, l.Extract(other, 0, 64)))
	} else {
		l.writeVector(o, l.Concat(l.Extract(other, 64, 64), v))
	}
}

func (l *lifter) vectorLogic() {
	if !l.plainVector() {
		l.opaque()
		return
	}
	o := l.e.ops[0]
	bits := l.registerBits(o)
	n := int(l.e.nops)
	a, b := l.readVector(n-2, bits), l.readVector(n-1, bits)
	var r ir.Value
	switch name := strings.TrimPrefix(l.e.name, "v"); {
	case strings.HasPrefix(name, "pxor") || strings.HasPrefix(name, "xor"):
		r = l.Xor(a, b)
		p, q := l.e.ops[n-2], l.e.ops[n-1]
		if !l.inMemory(q) && l.vectorNumber(p) == l.vectorNumber(q) {
			r = ir.Constant(0, bits)
		}
	case strings.HasPrefix(name, "pandn") || strings.HasPrefix(name, "andn"):
		r = l.And(l.Not(a), b)
	case strings.HasPrefix(name, "pand") || strings.HasPrefix(name, "and"):
		r = l.And(a, b)
	default:
		r = l.Or(a, b)
	}
	l.writeVector(o, r)
}

// vectorZero clears all but the low 128 bits, or everything, of sixteen registers.
func (l *lifter) vectorZero() {
	for i := range min(16, 8<<l.d.mode) {
		r := l.arch.Reg(regVec0 + i)
		v := ir.Constant(0, vectorBits)
		if l.e.name == "vzeroupper" {
			v = l.Zext(l.Extract(r, 0, 128), vectorBits)
		}
		l.Set(r, v)
	}
}
