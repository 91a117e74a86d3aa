package arm64

import (
	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

func (l *lifter) loadStoreGroup() bool {
	w := l.w
	vector := w>>26&1 == 1
	switch w >> 27 & 7 {
	case 0b001:
		if vector {
			return l.structures()
		}
		return l.exclusive()
	case 0b011:
		switch {
		case w>>24&1 == 0:
			return l.single(vector, l.constant(uint64(l.in.Mem.Disp)))
		case w>>21&1 == 0 && w>>10&3 == 0:
			return l.single(false, l.displaced())
		}
		return false
	case 0b101:
		return l.pair(vector)
	}
	if w>>24&1 == 1 {
		return l.single(vector, l.displaced())
	}
	if w>>21&1 == 0 {
		switch w >> 10 & 3 {
		case 1, 3:
			return l.indexed(vector)
		}
		return l.single(vector, l.displaced())
	}
	switch w >> 10 & 3 {
	case 0:
		return l.atomic()
	case 2:
		scale := uint32(0)
		if w>>12&1 == 1 {
			scale = uint32(accessBytes(w, vector))
		}
		return l.single(vector, l.Add(l.xsp(rn(w), 64), l.extend(rm(w), w>>13&7, scale, 64)))
	}
	return false
}

// displaced is [Rn|SP, disp].
func (l *lifter) displaced() ir.Value {
	return l.Hold(l.Add(l.xsp(rn(l.w), 64), l.constant(uint64(l.in.Mem.Disp))))
}

// single loads or stores one register, as decoding found.
func (l *lifter) single(vector bool, at ir.Value) bool {
	w := l.w
	if vector {
		bits := 8 * uint16(l.in.Mem.Size)
		literal := w>>27&7 == 0b011
		if literal || w>>22&1 == 1 {
			l.setVector(rd(w), l.Load(at, bits))
		} else {
			l.Store(at, l.vector(rd(w), bits))
		}
		return true
	}
	bits := 8 * uint16(l.in.Mem.Size)
	switch l.in.Class {
	case isa.Load:
		v := l.Load(at, bits)
		if l.in.Signed {
			v = l.Sext(v, 8*uint16(l.in.Size))
		}
		l.set(rd(w), v)
	case isa.Store:
		l.Store(at, l.x(rd(w), bits))
	}
	return true // the rest is prefetches
}

// indexed is the pre- and post-indexed forms.
func (l *lifter) indexed(vector bool) bool {
	at := l.displaced()
	updated := at
	if l.in.HasImm {
		updated = l.Hold(l.Add(at, l.constant(uint64(l.in.Imm))))
	}
	l.single(vector, at)
	l.setSP(rn(l.w), updated)
	return true
}

func (l *lifter) pair(vector bool) bool {
	w := l.w
	if w>>30 == 1 && !vector && w>>22&1 == 0 { // stgp also writes tags
		return false
	}
	at := l.displaced()
	updated := at
	if l.in.HasImm {
		updated = l.Hold(l.Add(at, l.constant(uint64(l.in.Imm))))
	}
	bits := 4 * uint16(l.in.Mem.Size)
	second := l.Add(at, l.constant(uint64(bits/8)))
	load := w>>22&1 == 1
	switch {
	case vector && load:
		a, b := l.Load(at, bits), l.Load(second, bits)
		l.setVector(rd(w), a)
		l.setVector(ra(w), b)
	case vector:
		l.Store(at, l.vector(rd(w), bits))
		l.Store(second, l.vector(ra(w), bits))
	case load:
		a, b := l.Load(at, bits), l.Load(second, bits)
		if l.in.Signed {
			a, b = l.Sext(a, 64), l.Sext(b, 64)
		}
		l.set(rd(w), a)
		l.set(ra(w), b)
	default:
		l.Store(at, l.x(rd(w), bits))
		l.Store(second, l.x(ra(w), bits))
	}
	if w>>23&1 == 1 {
		l.setSP(rn(w), updated)
	}
	return true
}

// exclusive is the exclusive and ordered accesses and compare-and-swap. Whether
// an exclusive store succeeds is not known.
func (l *lifter) exclusive() bool {
	w := l.w
	sz, o2, load, o1 := w>>30, w>>23&1, w>>22&1 == 1, w>>21&1
	at := l.Hold(l.xsp(rn(w), 64))
	bits := uint16(8) << sz
	monitor := arch.Reg(regMonitor)
	switch {
	case o2 == 1 && o1 == 0:
		return l.single(false, at)
	case o2 == 1: // cas
		old := l.Load(at, bits)
		equal := l.Eq(old, l.x(rm(w), bits))
		l.Store(at, l.Select(equal, l.x(rd(w), bits), old))
		l.set(rm(w), old)
		return true
	case o1 == 1 && sz < 2: // casp
		bits = uint16(32) << sz
		both := func(n uint32) ir.Value { return l.Concat(l.x(n+1, bits), l.x(n, bits)) }
		old := l.Load(at, 2*bits)
		equal := l.Eq(old, both(rm(w)))
		l.Store(at, l.Select(equal, both(rd(w)), old))
		l.set(rm(w), l.Extract(old, 0, bits))
		l.set(rm(w)+1, l.Extract(old, bits, bits))
		return true
	case load:
		a := l.Load(at, bits)
		if o1 == 1 {
			b := l.Load(l.Add(at, l.constant(uint64(bits/8))), bits)
			l.set(ra(w), b)
		}
		l.set(rd(w), a)
		l.Opaque(ir.Effect{Name: "monitor", Reads: []ir.Value{at}, Writes: []ir.Value{monitor}})
		return true
	}
	e := ir.Effect{Name: "store exclusive", Reads: []ir.Value{at, monitor}, Writes: []ir.Value{monitor}, WritesMemory: true}
	for _, n := range []uint32{rd(w), ra(w)} {
		if n != 31 {
			e.Reads = append(e.Reads, arch.Reg(int(n)))
		}
	}
	status := l.Temp(1)
	e.Writes = append(e.Writes, status)
	l.Opaque(e)
	l.set(rm(w), l.Zext(status, 64))
	return true
}

// atomic is the read-modify-write operations and ldapr.
func (l *lifter) atomic() bool {
	w := l.w
	if w>>26&1 == 1 || l.in.Mem.Size == 64 {
		return false
	}
	at := l.Hold(l.xsp(rn(w), 64))
	bits := uint16(8) << (w >> 30)
	o3, opc := w>>15&1, w>>12&7
	if o3 == 1 && opc == 4 {
		return l.single(false, at)
	}
	a := l.Hold(l.x(rm(w), bits))
	old := l.Load(at, bits)
	var v ir.Value
	switch {
	case o3 == 1:
		v = a
	case opc == 0:
		v = l.Add(old, a)
	case opc == 1:
		v = l.And(old, l.Not(a))
	case opc == 2:
		v = l.Xor(old, a)
	case opc == 3:
		v = l.Or(old, a)
	default:
		less := ir.LtS
		if opc >= 6 {
			less = ir.LtU
		}
		smaller := l.Binary(less, old, a)
		if opc&1 == 1 {
			v = l.Select(smaller, old, a)
		} else {
			v = l.Select(smaller, a, old)
		}
	}
	l.Store(at, v)
	l.set(rd(w), old)
	return true
}

// structures models ld1 and st1 of whole registers; the forms that interleave
// or touch single lanes are opaque.
func (l *lifter) structures() bool {
	w := l.w
	opcode := w >> 12 & 15
	n := map[uint32]uint32{7: 1, 10: 2, 6: 3, 2: 4}[opcode]
	if w>>24&1 == 1 || n == 0 {
		return false
	}
	bits := uint16(64) << (w >> 30 & 1)
	at := l.Hold(l.xsp(rn(w), 64))
	for i := range n {
		a := l.Add(at, l.constant(uint64(i)*uint64(bits/8)))
		r := (rd(w) + i) & 31
		if w>>22&1 == 1 {
			l.setVector(r, l.Load(a, bits))
		} else {
			l.Store(a, l.vector(r, bits))
		}
	}
	if w>>23&1 == 1 {
		step := l.constant(uint64(l.in.Imm))
		if rm(w) != 31 {
			step = l.x(rm(w), 64)
		}
		l.setSP(rn(w), l.Add(at, step))
	}
	return true
}
