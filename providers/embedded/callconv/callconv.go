// Package callconv knows calling conventions: which registers carry arguments
// and results, which a function keeps for its caller, what lies where on the
// stack. It also judges, from the SSA form of a function, what the function
// does with them.
//
// Registers have the numbers of package ir: on x86 the encoding's numbers for
// general registers, on AArch64 X0-X30 and 31 for SP; vector registers from 64.
package callconv

import (
	"slices"

	"rea/providers/embedded/ssa"
	"rea/providers/format/object"
)

// Convention is one calling convention.
type Convention struct {
	Name         string
	Ints         []int // integer and pointer arguments, in order
	Floats       []int // floating-point arguments, in order
	Results      []int // integer results, in order
	FloatResults []int
	// Saved are the registers a function keeps for its caller.
	Saved ssa.Set
	// Together: the n-th argument takes the n-th register of whichever kind.
	Together bool
	// Shadow is what the caller leaves above the return address for its callee
	// to keep register arguments in; stack arguments lie above it.
	Shadow int64
	// Hidden are registers that carry something besides arguments: the place
	// of a returned structure, a closure. On IA-32 they carry arguments in some
	// conventions.
	Hidden []int

	SP, FP     int
	Word       int64
	CallPushes bool
}

// Vector is the number of the first vector register.
const Vector = 64

func vectors(from, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = Vector + from + i
	}
	return out
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

const (
	ax = iota
	cx
	dx
	bx
	sp
	bp
	si
	di
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
)

func set(regs ...int) ssa.Set { return ssa.Set{}.With(regs...) }

// SystemV is the convention of x86-64 outside Windows.
func SystemV() *Convention {
	return &Convention{
		Name: "System V AMD64", Ints: []int{di, si, dx, cx, r8, r9}, Floats: vectors(0, 8), Results: []int{ax, dx}, FloatResults: vectors(0, 2),
		Saved: set(bx, bp, r12, r13, r14, r15), Hidden: []int{r10}, SP: sp, FP: bp, Word: 8, CallPushes: true,
	}
}

// Microsoft64 is the convention of x86-64 Windows.
func Microsoft64() *Convention {
	return &Convention{
		Name: "Microsoft x64", Ints: []int{cx, dx, r8, r9}, Floats: vectors(0, 4), Results: []int{ax}, FloatResults: vectors(0, 1), Together: true,
		Saved: set(bx, bp, si, di, r12, r13, r14, r15), Shadow: 32, SP: sp, FP: bp, Word: 8, CallPushes: true,
	}
}

// AAPCS64 is the convention of AArch64, with its variants of Apple and Windows
// alike in what is modelled here.
func AAPCS64(name string) *Convention {
	return &Convention{
		Name: name, Ints: sequence(8), Floats: vectors(0, 8), Results: []int{0, 1}, FloatResults: vectors(0, 4),
		Saved: set(19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29), Hidden: []int{8}, SP: 31, FP: 29, Word: 8,
	}
}

// GoAMD64 is Go's register convention on x86-64 (ABIInternal, since Go 1.17).
func GoAMD64() *Convention {
	regs := []int{ax, bx, cx, di, si, r8, r9, r10, r11}
	return &Convention{
		Name: "Go ABIInternal", Ints: regs, Floats: vectors(0, 15), Results: regs, FloatResults: vectors(0, 15),
		Saved: set(bp, r14), Hidden: []int{dx}, SP: sp, FP: bp, Word: 8, CallPushes: true,
	}
}

// GoARM64 is Go's register convention on AArch64 (since Go 1.18).
func GoARM64() *Convention {
	return &Convention{
		Name: "Go ABIInternal", Ints: sequence(16), Floats: vectors(0, 16), Results: sequence(16), FloatResults: vectors(0, 16),
		Saved: set(28, 29), Hidden: []int{26}, SP: 31, FP: 29, Word: 8,
	}
}

// GoStack is Go's convention before registers were used, and on IA-32: all
// arguments and results lie on the stack.
func GoStack(word int64, pushes bool, sp, fp int) *Convention {
	return &Convention{Name: "Go ABI0", Saved: set(fp), SP: sp, FP: fp, Word: word, CallPushes: pushes}
}

// X86 is the common ground of the conventions of IA-32; which one a function
// follows, Judge tells.
func X86() *Convention {
	return &Convention{
		Name: "cdecl", Results: []int{ax, dx}, Saved: set(bx, bp, si, di), Hidden: []int{ax, dx, cx}, SP: sp, FP: bp, Word: 4, CallPushes: true,
	}
}

// Of is the convention usual for the code of an image.
func Of(im *object.Image) *Convention {
	goCode := im.GoVersion != ""
	switch im.Arch {
	case object.ARM64:
		switch {
		case goCode:
			return GoARM64()
		case im.Format == object.PE:
			return AAPCS64("Microsoft ARM64")
		}
		return AAPCS64("AAPCS64")
	case object.X86_64:
		switch {
		case goCode:
			return GoAMD64()
		case im.Format == object.PE:
			return Microsoft64()
		}
		return SystemV()
	}
	if goCode {
		return GoStack(4, true, sp, bp)
	}
	return X86()
}

// Effect is what a call by the convention may do.
func (c *Convention) Effect() ssa.Effect {
	return ssa.Effect{Keeps: c.Saved.With(c.SP), Args: c.Arguments(), StackArgs: 8, Shadow: c.Shadow}
}

// Arguments are the registers that may carry arguments: those for integers,
// then those for floating-point numbers. Where a convention has none, some of
// its relatives pass arguments in the Hidden ones.
func (c *Convention) Arguments() []int {
	if len(c.Ints) == 0 {
		return c.Hidden
	}
	return slices.Concat(c.Ints, c.Floats)
}

// Given are the integer arguments among the operands of a call: those in
// registers in order, then the words on the stack.
func (c *Convention) Given(operands []ssa.ID) []ssa.ID {
	n := len(c.Arguments())
	if n > len(operands) {
		return operands
	}
	return slices.Concat(operands[:len(c.Ints)], operands[n:])
}

// StackArgument is the index of the argument that lies on the stack at an
// offset from the stack pointer at entry.
func (c *Convention) StackArgument(offset int64) (index int, ok bool) {
	if c.CallPushes {
		offset -= c.Word
	}
	offset -= c.Shadow
	if offset < 0 || c.Word == 0 {
		return 0, false
	}
	return len(c.Ints) + int(offset/c.Word), true
}
