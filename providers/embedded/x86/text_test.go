package x86

import (
	"encoding/hex"
	"testing"

	"rea/providers/embedded/isa"
)

// TestText shows the conventions that a comparison with another disassembler
// evens out: absolute addresses, symbols, prefixes, what can't be decoded.
func TestText(t *testing.T) {
	symbol := func(a uint64) string {
		return map[uint64]string{0x401020: "main", 0x404028: "stdout"}[a]
	}
	for _, tt := range []struct {
		bytes string
		bits  int
		addr  uint64
		want  string
	}{
		{"e81b000000", 64, 0x401000, "call 0x401020 <main>"},
		{"488b0521300000", 64, 0x401000, "mov rax, qword ptr [0x404028 <stdout>]"},
		{"8b0d28404000", 32, 0x401000, "mov ecx, dword ptr [0x404028 <stdout>]"},
		{"64488b042528000000", 64, 0x401000, "mov rax, qword ptr fs:[0x28]"},
		{"f0480fb10a", 64, 0x401000, "lock cmpxchg qword ptr [rdx], rcx"},
		{"f348ab", 64, 0x401000, "rep stos qword ptr es:[rdi], rax"},
		{"62f17c4858c1", 64, 0x401000, "vaddps zmm0, zmm0, zmm1 "},
		{"62f1744958c2", 64, 0x401000, "vaddps zmm0{k1}, zmm1, zmm2"},
		{"f30f1efa", 64, 0x401000, "endbr64 "},
		{"f30f1ec8", 64, 0x401000, "rdsspd eax"},
		{"f3480f1ec8", 64, 0x401000, "rdsspq rax"},
		{"f3480faee9", 64, 0x401000, "incsspq rcx"},
		{"c5f877", 64, 0x401000, "vzeroupper "},
		{"06", 64, 0x401000, "(bad) "},
		{"4889", 64, 0x401000, "(bad) "},
	} {
		b, err := hex.DecodeString(tt.bytes)
		if err != nil {
			t.Fatal(err)
		}
		mnemonic, operands := New(tt.bits).Text(b, tt.addr, symbol)
		if got := mnemonic + " " + operands; got != tt.want && got+" " != tt.want {
			t.Errorf("%s: have %q, want %q", tt.bytes, got, tt.want)
		}
	}
}

// TestDecode pins down how operands are reported for the classes recovery uses.
func TestDecode(t *testing.T) {
	const none = isa.NoReg
	for _, tt := range []struct {
		name, bytes    string
		bits           int
		class          isa.Class
		flow           isa.Flow
		dst, src, src2 isa.Reg
		imm            int64
		target         uint64
		base, index    isa.Reg
		disp           int64
		reads, writes  uint64
	}{
		{"mov_register", "4889e5", 64, isa.Move, isa.Next, 5, 4, none, 0, 0, none, none, 0, 1 << 4, 1 << 5},
		{"mov_immediate", "b8ffffffff", 64, isa.Move, isa.Next, 0, none, none, -1, 0, none, none, 0, 0, 1},
		{"load", "8b4c9820", 64, isa.Load, isa.Next, 1, none, none, 0, 0, 0, 3, 0x20, 1 | 1<<3, 1 << 1},
		{"store", "48894424f8", 64, isa.Store, isa.Next, none, 0, none, 0, 0, 4, none, -8, 1 | 1<<4, 0},
		{"lea_rip", "488d3d00100000", 64, isa.Address, isa.Next, 7, none, none, 0, 0, isa.PC, none, 0x402007, 0, 1 << 7},
		{"add_immediate", "4883c408", 64, isa.Add, isa.Next, 4, 4, none, 8, 0, none, none, 0, 1 << 4, 1 << 4},
		{"sub_register", "4829c8", 64, isa.Sub, isa.Next, 0, 0, 1, 0, 0, none, none, 0, 3, 1},
		{"zero_idiom", "31c0", 64, isa.Xor, isa.Next, 0, 0, 0, 0, 0, none, none, 0, 0, 1},
		{"compare_immediate", "83f805", 64, isa.Compare, isa.Next, none, 0, none, 5, 0, none, none, 0, 1, 0},
		{"compare_memory", "3b4510", 64, isa.Compare, isa.Next, none, 0, none, 0, 0, 5, none, 0x10, 1 | 1<<5, 0},
		{"inc_memory", "ff00", 64, isa.Add, isa.Next, none, none, none, 1, 0, 0, none, 0, 1, 0},
		{"sign_extend", "480fbec7", 64, isa.Extend, isa.Next, 0, 7, none, 0, 0, none, none, 0, 1 << 7, 1},
		{"shift_right", "48c1e803", 64, isa.Shift, isa.Next, 0, 0, none, -3, 0, none, none, 0, 1, 1},
		{"jump_table", "3effe0", 64, isa.Other, isa.IndirectJump, none, 0, none, 0, 0, none, none, 0, 1, 0},
		{"jump_memory", "ff24c500104000", 64, isa.Other, isa.IndirectJump, none, none, none, 0, 0, none, 0, 0x401000, 1, 0},
		{"conditional", "0f84fa000000", 64, isa.Other, isa.CondJump, none, none, none, 0, 0x401100, none, none, 0, 0, 0},
		{"call_32", "e8fbffffff", 32, isa.Other, isa.Call, none, none, none, 0, 0x401000, none, none, 0, 1 << 4, 1 << 4},
		{"push", "4157", 64, isa.Push, isa.Next, none, 15, none, 0, 0, none, none, 0, 1<<15 | 1<<4, 1 << 4},
		{"cmov", "480f44c1", 64, isa.CondSelect, isa.Next, 0, 1, 0, 0, 0, none, none, 0, 3, 1},
		{"trap", "0f0b", 64, isa.Other, isa.Trap, none, none, none, 0, 0, none, none, 0, 0, 0},
		{"nop", "660f1f440000", 64, isa.Nop, isa.Next, none, none, none, 0, 0, none, none, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := hex.DecodeString(tt.bytes)
			if err != nil {
				t.Fatal(err)
			}
			var in isa.Inst
			New(tt.bits).Decode(b, 0x401000, &in)
			if int(in.Len) != len(b) || in.Class != tt.class || in.Flow != tt.flow || in.Dst != tt.dst || in.Src != tt.src || in.Src2 != tt.src2 ||
				in.Imm != tt.imm || in.Target != tt.target || in.Mem.Base != tt.base || in.Mem.Index != tt.index || in.Mem.Disp != tt.disp ||
				in.Reads != tt.reads || in.Writes != tt.writes {
				t.Errorf("have %+v", in)
			}
			if tt.class == isa.Extend && in.SrcSize != 1 {
				t.Errorf("source of %d bytes", in.SrcSize)
			}
		})
	}
}
