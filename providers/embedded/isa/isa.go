// Package isa is the view of machine code that recovery needs, the same for
// every architecture: length, control flow, registers touched and memory
// addressed. Text and full semantics live with the architecture's decoder.
package isa

// Flow says where control goes after an instruction.
type Flow uint8

const (
	Invalid      Flow = iota // not decodable; Len says how far to skip
	Next                     // falls through
	Jump                     // direct, unconditional: Target
	CondJump                 // direct, conditional: Target, or falls through
	IndirectJump             // through a register or memory
	Call                     // direct: Target, returns to the next instruction
	IndirectCall             // through a register or memory
	Return
	Trap    // ud2, hlt, int3, brk, udf: does not continue
	Syscall // continues
)

// Reg is an architecture register number: a full-width general register,
// 0-15 on IA-32 and x86-64 (RAX…R15), up to 31 with APX, 0-30 on AArch64 (X0…X30). See the constants.
type Reg uint8

const (
	NoReg Reg = 0xff
	PC    Reg = 0xfe // rip-relative base
	SP    Reg = 31   // AArch64 SP; on x86 SP is register 4
	ZR    Reg = 32   // AArch64 zero register
)

// Condition numbers below 16 are the architecture's own condition codes (x86:
// the low nibble of Jcc; AArch64: the cond field). The ones from 16 on test a
// register instead of flags.
const (
	CondZero     = 16 // x86 jcxz/jecxz/jrcxz; AArch64 cbz: Src == 0
	CondNonZero  = 17 // x86 loop (after the decrement); AArch64 cbnz: Src != 0
	CondBitClear = 18 // AArch64 tbz: bit Imm of Src is 0
	CondBitSet   = 19 // AArch64 tbnz: bit Imm of Src is 1
	CondLoopEQ   = 20 // x86 loope
	CondLoopNE   = 21 // x86 loopne
	CondOther    = 22 // AArch64 cbgt…: a comparison of Src with Src2 or Imm, which the opcode names
)

// Class is the small set of operations recovery reasons about. Everything
// else is Other.
//
// Operands are in three-address form whatever the architecture writes: `add
// eax, ebx` has Dst eax, Src eax, Src2 ebx; `add eax, 4` has Dst eax, Src eax,
// Imm 4. Compare and Test have no Dst: Src is the first operand, Src2 or Imm
// the second. Where HasMem is set, the operand that is NoReg is the one in
// memory; for Add…Shift with Dst NoReg memory is both the first source and the
// destination. Operands that are not general registers (vector, segment, flag)
// are NoReg as well, and such instructions are Other unless they are plain
// loads and stores, which AArch64 SIMD and x86 vector moves are not: they are
// Other with HasMem.
//
// Load-pair and store-pair (on x86 pop2 and push2, Pop and Push) are Load with Dst and Src2 as the two destinations
// and Store with Src and Src2; Mem.Size covers both. An exclusive store is a
// Store whose Dst is the status register.
//
// A sub-register write (al, ah, ax) names the full register in Dst, with Size
// 1 or 2; it is in Writes but, not being a use of the old value, not in Reads.
// 32-bit writes clear the upper half on both architectures. Reads leaves out
// registers whose value cannot matter (`xor eax, eax`).
type Class uint8

const (
	Other   Class = iota
	Move          // Dst ← Src or Imm
	Load          // Dst ← [Mem]
	Store         // [Mem] ← Src or Imm
	Address       // Dst ← address of Mem (lea, adr, adrp: Mem is the address)
	Add           // Dst ← Src (+ Src2) + Imm
	Sub
	And
	Or
	Xor
	Shift // left by Imm (negative: right, arithmetic when Signed); by Src2: left, or right when Amount is 1
	Compare
	Test
	Push
	Pop
	Extend // sign or zero extension: Dst ← Src, or ← [Mem] when HasMem
	Nop
	EndBranch  // endbr64, bti
	Leave      // x86 leave
	CondSelect // cmov, csel: Dst ← Cond ? Src : Src2
	Insert     // AArch64 movk: Dst ← Src with 16 bits replaced by Imm, from bit Amount on
)

// Mem is a memory operand: [Base + Index*Scale + Disp]. For Base == PC the
// decoder has already folded the program counter in: Disp is the absolute
// address. An address without registers has Base NoReg and Disp the address.
// AArch64 writeback shows in Writes: the base is written; pre-indexed forms
// have the offset in Disp, post-indexed forms access [Base] (Disp 0) and have
// the increment in Imm. A vector index (gather, scatter) is NoReg.
type Mem struct {
	Base, Index Reg
	Scale       uint8
	Size        uint8 // bytes accessed, 0 when unknown
	Segment     uint8 // x86 segment override: 'f' or 'g' (fs, gs), else 0
	Disp        int64
}

// Inst is one decoded instruction. It is a value without pointers so that a
// decoder can fill it in place, instruction after instruction, without garbage.
type Inst struct {
	Addr   uint64
	Target uint64 // of direct branches and calls
	Imm    int64  // immediate operand, sign extended
	Mem    Mem
	Writes uint64 // bit r: general register r is written (bit 31/4: SP)
	Reads  uint64
	Op     uint32 // the decoder's own opcode number
	Len    uint8
	Flow   Flow
	Class  Class
	Cond   uint8 // condition code of CondJump and CondSelect, the architecture's own numbering
	Dst    Reg
	Src    Reg
	Src2   Reg
	Size   uint8 // operand size in bytes of Dst/Src
	// SrcSize is the width in bytes of the source that is extended: of Extend,
	// and of Src2 in an AArch64 extended-register Add or Sub. Otherwise 0.
	SrcSize uint8
	Amount  uint8 // left shift of Src2 before it is used (AArch64); bit position of Insert
	HasMem  bool
	HasImm  bool
	Signed  bool // sign-extending load or Extend
}

// Decoder decodes one architecture in one mode.
type Decoder interface {
	// Decode fills in from the bytes at addr. b should hold at least
	// MaxLen bytes where the section has them. It always sets Len ≥ 1 and never
	// panics; undecodable bytes give Flow Invalid.
	Decode(b []byte, addr uint64, in *Inst)
	// Target is the Target that Decode finds for the direct branch or call of n
	// bytes at addr.
	Target(b []byte, addr uint64, n int) uint64
	// Text renders mnemonic and operands, in the syntax named by Syntax.
	// symbol, when not nil, names an address.
	Text(b []byte, addr uint64, symbol func(uint64) string) (mnemonic, operands string)
	Syntax() string // "intel" or "arm"
	MaxLen() int
	Align() int // 1 on x86, 4 on AArch64
}
