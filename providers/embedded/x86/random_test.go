package x86

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestObjdumpRandom compares arbitrary bytes, and arbitrary bytes behind
// escapes and vector prefixes, with objdump. The two are known to differ
// where the package comment says that we follow the processors, and in what
// differs stands below.
func TestObjdumpRandom(t *testing.T) {
	const stride = 24
	for _, tt := range []struct {
		name   string
		bits   int
		header func(r *rand.Rand, b []byte)
	}{
		{"bytes_64", 64, nil},
		{"bytes_32", 32, nil},
		{"two_and_three_byte_maps", 64, func(r *rand.Rand, b []byte) {
			if r.IntN(2) == 0 {
				b[0] = []byte{0x66, 0xf3, 0xf2, 0x48}[r.IntN(4)]
				b = b[1:]
			}
			b[0] = 0x0f
			if k := r.IntN(3); k < 2 {
				b[1] = []byte{0x38, 0x3a}[k]
			}
		}},
		{"vex", 64, func(r *rand.Rand, b []byte) {
			b[0] = 0xc4
			b[1] = b[1]&0xe0 | byte(1+r.IntN(3))
			if r.IntN(2) == 0 {
				b[2] |= 0x78
			}
		}},
		{"evex", 64, func(r *rand.Rand, b []byte) {
			b[0] = 0x62
			b[1] = b[1]&0xf0 | []byte{1, 2, 3, 5, 6}[r.IntN(5)]
			b[2] |= 4
			if r.IntN(2) == 0 {
				b[2] |= 0x78
				b[3] |= 8
			}
		}},
		{"evex_32", 32, func(r *rand.Rand, b []byte) {
			b[0] = 0x62
			b[1] = b[1]&0x30 | 0xc0 | byte(1+r.IntN(3))
			b[2] |= 4
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(tt.name))))
			code := make([]byte, 600_000)
			for i := range code {
				code[i] = byte(r.Uint32())
			}
			if tt.header != nil {
				// Each case is followed by enough one-byte instructions to resynchronise.
				for i := 0; i+stride <= len(code); i += stride {
					tt.header(r, code[i:])
					for j := 15; j < stride; j++ {
						code[i+j] = 0x90
					}
				}
			}
			path := filepath.Join(t.TempDir(), "random")
			if err := os.WriteFile(path, code, 0o644); err != nil {
				t.Fatal(err)
			}
			machine := "i386:x86-64"
			if tt.bits == 32 {
				machine = "i386"
			}
			c := tally{t: t}
			d := New(tt.bits)
			objdump(t, func(l listed) {
				if int(l.addr)+32 < len(code) {
					c.compare(d, code[l.addr:], l)
				}
			}, "-D", "-b", "binary", "-m", machine, path)
			t.Logf("%d instructions: %d lengths, %d validity, %d targets, %d mnemonics, %d operands differ",
				c.instructions, c.length, c.validity, c.target, c.mnemonic, c.operand)
			if c.instructions < 50_000 {
				t.Errorf("only %d instructions listed", c.instructions)
			}
			if c.length > c.instructions/20000 || c.validity > c.instructions/500 || c.mnemonic+c.operand > c.instructions/100 {
				t.Error("more disagreement than the known kinds amount to")
			}
		})
	}
}
