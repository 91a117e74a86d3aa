// Package x86 decodes IA-32 and x86-64 machine code: lengths, control flow and
// operands for analysis (Decode), and Intel-syntax text (Text). Both read the
// same tables, so they agree on where an instruction ends.
//
// Decoding follows the processors where disassemblers take shortcuts: a REX
// prefix that is not directly before the opcode is ignored rather than an
// instruction of its own, LOCK is undefined on instructions that cannot be
// locked, and FWAIT is always an instruction. Near branches with an operand
// size prefix in 64-bit mode have 16-bit displacements (AMD's reading, which
// binutils shares).
package x86

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"rea/providers/embedded/isa"
)

// Decoder decodes one mode. It holds no mutable state: one value may serve
// any number of goroutines.
type Decoder struct {
	set  *set
	mode int // 0: 32-bit, 1: 64-bit
}

var builtSets = [2]func() *set{
	sync.OnceValue(func() *set { return mustBuild(0) }),
	sync.OnceValue(func() *set { return mustBuild(1) }),
}

// mustBuild compiles the embedded tables. Their correctness is a property of
// the build, which TestTables checks; a faulty table decodes nothing.
func mustBuild(mode int) *set {
	tables, err := readTables()
	if err == nil {
		if s, err := buildSet(tables, mode); err == nil {
			return s
		}
	}
	return &set{entries: make([]entry, 1)}
}

// New returns a decoder for 64-bit code, or for 32-bit code when bits is 32.
func New(bits int) *Decoder {
	mode := 1
	if bits == 32 {
		mode = 0
	}
	return &Decoder{set: builtSets[mode](), mode: mode}
}

// Syntax implements isa.Decoder.
func (d *Decoder) Syntax() string { return "intel" }

// MaxLen implements isa.Decoder.
func (d *Decoder) MaxLen() int { return 15 }

// Align implements isa.Decoder.
func (d *Decoder) Align() int { return 1 }

// window is the bytes an instruction may touch: 14 prefixes, three opcode
// bytes, ModRM, SIB, displacement and immediate, before the limit of 15 applies.
const window = 40

// Decode implements isa.Decoder.
func (d *Decoder) Decode(b []byte, addr uint64, in *isa.Inst) {
	var x encoding
	if len(b) >= window {
		d.decode((*[window]byte)(b), addr, in, &x)
		return
	}
	d.decodeShort(b, addr, in, &x)
}

// Target implements isa.Decoder. The usual forms are read at once.
func (d *Decoder) Target(b []byte, addr uint64, n int) uint64 {
	var rel int64
	switch {
	case n == 5 && len(b) >= 5 && b[0]&0xfe == 0xe8, n == 6 && len(b) >= 6 && b[0] == 0x0f && b[1]&0xf0 == 0x80:
		rel = int64(int32(binary.LittleEndian.Uint32(b[n-4:])))
	case n == 2 && len(b) >= 2 && (b[0] == 0xeb || b[0]&0xf0 == 0x70):
		rel = int64(int8(b[1]))
	default:
		var in isa.Inst
		d.Decode(b, addr, &in)
		return in.Target
	}
	t := addr + uint64(n) + uint64(rel)
	if d.mode == 0 {
		t = uint64(uint32(t))
	}
	return t
}

func (d *Decoder) decodeShort(b []byte, addr uint64, in *isa.Inst, x *encoding) {
	var w [window]byte
	copy(w[:], b)
	d.decode(&w, addr, in, x)
	if int(in.Len) > len(b) {
		invalid(addr, in)
	}
}

func invalid(addr uint64, in *isa.Inst) {
	*in = isa.Inst{Addr: addr, Len: 1, Flow: isa.Invalid, Dst: isa.NoReg, Src: isa.NoReg, Src2: isa.NoReg,
		Mem: isa.Mem{Base: isa.NoReg, Index: isa.NoReg}}
}

// encoding is what the prefixes and the bytes up to the immediate say; Text
// reads it after Decode has filled it.
type encoding struct {
	entry    *entry
	space    space
	prefixes uint16 // prefixLock…
	rexSeen  bool
	rex      uint8 // WRXB; for VEX and EVEX too. Above them B, X and R of the upper sixteen general registers, as in REX2
	vector   uint8 // 0 legacy, 1 VEX, 2 EVEX, 3 XOP
	segment  uint8 // 0, or the override byte where it has effect
	notrack  bool  // the last segment prefix is 3E
	modrm    uint8
	opcode   uint8
	opSize   uint8 // 0: 16, 1: 32, 2: 64
	adSize   uint8
	length   uint8 // vector length field
	prefix   uint8 // mandatory prefix selector
	vvvv     uint8 // 5 bits
	mask     uint8 // EVEX.aaa; of promoted instructions: 4 when flags are left alone
	zero     bool
	bcast    bool
	modrmAt  uint8
	immAt    uint8
	repeat   uint8 // 0, or the last of F2, F3
	promoted bool  // EVEX form of a one-byte or 0F instruction
	narrow   bool  // 32-bit mode: no general register has 64 bits, whatever VEX.W says
}

const (
	prefixLock uint16 = 1 << iota
	prefixRep
	prefixRepne
	prefixData
	prefixAddr
)

// prefixBits maps legacy prefix bytes; 0x8000 marks segment overrides.
var prefixBits = [256]uint16{
	0xf0: prefixLock, 0xf3: prefixRep, 0xf2: prefixRepne, 0x66: prefixData, 0x67: prefixAddr,
	0x26: 0x8000, 0x2e: 0x8000, 0x36: 0x8000, 0x3e: 0x8000, 0x64: 0x8000, 0x65: 0x8000,
}

func (d *Decoder) decode(b *[window]byte, addr uint64, in *isa.Inst, x *encoding) {
	x.narrow = d.mode == 0
	i := 0
	op := b[0]
	// Legacy prefixes and REX.
	if kind := prefixBits[op]; kind != 0 || op&0xf0 == 0x40 && d.mode == 1 {
		for {
			if kind != 0 {
				x.rex, x.rexSeen = 0, false
				if kind == 0x8000 {
					if op >= 0x64 || d.mode == 0 {
						x.segment = op
					}
					x.notrack = op == 0x3e
				} else {
					x.prefixes |= kind
					switch op {
					case 0xf3:
						x.prefix, x.repeat = 2, op
					case 0xf2:
						x.prefix, x.repeat = 3, op
					}
				}
			} else {
				x.rex, x.rexSeen = op&15, true
			}
			i++
			if i == 15 {
				invalid(addr, in)
				return
			}
			op = b[i]
			kind = prefixBits[op]
			if kind == 0 && (op&0xf0 != 0x40 || d.mode == 0) {
				break
			}
		}
		if x.prefix == 0 && x.prefixes&prefixData != 0 {
			x.prefix = 1
		}
	}
	i++

	// Opcode map.
	sp := map1
	switch op {
	case 0x0f:
		sp = map0F
		op = b[i]
		i++
		switch op {
		case 0x38:
			sp = map0F38
			op = b[i]
			i++
		case 0x3a:
			sp = map0F3A
			op = b[i]
			i++
		case 0x0f:
			sp = map3DNow
		}
	case 0xc4, 0xc5, 0x62, 0x8f:
		if (d.mode == 1 && op != 0x8f) || op == 0x8f && b[i]&0x1f >= 8 || op != 0x8f && b[i] >= 0xc0 {
			n := d.vectorPrefix(b, i, op, x)
			if n == 0 {
				invalid(addr, in)
				return
			}
			sp = space(n & 0xff)
			i = n >> 8
			op = b[i]
			i++
		}
	case 0xd5:
		if d.mode == 1 {
			rex := x.rexSeen
			x.rex, x.rexSeen = b[i]&0x7f, true
			sp, op = rex2Space(b[i], b[i+1])
			i += 2
			if sp == spaces || rex {
				invalid(addr, in)
				return
			}
		}
	}
	x.opcode = op
	modrm := b[i]
	x.modrm, x.modrmAt = modrm, uint8(i)

	// Operand and address sizes.
	if d.mode == 1 {
		x.adSize = 2 - uint8(x.prefixes>>4&1)
	} else {
		x.adSize = 1 - uint8(x.prefixes>>4&1)
	}
	switch {
	case x.rex&8 != 0 && d.mode == 1:
		x.opSize = 2
	case x.prefixes&prefixData != 0:
		x.opSize = 0
	default:
		x.opSize = 1
	}

	if sp == map3DNow {
		// The opcode is the byte after the operands.
		n, _ := d.memoryLength(b, i, x)
		op = b[n]
		x.opcode = op
	}
	n := d.set.root[sp][op]
	for n&branchBit != 0 {
		br := d.set.branches[n&^branchBit]
		v := uint8(0)
		switch br.by {
		case dimMod:
			if modrm >= 0xc0 {
				v = 1
			}
		case dimReg:
			v = modrm >> 3 & 7
		case dimRM:
			v = modrm & 7
		case dimPrefix:
			v = x.prefix
		case dimW:
			v = x.rex >> 3 & 1
		case dimLength:
			v = x.length
			if x.vector == 2 && x.bcast && modrm >= 0xc0 {
				v = 2
			}
		case dimOperand:
			v = x.opSize
		case dimAddress:
			v = x.adSize
		case dimBroadcast:
			if x.bcast {
				v = 1
			}
		case dimMask:
			v = x.mask >> 2 & 1
		}
		n = d.set.children[br.first+uint16(v)]
	}
	if n == 0 {
		invalid(addr, in)
		return
	}
	e := &d.set.entries[n]
	if op == 0x90 && sp == map1 && x.rex&0x11 != 0 {
		e = &d.set.entries[d.set.root[map1][0x91]] // xchg r8, rax
	}
	x.entry = e
	if x.prefixes&prefixLock != 0 && (e.flags&flagLock == 0 || modrm >= 0xc0) {
		invalid(addr, in)
		return
	}
	if x.vector != 0 && !x.validVector() || e.flags&flagBound != 0 && !x.validBound() ||
		e.flags&flagSegment != 0 && (modrm>>3&7 > 5 || op == 0x8e && modrm>>3&7 == 1) ||
		e.flags&flagRegisterOnly != 0 && x.rex&0x40 != 0 {
		invalid(addr, in)
		return
	}
	if d.mode == 1 && e.flags&(flagD64|flagF64) != 0 {
		if x.opSize == 1 {
			x.opSize = 2
		}
	}
	if e.flags&flagPrefix != 0 && x.opSize == 0 && x.repeat == 0 {
		x.opSize = 1
	}

	*in = isa.Inst{}
	in.Addr, in.Class, in.Cond, in.Flow = addr, e.class, e.cond, e.flow
	in.Op = uint32(sp)<<8 | uint32(op)
	x.space = sp
	in.Mem.Base, in.Mem.Index = isa.NoReg, isa.NoReg
	in.Size = x.bytes(e.size)

	reads, writes := uint64(e.implicitR), uint64(e.implicitW)
	regs := [8]isa.Reg{isa.NoReg, isa.NoReg, isa.NoReg, isa.NoReg, isa.NoReg, 0, 1} // by slot
	if e.flags&flagModRM != 0 {
		rm := x.rm()
		reg := x.reg()
		if e.flags&flagByteG != 0 && !x.rexSeen && reg >= 4 && reg < 8 && x.vector == 0 {
			reg -= 4
		}
		regs[slotG] = isa.Reg(reg)
		i++
		if modrm >= 0xc0 || e.flags&flagRegisterOnly != 0 {
			if e.flags&flagByteE != 0 && !x.rexSeen && rm >= 4 && rm < 8 && x.vector == 0 {
				rm -= 4
			}
			regs[slotE] = isa.Reg(rm)
		} else {
			i = d.memory(b, i, rm, x, in)
			if e.flags&flagMemory != 0 || e.class == isa.Address {
				if r := in.Mem.Base; r < 32 {
					reads |= 1 << r
				}
				if r := in.Mem.Index; r < 32 {
					reads |= 1 << r
				}
				in.Mem.Size = x.bytes(e.mem)
				in.HasMem = e.class != isa.Nop
			} else {
				in.Mem = isa.Mem{Base: isa.NoReg, Index: isa.NoReg}
			}
		}
		regs[slotB] = isa.Reg(x.vvvv)
	} else {
		z := op&7 | x.rex<<3&8 | x.rex&0x10
		if e.flags&flagByteZ != 0 && !x.rexSeen && z >= 4 {
			z -= 4
		}
		regs[slotZ] = isa.Reg(z)
	}
	reads |= registerSet(e.reads, &regs)
	writes |= registerSet(e.writes, &regs)
	in.Dst, in.Src, in.Src2 = regs[e.dst], regs[e.src], regs[e.src2]

	x.immAt = uint8(i)
	if e.imm != immNone {
		i = x.immediate(b, i, d, addr, in)
	}
	if sp == map3DNow {
		i++
	}
	if i > 15 {
		invalid(addr, in)
		return
	}
	in.Len = uint8(i)
	if in.Mem.Base == isa.PC {
		in.Mem.Disp += int64(addr) + int64(i)
		if x.adSize == 1 {
			in.Mem.Disp = int64(uint32(in.Mem.Disp))
		}
	}
	in.Reads, in.Writes = reads, writes
	if e.class != isa.Other || e.flow != isa.Next || e.flags&(flagRep|flagRepz) != 0 {
		d.classify(x, in)
	}
}

// rm is the number of a register in ModRM.rm, reg of one in ModRM.reg: of
// vectors without bit 4 of rm.
func (x *encoding) rm() uint8  { return x.modrm&7 | x.rex<<3&8 | x.rex&0x10 }
func (x *encoding) reg() uint8 { return x.modrm>>3&7 | x.rex<<1&8 | x.rex>>2&0x10 }

// vectorReg is the number of a vector register in ModRM.reg: REX2 reaches no more of them than REX.
func (x *encoding) vectorReg() uint8 {
	if x.vector != 2 {
		return x.reg() & 15
	}
	return x.reg()
}

// registerSet turns a set of slots into a set of registers; a slot without a
// register contributes nothing.
func registerSet(set uint8, regs *[8]isa.Reg) uint64 {
	var out uint64
	for set &^= 1 << slotNone; set != 0; set &= set - 1 {
		if r := regs[bits.TrailingZeros8(set)&7]; r < 32 {
			out |= 1 << r
		}
	}
	return out
}

// bytes is the size in bytes a size letter stands for in this encoding.
func (x *encoding) bytes(s sizeKind) uint8 {
	switch s {
	case szB, szL:
		return 1
	case szW:
		return 2
	case szD:
		return 4
	case szQ:
		return 8
	case szV, szS:
		return 2 << x.opSize
	case szZ:
		return 2 << min(x.opSize, 1)
	case szY:
		if x.narrow {
			return 4
		}
		return 4 << (x.rex >> 3 & 1)
	case szNone:
		return 0
	case szT:
		return 10
	case szO:
		return 16
	case szN:
		return 32
	case szU:
		return 64
	case szX:
		return 16 << x.vectorLength()
	case szH:
		return 8 << x.vectorLength()
	case szI:
		return 4 << x.vectorLength()
	case szJ:
		return 2 << x.vectorLength()
	case szP:
		return 2<<x.opSize + 2
	case szA:
		return 4 << x.opSize
	case szK:
		return 8
	}
	return 0
}
