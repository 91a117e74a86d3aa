package embedded

import (
	"fmt"
	"strconv"
	"strings"

	"rea/providers/embedded/isa"
	"rea/providers/format/object"
)

var x86Names = [16]string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"}

// registerName is the full-width name of a register.
func registerName(arch object.Arch, r isa.Reg) string {
	if arch == object.ARM64 {
		switch r {
		case isa.SP:
			return "sp"
		case isa.ZR:
			return "xzr"
		case isa.PC:
			return "pc"
		}
		return "x" + strconv.Itoa(int(r))
	}
	prefix := "r"
	if arch == object.X86 {
		prefix = "e"
	}
	switch {
	case r == isa.PC:
		return prefix + "ip"
	case r < 8:
		return prefix + x86Names[r]
	}
	return "r" + strconv.Itoa(int(r))
}

// registerNames lists the registers of a set, by number.
func registerNames(arch object.Arch, set uint64) []string {
	out := []string{}
	for r := isa.Reg(0); r < 64 && set>>r != 0; r++ {
		if set>>r&1 != 0 {
			out = append(out, registerName(arch, r))
		}
	}
	return out
}

// memoryExpression writes an address as a sum, for example "rax + rbx*4 + 0x10".
func memoryExpression(arch object.Arch, m isa.Mem) string {
	if m.Base == isa.PC {
		return fmt.Sprintf("0x%x", uint64(m.Disp))
	}
	var parts []string
	if m.Base != isa.NoReg {
		parts = append(parts, registerName(arch, m.Base))
	}
	if m.Index != isa.NoReg {
		s := registerName(arch, m.Index)
		if m.Scale > 1 {
			s += "*" + strconv.Itoa(int(m.Scale))
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("0x%x", uint64(m.Disp)))
	} else if m.Disp > 0 {
		parts = append(parts, fmt.Sprintf("0x%x", m.Disp))
	}
	s := strings.Join(parts, " + ")
	if m.Disp < 0 && (m.Base != isa.NoReg || m.Index != isa.NoReg) {
		s += fmt.Sprintf(" - 0x%x", uint64(-m.Disp))
	}
	if m.Segment != 0 {
		s = string(m.Segment) + "s:" + s
	}
	return s
}
