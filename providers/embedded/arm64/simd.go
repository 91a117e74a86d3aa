package arm64

import "rea/providers/embedded/isa"

// tabled decodes floating-point, vector and matrix instructions by the form
// tables. Of their effects isa sees general registers and the memory address.
func (d *Decoder) tabled(w uint32, in *isa.Inst) bool {
	f, _ := d.forms.find(w)
	if f == nil {
		return false
	}
	for _, g := range f.general {
		n := w >> g.low & 31
		r, bits := zr(n), bit(n)
		if g.stack {
			r, bits = isa.Reg(n), spBit(n)
		}
		if g.reads {
			in.Reads |= bits
		}
		switch {
		case g.base:
			in.Mem = isa.Mem{Base: r, Index: isa.NoReg, Scale: 1}
			in.HasMem = true
			continue
		case g.index:
			in.Mem.Index = r
			continue
		case g.writes:
			in.Writes |= bits
			in.Dst = r
		case in.Src == isa.NoReg:
			in.Src = r
		default:
			in.Src2 = r
		}
		in.Size = 4
		if g.wide {
			in.Size = 8
		}
	}
	if f.offset != "" && in.HasMem {
		p := printer{w: w}
		v := p.value(f.offset)
		if f.before || f.after {
			in.Writes |= spBit(uint32(in.Mem.Base))
		}
		if f.after {
			in.Imm, in.HasImm = v, true
		} else {
			in.Mem.Disp = v
		}
	}
	return true
}

// extension reports whether a memory or register instruction is one of the form
// tables: of those that have come since.
func (d *Decoder) extension(w uint32) bool {
	if len(d.forms.buckets[w>>bucketShift]) == 0 {
		return false
	}
	var in isa.Inst
	switch w >> 25 & 7 {
	case 0b100, 0b110:
		return !loadStore(w, &in)
	case 0b101:
		return !register(w, &in)
	}
	return false
}
