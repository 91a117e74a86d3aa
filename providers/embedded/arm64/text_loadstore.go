package arm64

func (p *printer) loadStoreGroup() string {
	w := p.w
	vector := w>>26&1 == 1
	switch w >> 27 & 7 {
	case 0b001:
		if vector {
			return p.structures()
		}
		return p.exclusive()
	case 0b011:
		if w>>24&1 == 0 {
			return p.literal(vector)
		}
		return p.unscaledOrdered()
	case 0b101:
		return p.pair(vector)
	}
	if w>>24&1 == 1 {
		name := p.access(vector, "ldr", "str")
		p.comma()
		p.offset(p.in.Mem.Disp)
		return name
	}
	return p.offsetForms(vector)
}

// baseRegister appends Rn|SP.
func (p *printer) baseRegister() { p.regSP(true, rn(p.w)) }

// base appends [Rn|SP].
func (p *printer) base() {
	p.out = append(p.out, '[')
	p.baseRegister()
	p.out = append(p.out, ']')
}

// offset appends [Rn|SP, #v].
func (p *printer) offset(v int64) {
	p.out = append(p.out, '[')
	p.baseRegister()
	if v != 0 {
		p.comma()
		p.decimal(v)
	}
	p.out = append(p.out, ']')
}

// indexed appends the address of a form that updates its base.
func (p *printer) indexed(post bool, v int64) {
	if post {
		p.base()
		p.comma()
		p.decimal(v)
		return
	}
	p.out = append(p.out, '[')
	p.baseRegister()
	p.comma()
	p.decimal(v)
	p.text("]!")
}

func (p *printer) exclusive() string {
	w := p.w
	sz, o2, l, o1, o0 := w>>30, w>>23&1, w>>22&1, w>>21&1, w>>15&1
	wide := sz == 3
	suffix := [4]string{"b", "h", "", ""}[sz]
	var name string
	switch {
	case o2 == 1 && o1 == 0:
		name = [4]string{"stllr", "stlr", "ldlar", "ldar"}[l<<1|o0] + suffix
		p.reg(wide, rd(w))
	case o2 == 1:
		name = "cas" + [4]string{"", "l", "a", "al"}[l<<1|o0] + suffix
		p.reg(wide, rm(w))
		p.comma()
		p.reg(wide, rd(w))
	case o1 == 0:
		name = [4]string{"stxr", "stlxr", "ldxr", "ldaxr"}[l<<1|o0] + suffix
		if l == 0 {
			p.reg(false, rm(w))
			p.comma()
		}
		p.reg(wide, rd(w))
	case sz >= 2:
		name = [4]string{"stxp", "stlxp", "ldxp", "ldaxp"}[l<<1|o0]
		if l == 0 {
			p.reg(false, rm(w))
			p.comma()
		}
		p.reg(wide, rd(w))
		p.comma()
		p.reg(wide, ra(w))
	default:
		name = "casp" + [4]string{"", "l", "a", "al"}[l<<1|o0]
		wide = sz == 1
		for i, n := range []uint32{rm(w), rm(w) + 1, rd(w), rd(w) + 1} {
			if i > 0 {
				p.comma()
			}
			p.reg(wide, n)
		}
	}
	p.comma()
	p.base()
	return name
}

func (p *printer) literal(vector bool) string {
	w := p.w
	opc := w >> 30
	name := "ldr"
	switch {
	case vector:
		p.vectorRegister("sdq"[opc], rd(w))
	case opc == 3:
		name = "prfm"
		p.prefetch()
	case opc == 2:
		name = "ldrsw"
		p.reg(true, rd(w))
	default:
		p.reg(opc == 1, rd(w))
	}
	p.comma()
	p.address(uint64(p.in.Mem.Disp))
	return name
}

// prefetch appends the operation of prfm.
func (p *printer) prefetch() {
	n := rd(p.w)
	kind, level, policy := n>>3, n>>1&3, n&1
	if kind == 3 || level == 3 {
		p.text("#0x")
		p.out = append(p.out, '0'+byte(n>>4), "0123456789abcdef"[n&15])
		return
	}
	p.text([3]string{"pld", "pli", "pst"}[kind])
	p.text([3]string{"l1", "l2", "l3"}[level])
	p.text([2]string{"keep", "strm"}[policy])
}

func (p *printer) vectorRegister(kind byte, n uint32) {
	p.out = append(p.out, kind)
	p.number(int64(n))
}

// access appends the data register of a single-register form and returns the
// mnemonic made of the stem for loads or stores.
func (p *printer) access(vector bool, load, store string) string {
	w := p.w
	sz, opc := w>>30, w>>22&3
	if vector {
		kind := "bhsd"[sz]
		if opc >= 2 {
			kind = 'q'
		}
		p.vectorRegister(kind, rd(w))
		if opc&1 == 1 {
			return load
		}
		return store
	}
	switch {
	case opc == 0:
		p.reg(sz == 3, rd(w))
		return store + [4]string{"b", "h", "", ""}[sz]
	case opc == 1:
		p.reg(sz == 3, rd(w))
		return load + [4]string{"b", "h", "", ""}[sz]
	case sz == 3:
		p.prefetch()
		if load == "ldur" {
			return "prfum"
		}
		return "prfm"
	}
	p.reg(opc == 2, rd(w))
	return load + "s" + string("bhw"[sz])
}

func (p *printer) unscaledOrdered() string {
	w := p.w
	if w>>10&3 == 1 && w>>21&1 == 0 {
		return p.memoryCopy()
	}
	if w>>21&1 == 1 {
		return p.tags()
	}
	name := p.access(false, "ldapur", "stlur")
	p.comma()
	p.offset(p.in.Mem.Disp)
	return name
}

// copyOptions is the hints of memory copies: which sides are unprivileged or
// non-temporal.
var copyOptions = [16]string{"", "wt", "rt", "t", "wn", "wtwn", "rtwn", "twn", "rn", "wtrn", "rtrn", "trn", "n", "wtn", "rtn", "tn"}

func (p *printer) memoryCopy() string {
	w := p.w
	stage, forward := w>>22&3, w>>26&1 == 0
	p.out = append(p.out, '[')
	p.reg(true, rd(w))
	p.text("]!, ")
	if stage == 3 {
		p.reg(true, rn(w))
		p.text("!, ")
		p.reg(true, rm(w))
		name := "setg"
		if forward {
			name = "set"
		}
		return name + string("pme"[w>>14&3]) + [4]string{"", "t", "n", "tn"}[w>>12&3]
	}
	p.out = append(p.out, '[')
	p.reg(true, rm(w))
	p.text("]!, ")
	p.reg(true, rn(w))
	p.out = append(p.out, '!')
	name := "cpy"
	if forward {
		name = "cpyf"
	}
	return name + string("pme"[stage]) + copyOptions[w>>12&15]
}

func (p *printer) tags() string {
	w := p.w
	opc, op2 := w>>22&3, w>>10&3
	v := signed(w, 12, 9) << 4
	if op2 == 0 {
		p.reg(true, rd(w))
		p.comma()
		if opc == 1 {
			p.offset(v)
			return "ldg"
		}
		p.base()
		return [4]string{"stzgm", "", "stgm", "ldgm"}[opc]
	}
	p.regSP(true, rd(w))
	p.comma()
	if op2 == 2 {
		p.offset(v)
	} else {
		p.indexed(op2 == 1, v)
	}
	return [4]string{"stg", "stzg", "st2g", "stz2g"}[opc]
}

func (p *printer) pair(vector bool) string {
	w := p.w
	opc, mode, load := w>>30, w>>23&3, w>>22&1
	name := [2]string{"stp", "ldp"}[load]
	unit := int64(4) << (opc >> 1 & 1)
	switch {
	case vector:
		opc = min(opc, 2)
		unit = 4 << opc
		p.vectorRegister("sdq"[opc], rd(w))
		p.comma()
		p.vectorRegister("sdq"[opc], ra(w))
	default:
		wide := opc != 0
		if opc == 1 {
			name = [2]string{"stgp", "ldpsw"}[load]
			if load == 0 {
				unit = 16
			}
		}
		p.reg(wide, rd(w))
		p.comma()
		p.reg(wide, ra(w))
	}
	p.comma()
	v := signed(w, 15, 7) * unit
	switch mode {
	case 0:
		name = [2]string{"stnp", "ldnp"}[load]
		if w>>30 == 3 {
			name = [2]string{"sttnp", "ldtnp"}[load]
		}
		p.offset(v)
		return name
	case 2:
		p.offset(v)
	default:
		p.indexed(mode == 1, v)
	}
	if w>>30 == 3 {
		name = [2]string{"sttp", "ldtp"}[load]
	}
	return name
}

func (p *printer) offsetForms(vector bool) string {
	w := p.w
	kind := w >> 10 & 3
	v := signed(w, 12, 9)
	if w>>21&1 == 0 {
		stems := [4][2]string{{"ldur", "stur"}, {"ldr", "str"}, {"ldtr", "sttr"}, {"ldr", "str"}}[kind]
		name := p.access(vector, stems[0], stems[1])
		p.comma()
		if kind == 0 || kind == 2 {
			p.offset(v)
		} else {
			p.indexed(kind == 1, v)
		}
		return name
	}
	switch kind {
	case 0:
		return p.atomic()
	case 2:
		name := p.access(vector, "ldr", "str")
		p.comma()
		p.registerOffset(vector)
		return name
	}
	p.reg(true, rd(w))
	p.comma()
	v = (signed(w, 22, 1)<<9 | int64(w>>12&0x1ff)) << 3
	if kind == 3 {
		p.indexed(false, v)
	} else {
		p.offset(v)
	}
	return [2]string{"ldraa", "ldrab"}[w>>23&1]
}

func (p *printer) registerOffset(vector bool) {
	w := p.w
	option, s := w>>13&7, w>>12&1
	amount := int64(accessBytes(w, vector))
	p.out = append(p.out, '[')
	p.baseRegister()
	p.comma()
	p.reg(option&1 == 1, rm(w))
	switch {
	case option == 3 && s == 0:
	case option == 3:
		p.text(", lsl ")
		p.decimal(amount)
	default:
		p.comma()
		p.text(extends[option])
		if s == 1 {
			p.out = append(p.out, ' ')
			p.decimal(amount)
		}
	}
	p.out = append(p.out, ']')
}

func (p *printer) atomic() string {
	w := p.w
	sz, rs, rt := w>>30, rm(w), rd(w)
	o3, opc := w>>15&1, w>>12&7
	order := [4]string{"", "l", "a", "al"}[w>>22&3]
	suffix := [4]string{"b", "h", "", ""}[sz]
	wide := sz == 3
	if o3 == 1 && p.in.Mem.Size == 64 {
		name := [6]string{1: "st64b", 2: "st64bv0", 3: "st64bv", 5: "ld64b"}[opc]
		if opc == 2 || opc == 3 {
			p.reg(true, rs)
			p.comma()
		}
		p.reg(true, rt)
		p.comma()
		p.base()
		return name
	}
	if o3 == 1 && opc == 4 {
		p.reg(wide, rt)
		p.comma()
		p.base()
		return "ldapr" + suffix
	}
	p.reg(wide, rs)
	p.comma()
	if o3 == 1 {
		p.reg(wide, rt)
		p.comma()
		p.base()
		return "swp" + order + suffix
	}
	op := [8]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"}[opc]
	if rt == 31 && w>>23&1 == 0 {
		p.base()
		return "st" + op + order + suffix
	}
	p.reg(wide, rt)
	p.comma()
	p.base()
	return "ld" + op + order + suffix
}

// arrangement names the lanes of a vector register.
func arrangement(size, q uint32) string {
	return [8]string{"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d"}[size<<1|q]
}

// registerList appends {v1.16b, v2.16b} or {v1.16b-v4.16b}.
func (p *printer) registerList(first, n uint32, lanes string) {
	one := func(k uint32) {
		p.vectorRegister('v', (first+k)&31)
		p.out = append(p.out, '.')
		p.text(lanes)
	}
	p.out = append(p.out, '{')
	one(0)
	switch {
	case n == 2:
		p.comma()
		one(1)
	case n > 2 && first+n <= 32:
		p.out = append(p.out, '-')
		one(n - 1)
	case n > 2:
		for k := uint32(1); k < n; k++ {
			p.comma()
			one(k)
		}
	}
	p.out = append(p.out, '}')
}

func (p *printer) structures() string {
	w := p.w
	q, sz := w>>30&1, w>>10&3
	name := [2]string{"st", "ld"}[w>>22&1]
	if w>>24&1 == 0 {
		opcode := w >> 12 & 15
		n := [16]uint32{0: 4, 2: 4, 4: 3, 6: 3, 7: 1, 8: 2, 10: 2}[opcode]
		kind := n
		if opcode&2 != 0 {
			kind = 1
		}
		p.registerList(rd(w), n, arrangement(sz, q))
		name += string("01234"[kind])
	} else {
		op := w >> 13 & 7
		n := op&1<<1 + w>>21&1 + 1
		name += string("01234"[n])
		if op>>1 == 3 {
			p.registerList(rd(w), n, arrangement(sz, q))
			name += "r"
		} else {
			s := w >> 12 & 1
			index := q<<3 | s<<2 | sz
			scale := op >> 1
			if scale == 2 && sz&1 == 1 {
				scale = 3
			}
			p.registerList(rd(w), n, string("bhsd"[scale]))
			p.out = append(p.out, '[')
			p.number(int64(index >> scale))
			p.out = append(p.out, ']')
		}
	}
	p.comma()
	p.base()
	if w>>23&1 == 1 {
		p.comma()
		if rm(w) == 31 {
			p.decimal(p.in.Imm)
		} else {
			p.reg(true, rm(w))
		}
	}
	return name
}
