package arm64

import (
	"debug/elf"
	"encoding/binary"
	flags "flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
	if text, name, ok := strings.Cut(l.text, " <"); ok && strings.HasSuffix(name, ">") {
		l.text = text
	}
	bad := strings.HasPrefix(l.text, ".inst") || strings.Contains(l.text, "undefined")
	if in.Flow == isa.Invalid && unpredictable(l.word) || newer(l.word) {
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

// extensionForms is the table of what objdump may be too old for.
var extensionForms = sync.OnceValue(func() *formTable {
	t, err := parseForms(extensionTable)
	if err != nil {
		panic(err)
	}
	return t
})

// newer reports words that objdump may be too old for.
func newer(w uint32) bool {
	f, _ := extensionForms().find(w)
	return f != nil || w>>25&0x3f == 0x3a || w>>24 == 0x55 || w&0xffc0001f == 0xf380001f || w>>30 == 3 && w>>27&7 == 5 || w>>22 == 0xd54>>2|1 ||
		w&0xffff801e == 0xdac1801e || w&0xfffffbe0 == 0xd65f0be0
}

// unpredictable reports words that we refuse and objdump lists: exclusive
// accesses and high multiplications whose should-be-one fields are not, predicate
// selections whose zeroes are not, and load pairs to one register.
func unpredictable(w uint32) bool {
	return w>>24 == 0x25 && w>>21&1 == 1 && w>>14&3 == 1 && w&0x210 != 0 || w>>24&0x3f == 8 || w&0xff608000 == 0x9b400000 || w>>27&7 == 5 && w>>22&1 == 1 && w&31 == w>>10&31
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

// everywhere widens the comparison to every ELF file of some directories:
//
//	go test ./providers/embedded/arm64 -run Programs -args -everywhere /usr/aarch64-linux-gnu
var everywhere = flags.String("everywhere", "", "compare all programs below these directories")

// found are the AArch64 programs and libraries below the directories.
func found() map[string]string {
	out := map[string]string{}
	for _, dir := range filepath.SplitList(*everywhere) {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && isProgram(path) {
				out[path] = path
			}
			return nil // what can't be read isn't compared
		})
	}
	return out
}

// isProgram reports whether a file is a linked AArch64 program or library.
func isProgram(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Machine == elf.EM_AARCH64 && (f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN)
}

// programs builds AArch64 programs with the compilers at hand: a Go program,
// and C compiled at two levels, one of them with LSE atomics, pointer
// authentication and branch target identification.
func programs(t *testing.T) map[string]string {
	if *everywhere != "" {
		return found()
	}
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
	for name, options := range map[string][]string{
		"c_static": {"-O2", "-static"}, "c_armv8.5": {"-O3", "-static", "-march=armv8.5-a+lse", "-mbranch-protection=standard"},
	} {
		program := filepath.Join(dir, name)
		args := append(options, "-o", program, src, "-lm")
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
			}, "-d", path)
			t.Logf("%d instructions: %d validity, %d targets, %d mnemonics, %d operands differ, %d without text",
				c.instructions, c.validity, c.target, c.mnemonic, c.operand, c.unknown)
			if *everywhere == "" && c.instructions < 10_000 {
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
