package arm64

import (
	"encoding/binary"
	"testing"

	"rea/providers/embedded/isa"
)

// TestTables: the form tables parse.
func TestTables(t *testing.T) {
	f, err := parseForms(simdTable, sveTable)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.forms) < 1500 {
		t.Errorf("only %d forms", len(f.forms))
	}
	if n := len(systemRegisters()); n < 900 {
		t.Errorf("only %d system registers", n)
	}
	if n := len(systemOperations()); n < 100 {
		t.Errorf("only %d system operations", n)
	}
}

// FuzzDecode: no word makes the decoder panic, Decode and Text agree on what
// is an instruction, and whatever falls through has no target.
func FuzzDecode(f *testing.F) {
	for _, w := range []uint32{0xd503201f, 0xd65f03c0, 0x94000000, 0x54000001, 0xa9bf7bfd, 0x1e602018, 0x4ea21c40, 0x0420e3e7, 0xc0080000, 0xd53bd040, 0x38e00020, 0xd73f0800} {
		f.Add(binary.LittleEndian.AppendUint32(nil, w), uint64(0x401000))
	}
	f.Add([]byte{1, 2, 3}, uint64(0))
	d := New()
	f.Fuzz(func(t *testing.T, b []byte, addr uint64) {
		var in isa.Inst
		d.Decode(b, addr, &in)
		if in.Len < 1 || in.Len > 4 || len(b) >= 4 && in.Len != 4 {
			t.Fatalf("length %d of %d bytes", in.Len, len(b))
		}
		mnemonic, operands := d.Text(b, addr, func(uint64) string { return "name" })
		bad := mnemonic == ".inst" || mnemonic == ".byte"
		if (in.Flow == isa.Invalid) != bad {
			t.Fatalf("% x: flow %d but text %q %q", b, in.Flow, mnemonic, operands)
		}
		if in.Target != 0 && in.Flow != isa.Jump && in.Flow != isa.CondJump && in.Flow != isa.Call {
			t.Fatalf("% x: flow %d with a target", b, in.Flow)
		}
	})
}

// BenchmarkTables is the cost of reading the form tables.
func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		if _, err := parseForms(simdTable, sveTable); err != nil {
			b.Fatal(err)
		}
	}
}
