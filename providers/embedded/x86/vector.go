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
		case first == 0xc4 && m == 7 && d.mode == 1:
			x.vector, sp = 1, vex7
		case first == 0x8f && m >= 8 && m <= 10:
			x.vector, sp = 3, xop8+space(m-8)
		default:
			return 0
		}
	case 0x62:
		p, q, r := b[i], b[i+1], b[i+2]
		i += 3
		m := p & 7
		if m == 0 || d.mode == 0 && (m == 4 || m == 7 || p&8 != 0 || q&4 == 0) {
			return 0
		}
		x.rex = ^p>>5&7 | q>>4&8 | p<<1&0x10 | ^q<<3&0x20 | ^p<<2&0x40
		x.vvvv = ^q>>3&15 | ^r<<1&0x10
		x.prefix = vectorPP[q&3]
		x.length, x.mask, x.zero, x.bcast = r>>5&3, r&7, r&0x80 != 0, r&0x10 != 0
		x.vector, sp = 2, evex1+space(m-1)
		if m == 4 {
			x.promoted = true
			if x.prefix == 1 {
				x.prefixes |= prefixData
			}
		}
	}
	if d.mode == 0 {
		if first == 0x62 && x.vvvv > 7 {
			return 0
		}
		x.rex &= 8
		x.vvvv &= 7
	}
	return i<<8 | int(sp)
}

// validVector checks the fields of a VEX, EVEX or XOP prefix against what the
// instruction can use.
func (x *encoding) validVector() bool {
	e := x.entry
	register := x.modrm >= 0xc0
	if x.promoted {
		return x.validPromoted()
	}
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
	if x.rex&0x30 != 0 && (x.rex&0x20 != 0 && (register || e.flags&flagVSIB != 0) || register && e.flags&flagGeneralRM == 0) {
		return false
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
	if x.mask != 0 && e.flags&flagMask == 0 && (x.mask != 4 || !e.quiet) || x.mask == 0 && e.flags&flagMaskRequired != 0 {
		return false
	}
	return !x.zero || x.mask != 0 && e.flags&flagZero != 0 && (register || e.ops[0].kind != opW && e.ops[0].kind != opM)
}

// validPromoted checks the fields of the EVEX form of an instruction that
// works on general registers.
func (x *encoding) validPromoted() bool {
	e := x.entry
	switch {
	case x.length != 0 || x.zero || x.modrm >= 0xc0 && x.rex&0x20 != 0:
		return false
	case e.conditional: // the condition is where NF and V4 are, the flags where vvvv is
		return true
	case x.mask&^4 != 0 || x.mask != 0 && !e.quiet && !e.masked:
		return false
	}
	return x.vvvv == 0 || e.flags&flagVVVV != 0
}

// sourceCondition is the condition of ccmp and ctest, which is where other
// instructions have EVEX.V4 and the mask.
func (x *encoding) sourceCondition() uint8 { return x.mask | ^x.vvvv>>1&8 }

// flagValue is the value that ccmp and ctest give to OF, SF, ZF or CF, numbered
// in that order, where their condition does not hold: EVEX.vvvv as it is.
func (x *encoding) flagValue(flag int) bool { return ^x.vvvv>>(3-flag)&1 == 1 }

// rex2Space is the opcode map that a REX2 payload selects, for an opcode:
// spaces where REX2 is not allowed.
func rex2Space(payload, op byte) (space, byte) {
	row := op >> 4
	switch {
	case payload&0x80 != 0:
		if row == 3 || row == 8 || op == 0x38 || op == 0x3a {
			return spaces, op
		}
		return map0F, op
	case row == 5 && payload&8 != 0, op == 0xa1 && payload&8 == 0:
		return rex2, op
	case row == 4 || row == 7 || row == 10 || row == 14:
		return spaces, op
	}
	return map1, op
}

// lowRegisters reports whether the mask and tile registers named exist: there are eight of each.
func (x *encoding) lowRegisters() bool {
	for _, o := range x.entry.ops[:x.entry.nops] {
		switch o.kind {
		case opKG, opTG:
			if x.rex&0x44 != 0 {
				return false
			}
		case opKH, opTH:
			if x.vvvv > 7 {
				return false
			}
		case opKR, opKE, opTE:
			if x.modrm >= 0xc0 && x.rex&0x11 != 0 {
				return false
			}
		}
	}
	return true
}

// validBound reports whether the bound registers named exist: there are four.
func (x *encoding) validBound() bool {
	return x.reg() < 4 && (x.modrm < 0xc0 || x.entry.ops[0].kind != opBE && x.entry.ops[1].kind != opBE || x.rm() < 4)
}

// vectorPP turns the pp field into the order of dimPrefix.
var vectorPP = [4]uint8{0, 1, 2, 3}
