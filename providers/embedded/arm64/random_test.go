package arm64

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestObjdumpRandom compares arbitrary words of every encoding group. What is
// known to differ: we are stricter about should-be-one fields of exclusive
// accesses, load pairs to one register, 64-byte accesses and unnamed PSTATE
// fields, where execution is undefined or unpredictable.
func TestObjdumpRandom(t *testing.T) {
	for _, tt := range []struct {
		name   string
		groups []uint32
		fix    func(r *rand.Rand, w uint32) uint32
		// Per ten thousand words: how many may differ in validity and in text.
		validity, text int
		args           []string
	}{
		{"reserved", []uint32{0, 1, 3}, nil, 0, 0, nil},
		{"immediate", []uint32{8, 9}, nil, 0, 1, nil},
		{"branch", []uint32{10, 11}, nil, 30, 1, nil},
		{"system", []uint32{10}, func(r *rand.Rand, w uint32) uint32 {
			w = w&0x003fffff | 0xd5000000
			if r.IntN(2) == 0 {
				w |= 31
			}
			return w
		}, 2600, 50, nil},
		{"branch_register", []uint32{11}, func(r *rand.Rand, w uint32) uint32 {
			w = w&0x00ffffff | 0xd61f0000
			if r.IntN(2) == 0 {
				w &^= 0xf000
			}
			switch r.IntN(3) {
			case 0:
				w &^= 31
			case 1:
				w |= 31
			}
			return w
		}, 0, 1, nil},
		{"memory", []uint32{4, 6, 12, 14}, nil, 400, 20, nil},
		{"register", []uint32{5, 13}, nil, 0, 1, nil},
		{"register_sparse", []uint32{13}, func(r *rand.Rand, w uint32) uint32 {
			w = w&0xe01fffff | 0x1ac00000
			if r.IntN(2) == 0 {
				w &^= 0x1f0000
			}
			return w &^ 0x8000
		}, 0, 1, nil},
		{"vector", []uint32{7, 15}, nil, 0, 0, nil},
		{"scalable", []uint32{2}, nil, 1, 1, []string{"-M", "no-aliases"}},
		{"matrix", []uint32{0}, func(r *rand.Rand, w uint32) uint32 { return w | 1<<31 }, 0, 0, []string{"-M", "no-aliases"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, uint64(len(tt.name))))
			b := make([]byte, 4*100_000)
			for i := 0; i < len(b); i += 4 {
				w := r.Uint32()
				w = w&^(15<<25) | tt.groups[r.IntN(len(tt.groups))]<<25
				if tt.fix != nil {
					w = tt.fix(r, w)
				}
				binary.LittleEndian.PutUint32(b[i:], w)
			}
			path := filepath.Join(t.TempDir(), "words")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			c := tally{t: t}
			d := New()
			objdump(t, func(l listed) { c.compare(d, l) }, append(tt.args, "-D", "-z", "-b", "binary", "-m", "aarch64", path)...)
			t.Logf("%d words: %d validity, %d targets, %d mnemonics, %d operands differ, %d without text",
				c.instructions, c.validity, c.target, c.mnemonic, c.operand, c.unknown)
			if c.instructions != len(b)/4 {
				t.Errorf("%d words listed", c.instructions)
			}
			if c.validity > tt.validity*c.instructions/10_000 || c.target > 0 || c.mnemonic+c.operand+c.unknown > tt.text*c.instructions/10_000 {
				t.Error("more disagreement than allowed")
			}
		})
	}
}
