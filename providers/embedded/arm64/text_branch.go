package arm64

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

func (p *printer) branchGroup() string {
	w := p.w
	switch w >> 29 {
	case 0b000, 0b100:
		p.address(p.in.Target)
		return [2]string{"b", "bl"}[w>>31]
	case 0b001, 0b101:
		return p.compareBranch()
	case 0b011, 0b111:
		return p.compareRegisters()
	case 0b010:
		if w>>24 == 0x55 {
			p.address(p.in.Addr - uint64(w>>5&0xffff)<<2)
			return [2]string{"retaasppc", "retabsppc"}[w>>21&1]
		}
		p.address(p.in.Target)
		return [2]string{"b.", "bc."}[w>>4&1] + conditions[w&15]
	}
	switch w >> 24 {
	case 0xd4:
		return p.exception()
	case 0xd5:
		return p.system()
	}
	return p.branchRegister()
}

func (p *printer) compareBranch() string {
	w := p.w
	nonzero := w >> 24 & 1
	p.reg(p.wide(), rd(w))
	p.comma()
	if w>>25&1 == 0 {
		p.address(p.in.Target)
		return [2]string{"cbz", "cbnz"}[nonzero]
	}
	p.decimal(p.in.Imm)
	p.comma()
	p.address(p.in.Target)
	return [2]string{"tbz", "tbnz"}[nonzero]
}

// comparisons are the conditions of compareRegisters, with a number and with a register.
var comparisons = [2][8]string{{"gt", "ge", "hi", "hs", "", "", "eq", "ne"}, {"gt", "lt", "hi", "lo", "", "", "eq", "ne"}}

func (p *printer) compareRegisters() string {
	w := p.w
	number := w >> 24 & 1
	p.reg(p.wide(), rd(w))
	p.comma()
	width := ""
	if number == 1 {
		p.decimal(p.in.Imm)
	} else {
		p.reg(p.wide(), rm(w))
		width = [4]string{"", "", "b", "h"}[w>>14&3]
	}
	p.comma()
	p.address(p.in.Target)
	return "cb" + width + comparisons[number][w>>21&7]
}

func (p *printer) exception() string {
	w := p.w
	v := uint64(w >> 5 & 0xffff)
	name := map[uint32]string{0xd4000001: "svc", 0xd4000002: "hvc", 0xd4000003: "smc", 0xd4200000: "brk", 0xd4400000: "hlt",
		0xd4600000: "tcancel", 0xd4a00001: "dcps1", 0xd4a00002: "dcps2", 0xd4a00003: "dcps3"}[w&0xffe0001f]
	if name == "tcancel" {
		p.decimal(int64(v))
	} else if v != 0 || !strings.HasPrefix(name, "dcps") {
		p.immediate(v)
	}
	return name
}

func (p *printer) branchRegister() string {
	w := p.w
	opc, key := w>>21&15, w>>10&3
	suffix := [4]string{"", "", "a", "b"}[key]
	switch opc {
	case 0, 1:
		p.reg(true, rn(w))
		name := [2]string{"br", "blr"}[opc]
		if suffix != "" {
			name += "a" + suffix + "z"
		}
		return name
	case 2:
		if suffix != "" {
			if w&31 != 31 {
				p.reg(true, w&31)
				return "reta" + suffix + "sppcr"
			}
			return "reta" + suffix
		}
		if rn(w) != 30 {
			p.reg(true, rn(w))
		}
		return "ret"
	case 4:
		if suffix != "" {
			return "ereta" + suffix
		}
		return "eret"
	case 5:
		return "drps"
	}
	p.reg(true, rn(w))
	p.comma()
	p.regSP(true, rd(w))
	return [2]string{"bra", "blra"}[opc&1] + suffix
}

var hints = map[uint32]string{0: "nop", 1: "yield", 2: "wfe", 3: "wfi", 4: "sev", 5: "sevl", 6: "dgh", 7: "xpaclri", 8: "pacia1716", 10: "pacib1716",
	12: "autia1716", 14: "autib1716", 16: "esb", 17: "psb", 18: "tsb", 20: "csdb", 22: "clearbhb", 24: "paciaz", 25: "paciasp", 26: "pacibz", 27: "pacibsp",
	28: "autiaz", 29: "autiasp", 30: "autibz", 31: "autibsp", 32: "bti", 34: "bti", 36: "bti", 38: "bti", 39: "pacm"}

var barriers = [16]string{"", "oshld", "oshst", "osh", "", "nshld", "nshst", "nsh", "", "ishld", "ishst", "ish", "", "ld", "st", "sy"}

// states is the PSTATE fields that msr writes, by op1 and op2.
var states = map[uint32]string{0o03: "uao", 0o04: "pan", 0o05: "spsel", 0o31: "ssbs", 0o32: "dit", 0o34: "tco", 0o36: "daifset", 0o37: "daifclr", 0o10: "allint"}

func (p *printer) system() string {
	w := p.w
	if w>>22&3 == 1 {
		return p.systemPair()
	}
	l, op0, op1, crn, crm, op2, rt := w>>21&1, w>>19&3, w>>16&7, w>>12&15, w>>8&15, w>>5&7, w&31
	switch op0 {
	case 0:
		if l == 1 {
			p.reg(true, rt)
			return [2]string{"tstart", "ttest"}[crm]
		}
		if op1 == 3 && crn == 1 {
			p.reg(true, rt)
			return [2]string{"wfet", "wfit"}[op2]
		}
		return p.systemZero(op1, crn, crm, op2)
	case 1:
		return p.systemInstruction(l, op1, crn, crm, op2, rt)
	}
	name := systemRegisters()[[5]uint8{uint8(op0), uint8(op1), uint8(crn), uint8(crm), uint8(op2)}]
	if name == "" {
		name = fmt.Sprintf("s%d_%d_c%d_c%d_%d", op0, op1, crn, crm, op2)
	}
	if l == 0 && name == "dbgdtrrx_el0" {
		name = "dbgdtrtx_el0"
	}
	if l == 1 {
		p.reg(true, rt)
		p.comma()
		p.text(name)
		return "mrs"
	}
	p.text(name)
	p.comma()
	p.reg(true, rt)
	return "msr"
}

func (p *printer) systemPair() string {
	w := p.w
	rt, name := w&31, systemRegisters()[[5]uint8{uint8(w >> 19 & 3), uint8(w >> 16 & 7), uint8(w >> 12 & 15), uint8(w >> 8 & 15), uint8(w >> 5 & 7)}]
	if w>>19&3 == 1 {
		p.out = fmt.Appendf(p.out, "#%d, C%d, C%d, #%d", w>>16&7, w>>12&15, w>>8&15, w>>5&7)
		if rt != 31 {
			p.comma()
			p.reg(true, rt)
			p.comma()
			p.reg(true, rt+1)
		}
		return "sysp"
	}
	if name == "" {
		name = fmt.Sprintf("s%d_%d_c%d_c%d_%d", w>>19&3, w>>16&7, w>>12&15, w>>8&15, w>>5&7)
	}
	if w>>21&1 == 1 {
		p.reg(true, rt)
		p.comma()
		p.reg(true, rt+1)
		p.comma()
		p.text(name)
		return "mrrs"
	}
	p.text(name)
	p.comma()
	p.reg(true, rt)
	p.comma()
	p.reg(true, rt+1)
	return "msrr"
}

func (p *printer) systemZero(op1, crn, crm, op2 uint32) string {
	switch crn {
	case 2:
		n := crm<<3 | op2
		name, ok := hints[n]
		switch {
		case !ok:
			p.immediate(uint64(n))
			return "hint"
		case n == 17 || n == 18:
			p.text("csync")
		case n > 32 && n <= 38:
			p.text([4]string{"", "c", "j", "jc"}[n>>1&3])
		}
		return name
	case 3:
		return p.barrier(crm, op2)
	}
	if k := op1<<3 | op2; k < 3 {
		return [3]string{"cfinv", "xaflag", "axflag"}[k]
	} else if k == 0o33 {
		if what := [4]string{"", "sm", "za", ""}[crm>>1&3]; what != "" {
			p.text(what)
		}
		return [2]string{"smstop", "smstart"}[crm&1]
	} else {
		p.text(states[k])
	}
	p.comma()
	v := crm
	if op1 == 1 {
		v &= 1
	}
	p.immediate(uint64(v))
	return "msr"
}

func (p *printer) barrier(crm, op2 uint32) string {
	switch op2 {
	case 1:
		p.text([4]string{"oshnxs", "nshnxs", "ishnxs", "synxs"}[crm>>2])
		return "dsb"
	case 2:
		if crm != 15 {
			p.immediate(uint64(crm))
		}
		return "clrex"
	case 3:
		return "tcommit"
	case 4, 5:
		if op2 == 4 && (crm == 0 || crm == 4) {
			return [2]string{"ssbb", "pssbb"}[crm>>2]
		}
		if s := barriers[crm]; s != "" {
			p.text(s)
		} else {
			p.out = fmt.Appendf(p.out, "#0x%02x", crm)
		}
		return [2]string{"dsb", "dmb"}[op2&1]
	case 6:
		if crm != 15 {
			p.immediate(uint64(crm))
		}
		return "isb"
	}
	return "sb"
}

//go:embed tables/sysregs.txt
var systemRegisterTable string

//go:embed tables/sysops.txt
var systemOperationTable string

// systemRegisters names system registers by op0, op1, CRn, CRm, op2.
var systemRegisters = sync.OnceValue(func() map[[5]uint8]string {
	out := map[[5]uint8]string{}
	for s := range strings.Lines(systemRegisterTable) {
		var k [5]uint8
		var name string
		if n, _ := fmt.Sscan(s, &k[0], &k[1], &k[2], &k[3], &k[4], &name); n == 6 {
			out[k] = name
		}
	}
	return out
})

// systemOperation is a sys instruction with a name of its own.
type systemOperation struct {
	name     string
	register bool
}

var systemOperations = sync.OnceValue(func() map[[4]uint8]systemOperation {
	out := map[[4]uint8]systemOperation{}
	for s := range strings.Lines(systemOperationTable) {
		var k [4]uint8
		var name, operation, register string
		if n, _ := fmt.Sscan(s, &k[0], &k[1], &k[2], &k[3], &name, &operation, &register); n >= 6 {
			out[k] = systemOperation{name + " " + operation, register == "x"}
		}
	}
	return out
})

func (p *printer) systemInstruction(l, op1, crn, crm, op2, rt uint32) string {
	if l == 0 {
		op, ok := systemOperations()[[4]uint8{uint8(op1), uint8(crn), uint8(crm), uint8(op2)}]
		if ok && (op.register || rt == 31) {
			name, operation, _ := strings.Cut(op.name, " ")
			p.text(operation)
			if op.register {
				p.comma()
				p.reg(true, rt)
			}
			return name
		}
		p.out = fmt.Appendf(p.out, "#%d, C%d, C%d, #%d", op1, crn, crm, op2)
		if rt != 31 {
			p.comma()
			p.reg(true, rt)
		}
		return "sys"
	}
	p.reg(true, rt)
	p.out = fmt.Appendf(p.out, ", #%d, C%d, C%d, #%d", op1, crn, crm, op2)
	return "sysl"
}
