package arm64

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rea/providers/embedded/isa"
)

// tally counts the disagreements of a differential test by kind.
type tally struct {
	t                          *testing.T
	instructions               int
	validity, target, mnemonic int
	operand, unknown           int
	shown                      map[string]int
}

func (c *tally) report(kind string, l listed, got string) {
	if c.shown == nil {
		c.shown = map[string]int{}
	}
	key := kind
	if f := strings.Fields(l.text); len(f) > 0 {
		key += " " + f[0]
	}
	c.shown[key]++
	if c.shown[key] <= 2 && len(c.shown) < 40 {
		c.t.Logf("%s: %x %08x: have %s, objdump has %s", kind, l.addr, l.word, got, l.text)
	}
}

func (c *tally) compare(d *Decoder, l listed) {
	c.instructions++
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], l.word)
	var in isa.Inst
	d.Decode(b[:], l.addr, &in)
	mnemonic, operands := d.Text(b[:], l.addr, nil)
	ours := mnemonic + " " + operands
	bad := strings.HasPrefix(l.text, ".inst") || strings.Contains(l.text, "undefined")
	if in.Flow == isa.Invalid && unpredictable(l.word) {
		return
	}
	if bad != (in.Flow == isa.Invalid) {
		c.validity++
		c.report("validity", l, ours)
		return
	}
	if bad {
		return
	}
	if mnemonic == ".inst" {
		c.unknown++
		c.report("unknown", l, ours)
		return
	}
	wantName, wantOps, target := normalise(l)
	if mnemonic != wantName {
		c.mnemonic++
		c.report("mnemonic", l, ours)
		return
	}
	got := strings.ReplaceAll(strings.ReplaceAll(operands, ", ", ","), " ", "")
	if got != wantOps {
		c.operand++
		c.report("operand", l, got+" ("+wantOps+")")
	}
	if target != 0 && (in.Flow == isa.Jump || in.Flow == isa.Call || in.Flow == isa.CondJump) && in.Target != target {
		c.target++
		c.report("target", l, ours)
	}
}

// unpredictable reports words that we refuse and objdump lists: exclusive
// accesses and high multiplications whose should-be-one fields are not, and load
// pairs to one register.
func unpredictable(w uint32) bool {
	return w>>24&0x3f == 8 || w&0xff608000 == 0x9b400000 || w>>27&7 == 5 && w>>22&1 == 1 && w&31 == w>>10&31
}

// normalise evens out spelling: spaces, comments, symbols and the 0x of addresses.
func normalise(l listed) (name, operands string, target uint64) {
	s, _, _ := strings.Cut(l.text, "//")
	if i := strings.Index(s, " <"); i >= 0 {
		s = s[:i]
	}
	name, operands, _ = strings.Cut(strings.TrimSpace(s), "\t")
	operands = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(operands), ", ", ","), " ", "")
	switch {
	case name == "b" || name == "bl" || strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") || strings.HasPrefix(name, "cb") || strings.HasPrefix(name, "tb"),
		name == "adr" || name == "adrp", strings.HasPrefix(name, "ldr") && !strings.Contains(operands, "["), name == "prfm" && !strings.Contains(operands, "["):
		i := strings.LastIndexByte(operands, ',') + 1
		if v, err := strconv.ParseUint(strings.TrimPrefix(operands[i:], "0x"), 16, 64); err == nil {
			target = v
			operands = operands[:i] + "0x" + strconv.FormatUint(v, 16)
		}
	}
	return name, operands, target
}

// programs builds AArch64 programs with the compilers at hand: a Go program,
// and C compiled at two levels, one of them with LSE atomics, pointer
// authentication and branch target identification.
func programs(t *testing.T) map[string]string {
	out := map[string]string{"go": goProgram(t)}
	cc, err := exec.LookPath("aarch64-linux-gnu-gcc")
	if err != nil {
		return out
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "main.c")
	text := "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <stdatomic.h>\n#include <string.h>\n" +
		"static _Atomic long counter;\nstatic int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }\n" +
		"int main(int n, char **v) {\n\tstatic int x[100];\n\tfor (int i = 0; i < 100; i++)\n\t\tx[i] = (i * 7919 + n) % 101;\n\tqsort(x, 100, sizeof *x, order);\n" +
		"\tatomic_fetch_add(&counter, x[3]);\n\tdouble s = 0;\n\tfor (int i = 0; i < 100; i++)\n\t\ts += sin(x[i]) * strtod(v[0], 0);\n" +
		"\tswitch (n) {\n\tcase 1: puts(\"a\"); break;\n\tcase 2: puts(\"b\"); break;\n\tcase 3: puts(\"c\"); break;\n\tcase 4: puts(\"d\"); break;\n\tcase 5: puts(\"e\"); break;\n\t}\n" +
		"\tprintf(\"%f %ld\\n\", s, (long)counter);\n\treturn 0;\n}\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"c_static": {"-O2", "-static"}, "c_armv8.5": {"-O3", "-static", "-march=armv8.5-a+lse", "-mbranch-protection=standard"},
	} {
		program := filepath.Join(dir, name)
		args := append(flags, "-o", program, src, "-lm")
		if b, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%s", name, err, b)
			continue
		}
		out[name] = program
	}
	return out
}

// TestObjdumpPrograms: on compiled programs validity and targets agree without
// exception, and text but for one instruction in a thousand.
func TestObjdumpPrograms(t *testing.T) {
	for name, path := range programs(t) {
		t.Run(name, func(t *testing.T) {
			c := tally{t: t}
			d := New()
			objdump(t, func(l listed) {
				c.compare(d, l)
			}, "-d", "-j", ".text", path)
			t.Logf("%d instructions: %d validity, %d targets, %d mnemonics, %d operands differ, %d without text",
				c.instructions, c.validity, c.target, c.mnemonic, c.operand, c.unknown)
			if c.instructions < 10_000 {
				t.Errorf("only %d instructions listed", c.instructions)
			}
			if c.validity+c.target > 0 {
				t.Errorf("%d validities, %d targets differ", c.validity, c.target)
			}
			if c.mnemonic+c.operand+c.unknown > c.instructions/1000 {
				t.Error("text differs for more than one instruction in a thousand")
			}
		})
	}
}
