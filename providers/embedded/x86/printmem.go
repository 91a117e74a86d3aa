package x86

import (
	"encoding/binary"
	"strconv"

	"rea/providers/embedded/isa"
)

// hex appends a number as Intel syntax writes immediates.
func (p *printer) hex(v uint64) {
	p.out = append(p.out, "0x"...)
	p.out = strconv.AppendUint(p.out, v, 16)
}

// address appends an absolute address with its name, when it has one.
func (p *printer) address(a uint64) {
	p.hex(a)
	if p.symbol == nil {
		return
	}
	if s := p.symbol(a); s != "" {
		p.out = append(p.out, " <"...)
		p.out = append(p.out, s...)
		p.out = append(p.out, '>')
	}
}

var sizeNames = map[uint8]string{1: "byte", 2: "word", 4: "dword", 6: "fword", 8: "qword", 10: "tbyte", 16: "xmmword", 32: "ymmword", 64: "zmmword"}

// memory appends the ModRM or absolute memory operand, with its width.
func (p *printer) memory(s sizeKind) {
	x := &p.x
	m := p.operandMemory()
	size := x.bytes(s)
	broadcast := x.bcast && !x.promoted
	if broadcast {
		size = x.entry.broadcast
	}
	if name := sizeNames[size]; name != "" && s != szNone {
		p.out = append(p.out, name...)
		if broadcast {
			p.out = append(p.out, " bcst "...)
		} else {
			p.out = append(p.out, " ptr "...)
		}
	}
	p.segment()
	p.out = append(p.out, '[')
	plus := false
	register := func(r isa.Reg) {
		if plus {
			p.out = append(p.out, '+')
		}
		plus = true
		p.out = append(p.out, regNames[1+x.adSize][r&31]...)
	}
	if m.Base < 32 {
		register(m.Base)
	}
	if x.entry.flags&flagVSIB != 0 {
		if plus {
			p.out = append(p.out, '+')
		}
		plus = true
		p.vector(p.vectorIndex(), x.entry.vsib)
		p.scale(m.Scale)
	} else if m.Index < 32 {
		register(m.Index)
		if x.adSize != 0 {
			p.scale(m.Scale)
		}
	}
	switch {
	case !plus:
		d := uint64(m.Disp)
		if x.adSize == 1 {
			d = uint64(uint32(d))
		}
		p.address(d)
	case m.Disp < 0:
		p.out = append(p.out, '-')
		p.hex(-uint64(m.Disp))
	case m.Disp > 0:
		p.out = append(p.out, '+')
		p.hex(uint64(m.Disp))
	}
	p.out = append(p.out, ']')
}

func (p *printer) scale(n uint8) {
	if n > 1 {
		p.out = append(p.out, '*', '0'+n)
	}
}

// vectorIndex is the index register of a gather or scatter.
func (p *printer) vectorIndex() uint8 {
	sib := p.b[p.sibPosition()]
	n := sib>>3&7 | p.x.rex<<2&8
	if p.x.vector == 2 {
		n |= p.x.vvvv & 16
	}
	return n
}

func (p *printer) sibPosition() int { return int(p.x.modrmAt) + 1 }

// operandMemory is the memory operand also where Decode leaves it out because
// nothing is accessed (nop, prefetch).
func (p *printer) operandMemory() isa.Mem {
	if p.in.HasMem || p.x.entry.imm == immMoffs {
		return p.in.Mem
	}
	in := isa.Inst{Mem: isa.Mem{Base: isa.NoReg, Index: isa.NoReg}}
	p.d.memory(&p.b, int(p.x.modrmAt)+1, p.x.rm(), &p.x, &in)
	if in.Mem.Base == isa.PC {
		in.Mem.Disp += int64(p.in.Addr) + int64(p.in.Len)
	}
	return in.Mem
}

// segment appends an override prefix that has an effect.
func (p *printer) segment() {
	switch s := p.x.segment; {
	case s == 0x64:
		p.out = append(p.out, "fs:"...)
	case s == 0x65:
		p.out = append(p.out, "gs:"...)
	case p.d.mode == 1:
	case s == 0x26:
		p.out = append(p.out, "es:"...)
	case s == 0x2e:
		p.out = append(p.out, "cs:"...)
	case s == 0x36:
		p.out = append(p.out, "ss:"...)
	case s == 0x3e:
		p.out = append(p.out, "ds:"...)
	}
}

// stringOperand appends an implicit memory operand of a string instruction.
func (p *printer) stringOperand(s sizeKind, reg uint8) {
	size := p.x.bytes(s)
	if s != szL {
		p.out = append(p.out, sizeNames[size]...)
		p.out = append(p.out, " ptr "...)
	} else {
		p.out = append(p.out, "byte ptr "...)
		reg = 3
	}
	if reg == 7 {
		p.out = append(p.out, "es:"...)
	} else if p.x.segment != 0 {
		p.segment()
	} else {
		p.out = append(p.out, "ds:"...)
	}
	p.out = append(p.out, '[')
	p.out = append(p.out, regNames[1+p.x.adSize][reg]...)
	p.out = append(p.out, ']')
}

// immediate appends the next immediate operand and steps over it.
func (p *printer) immediate(o operand) {
	b := p.b[p.imm:]
	if o.kind == opI2 {
		p.hex(uint64(b[0] & 15))
		return
	}
	switch o.size {
	case szB:
		p.imm++
		p.hex(uint64(b[0]))
	case szW:
		p.imm += 2
		p.hex(uint64(binary.LittleEndian.Uint16(b)))
	case szD:
		p.imm += 4
		p.hex(uint64(binary.LittleEndian.Uint32(b)))
	default: // as wide as the operation
		v := uint64(p.in.Imm)
		switch p.x.opSize {
		case 0:
			v = uint64(uint16(v))
		case 1:
			v = uint64(uint32(v))
		}
		p.hex(v)
	}
}

func (p *printer) farPointer() {
	n := 4
	if p.x.opSize == 0 {
		n = 2
	}
	b := p.b[p.imm:]
	off := uint64(binary.LittleEndian.Uint16(b))
	if n == 4 {
		off = uint64(binary.LittleEndian.Uint32(b))
	}
	p.hex(uint64(binary.LittleEndian.Uint16(b[n:])))
	p.out = append(p.out, ':')
	p.hex(off)
}

// rounding appends the static rounding mode or exception suppression of EVEX.
func (p *printer) rounding() {
	x := &p.x
	if x.vector != 2 || !x.bcast || x.modrm < 0xc0 || x.promoted {
		return
	}
	if x.entry.flags&flagRounding != 0 {
		p.out = append(p.out, [4]string{"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"}[x.length]...)
	} else {
		p.out = append(p.out, "{sae}"...)
	}
}
