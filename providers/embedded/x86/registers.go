package x86

import (
	"fmt"

	"rea/providers/embedded/ir"
)

// Register numbers of the intermediate representation. General registers have
// their encoding's numbers. Vector registers are 512 bits wide whatever an
// instruction uses of them.
const (
	regCF     = 16
	regPF     = 17
	regAF     = 18
	regZF     = 19
	regSF     = 20
	regOF     = 21
	regDF     = 22
	regFSBase = 24
	regGSBase = 25
	regFPU    = 26 // x87 and MMX state, abstract
	regSystem = 27 // control, debug, segment and model-specific registers, abstract
	regMask0  = 32
	regVec0   = 64
	regUpper  = 96 // general registers 16 to 31
	regCount  = 112
)

const vectorBits = 512

// Arch describes the registers of the mode.
func (d *Decoder) Arch() *ir.Arch { return archs[d.mode] }

var archs = [2]*ir.Arch{newArch("x86", 32), newArch("x86-64", 64)}

func newArch(name string, bits uint16) *ir.Arch {
	a := &ir.Arch{Name: name, Bits: bits, PC: "rip", Register: make([]ir.Register, regCount)}
	set := func(n int, name string, bits uint16, abstract bool) {
		a.Register[n] = ir.Register{Name: name, Bits: bits, Abstract: abstract}
	}
	general, vectors := regNames[3][:16], 32
	if bits == 32 {
		a.PC = "eip"
		general, vectors = regNames[2][:8], 8
	}
	for i, n := range general {
		set(i, n, bits, false)
	}
	for n, name := range map[int]string{regCF: "cf", regPF: "pf", regAF: "af", regZF: "zf", regSF: "sf", regOF: "of", regDF: "df"} {
		set(n, name, 1, false)
	}
	if bits == 64 {
		for i, n := range regNames[3][16:] {
			set(regUpper+i, n, bits, false)
		}
	}
	set(regFSBase, "fs_base", bits, false)
	set(regGSBase, "gs_base", bits, false)
	set(regFPU, "fpu", 64, true)
	set(regSystem, "system", 64, true)
	for i := range 8 {
		set(regMask0+i, fmt.Sprintf("k%d", i), 64, false)
	}
	for i := range vectors {
		set(regVec0+i, fmt.Sprintf("v%d", i), vectorBits, false)
	}
	return a
}
