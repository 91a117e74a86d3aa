package x86

// vectorLength is 0 for xmm, 1 for ymm, 2 for zmm. With rounding control the
// length field means the mode and the operation is on full vectors.
func (x *encoding) vectorLength() uint8 {
	if x.vector == 2 && x.bcast && x.modrm >= 0xc0 {
		return 2
	}
	return min(x.length, 2)
}

// vectorPrefix reads a VEX, EVEX or XOP prefix whose payload starts at i. It
// returns the opcode map and the position of the opcode (<<8), or 0.
func (d *Decoder) vectorPrefix(b *[window]byte, i int, first byte, x *encoding) int {
	if x.rexSeen || x.prefixes&(prefixLock|prefixRep|prefixRepne|prefixData) != 0 {
		return 0
	}
	sp := space(0)
	switch first {
	case 0xc5:
		p := b[i]
		i++
		x.rex = ^p >> 5 & 4
		x.vvvv, x.length, x.prefix = ^p>>3&15, p>>2&1, vectorPP[p&3]
		x.vector, sp = 1, vex1
	case 0xc4, 0x8f:
		p, q := b[i], b[i+1]
		i += 2
		x.rex = ^p>>5&7 | q>>4&8
		x.vvvv, x.length, x.prefix = ^q>>3&15, q>>2&1, vectorPP[q&3]
		m := p & 31
		switch {
		case first == 0xc4 && m >= 1 && m <= 3:
			x.vector, sp = 1, vex1+space(m-1)
		case first == 0x8f && m >= 8 && m <= 10:
			x.vector, sp = 3, xop8+space(m-8)
		default:
			return 0
		}
	case 0x62:
		p, q, r := b[i], b[i+1], b[i+2]
		i += 3
		m := p & 7
		if p&8 != 0 || q&4 == 0 || m == 0 || m > 6 || m == 4 {
			return 0
		}
		x.rex = ^p>>5&7 | q>>4&8
		x.reg4 = ^p & 0x10
		x.rm4 = ^p >> 2 & 0x10
		x.vvvv = ^q>>3&15 | ^r<<1&0x10
		x.prefix = vectorPP[q&3]
		x.length, x.mask, x.zero, x.bcast = r>>5&3, r&7, r&0x80 != 0, r&0x10 != 0
		x.vector, sp = 2, evex1+space(m-1)
	}
	if d.mode == 0 {
		if first == 0x62 && x.vvvv > 7 {
			return 0
		}
		x.rex &= 8
		x.vvvv &= 7
		x.reg4, x.rm4 = 0, 0
	}
	return i<<8 | int(sp)
}

// validVector checks the fields of a VEX, EVEX or XOP prefix against what the
// instruction can use.
func (x *encoding) validVector() bool {
	e := x.entry
	register := x.modrm >= 0xc0
	if e.flags&flagVVVV == 0 && x.vvvv&15 != 0 {
		return false
	}
	if e.flags&(flagVSIB|flagSIB) != 0 && x.modrm&7 != 4 {
		return false
	}
	if e.flags&flagLowRegisters != 0 && !x.lowRegisters() {
		return false
	}
	if x.vector != 2 {
		return true
	}
	if x.vvvv&16 != 0 && e.flags&(flagVVVV|flagVSIB) == 0 {
		return false
	}
	if x.length == 3 && !(x.bcast && register) {
		return false
	}
	if x.bcast {
		if register && e.flags&(flagRounding|flagSAE) == 0 || !register && e.broadcast == 0 {
			return false
		}
	}
	if x.mask != 0 && e.flags&flagMask == 0 || x.mask == 0 && e.flags&flagMaskRequired != 0 {
		return false
	}
	return !x.zero || x.mask != 0 && e.flags&flagZero != 0 && (register || e.ops[0].kind != opW && e.ops[0].kind != opM)
}

// lowRegisters reports whether the mask and tile registers named exist: there are eight of each.
func (x *encoding) lowRegisters() bool {
	for _, o := range x.entry.ops[:x.entry.nops] {
		switch o.kind {
		case opKG, opTG:
			if x.rex&4 != 0 || x.reg4 != 0 {
				return false
			}
		case opKH, opTH:
			if x.vvvv > 7 {
				return false
			}
		case opKR, opKE, opTE:
			if x.modrm >= 0xc0 && x.rex&1 != 0 {
				return false
			}
		}
	}
	return true
}

// validBound reports whether the bound registers named exist: there are four.
func (x *encoding) validBound() bool {
	return x.modrm>>3&7|x.rex<<1&8 < 4 && (x.modrm < 0xc0 || x.entry.ops[0].kind != opBE && x.entry.ops[1].kind != opBE || x.modrm&7|x.rex<<3&8 < 4)
}

// vectorPP turns the pp field into the order of dimPrefix.
var vectorPP = [4]uint8{0, 1, 2, 3}
