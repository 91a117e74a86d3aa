// Package ir is the intermediate representation that analyses of machine code
// share: three-address code whose statements say everything an instruction
// does, for every architecture in the same terms.
//
// # Values
//
// A Value is a constant, a register or a temporary, and has a width in bits.
// Registers are always named whole: what an architecture calls al or w0 is an
// Extract of the low bits, and a write to it is a write of the whole register
// with the other bits as the architecture leaves them (kept, or cleared). So a
// register number is a variable, and no two variables overlap. Condition flags
// are registers of one bit. A temporary is assigned once.
//
// Numbers are two's complement of their width; signedness is a matter of the
// operation. Addresses are 64 bits wide on 64-bit architectures, 32 on IA-32.
//
// # Statements
//
// An Inst assigns Dst the result of Op applied to A, B and C, or stores,
// branches or traps. Operands of arithmetic have the width of the result
// unless the operation says otherwise. Statements of one machine instruction
// take effect in order.
//
// Three things are explicit so that nothing is left unsaid:
//
//   - Undef gives a value the architecture leaves undefined.
//   - Opaque stands for effects that are not modelled: it names every register
//     (and temporary) it may write and those it reads, and whether it reads or
//     writes memory. Those are all its effects.
//   - Trap ends the instruction with an exception when its condition holds.
//
// Not modelled are: atomicity and memory order; faults of memory accesses;
// interrupts; the alignment checks of vector moves; caches. Floating-point,
// most vector and all system instructions are Opaque.
//
// # Control flow
//
// Branch, Jump, Call and Return end a machine instruction when taken. What a
// call changes beyond what the instruction itself does is not part of the
// code: it is a matter of calling conventions. A repeated string instruction
// is one iteration and a Branch to the instruction itself.
package ir

import "fmt"

// Op is an operation.
type Op uint8

const (
	Undef Op = iota // Dst is undefined
	Copy            // A

	Add
	Sub
	Mul  // low half
	DivU // unsigned; by zero: 0
	DivS // signed, toward zero; by zero: 0; minimum by -1: minimum
	RemU // A - A/B*B
	RemS
	And
	Or
	Xor
	Not
	Neg
	Shl  // A << B; 0 when B is the width or more. B may have any width
	ShrU // logical
	ShrS // arithmetic; all sign bits when B is the width or more
	RotL // by B modulo the width
	RotR

	Eq // one bit; A and B of equal width
	Ne
	LtU
	LeU
	LtS
	LeS

	Zext    // A, widened
	Sext    // A, widened
	Extract // bits of A from the constant B on
	Concat  // A above B; the width is the sum
	Select  // A (one bit) ? B : C

	PopCount
	CountLeading  // zeros from the top; the width when A is zero
	CountTrailing // zeros from the bottom; the width when A is zero
	ReverseBits
	ReverseBytes

	Load  // memory at A
	Store // memory at A becomes B

	Branch // to B when A (one bit)
	Jump   // to A
	Call   // A
	Return // to A
	Trap   // exception B when A (one bit)

	Opaque // see Effect

	opCount
)

var opNames = [opCount]string{"undef", "copy", "add", "sub", "mul", "divu", "divs", "remu", "rems", "and", "or", "xor", "not", "neg", "shl", "shru", "shrs",
	"rotl", "rotr", "eq", "ne", "ltu", "leu", "lts", "les", "zext", "sext", "extract", "concat", "select", "popcount", "clz", "ctz", "rbit", "rev",
	"load", "store", "branch", "jump", "call", "return", "trap", "opaque"}

func (o Op) String() string {
	if o < opCount {
		return opNames[o]
	}
	return fmt.Sprintf("op%d", uint8(o))
}

// Kind says what a Value is.
type Kind uint8

const (
	None Kind = iota
	Const
	Reg
	Temp
)

// Value is an operand or a destination.
type Value struct {
	Kind Kind
	Bits uint16
	N    uint64 // the constant (zero extended), or the number of the register or temporary
}

// Constant is a number of so many bits; wider constants than 64 bits are zero extended.
func Constant(v uint64, bits uint16) Value {
	if bits < 64 {
		v &= 1<<bits - 1
	}
	return Value{Const, bits, v}
}

// Bit is a constant of one bit.
func Bit(v bool) Value {
	if v {
		return Value{Const, 1, 1}
	}
	return Value{Const, 1, 0}
}

// IsConst reports whether v is the constant n.
func (v Value) IsConst(n uint64) bool { return v.Kind == Const && v.N == n }

// Inst is one statement.
type Inst struct {
	Op      Op
	Dst     Value // Kind None for Store, control flow, Trap and Opaque
	A, B, C Value
	Effect  int32 // of Opaque: index into Code.Effects
}

// Effect is what an Opaque statement does.
type Effect struct {
	Name   string // the machine instruction
	Reads  []Value
	Writes []Value
	// Memory accessed beyond what other statements say.
	ReadsMemory, WritesMemory bool
}

// Code is a sequence of statements. The zero value is empty and ready for use.
type Code struct {
	Insts   []Inst
	Effects []Effect
	Temps   uint32 // numbers given out
}

// Reset empties the code and keeps its storage.
func (c *Code) Reset() {
	c.Insts, c.Effects, c.Temps = c.Insts[:0], c.Effects[:0], 0
}

// Arch describes the registers of an architecture.
type Arch struct {
	Name     string
	Bits     uint16 // of an address
	Register []Register
	PC       string
}

// Register is a variable of an architecture. Bits 0 marks a number not in use.
// Abstract registers stand for state whose value is not modelled.
type Register struct {
	Name     string
	Bits     uint16
	Abstract bool
}

// Reg is the register numbered n.
func (a *Arch) Reg(n int) Value {
	return Value{Reg, a.Register[n].Bits, uint64(n)}
}
