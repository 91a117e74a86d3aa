package x86

import (
	"encoding/binary"

	"rea/providers/embedded/isa"
)

// memory decodes SIB and displacement after a ModRM byte with a memory
// operand; i is the position after ModRM. It returns the position after them.
func (d *Decoder) memory(b *[window]byte, i int, rm uint8, x *encoding, in *isa.Inst) int {
	modrm := x.modrm
	m := &in.Mem
	if x.segment == 0x64 {
		m.Segment = 'f'
	} else if x.segment == 0x65 {
		m.Segment = 'g'
	}
	if x.adSize == 0 {
		return d.memory16(b, i, x, in)
	}
	m.Scale = 1
	mod := modrm >> 6
	if modrm&7 == 4 {
		sib := b[i]
		i++
		index := sib>>3&7 | x.rex<<2&8 | x.rex>>1&0x10
		base := sib&7 | x.rex<<3&8 | x.rex&0x10
		m.Scale = 1 << (sib >> 6)
		if x.entry.flags&flagVSIB == 0 && index != 4 {
			m.Index = isa.Reg(index)
		}
		if sib&7 == 5 && mod == 0 {
			m.Disp = int64(int32(binary.LittleEndian.Uint32(b[i:])))
			if x.adSize == 1 && m.Index == isa.NoReg {
				m.Disp = int64(uint32(m.Disp))
			}
			return i + 4
		}
		m.Base = isa.Reg(base)
	} else if modrm&7 == 5 && mod == 0 {
		m.Disp = int64(int32(binary.LittleEndian.Uint32(b[i:])))
		if d.mode == 1 {
			m.Base = isa.PC
		} else {
			m.Disp = int64(uint32(m.Disp))
		}
		return i + 4
	} else {
		m.Base = isa.Reg(rm)
	}
	switch mod {
	case 1:
		m.Disp = int64(int8(b[i]))
		if x.vector == 2 {
			m.Disp *= x.displacementScale()
		}
		return i + 1
	case 2:
		m.Disp = int64(int32(binary.LittleEndian.Uint32(b[i:])))
		return i + 4
	}
	return i
}

// displacementScale is the unit of an EVEX 8-bit displacement: the bytes the
// memory operand has, or one broadcast element.
func (x *encoding) displacementScale() int64 {
	if x.bcast && x.entry.broadcast != 0 {
		return int64(x.entry.broadcast)
	}
	if x.entry.scale != 0 {
		return int64(x.entry.scale)
	}
	return int64(max(1, x.bytes(x.entry.mem)))
}

// memory16 decodes the sixteen-bit addressing forms.
func (d *Decoder) memory16(b *[window]byte, i int, x *encoding, in *isa.Inst) int {
	const bx, bp, si, di = 3, 5, 6, 7
	m := &in.Mem
	m.Scale = 1
	switch x.modrm & 7 {
	case 0:
		m.Base, m.Index = bx, si
	case 1:
		m.Base, m.Index = bx, di
	case 2:
		m.Base, m.Index = bp, si
	case 3:
		m.Base, m.Index = bp, di
	case 4:
		m.Base = si
	case 5:
		m.Base = di
	case 6:
		m.Base = bp
	case 7:
		m.Base = bx
	}
	switch x.modrm >> 6 {
	case 0:
		if x.modrm&7 == 6 {
			m.Base = isa.NoReg
			m.Disp = int64(binary.LittleEndian.Uint16(b[i:]))
			return i + 2
		}
	case 1:
		m.Disp = int64(int8(b[i]))
		return i + 1
	case 2:
		m.Disp = int64(int16(binary.LittleEndian.Uint16(b[i:])))
		return i + 2
	}
	return i
}

// memoryLength is the position after the operands that the ModRM byte at i starts.
func (d *Decoder) memoryLength(b *[window]byte, i int, x *encoding) (int, bool) {
	modrm := b[i]
	if modrm >= 0xc0 {
		return i + 1, false
	}
	var in isa.Inst
	x.entry = &d.set.entries[0]
	return d.memory(b, i+1, modrm&7, x, &in), true
}

// immediate reads the immediate at i, setting Imm or Target, and returns the
// position after it.
func (x *encoding) immediate(b *[window]byte, i int, d *Decoder, addr uint64, in *isa.Inst) int {
	e := x.entry
	size := x.opSize
	if e.imm == immMoffs {
		size = x.adSize
	}
	n := int(immBytes[e.imm][size])
	var v int64
	switch n {
	case 1:
		v = int64(int8(b[i]))
	case 2:
		v = int64(int16(binary.LittleEndian.Uint16(b[i:])))
	case 4:
		v = int64(int32(binary.LittleEndian.Uint32(b[i:])))
	case 8:
		v = int64(binary.LittleEndian.Uint64(b[i:]))
	}
	switch e.imm {
	case immJB, immJZ:
		t := addr + uint64(i+n) + uint64(v)
		if d.mode == 0 {
			t = uint64(uint32(t))
		}
		if size == 0 && (e.imm == immJZ || d.mode == 0) {
			t &= 0xffff
		}
		in.Target = t
		return i + n
	case immJQ:
		in.Target = uint64(v)
		return i + n
	case immMoffs:
		m := &in.Mem
		m.Disp, m.Scale, m.Size = v, 1, x.bytes(e.mem)
		switch size {
		case 0:
			m.Disp = int64(uint16(v))
		case 1:
			m.Disp = int64(uint32(v))
		}
		if x.segment == 0x64 {
			m.Segment = 'f'
		} else if x.segment == 0x65 {
			m.Segment = 'g'
		}
		in.HasMem = true
		return i + n
	case immWB:
		v = int64(binary.LittleEndian.Uint16(b[i:]))
	case immW:
		v = int64(uint16(v))
	case immFar, immBB:
		in.HasImm = false
		return i + n
	}
	in.Imm, in.HasImm = v, true
	return i + n
}
