package arm64

import (
	"encoding/binary"
	"strconv"

	"rea/providers/embedded/isa"
)

// printer renders one instruction in Arm's syntax, with the preferred aliases.
type printer struct {
	w      uint32
	in     isa.Inst
	symbol func(uint64) string
	out    []byte
}

// Text implements isa.Decoder. Words that are no instruction are shown as
// .inst, so that what is printed always assembles to what was read.
func (d *Decoder) Text(b []byte, addr uint64, symbol func(uint64) string) (mnemonic, operands string) {
	p := printer{symbol: symbol, out: make([]byte, 0, 48)}
	d.Decode(b, addr, &p.in)
	if len(b) < 4 {
		for i, c := range b {
			if i > 0 {
				p.out = append(p.out, ", "...)
			}
			p.hex(uint64(c))
		}
		return ".byte", string(p.out)
	}
	p.w = binary.LittleEndian.Uint32(b)
	if p.in.Flow != isa.Invalid {
		if name := p.instruction(d); name != "" {
			return name, string(p.out)
		}
	}
	p.out = append(p.out[:0], "0x"...)
	s := strconv.FormatUint(uint64(p.w), 16)
	for range 8 - len(s) {
		p.out = append(p.out, '0')
	}
	return ".inst", string(append(p.out, s...))
}

func (p *printer) instruction(d *Decoder) string {
	if d.extension(p.w) {
		return p.tableGroup()
	}
	switch p.w >> 25 & 15 {
	case 0b1000, 0b1001:
		return p.immediateGroup()
	case 0b1010, 0b1011:
		return p.branchGroup()
	case 0b0100, 0b0110, 0b1100, 0b1110:
		return p.loadStoreGroup()
	case 0b0101, 0b1101:
		return p.registerGroup()
	}
	if p.w>>16 == 0 {
		p.decimal(int64(p.w))
		return "udf"
	}
	return p.tableGroup()
}

func (p *printer) text(s string) { p.out = append(p.out, s...) }

func (p *printer) comma() { p.out = append(p.out, ", "...) }

func (p *printer) hex(v uint64) {
	p.out = append(p.out, "0x"...)
	p.out = strconv.AppendUint(p.out, v, 16)
}

func (p *printer) number(v int64) { p.out = strconv.AppendInt(p.out, v, 10) }

// immediate appends #0x….
func (p *printer) immediate(v uint64) {
	p.out = append(p.out, '#')
	p.hex(v)
}

// decimal appends #n.
func (p *printer) decimal(v int64) {
	p.out = append(p.out, '#')
	p.number(v)
}

// address appends an absolute address with its name, when it has one.
func (p *printer) address(a uint64) {
	p.hex(a)
	if p.symbol == nil {
		return
	}
	if s := p.symbol(a); s != "" {
		p.text(" <")
		p.text(s)
		p.out = append(p.out, '>')
	}
}

// reg appends a general register whose number 31 is the zero register.
func (p *printer) reg(wide bool, n uint32) {
	c := byte('w')
	if wide {
		c = 'x'
	}
	p.out = append(p.out, c)
	if n == 31 {
		p.text("zr")
		return
	}
	p.number(int64(n))
}

// regSP appends a general register whose number 31 is the stack pointer.
func (p *printer) regSP(wide bool, n uint32) {
	switch {
	case n != 31:
		p.reg(wide, n)
	case wide:
		p.text("sp")
	default:
		p.text("wsp")
	}
}

// wide is the sf bit.
func (p *printer) wide() bool { return p.w>>31 == 1 }

// regs appends registers separated by commas, all of the width of the operation.
func (p *printer) regs(ns ...uint32) {
	for i, n := range ns {
		if i > 0 {
			p.comma()
		}
		p.reg(p.wide(), n)
	}
}

var conditions = [16]string{"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"}

var shifts = [4]string{"lsl", "lsr", "asr", "ror"}

var extends = [8]string{"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"}

// shift appends a shift of the operand before, unless it is by zero to the left.
func (p *printer) shift() {
	kind, amount := p.w>>22&3, p.w>>10&63
	if kind == 0 && amount == 0 {
		return
	}
	p.comma()
	p.text(shifts[kind])
	p.out = append(p.out, ' ')
	p.decimal(int64(amount))
}
