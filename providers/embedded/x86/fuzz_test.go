package x86

import (
	"testing"

	"rea/providers/embedded/isa"
)

// FuzzDecode: no input makes the decoders panic or read past its end, Decode
// and Text agree on what is an instruction, and bytes after an instruction
// don't change it.
func FuzzDecode(f *testing.F) {
	for _, s := range [][]byte{
		{0x90}, {0xf3, 0x0f, 0x1e, 0xfa}, {0x48, 0x8b, 0x05, 1, 2, 3, 4}, {0xe8, 0, 0, 0, 0}, {0xc5, 0xf8, 0x77},
		{0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1}, {0x8f, 0xe8, 0x78, 0xc0, 0xc1, 1}, {0x0f, 0x0f, 0xc1, 0x9e}, {0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0},
		{0x67, 0x8b, 0x04, 0x25, 1, 2, 3, 4}, {0xf0, 0x48, 0x0f, 0xb1, 0x0a}, {0xc4, 0xe2, 0x69, 0x92, 0x04, 0x08}, {0xc8, 1, 2, 3},
	} {
		f.Add(s, uint64(0x401000))
	}
	decoders := []*Decoder{New(32), New(64)}
	f.Fuzz(func(t *testing.T, b []byte, addr uint64) {
		for _, d := range decoders {
			var in, again isa.Inst
			d.Decode(b, addr, &in)
			if in.Len < 1 || in.Len > 15 {
				t.Fatalf("length %d", in.Len)
			}
			mnemonic, operands := d.Text(b, addr, nil)
			if (in.Flow == isa.Invalid) != (mnemonic == "(bad)") {
				t.Fatalf("flow %d but text %q %q", in.Flow, mnemonic, operands)
			}
			if in.Flow == isa.Invalid {
				continue
			}
			if int(in.Len) > len(b) {
				t.Fatalf("length %d of %d bytes", in.Len, len(b))
			}
			d.Decode(append(append([]byte{}, b[:in.Len]...), make([]byte, window)...), addr, &again)
			if again != in {
				t.Fatalf("%+v, with other bytes after it %+v", in, again)
			}
		}
	})
}
