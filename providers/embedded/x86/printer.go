package x86

import (
	"strconv"
	"strings"

	"rea/providers/embedded/isa"
)

// printer renders one instruction in Intel syntax.
type printer struct {
	d      *Decoder
	x      encoding
	in     isa.Inst
	b      [window]byte
	symbol func(uint64) string
	out    []byte
	imm    int // position of the next immediate operand
}

func (p *printer) print(d *Decoder, b []byte, addr uint64, symbol func(uint64) string) (mnemonic, operands string) {
	p.d, p.symbol = d, symbol
	n := copy(p.b[:], b)
	d.decode(&p.b, addr, &p.in, &p.x)
	if p.in.Flow == isa.Invalid || int(p.in.Len) > n {
		return "(bad)", ""
	}
	e := p.x.entry
	p.imm = int(p.x.immAt)
	name := p.mnemonic()
	nops := int(e.nops)
	if p.x.opcode == 0x90 && e.name == "nop" {
		nops = 0
	}
	if alias, ok := p.compareAlias(e.name); ok {
		name = strings.Replace(name, e.name, alias, 1)
		nops--
	}
	if e.conditional {
		p.defaultFlags()
	}
	for i := range nops {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		p.operand(e.ops[i])
		if i == 0 && p.x.vector == 2 && p.x.mask != 0 && !p.x.promoted && !e.quiet {
			p.out = append(p.out, "{k"...)
			p.out = append(p.out, '0'+p.x.mask, '}')
			if p.x.zero {
				p.out = append(p.out, "{z}"...)
			}
		}
	}
	return name, string(p.out)
}

// mnemonic is the name with the prefixes that matter.
func (p *printer) mnemonic() string {
	e, x := p.x.entry, &p.x
	name := e.name
	if e.nops == 0 || e.ops[0].kind == opI || e.ops[0].kind == opSeg || e.imm == immJZ {
		switch name {
		case "call", "jmp", "ret", "push", "pop", "leave", "enter", "pushf", "popf":
			if x.opSize == 0 {
				name += "w"
			}
		case "retf", "iret":
			name += [3]string{"w", "", "q"}[x.opSize]
		case "sysret":
			name += [3]string{"d", "d", "q"}[x.opSize]
		}
	}
	switch {
	case e.conditional:
		name += conditionNames[x.sourceCondition()]
	case e.quiet && x.mask&4 != 0:
		name = "{nf} " + name
	}
	if x.prefixes&prefixLock != 0 {
		name = "lock " + name
	}
	if x.repeat != 0 {
		memory := e.flags&flagModRM != 0 && x.modrm < 0xc0
		switch {
		case e.flags&flagRep != 0:
			name = map[uint8]string{0xf3: "rep ", 0xf2: "repnz "}[x.repeat] + name
		case e.flags&flagRepz != 0:
			name = map[uint8]string{0xf3: "repz ", 0xf2: "repnz "}[x.repeat] + name
		case memory && (x.prefixes&prefixLock != 0 || e.name == "xchg" || e.name == "mov" && x.repeat == 0xf3 && e.ops[0].kind == opE):
			name = map[uint8]string{0xf3: "xrelease ", 0xf2: "xacquire "}[x.repeat] + name
		case x.repeat == 0xf2 && e.flags&flagF64 != 0 && e.cond < 16:
			name = "bnd " + name
		case e.flags&flagAnyPrefix != 0:
			name = map[uint8]string{0xf3: "repz ", 0xf2: "repnz "}[x.repeat] + name
		}
	}
	if x.notrack && e.flags&flagF64 != 0 && (e.flow == isa.IndirectCall || e.flow == isa.IndirectJump) {
		name = "notrack " + name
	}
	return name
}

var regNames = func() (out [4][32]string) {
	for size, low := range [4][8]string{
		{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"},
		{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"},
		{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"},
		{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"},
	} {
		copy(out[size][:], low[:])
		for n := 8; n < 32; n++ {
			out[size][n] = "r" + strconv.Itoa(n) + [4]string{"b", "w", "d"}[size]
		}
	}
	return out
}()

var highByteNames = [4]string{"ah", "ch", "dh", "bh"}

var segmentNames = [8]string{"es", "cs", "ss", "ds", "fs", "gs", "?", "?"}

// conditionNames are the conditions of ccmp and ctest: in the place of parity
// stand true and false.
var conditionNames = [16]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "t", "f", "l", "ge", "le", "g"}

// defaultFlags appends the flags that ccmp and ctest set where their condition
// does not hold.
func (p *printer) defaultFlags() {
	p.out = append(p.out, "{dfv="...)
	comma := false
	for i, name := range [4]string{"of", "sf", "zf", "cf"} {
		if p.x.flagValue(i) {
			if comma {
				p.out = append(p.out, ',')
			}
			p.out = append(p.out, name...)
			comma = true
		}
	}
	p.out = append(p.out, "} "...)
}

// general names a general register of so many bytes.
func (p *printer) general(n uint8, size uint8) string {
	switch size {
	case 1:
		if !p.x.rexSeen && p.x.vector == 0 && n >= 4 && n < 8 {
			return highByteNames[n-4]
		}
		return regNames[0][n&31]
	case 2:
		return regNames[1][n&31]
	case 8:
		return regNames[3][n&31]
	}
	return regNames[2][n&31]
}

// registerBytes is the width of a general register operand.
func (p *printer) registerBytes(s sizeKind) uint8 {
	switch s {
	case szA:
		return 2 << p.x.adSize
	case szK:
		return 4 << uint8(p.d.mode)
	}
	return p.x.bytes(s)
}

func (p *printer) vector(n uint8, s sizeKind) {
	kind := "xmm"
	switch s {
	case szN:
		kind = "ymm"
	case szU:
		kind = "zmm"
	case szX:
		kind = [3]string{"xmm", "ymm", "zmm"}[p.x.vectorLength()]
	case szH:
		kind = [3]string{"xmm", "xmm", "ymm"}[p.x.vectorLength()]
	}
	p.numbered(kind, n)
}

func (p *printer) numbered(kind string, n uint8) {
	p.out = append(p.out, kind...)
	p.out = strconv.AppendUint(p.out, uint64(n), 10)
}

func (p *printer) operand(o operand) {
	x := &p.x
	reg := x.reg()
	rm := x.rm()
	register := x.modrm >= 0xc0
	switch o.kind {
	case opG:
		p.out = append(p.out, p.general(reg, p.registerBytes(o.size))...)
	case opE, opR:
		if register || o.kind == opR {
			p.out = append(p.out, p.general(rm, p.registerBytes(o.size))...)
			p.rounding()
		} else {
			p.memory(o.size)
		}
	case opZ:
		p.out = append(p.out, p.general(x.opcode&7|x.rex<<3&8|x.rex&0x10, p.registerBytes(o.size))...)
	case opB:
		p.out = append(p.out, p.general(x.vvvv, p.registerBytes(o.size))...)
	case opM:
		p.memory(o.size)
	case opV:
		p.vector(x.vectorReg(), o.size)
	case opW, opU:
		if register {
			p.vector(rm&15|p.highRM(), o.size)
			p.rounding()
		} else {
			p.memory(o.size)
		}
	case opH:
		p.vector(x.vvvv, o.size)
	case opL:
		n := p.b[p.imm] >> 4
		if p.d.mode == 0 {
			n &= 7
		}
		p.vector(n, o.size)
	case opP:
		p.numbered("mm", reg&7)
	case opQ, opN:
		if register {
			p.numbered("mm", rm&7)
		} else {
			p.memory(o.size)
		}
	case opS:
		p.out = append(p.out, segmentNames[reg&7]...)
	case opC:
		p.numbered("cr", reg|uint8(x.prefixes&prefixLock)<<3)
	case opD:
		p.numbered("dr", reg)
	case opI, opI2:
		p.immediate(o)
	case opJ:
		p.address(p.in.Target)
	case opO:
		p.memory(szNone) // the register beside it tells the width
	case opA:
		p.farPointer()
	case opX:
		p.stringOperand(o.size, 6)
	case opY:
		p.stringOperand(o.size, 7)
	case opKG:
		p.numbered("k", reg)
	case opKE, opKR:
		if register {
			p.numbered("k", rm)
		} else {
			p.memory(o.size)
		}
	case opKH:
		p.numbered("k", x.vvvv)
	case opTG:
		p.numbered("tmm", reg)
	case opTE:
		p.numbered("tmm", rm)
	case opTH:
		p.numbered("tmm", x.vvvv)
	case opBG:
		p.numbered("bnd", reg)
	case opBE:
		if register {
			p.numbered("bnd", rm)
		} else {
			p.memory(szNone)
		}
	case opST:
		p.out = append(p.out, "st"...)
	case opSTi:
		p.numbered("st(", rm&7)
		p.out = append(p.out, ')')
	case opAcc:
		p.out = append(p.out, regNames[map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3}[p.registerBytes(o.size)]][0]...)
	case opCL:
		p.out = append(p.out, "cl"...)
	case opDX:
		p.out = append(p.out, "dx"...)
	case opOne:
		p.out = append(p.out, '1')
	case opSeg:
		p.out = append(p.out, segmentNames[o.size&7]...)
	case opXMM0:
		p.out = append(p.out, "xmm0"...)
	}
}

// highRM is bit 4 of a vector register in ModRM.rm: EVEX.X.
func (p *printer) highRM() uint8 {
	if p.x.vector != 2 {
		return 0
	}
	return p.x.rex << 3 & 0x10
}
