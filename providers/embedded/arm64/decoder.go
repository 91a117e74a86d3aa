// Package arm64 decodes A64 machine code: control flow and operands for
// analysis (Decode), and text in Arm's syntax (Text).
//
// Unallocated encodings are Invalid, so that data among code can be told from
// it. Inst.Op is the instruction word itself: its fields are at fixed places,
// so a consumer that wants more than isa's view reads them there.
package arm64

import (
	"encoding/binary"

	"rea/providers/embedded/isa"
)

// Decoder decodes A64. It holds no mutable state: one value may serve any
// number of goroutines.
type Decoder struct{ forms *formTable }

// New returns an A64 decoder.
func New() *Decoder { return &Decoder{forms: vectorForms()} }

// Syntax implements isa.Decoder.
func (*Decoder) Syntax() string { return "arm" }

// MaxLen implements isa.Decoder.
func (*Decoder) MaxLen() int { return 4 }

// Align implements isa.Decoder.
func (*Decoder) Align() int { return 4 }

// Decode implements isa.Decoder.
func (d *Decoder) Decode(b []byte, addr uint64, in *isa.Inst) {
	reset(addr, in)
	if len(b) < 4 {
		in.Len = uint8(max(1, len(b)))
		return
	}
	w := binary.LittleEndian.Uint32(b)
	in.Op = w
	ok := false
	switch w >> 25 & 15 {
	case 0b1000, 0b1001:
		ok = immediate(w, in)
	case 0b1010, 0b1011:
		ok = branch(w, in)
	case 0b0100, 0b0110, 0b1100, 0b1110:
		if ok = loadStore(w, in); !ok {
			ok = d.extended(w, in)
		}
	case 0b0101, 0b1101:
		if ok = register(w, in); !ok {
			ok = d.extended(w, in)
		}
	case 0b0111, 0b1111:
		ok = d.tabled(w, in)
	case 0b0010:
		ok = d.tabled(w, in)
	case 0b0000:
		if w>>16 == 0 { // udf
			in.Flow, in.Imm, in.HasImm = isa.Trap, int64(w), true
			return
		}
		ok = w>>31 != 0 && d.tabled(w, in)
	}
	if !ok {
		reset(addr, in)
		in.Op = w
		return
	}
	if in.Flow == isa.Invalid {
		in.Flow = isa.Next
	}
}

// extended decodes what the form tables have of other groups.
func (d *Decoder) extended(w uint32, in *isa.Inst) bool {
	if len(d.forms.buckets[w>>bucketShift]) == 0 {
		return false
	}
	reset(in.Addr, in)
	in.Op = w
	return d.tabled(w, in)
}

// Target implements isa.Decoder.
func (d *Decoder) Target(b []byte, addr uint64, n int) uint64 {
	if len(b) >= 4 && b[3]&0x7c == 0x14 { // b, bl
		return addr + uint64(signed(binary.LittleEndian.Uint32(b), 0, 26)<<2)
	}
	var in isa.Inst
	d.Decode(b, addr, &in)
	return in.Target
}

func reset(addr uint64, in *isa.Inst) {
	*in = isa.Inst{}
	in.Addr, in.Len = addr, 4
	in.Dst, in.Src, in.Src2 = isa.NoReg, isa.NoReg, isa.NoReg
	in.Mem.Base, in.Mem.Index = isa.NoReg, isa.NoReg
}

// Register fields.

func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }
func ra(w uint32) uint32 { return w >> 10 & 31 }

// zr is a register field whose 31 means zero.
func zr(n uint32) isa.Reg {
	if n == 31 {
		return isa.ZR
	}
	return isa.Reg(n)
}

// bit is the membership bit of a register field whose 31 means zero.
func bit(n uint32) uint64 { return 1 << n & 0x7fffffff }

// spBit is the membership bit of a register field whose 31 means SP.
func spBit(n uint32) uint64 { return 1 << n }

// size is 8 or 4 by the sf bit.
func size(w uint32) uint8 { return uint8(4 << (w >> 31)) }

// signed is the value of an n-bit two's complement field at bit lo.
func signed(w uint32, lo, n uint) int64 {
	return int64(int32(w<<(32-lo-n)) >> (32 - n))
}
