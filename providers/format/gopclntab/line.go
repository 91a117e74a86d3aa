package gopclntab

// line decodes the file and line tables of a function up to pc.
func (r *reader) line(f *Func, pc uint64) (file string, line int, ok bool) {
	n, ok := r.valueAt(r.field(f.offset, fieldPCLine), f, pc)
	if !ok || n < 0 {
		return "", 0, false
	}
	i, ok := r.valueAt(r.field(f.offset, fieldPCFile), f, pc)
	if !ok || i < 0 {
		return "", int(n), true
	}
	return r.file(f, uint64(i)), int(n), true
}

// valueAt runs a table of (value change, code size) pairs from a function's
// entry. Every step moves forward in the function, which bounds the work.
func (r *reader) valueAt(off uint32, f *Func, target uint64) (int32, bool) {
	p := tail(r.pctab, uint64(off))
	if off == 0 || len(p) == 0 {
		return 0, false
	}
	varint := func() (uint32, bool) {
		var v uint32
		for i, b := range p {
			if i > 4 {
				return 0, false
			}
			v |= uint32(b&0x7f) << (7 * i)
			if b&0x80 == 0 {
				p = p[i+1:]
				return v, true
			}
		}
		return 0, false
	}
	value, pc := int32(-1), f.Entry
	for first := true; ; first = false {
		d, ok := varint()
		if !ok || d == 0 && !first {
			return 0, false
		}
		if d&1 != 0 {
			value += int32(^(d >> 1))
		} else {
			value += int32(d >> 1)
		}
		step, ok := varint()
		if !ok || step == 0 {
			return 0, false
		}
		pc += uint64(step) * r.quantum
		if pc > target {
			return value, true
		}
	}
}

// file returns the name of file i of the function's compilation unit.
func (r *reader) file(f *Func, i uint64) string {
	switch r.layout {
	case Go12:
		if off := uint64(r.u32(r.files, 4*i)); off != 0 {
			return r.text(tail(r.data, off))
		}
		return ""
	default:
		off := r.u32(r.cutab, 4*(uint64(r.field(f.offset, fieldCU))+i))
		if off == ^uint32(0) {
			return ""
		}
		return r.text(tail(r.files, uint64(off)))
	}
}

// text reads a NUL-ended string of bounded length.
func (r *reader) text(b []byte) string {
	for i, c := range b[:min(len(b), 4096)] {
		if c == 0 {
			return string(b[:i])
		}
	}
	return ""
}
