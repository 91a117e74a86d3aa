package arm64

import (
	"fmt"

	"rea/providers/embedded/ir"
)

// Register numbers of the intermediate representation: X0-X30 are 0-30.
// Vector registers are 128 bits wide; what scalable vectors have beyond that,
// and predicates, is abstract.
const (
	regSP       = 31
	regN        = 32
	regZ        = 33
	regC        = 34
	regV        = 35
	regMonitor  = 36 // the exclusive monitor
	regSystem   = 37 // system registers
	regScalable = 38 // scalable vector and matrix state
	regVec0     = 64
	regCount    = 96
)

// Arch describes the registers of A64.
func (*Decoder) Arch() *ir.Arch { return arch }

var arch = newArch()

func newArch() *ir.Arch {
	a := &ir.Arch{Name: "aarch64", Bits: 64, PC: "pc", Register: make([]ir.Register, regCount)}
	for i := range 31 {
		a.Register[i] = ir.Register{Name: fmt.Sprintf("x%d", i), Bits: 64}
	}
	a.Register[regSP] = ir.Register{Name: "sp", Bits: 64}
	for i, n := range []string{"n", "z", "c", "v"} {
		a.Register[regN+i] = ir.Register{Name: n, Bits: 1}
	}
	for i, n := range []string{"monitor", "system", "scalable"} {
		a.Register[regMonitor+i] = ir.Register{Name: n, Bits: 64, Abstract: true}
	}
	for i := range 32 {
		a.Register[regVec0+i] = ir.Register{Name: fmt.Sprintf("v%d", i), Bits: 128}
	}
	return a
}
