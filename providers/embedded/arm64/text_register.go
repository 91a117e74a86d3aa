package arm64

func (p *printer) registerGroup() string {
	w := p.w
	if w>>28&1 == 0 {
		if w>>24&1 == 0 {
			return p.logicalShifted()
		}
		if w>>21&1 == 0 {
			return p.addShifted()
		}
		return p.addExtended()
	}
	if w>>24&1 == 1 {
		return p.threeSource()
	}
	switch w >> 21 & 7 {
	case 0:
		return p.carry()
	case 2:
		p.reg(p.wide(), rn(w))
		p.comma()
		if w>>11&1 == 1 {
			p.immediate(uint64(rm(w)))
		} else {
			p.reg(p.wide(), rm(w))
		}
		p.comma()
		p.immediate(uint64(w & 15))
		p.comma()
		p.text(conditions[w>>12&15])
		return [2]string{"ccmn", "ccmp"}[w>>30&1]
	case 4:
		return p.conditionalSelect()
	}
	if w>>30&1 == 0 {
		return p.twoSource()
	}
	return p.oneSource()
}

func (p *printer) logicalShifted() string {
	w, wide := p.w, p.wide()
	k := w>>29&3<<1 | w>>21&1
	name := [8]string{"and", "bic", "orr", "orn", "eor", "eon", "ands", "bics"}[k]
	switch {
	case k == 2 && rn(w) == 31 && w>>10&63 == 0 && w>>22&3 == 0:
		p.regs(rd(w), rm(w))
		return "mov"
	case k == 3 && rn(w) == 31:
		name = "mvn"
		p.regs(rd(w), rm(w))
	case k == 6 && rd(w) == 31:
		name = "tst"
		p.regs(rn(w), rm(w))
	default:
		p.regs(rd(w), rn(w), rm(w))
	}
	_ = wide
	p.shift()
	return name
}

func (p *printer) addShifted() string {
	w := p.w
	k := w >> 29 & 3
	name := [4]string{"add", "adds", "sub", "subs"}[k]
	switch {
	case k&1 == 1 && rd(w) == 31:
		name = [2]string{"cmn", "cmp"}[k>>1]
		p.regs(rn(w), rm(w))
	case k >= 2 && rn(w) == 31:
		name = [2]string{"neg", "negs"}[k&1]
		p.regs(rd(w), rm(w))
	default:
		p.regs(rd(w), rn(w), rm(w))
	}
	p.shift()
	return name
}

func (p *printer) addExtended() string {
	w, wide := p.w, p.wide()
	k, option, amount := w>>29&3, w>>13&7, w>>10&7
	name := [4]string{"add", "adds", "sub", "subs"}[k]
	if k&1 == 1 && rd(w) == 31 {
		name = [2]string{"cmn", "cmp"}[k>>1]
	} else {
		if k&1 == 1 {
			p.reg(wide, rd(w))
		} else {
			p.regSP(wide, rd(w))
		}
		p.comma()
	}
	p.regSP(wide, rn(w))
	p.comma()
	p.reg(wide && option&3 == 3, rm(w))
	stack := rn(w) == 31 || rd(w) == 31 && k&1 == 0
	if stack && (wide && option == 3 || !wide && option == 2) {
		if amount != 0 {
			p.text(", lsl ")
			p.decimal(int64(amount))
		}
		return name
	}
	p.comma()
	p.text(extends[option])
	if amount != 0 {
		p.out = append(p.out, ' ')
		p.decimal(int64(amount))
	}
	return name
}

func (p *printer) threeSource() string {
	w := p.w
	op31, o0, a := w>>21&7, w>>15&1, ra(w)
	switch op31 {
	case 0:
		p.regs(rd(w), rn(w), rm(w))
		if a == 31 {
			return [2]string{"mul", "mneg"}[o0]
		}
		p.comma()
		p.reg(p.wide(), a)
		return [2]string{"madd", "msub"}[o0]
	case 2, 6:
		p.regs(rd(w), rn(w), rm(w))
		return [2]string{"smulh", "umulh"}[op31>>2]
	}
	p.reg(true, rd(w))
	p.comma()
	p.reg(false, rn(w))
	p.comma()
	p.reg(false, rm(w))
	sign := [2]string{"s", "u"}[op31>>2]
	if a == 31 {
		return sign + [2]string{"mull", "mnegl"}[o0]
	}
	p.comma()
	p.reg(true, a)
	return sign + [2]string{"maddl", "msubl"}[o0]
}

func (p *printer) carry() string {
	w := p.w
	if w>>10&63 == 0 {
		k := w >> 29 & 3
		if k >= 2 && rn(w) == 31 {
			p.regs(rd(w), rm(w))
			return [2]string{"ngc", "ngcs"}[k&1]
		}
		p.regs(rd(w), rn(w), rm(w))
		return [4]string{"adc", "adcs", "sbc", "sbcs"}[k]
	}
	if w>>10&31 == 1 {
		p.reg(true, rn(w))
		p.comma()
		p.decimal(int64(w >> 15 & 63))
		p.comma()
		p.decimal(int64(w & 15))
		return "rmif"
	}
	p.reg(false, rn(w))
	return [2]string{"setf8", "setf16"}[w>>14&1]
}

func (p *printer) conditionalSelect() string {
	w := p.w
	k := w>>30&1<<1 | w>>10&1
	cond := w >> 12 & 15
	if k != 0 && rn(w) == rm(w) && cond < 14 {
		inverse := conditions[cond^1]
		if rn(w) == 31 && k != 3 {
			p.reg(p.wide(), rd(w))
			p.comma()
			p.text(inverse)
			return [4]string{"", "cset", "csetm"}[k]
		}
		p.regs(rd(w), rn(w))
		p.comma()
		p.text(inverse)
		return [4]string{"", "cinc", "cinv", "cneg"}[k]
	}
	p.regs(rd(w), rn(w), rm(w))
	p.comma()
	p.text(conditions[cond])
	return [4]string{"csel", "csinc", "csinv", "csneg"}[k]
}

func (p *printer) twoSource() string {
	w := p.w
	op := w >> 10 & 63
	switch {
	case op == 0: // subp, subps
		name := [2]string{"subp", "subps"}[w>>29&1]
		if w>>29&1 == 1 && rd(w) == 31 {
			name = "cmpp"
		} else {
			p.reg(true, rd(w))
			p.comma()
		}
		p.regSP(true, rn(w))
		p.comma()
		p.regSP(true, rm(w))
		return name
	case op == 4:
		p.regSP(true, rd(w))
		p.comma()
		p.regSP(true, rn(w))
		if rm(w) != 31 {
			p.comma()
			p.reg(true, rm(w))
		}
		return "irg"
	case op == 5:
		p.reg(true, rd(w))
		p.comma()
		p.regSP(true, rn(w))
		p.comma()
		p.reg(true, rm(w))
		return "gmi"
	case op == 12:
		p.reg(true, rd(w))
		p.comma()
		p.reg(true, rn(w))
		p.comma()
		p.regSP(true, rm(w))
		return "pacga"
	case op >= 16 && op <= 23:
		p.reg(false, rd(w))
		p.comma()
		p.reg(false, rn(w))
		p.comma()
		p.reg(op&3 == 3, rm(w))
		return [2]string{"crc32", "crc32c"}[op>>2&1] + string("bhwx"[op&3])
	}
	p.regs(rd(w), rn(w), rm(w))
	switch {
	case op < 4:
		return [4]string{"", "", "udiv", "sdiv"}[op]
	case op < 12:
		return shifts[op-8]
	}
	return [4]string{"smax", "umax", "smin", "umin"}[op-24]
}

func (p *printer) oneSource() string {
	w := p.w
	op := w >> 10 & 63
	if rm(w) == 0 {
		p.regs(rd(w), rn(w))
		if op == 2 && !p.wide() {
			return "rev"
		}
		return [9]string{"rbit", "rev16", "rev32", "rev", "clz", "cls", "ctz", "cnt", "abs"}[op]
	}
	if op >= 32 {
		if op == 36 || op == 37 {
			p.reg(true, rn(w))
			return [2]string{"autiasppcr", "autibsppcr"}[op-36]
		}
		return map[uint32]string{32: "pacnbiasppc", 33: "pacnbibsppc", 40: "paciasppc", 41: "pacibsppc"}[op]
	}
	p.reg(true, rd(w))
	switch {
	case op < 8:
		p.comma()
		p.regSP(true, rn(w))
		return [8]string{"pacia", "pacib", "pacda", "pacdb", "autia", "autib", "autda", "autdb"}[op]
	case op < 16:
		return [8]string{"paciza", "pacizb", "pacdza", "pacdzb", "autiza", "autizb", "autdza", "autdzb"}[op-8]
	}
	return [2]string{"xpaci", "xpacd"}[op-16]
}
