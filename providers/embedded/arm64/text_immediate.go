package arm64

import "math/bits"

func (p *printer) immediateGroup() string {
	w := p.w
	switch w >> 23 & 7 {
	case 0, 1:
		p.reg(true, rd(w))
		p.comma()
		p.address(uint64(p.in.Mem.Disp))
		return [2]string{"adr", "adrp"}[w>>31]
	case 2:
		return p.addImmediate()
	case 3:
		return p.tagImmediate()
	case 4:
		return p.logicalImmediate()
	case 5:
		return p.moveWide()
	case 6:
		return p.bitfield()
	}
	if w&0xffc0001f == 0xf380001f {
		p.address(p.in.Addr - uint64(w>>5&0xffff)<<2)
		return [2]string{"autiasppc", "autibsppc"}[w>>21&1]
	}
	p.regs(rd(w), rn(w))
	name := "ror"
	if rn(w) != rm(w) {
		name = "extr"
		p.comma()
		p.reg(p.wide(), rm(w))
	}
	p.comma()
	p.decimal(int64(w >> 10 & 63))
	return name
}

func (p *printer) addImmediate() string {
	w, wide := p.w, p.wide()
	v, shifted := uint64(w>>10&0xfff), w>>22&1 == 1
	setsFlags := w>>29&1 == 1
	name := [4]string{"add", "adds", "sub", "subs"}[w>>29&3]
	switch {
	case setsFlags && rd(w) == 31:
		name = [2]string{"cmn", "cmp"}[w>>30&1]
		p.regSP(wide, rn(w))
	case w>>29&3 == 0 && v == 0 && !shifted && (rd(w) == 31 || rn(w) == 31):
		p.regSP(wide, rd(w))
		p.comma()
		p.regSP(wide, rn(w))
		return "mov"
	default:
		if setsFlags {
			p.reg(wide, rd(w))
		} else {
			p.regSP(wide, rd(w))
		}
		p.comma()
		p.regSP(wide, rn(w))
	}
	p.comma()
	p.immediate(v)
	if shifted {
		p.text(", lsl #12")
	}
	return name
}

func (p *printer) tagImmediate() string {
	w := p.w
	if w>>22&1 == 1 {
		p.regs(rd(w), rn(w))
		p.comma()
		p.decimal(p.in.Imm)
		return [4]string{"smax", "umax", "smin", "umin"}[w>>18&3]
	}
	p.regSP(true, rd(w))
	p.comma()
	p.regSP(true, rn(w))
	p.comma()
	p.immediate(uint64(w>>16&63) << 4)
	p.comma()
	p.immediate(uint64(w >> 10 & 15))
	return [2]string{"addg", "subg"}[w>>30&1]
}

// moveWidePreferred reports whether a value is better made by movz or movn
// than by orr.
func moveWidePreferred(v uint64, wide bool) bool {
	width := 32
	if wide {
		width = 64
	}
	for _, x := range []uint64{v, ^v & (1<<width - 1)} {
		for s := 0; s < width; s += 16 {
			if x&^(0xffff<<s) == 0 {
				return true
			}
		}
	}
	return false
}

func (p *printer) logicalImmediate() string {
	w, wide := p.w, p.wide()
	mask, _ := bitMask(w)
	opc := w >> 29 & 3
	switch {
	case opc == 3 && rd(w) == 31:
		p.reg(wide, rn(w))
		p.comma()
		p.immediate(mask)
		return "tst"
	case opc == 1 && rn(w) == 31 && !moveWidePreferred(mask, wide):
		p.regSP(wide, rd(w))
		p.comma()
		p.immediate(mask)
		return "mov"
	case opc == 3:
		p.reg(wide, rd(w))
	default:
		p.regSP(wide, rd(w))
	}
	p.comma()
	p.reg(wide, rn(w))
	p.comma()
	p.immediate(mask)
	return [4]string{"and", "orr", "eor", "ands"}[opc]
}

func (p *printer) moveWide() string {
	w, wide := p.w, p.wide()
	v, hw, opc := uint64(w>>5&0xffff), w>>21&3, w>>29&3
	p.reg(wide, rd(w))
	p.comma()
	switch {
	case opc == 2 && (v != 0 || hw == 0):
		p.immediate(v << (16 * hw))
		return "mov"
	case opc == 0 && (v != 0 || hw == 0) && (wide || v != 0xffff):
		v = ^(v << (16 * hw))
		if !wide {
			v &= 0xffffffff
		}
		p.immediate(v)
		return "mov"
	}
	p.immediate(v)
	if hw != 0 {
		p.text(", lsl ")
		p.decimal(int64(16 * hw))
	}
	return [4]string{"movn", "", "movz", "movk"}[opc]
}

func (p *printer) bitfield() string {
	w, wide := p.w, p.wide()
	opc, immr, imms := w>>29&3, w>>16&63, w>>10&63
	size := uint32(32)
	if wide {
		size = 64
	}
	p.reg(wide, rd(w))
	p.comma()
	one := func(v uint32) {
		p.comma()
		p.decimal(int64(v))
	}
	if opc == 1 && rn(w) == 31 && imms < immr {
		p.decimal(int64(size - immr))
		one(imms + 1)
		return "bfc"
	}
	narrow := immr == 0 && (imms == 7 || imms == 15 || imms == 31)
	if opc == 0 && narrow && (imms != 31 || wide) || opc == 2 && narrow && imms != 31 && !wide {
		p.reg(false, rn(w))
		return [2]string{"sxt", "uxt"}[opc>>1] + string("bhw"[bits.Len32(imms)-3])
	}
	p.reg(wide, rn(w))
	switch {
	case opc != 1 && imms == size-1:
		one(immr)
		return [3]string{"asr", "", "lsr"}[opc]
	case opc == 2 && imms+1 == immr:
		one(size - immr)
		return "lsl"
	case imms < immr:
		one(size - immr)
		one(imms + 1)
		return [3]string{"sbfiz", "bfi", "ubfiz"}[opc]
	}
	one(immr)
	one(imms - immr + 1)
	return [3]string{"sbfx", "bfxil", "ubfx"}[opc]
}
