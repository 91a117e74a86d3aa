package arm64

import (
	"bufio"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

// TestExtensions compares words of the groups that extensions fill with a
// disassembler that knows of more of them than the one of TestObjdumpRandom:
// what exists, and its name.
func TestExtensions(t *testing.T) {
	tools := map[string]string{}
	for _, name := range []string{"llvm-objcopy-19", "llvm-objdump-19"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		tools[name] = path
	}
	r := rand.New(rand.NewPCG(8, 2))
	code := make([]byte, 4*60_000)
	for i := 0; i < len(code); i += 4 {
		w := r.Uint32()
		switch r.IntN(4) {
		case 0: // scalable
			w = w&^(15<<25) | 2<<25
		case 1: // matrix
			w = w&^(15<<25) | 1<<31
		case 2: // memory
			w = w&^(7<<25) | 4<<25 | w&(1<<26)
		}
		binary.LittleEndian.PutUint32(code[i:], w)
	}
	dir := t.TempDir()
	raw, object := filepath.Join(dir, "raw"), filepath.Join(dir, "object")
	if err := os.WriteFile(raw, code, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), tools["llvm-objcopy-19"], "-I", "binary", "-O", "elf64-littleaarch64", "--rename-section", ".data=.text,code", raw, object).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	cmd := exec.CommandContext(t.Context(), tools["llvm-objdump-19"], "-d", "-z", "--mattr=+all", "--no-show-raw-insn", object)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := New()
	words, missing, names := 0, map[string]int{}, map[string]int{}
	lacking := 0
	for scan := bufio.NewScanner(out); scan.Scan(); {
		head, text, ok := strings.Cut(scan.Text(), ":")
		addr, err := strconv.ParseUint(strings.TrimSpace(head), 16, 64)
		fields := strings.Fields(text)
		if !ok || err != nil || len(fields) == 0 || addr >= uint64(len(code)) || strings.HasPrefix(fields[0], "<") && fields[0] != "<unknown>" {
			continue
		}
		words++
		var in isa.Inst
		d.Decode(code[addr:], addr, &in)
		name, _ := d.Text(code[addr:], addr, nil)
		theirs, w := fields[0], binary.LittleEndian.Uint32(code[addr:])
		switch {
		case theirs == "<unknown>" || unpredictable(w):
		case in.Flow == isa.Invalid:
			lacking++
			missing[theirs]++
			if missing[theirs] == 1 {
				t.Logf("%08x: %s is missing", w, strings.Join(fields, " "))
			}
		case name == ".inst":
			t.Errorf("%08x: no text for %s", w, strings.Join(fields, " "))
		case name != theirs && !otherName(name, theirs):
			names[name+" for "+theirs]++
			if names[name+" for "+theirs] == 1 {
				t.Logf("%08x: %s for %s", w, name, strings.Join(fields, " "))
			}
		}
		var c ir.Code
		d.Lift(code[addr:addr+4], addr, &c)
		if err := c.Check(d.Arch()); err != nil {
			t.Fatalf("%08x %s: %v", w, name, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d words, %d missing of %d mnemonics, %d pairs of names", words, lacking, len(missing), len(names))
	if words < 59_000 || lacking > words/500 || len(names) > 12 {
		t.Error("too much disagreement")
	}
}

// otherName reports names that mean the same.
func otherName(ours, theirs string) bool {
	if strings.HasPrefix(theirs, "b.") || strings.HasPrefix(theirs, "bc.") {
		return strings.HasPrefix(ours, "b")
	}
	switch theirs {
	case "mov", "fmov", "movs", "not", "nots", "bfi", "bfc", "rprfm":
		return true
	}
	return false
}

// TestExtensionEffects: what later instructions do with general registers, and
// where they go.
func TestExtensionEffects(t *testing.T) {
	d := New()
	for _, tt := range []struct {
		word          uint32
		text          string
		flow          isa.Flow
		target        uint64
		reads, writes uint64
	}{
		{0x75491bc3, "cbhi w3, #18, 0x1378", isa.CondJump, 0x1378, 1 << 3, 0},
		{0xf47c1174, "cbhs x20, x28, 0x122c", isa.CondJump, 0x122c, 1<<20 | 1<<28, 0},
		{0x7433bbca, "cbbge w10, w19, 0xf78", isa.CondJump, 0xf78, 1<<10 | 1<<19, 0},
		{0x5500001f, "retaasppc 0x1000", isa.Return, 0, 1<<30 | 1<<31, 0},
		{0xd65f0be3, "retaasppcr x3", isa.Return, 0, 1<<3 | 1<<30 | 1<<31, 0},
		{0xf3a0003f, "autibsppc 0xffc", isa.Next, 0, 1<<30 | 1<<31, 1 << 30},
		{0xdac1a3fe, "paciasppc ", isa.Next, 0, 1<<30 | 1<<31, 1 << 30},
		{0xe8e5b461, "ldtp x1, x13, [x3], #-424", isa.Next, 0, 1 << 3, 1<<1 | 1<<13 | 1<<3},
		{0x59b505d6, "ldtadda x21, x22, [x14]", isa.Next, 0, 1<<21 | 1<<14, 1 << 22},
		{0x19e48393, "swppal x19, x4, [x28]", isa.Next, 0, 1<<19 | 1<<4 | 1<<28, 1<<19 | 1<<4},
		{0xd91919b3, "stilp x19, x25, [x13]", isa.Next, 0, 1<<19 | 1<<25 | 1<<13, 0},
		{0xd5734e1a, "mrrs x26, x27, s2_3_c4_c14_0", isa.Next, 0, 0, 1<<26 | 1<<27},
		{0x9b6e4823, "maddpt x3, x1, x14, x18", isa.Next, 0, 1<<1 | 1<<14 | 1<<18, 1 << 3},
	} {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], tt.word)
		var in isa.Inst
		d.Decode(b[:], 0x1000, &in)
		name, operands := d.Text(b[:], 0x1000, nil)
		if got := name + " " + operands; got != tt.text || in.Flow != tt.flow || in.Target != tt.target || in.Reads != tt.reads || in.Writes != tt.writes {
			t.Errorf("%08x: %q, flow %d to %#x, reads %#x, writes %#x; want %+v", tt.word, got, in.Flow, in.Target, in.Reads, in.Writes, tt)
		}
	}
}
