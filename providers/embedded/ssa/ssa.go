// Package ssa turns the machine code of one function into static single
// assignment form over the statements of package ir.
//
// # Variables
//
// A variable is a register of the architecture or a cell of the stack frame.
// Cells are runs of bytes at a constant distance from the stack pointer at
// entry (Base 0) or from the stack pointer after it was aligned (Base 1) that
// are accessed directly; accesses that overlap share a cell, parts of it are
// extracted and joined like parts of registers. Memory elsewhere is no
// variable: a Load is a value of its own.
//
// # Values
//
// Leaves are made at a place: Entry (a variable at entry), Phi, Load, After
// (what a variable holds after a call or an unmodelled effect) and Unknown.
// Const and Expr are functions of other values and belong to no place: equal
// ones are one value. Effects (Store, Call, Opaque and the transfers that end a
// block) produce nothing themselves; a Block lists them with its loads in
// order of execution.
//
// # Invariants (Check)
//
//   - every operand is a value, with the width the operation asks for;
//   - a phi has one operand for every predecessor of its block, in their order;
//   - the leaves under a use dominate it (under the operand of a phi: the end of
//     the predecessor);
//   - blocks are in reverse postorder, each but the root after its immediate
//     dominator; block 0 is the root, which only leads to the entry and to
//     blocks that nothing is known to lead to.
//
// # Assumptions
//
// A call changes what the calling convention lets it change, and cells whose
// address is known to others. The address of an object in the frame reaches
// from where it points upwards to the end of the frame, not below and not to
// the places where registers were saved. The two bases do not overlap.
// A repeated string instruction is one unmodelled effect.
package ssa

import (
	"errors"
	"fmt"

	"rea/providers/embedded/ir"
)

// ID numbers a value; 0 is none.
type ID uint32

// Var numbers a variable: registers first, as in ir.Arch, then cells.
type Var int32

// Kind says what a value is.
type Kind uint8

const (
	Invalid Kind = iota
	Const        // N
	Expr         // Op of Args
	Entry        // of Var
	Phi          // List, one for each predecessor
	Load         // memory at Args[0]
	After        // Var after the effect Args[0]
	Unknown      // of Var
	Store        // memory at Args[0] becomes Args[1]
	Call         // Args[0]; List: the registers of Effect.Args, then stack arguments; 0 where not known
	Opaque       // List: what it reads
	Return       // to Args[0]; List: registers of Input.Results
	Jump         // to Args[0]; List: registers of Input.Arguments, when it leaves the function
	Branch       // when Args[0]
)

var kindNames = [...]string{"invalid", "const", "expr", "entry", "phi", "load", "after", "unknown", "store", "call", "opaque", "return", "jump", "branch"}

func (k Kind) String() string { return kindNames[k] }

// Leaf says whether values of the kind are made at a place and used.
func (k Kind) Leaf() bool { return k >= Entry && k <= Unknown }

// Value is one value or effect.
type Value struct {
	Kind  Kind
	Op    ir.Op // of Expr
	Bits  uint16
	Block int32 // of leaves and effects
	Var   Var   // of Entry, Phi, After, Unknown; of Load and Store: the cell accessed, or NoVar
	Addr  uint64
	N     uint64 // of Const; of Extract the lowest bit
	Args  [3]ID
	list  lohi
}

// NoVar is no variable.
const NoVar Var = -1

type lohi struct{ lo, hi uint32 }

// Block is a basic block.
type Block struct {
	Start, End   uint64
	Preds, Succs []int32
	Phis         []ID
	Code         []ID // effects and loads
	// Taken is the successor when the Branch that ends the block is taken, -1
	// when it does not end in one.
	Taken int32
	Idom  int32

	pre, post int32 // numbers of a walk over the dominator tree
}

// Cell is a variable of the stack frame: bytes [Offset, Offset+Size) from its base.
type Cell struct {
	Base    uint8
	Exposed bool // its address, or that of something below it, is known to others
	Saved   bool // holds a register of the caller
	Offset  int64
	Size    int64
}

// Access is one direct access to the frame.
type Access struct {
	Addr   uint64
	Base   uint8
	Offset int64
	Size   int64
	Write  bool
	Cell   Var // NoVar when the bytes are not followed
	Value  ID  // read or written
}

// Point is the machine state before an instruction.
type Point struct {
	Addr  uint64
	Block int32
	Regs  []ID // by register; 0 for those that do not hold numbers
}

// Func is a function in SSA form: immutable once built.
type Func struct {
	Arch     *ir.Arch
	Blocks   []Block
	Values   []Value // Values[0] is unused
	Cells    []Cell
	Accesses []Access
	Points   []Point
	// FrameKnown: the stack pointer is a known distance from its value at
	// entry wherever the function uses it.
	FrameKnown bool
	// Escapes is the lowest frame offset whose address others may know, by
	// base; math.MaxInt64 when none is.
	Escapes [2]int64
	// FrameLow is the lowest offset from the stack pointer at entry that it takes.
	FrameLow int64
	// Notes say what was not followed.
	Notes []string

	lists []ID
}

// List is the variable-length part of a value's operands.
func (f *Func) List(v ID) []ID {
	l := f.Values[v].list
	return f.lists[l.lo:l.hi]
}

// Registers is the number of variables that are registers.
func (f *Func) Registers() int { return len(f.Arch.Register) }

// CellOf is the cell that v is.
func (f *Func) CellOf(v Var) *Cell {
	if k := int(v) - f.Registers(); k >= 0 && k < len(f.Cells) {
		return &f.Cells[k]
	}
	return nil
}

// Operands calls visit for every operand of v.
func (f *Func) Operands(v ID, visit func(ID)) {
	x := &f.Values[v]
	for _, a := range x.Args {
		if a != 0 {
			visit(a)
		}
	}
	for _, a := range f.List(v) {
		if a != 0 {
			visit(a)
		}
	}
}

// Dominates says whether block a dominates block b.
func (f *Func) Dominates(a, b int32) bool {
	return f.Blocks[a].pre <= f.Blocks[b].pre && f.Blocks[b].post <= f.Blocks[a].post
}

// BlockAt is the block that starts at addr.
func (f *Func) BlockAt(addr uint64) (int32, bool) {
	for i := range f.Blocks {
		if i > 0 && f.Blocks[i].Start == addr {
			return int32(i), true
		}
	}
	return 0, false
}

// Lifter translates machine code.
type Lifter interface {
	Lift(b []byte, addr uint64, c *ir.Code) int
	Arch() *ir.Arch
}

// SourceBlock is a basic block of the input. To are indices of blocks. Only
// its last instruction should transfer control; what others do is ignored.
type SourceBlock struct {
	Start, End uint64
	To         []int
	// Taken is the index of the block a conditional branch at the end leads to, or -1.
	Taken int
	// Pad: entered by the unwinder, with only saved registers intact.
	Pad bool
}

// Effect is what a call does.
type Effect struct {
	Keeps Set   // registers that have their values afterwards
	Args  []int // registers that may hold arguments
	// StackArgs is the number of words above the return address (where the
	// architecture pushes one) and Shadow that may be arguments.
	StackArgs int
	Shadow    int64
	// Pops is what the callee removes from the stack besides the return address.
	Pops int64
	// Sets are registers that the callee is known to set.
	Sets []Setting
	// Pure: it neither writes memory nor keeps addresses.
	Pure bool
}

// Setting is a register with a known value.
type Setting struct {
	Reg   int
	Value uint64
}

// Set is a set of registers.
type Set [2]uint64

// Has says whether r is in s.
func (s Set) Has(r int) bool { return r < 128 && s[r>>6]>>(r&63)&1 == 1 }

// With is s and registers more.
func (s Set) With(regs ...int) Set {
	for _, r := range regs {
		s[r>>6] |= 1 << (r & 63)
	}
	return s
}

// Input is a function to build.
type Input struct {
	Entry  uint64
	Blocks []SourceBlock // by Start
	Bytes  func(addr uint64, n int) []byte
	Code   Lifter
	SP     int // the stack pointer
	// CallPushes: a call pushes its return address.
	CallPushes bool
	Call       func(site uint64) Effect
	Saved      Set   // registers a function keeps for its caller
	Arguments  []int // registers that may hold arguments of a function that is jumped to
	Results    []int // registers that may hold results
	// Shared are further registers through which a call may learn an address.
	Shared []int
	// Observe are addresses before which the registers are wanted, sorted.
	Observe []uint64
	Limits  Limits
}

// Limits bound one function. Zero means the default.
type Limits struct {
	Blocks, Statements, Values, Cells int
}

func (l Limits) withDefaults() Limits {
	def := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	def(&l.Blocks, 1<<17)
	def(&l.Statements, 1<<20)
	def(&l.Values, 1<<19)
	def(&l.Cells, 1024)
	return l
}

// LimitError says that a function is larger than the bound.
type LimitError struct {
	What  string
	Bound int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the function has more than %d %s", e.Bound, e.What)
}

// ErrEntry says that no block starts at the entry.
var ErrEntry = errors.New("no block starts at the entry")
