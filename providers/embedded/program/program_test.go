package program

import (
	"context"
	"encoding/binary"
	"errors"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var noUnwind = []string{"-fno-asynchronous-unwind-tables", "-fno-unwind-tables"}

// matrix are builds of the test programs; every function start must be found
// and nothing else, with and without unwind tables.
var matrix = []struct {
	name    string
	cc      string
	sources []string
	flags   []string
}{
	{"switchy gcc O0", "gcc", []string{"switchy.c"}, []string{"-O0"}},
	{"switchy gcc O2", "gcc", []string{"switchy.c"}, []string{"-O2"}},
	{"switchy gcc O2 bare", "gcc", []string{"switchy.c"}, append([]string{"-O2"}, noUnwind...)},
	{"switchy gcc Os bare", "gcc", []string{"switchy.c"}, append([]string{"-Os"}, noUnwind...)},
	{"switchy gcc O3 fixed bare", "gcc", []string{"switchy.c"}, append([]string{"-O3", "-no-pie"}, noUnwind...)},
	{"switchy gcc O2 static", "gcc", []string{"switchy.c"}, []string{"-O2", "-static"}},
	{"vm gcc O2", "gcc", []string{"vm.c"}, []string{"-O2"}},
	{"vm gcc O3 bare", "gcc", []string{"vm.c"}, append([]string{"-O3"}, noUnwind...)},
	{"vm gcc O2 fixed bare", "gcc", []string{"vm.c"}, append([]string{"-O2", "-no-pie"}, noUnwind...)},
	{"exc g++ O2", "g++", []string{"exc.cpp"}, []string{"-O2"}},
	{"exc g++ O0", "g++", []string{"exc.cpp"}, []string{"-O0"}},
	{"switchy clang O2", "clang", []string{"switchy.c"}, []string{"-O2"}},
	{"switchy clang Os bare", "clang", []string{"switchy.c"}, append([]string{"-Os"}, noUnwind...)},
	{"vm clang O3 bare", "clang", []string{"vm.c"}, append([]string{"-O3"}, noUnwind...)},
	{"switchy aarch64 O2", "aarch64-linux-gnu-gcc", []string{"switchy.c"}, []string{"-O2"}},
	{"switchy aarch64 Os bare", "aarch64-linux-gnu-gcc", []string{"switchy.c"}, append([]string{"-Os"}, noUnwind...)},
	{"vm aarch64 O2 bare", "aarch64-linux-gnu-gcc", []string{"vm.c"}, append([]string{"-O2"}, noUnwind...)},
}

// The C library's own assembly holds entries that its symbols and its call
// frames describe differently, so a static program may miss this many.
const staticSlack = 12

func TestFunctionStarts(t *testing.T) {
	for _, m := range matrix {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			b := build(t, m.cc, m.sources, m.flags...)
			p := b.analyze(t, 0)
			missing, wrong := b.score(t, p)
			slack := 0
			if strings.Contains(m.name, "static") {
				slack = staticSlack
			}
			if len(missing)+len(wrong) > slack {
				for _, a := range missing {
					t.Errorf("missing %#x %s", a, b.truth[a])
				}
				for _, a := range wrong {
					i, _ := p.FunctionAt(a)
					t.Errorf("not a function: %#x, found by %s from %#x (cold part: %v)", a, p.Functions[i].Evidence, p.Functions[i].From, b.cold[a])
				}
			}
		})
	}
}

// TestFunctionStartsWithoutUnwindData takes the unwind sections from C++
// programs: landing pads and split parts, which no flow leads to, are no
// functions.
func TestFunctionStartsWithoutUnwindData(t *testing.T) {
	for cc, opts := range map[string][]string{"g++": {"-O2"}, "clang++": {"-O0", "-Os"}, "aarch64-linux-gnu-g++": {"-O2"}} {
		for _, opt := range opts {
			t.Run(cc+opt, func(t *testing.T) {
				t.Parallel()
				b := build(t, cc, []string{"exc.cpp"}, opt)
				tool := "objcopy"
				if strings.HasPrefix(cc, "aarch64") {
					tool = "aarch64-linux-gnu-objcopy"
				}
				bare := filepath.Join(t.TempDir(), "bare")
				out, err := exec.Command(tool, "-S", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-R", ".gcc_except_table", b.path, bare).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", tool, err, out)
				}
				b = loadBuilt(t, b.path, bare)
				p := b.analyze(t, 0)
				missing, wrong := b.score(t, p)
				for _, a := range missing {
					t.Errorf("missing %#x %s", a, b.truth[a])
				}
				for _, a := range wrong {
					if i, _ := p.FunctionAt(a); !b.cold[a] {
						t.Errorf("not a function: %#x, found by %s from %#x", a, p.Functions[i].Evidence, p.Functions[i].From)
					}
				}
			})
		}
	}
}

func TestMixedAssembly(t *testing.T) {
	b := build(t, "gcc", []string{"mixed.S"}, "-nostdlib", "-static")
	p := b.analyze(t, 0)
	if missing, wrong := b.score(t, p); len(missing)+len(wrong) > 0 {
		t.Errorf("missing %#x, wrong %#x", missing, wrong)
	}
	i, ok := p.FunctionAt(b.addr(t, "third"))
	if !ok {
		t.Fatal("third is not found")
	}
	var table *Table
	for k := range p.Tables {
		if f, ok := p.FunctionContaining(p.Tables[k].Jump); ok && f == i {
			table = &p.Tables[k]
		}
	}
	if table == nil || len(table.Targets) != 4 || !table.Bounded || table.EntrySize != 4 {
		t.Fatalf("jump table of third: %+v", table)
	}
	for a := table.Addr; a < table.Addr+16; a++ {
		if _, ok := p.BlockAt(i, a); ok {
			t.Errorf("table byte %#x lies in a block", a)
		}
	}
}

// TestJumpTables compares every table with what the source says: dense has
// cases 0 to 11, day_name 0 to 6.
func TestJumpTables(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		for _, opt := range []string{"-O0", "-O1", "-O2", "-Os"} {
			t.Run(cc+opt, func(t *testing.T) {
				t.Parallel()
				// inlining would move the switches elsewhere
				flags := []string{opt, "-fno-inline"}
				if cc != "clang" {
					flags = append(flags, "-fno-ipa-cp", "-fno-tree-switch-conversion")
				}
				b := build(t, cc, []string{"switchy.c"}, flags...)
				p := b.analyze(t, 0)
				i, ok := p.FunctionAt(b.addr(t, "dense"))
				if !ok {
					t.Fatal("dense is not found")
				}
				n := 0
				for _, table := range p.Tables {
					if f, ok := p.FunctionContaining(table.Jump); !ok || f != i {
						continue
					}
					n++
					if len(table.Targets) != 12 || !table.Bounded {
						t.Errorf("table at %#x: %d targets, bounded %v", table.Addr, len(table.Targets), table.Bounded)
					}
				}
				if n != 1 {
					t.Errorf("%d tables in dense, want 1", n)
				}
				twin := build(t, cc, []string{"switchy.c"}, opt, "-fno-inline", "-fno-jump-tables")
				for _, table := range twin.analyze(t, 0).Tables {
					if f, ok := p.FunctionContaining(table.Jump); ok && twin.truth[p.Functions[f].Entry] != "" {
						t.Errorf("invented a table at %#x", table.Jump)
					}
				}
			})
		}
	}
}

var callLine = regexp.MustCompile(`^\s*([0-9a-f]+):\s.*\bcall\s+([0-9a-f]+) <`)

// TestCallsAgainstObjdump compares every direct call with objdump's.
func TestCallsAgainstObjdump(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skipf("needs objdump: %v", err)
	}
	b := build(t, "gcc", []string{"vm.c"}, "-O2")
	p := b.analyze(t, 0)
	out, err := exec.Command("objdump", "-d", "-w", "--no-show-raw-insn", "-j", ".text", b.path).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[[2]uint64]bool{}
	for line := range strings.Lines(string(out)) {
		if m := callLine.FindStringSubmatch(line); m != nil {
			from, _ := strconv.ParseUint(m[1], 16, 64)
			to, _ := strconv.ParseUint(m[2], 16, 64)
			want[[2]uint64{from, to}] = true
		}
	}
	if len(want) < 20 {
		t.Fatalf("objdump shows only %d calls", len(want))
	}
	for _, c := range p.Calls {
		if s := sectionIndex(b.im, c.From); c.Kind == DirectCall && s >= 0 && b.im.Sections[s].Name == ".text" {
			if !want[[2]uint64{c.From, c.To}] {
				t.Errorf("no such call: %#x to %#x", c.From, c.To)
			}
			delete(want, [2]uint64{c.From, c.To})
		}
	}
	for c := range want {
		t.Errorf("call %#x to %#x is missing", c[0], c[1])
	}
}

func TestNoReturnAndImports(t *testing.T) {
	b := build(t, "gcc", []string{"switchy.c"}, "-O2", "-fno-inline")
	p := b.analyze(t, 0)
	i, ok := p.FunctionAt(b.addr(t, "die"))
	if !ok || !p.Functions[i].NoReturn {
		t.Errorf("die ends in exit: found %v, %+v", ok, p.Functions[i])
	}
	if i, _ := p.FunctionAt(b.addr(t, "dense")); p.Functions[i].NoReturn {
		t.Error("dense returns")
	}
	imports := map[string]bool{}
	for _, c := range p.Calls {
		if c.Import >= 0 {
			imports[b.im.Imports[c.Import].Name] = true
		}
	}
	for _, want := range []string{"puts", "exit", "abs"} {
		if want != "abs" && !imports[want] {
			t.Errorf("no call of %s among %v", want, imports)
		}
	}
}

func TestStringsAndReferences(t *testing.T) {
	b := build(t, "gcc", []string{"switchy.c"}, "-O2")
	p := b.analyze(t, 0)
	for _, want := range []string{"wednesday", "no such day: %d\n", "seven"} {
		found := false
		for _, s := range p.Strings {
			if p.Text(s) != want {
				continue
			}
			found = true
			used := false
			for r := range p.RefsTo(s.Addr, s.Addr+1) {
				if _, ok := p.FunctionContaining(r.From); ok || r.Kind == RefPointer {
					used = true
				}
			}
			if !used {
				t.Errorf("nothing refers to %q", want)
			}
		}
		if !found {
			t.Errorf("string %q is not found", want)
		}
	}
}

func TestLandingPads(t *testing.T) {
	b := build(t, "g++", []string{"exc.cpp"}, "-O2")
	p := b.analyze(t, 0)
	pads := 0
	for i := range p.Blocks {
		for _, e := range p.BlockEdges(&p.Blocks[i]) {
			if e.Kind == EdgeLandingPad {
				pads++
			}
		}
	}
	if pads == 0 {
		t.Error("no edge to a landing pad")
	}
	for a := range b.cold {
		if _, ok := p.FunctionAt(a); ok {
			t.Errorf("the split part at %#x is taken for a function", a)
		}
		if i, ok := p.FunctionContaining(a); !ok || b.truth[p.Functions[i].Entry] == "" {
			t.Errorf("the split part at %#x belongs to no function", a)
		}
	}
}

func TestSameAnswerForAnyWorkers(t *testing.T) {
	b := build(t, "gcc", []string{"vm.c"}, append([]string{"-O2", "-static"}, noUnwind...)...)
	want := b.analyze(t, 1)
	for _, w := range []int{1, 2, 3, 8} {
		got := b.analyze(t, w)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("another answer with %d workers", w)
		}
	}
}

func TestGoProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs go: %v", err)
	}
	full := filepath.Join(t.TempDir(), "full")
	stripped := full + ".stripped"
	src := filepath.Join("testdata", "hello.go")
	if out, err := exec.Command("go", "build", "-o", full, src).CombinedOutput(); err != nil {
		t.Fatalf("go does not build the test program: %v\n%s", err, out)
	}
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", stripped, src).CombinedOutput(); err != nil {
		t.Fatalf("go does not build the test program: %v\n%s", err, out)
	}
	b := loadBuilt(t, full, stripped)
	for a, n := range b.truth { // marks of the linker, not functions
		if n == "runtime.text" || n == "runtime.etext" || n == "_rt0_text" || strings.HasPrefix(n, "go:") {
			delete(b.truth, a)
		}
	}
	missing, wrong := b.score(t, b.analyze(t, 0))
	if n := len(b.truth); n < 1000 || len(missing) > n/500 || len(wrong) > n/500 {
		t.Errorf("of %d functions %d are missing and %d wrong", n, len(missing), len(wrong))
	}
}

func TestCancel(t *testing.T) {
	b := build(t, "gcc", []string{"vm.c"}, "-O2", "-static")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	if _, err := Analyze(ctx, b.im, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want cancelled", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v to stop", d)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	_, err := Analyze(ctx, b.im, Options{Progress: func(phase string, _, _ int) {
		if phase == "references" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a late cancel, want cancelled", err)
	}
}

func TestUnknownArchitecture(t *testing.T) {
	b := build(t, "gcc", []string{"switchy.c"}, "-O2")
	im := *b.im
	im.Arch = "riscv"
	if _, err := Analyze(context.Background(), &im, Options{}); !errors.Is(err, ErrArchitecture) {
		t.Errorf("error %v", err)
	}
}

// FuzzAnalyze changes bytes of a small program: whatever comes out, it ends
// quickly and its lists are in order.
func FuzzAnalyze(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0xff})
	f.Add([]byte{0x40, 0x10, 0, 0, 0xe8, 0x44, 0x10, 0, 0, 0xff, 0x50, 0x10, 0, 0, 0xeb})
	b := build(f, "gcc", []string{"mixed.S"}, "-nostdlib", "-static")
	f.Fuzz(func(t *testing.T, patch []byte) {
		data := append([]byte(nil), b.data...)
		for ; len(patch) >= 5; patch = patch[5:] {
			if o := binary.LittleEndian.Uint32(patch); uint64(o) < uint64(len(data)) {
				data[o] = patch[4]
			}
		}
		im := loadQuietly(data)
		if im == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		p, err := Analyze(ctx, im, Options{Workers: 1})
		if errors.Is(err, ErrArchitecture) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkOrder(t, p)
	})
}
