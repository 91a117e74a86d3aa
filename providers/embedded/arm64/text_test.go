package arm64

import (
	"encoding/binary"
	"testing"

	"rea/providers/embedded/isa"
)

// TestText shows addresses, symbols, aliases and words that are no instruction.
func TestText(t *testing.T) {
	symbol := func(a uint64) string {
		return map[uint64]string{0x401020: "main", 0x404000: "table"}[a]
	}
	for w, want := range map[uint32]string{
		0x94000008: "bl 0x401020 <main>",
		0xb0000000: "adrp x0, 0x402000",
		0xf0000000: "adrp x0, 0x404000 <table>",
		0xaa0103e0: "mov x0, x1",
		0x910003fd: "mov x29, sp",
		0xd2824680: "mov x0, #0x1234",
		0xa9be7bfd: "stp x29, x30, [sp, #-32]!",
		0xb8617802: "ldr w2, [x0, x1, lsl #2]",
		0xd73f0921: "blraa x9, x1",
		0xd65f0fff: "retab ",
		0xd503245f: "bti c",
		0xf8e00041: "ldaddal x0, x1, [x2]",
		0x9ac014a2: "gmi x2, x5, x0",
		0x4ea21c40: "mov v0.16b, v2.16b",
		0x04a0e3e0: "cntw x0",
		0x00000001: "udf #1",
		0x2f07e600: "movi d0, #0xffffffff00000000",
		0x6f07e7e0: "movi v0.2d, #0xffffffffffffffff",
		0x00c0ffee: ".inst 0x00c0ffee",
	} {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], w)
		mnemonic, operands := New().Text(b[:], 0x401000, symbol)
		if got := mnemonic + " " + operands; got != want {
			t.Errorf("%08x: have %q, want %q", w, got, want)
		}
	}
}

// TestDecode pins down how operands are reported for the classes recovery uses.
func TestDecode(t *testing.T) {
	const none = isa.NoReg
	for _, tt := range []struct {
		name           string
		w              uint32
		class          isa.Class
		flow           isa.Flow
		dst, src, src2 isa.Reg
		imm            int64
		target         uint64
		base, index    isa.Reg
		disp           int64
		reads, writes  uint64
	}{
		{"mov", 0xaa0103e0, isa.Move, isa.Next, 0, 1, none, 0, 0, none, none, 0, 2, 1},
		{"movz", 0xd2a24680, isa.Move, isa.Next, 0, none, none, 0x12340000, 0, none, none, 0, 0, 1},
		{"movk", 0xf2a24680, isa.Insert, isa.Next, 0, 0, none, 0x1234, 0, none, none, 0, 1, 1},
		{"adrp", 0xf0000001, isa.Address, isa.Next, 1, none, none, 0, 0, isa.PC, none, 0x404000, 0, 2},
		{"load", 0xf9400c41, isa.Load, isa.Next, 1, none, none, 0, 0, 2, none, 24, 4, 2},
		{"load_index", 0xb8617802, isa.Load, isa.Next, 2, none, none, 0, 0, 0, 1, 0, 3, 4},
		{"store_pair_pre", 0xa9be7bfd, isa.Store, isa.Next, none, 29, 30, 0, 0, isa.SP, none, -32, 1<<29 | 1<<30 | 1<<31, 1 << 31},
		{"load_pair_post", 0xa8c27bfd, isa.Load, isa.Next, 29, none, 30, 32, 0, isa.SP, none, 0, 1 << 31, 1<<29 | 1<<30 | 1<<31},
		{"compare", 0xf100147f, isa.Compare, isa.Next, none, 3, none, 5, 0, none, none, 0, 8, 0},
		{"cbz", 0xb4000080, isa.Other, isa.CondJump, none, 0, none, 0, 0x401010, none, none, 0, 1, 0},
		{"tbnz", 0x37180081, isa.Other, isa.CondJump, none, 1, none, 3, 0x401010, none, none, 0, 2, 0},
		{"call", 0x94000008, isa.Other, isa.Call, none, none, none, 0, 0x401020, none, none, 0, 0, 1 << 30},
		{"br", 0xd61f0200, isa.Other, isa.IndirectJump, none, 16, none, 0, 0, none, none, 0, 1 << 16, 0},
		{"ret", 0xd65f03c0, isa.Other, isa.Return, none, 30, none, 0, 0, none, none, 0, 1 << 30, 0},
		{"retaa", 0xd65f0bff, isa.Other, isa.Return, none, 30, none, 0, 0, none, none, 0, 1<<30 | 1<<31, 0},
		{"bti", 0xd503245f, isa.EndBranch, isa.Next, none, none, none, 0, 0, none, none, 0, 0, 0},
		{"add_extended", 0x8b21c800, isa.Add, isa.Next, 0, 0, 1, 0, 0, none, none, 0, 3, 1},
		{"brk", 0xd4207d00, isa.Other, isa.Trap, none, none, none, 1000, 0, none, none, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], tt.w)
			var in isa.Inst
			New().Decode(b[:], 0x401000, &in)
			if in.Class != tt.class || in.Flow != tt.flow || in.Dst != tt.dst || in.Src != tt.src || in.Src2 != tt.src2 || in.Imm != tt.imm ||
				in.Target != tt.target || in.Mem.Base != tt.base || in.Mem.Index != tt.index || in.Mem.Disp != tt.disp || in.Reads != tt.reads || in.Writes != tt.writes {
				t.Errorf("have %+v", in)
			}
		})
	}
}
