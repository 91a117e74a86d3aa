package pe

import (
	stdpe "debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// Starts and sizes of the function table, against llvm-readobj's reading of it.
func TestUnwind_x64_agrees_with_llvm(t *testing.T) {
	for _, name := range []string{"sample_x64.dll", "throw_x64.dll"} {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name))
			out := run(t, "llvm-readobj", "--unwind", filepath.Join("testdata", name))
			starts := values(out, `StartAddress: .*\((0x[0-9A-F]+)\)`)
			ends := values(out, `EndAddress: .*\((0x[0-9A-F]+)\)`)
			want := map[uint64]uint64{}
			for i, s := range starts {
				want[number(t, s)] = number(t, ends[i]) - number(t, s)
			}
			// Handlers and filters are hinted at too, without a size.
			handlers := map[uint64]bool{}
			for _, h := range values(out, `Handler: .*\((0x[0-9A-F]+)\)`) {
				handlers[number(t, h)] = true
			}
			got := map[uint64]uint64{}
			for _, h := range im.Hints {
				if h.Source == object.FromPData && h.Size > 0 {
					got[h.Addr] = h.Size
				}
			}
			equal(t, "functions", got, want)
			for h := range handlers {
				if !contains(hints(im, object.FromPData), h) {
					t.Errorf("handler %#x is no hint", h)
				}
			}
		})
	}
}

func TestUnwind_arm_agrees_with_llvm(t *testing.T) {
	for _, name := range []string{"sample_arm64.dll", "sample_arm.dll"} {
		t.Run(name, func(t *testing.T) { armUnwind(t, name) })
	}
}

func armUnwind(t *testing.T, name string) {
	im := mustLoad(t, fixture(t, name))
	out := run(t, "llvm-readobj", "--unwind", filepath.Join("testdata", name))
	starts, sizes := values(out, `Function: .*?(0x[0-9A-F]+)\)?\n`), values(out, `FunctionLength: (\d+)`)
	want := map[uint64]uint64{}
	for i, s := range starts {
		want[number(t, s)&^1] = number(t, sizes[i])
	}
	if len(want) == 0 || len(starts) != len(sizes) {
		t.Fatalf("llvm-readobj shows %d functions with %d sizes", len(starts), len(sizes))
	}
	got := map[uint64]uint64{}
	for _, h := range im.Hints {
		if h.Source == object.FromPData && h.Size > 0 {
			got[h.Addr] = h.Size
		}
	}
	equal(t, "functions", got, want)
}

// The landing pads of C++ code are the funclets that the compiler's own symbol
// table of the object names.
func TestLanding_pads_are_the_funclets(t *testing.T) {
	f, err := stdpe.Open(filepath.Join("testdata", "throw_x64.obj"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want, wantLinked []uint64
	im := mustLoad(t, fixture(t, "throw_x64.obj"))
	linked := mustLoad(t, fixture(t, "throw_x64.dll"))
	addrs := map[string]uint64{}
	for _, s := range im.Symbols {
		addrs[s.Name] = s.Addr
	}
	for _, s := range f.Symbols {
		if strings.HasPrefix(s.Name, "?dtor$") || strings.HasPrefix(s.Name, "?catch$") {
			want = append(want, addrs[s.Name])
			if s.SectionNumber == 1 {
				wantLinked = append(wantLinked, linked.Section(".text").Addr+uint64(s.Value))
			}
		}
	}
	sort.Slice(want, func(i, j int) bool { return want[i] < want[j] })
	sort.Slice(wantLinked, func(i, j int) bool { return wantLinked[i] < wantLinked[j] })
	if len(wantLinked) < 6 {
		t.Fatalf("only %d funclets in the object", len(wantLinked))
	}
	equal(t, "pads of the object", im.LandingPads, want)
	for _, w := range wantLinked {
		if !contains(linked.LandingPads, w) {
			t.Errorf("funclet %#x of the image is no landing pad; have %#x", w, linked.LandingPads)
		}
	}
	equal(t, "number of pads of the image", len(linked.LandingPads), len(want))
}

// The compressed tables of throw4.s, whose labels are exported.
func TestCompressed_exception_tables(t *testing.T) {
	im := mustLoad(t, fixture(t, "throw4_x64.dll"))
	addrs := map[string]uint64{}
	for _, e := range im.Exports {
		addrs[e.Name] = e.Addr
	}
	var pads []uint64
	for _, name := range []string{"unwind_funclet", "catch_funclet", "continue_one", "continue_two"} {
		pads = append(pads, addrs[name])
	}
	sort.Slice(pads, func(i, j int) bool { return pads[i] < pads[j] })
	equal(t, "landing pads", im.LandingPads, pads)
	for _, name := range []string{"unwind_funclet", "catch_funclet", "destructor"} {
		if !contains(hints(im, object.FromPData), addrs[name]) {
			t.Errorf("%s is not hinted at as a function", name)
		}
	}
}

func TestCompressed_numbers(t *testing.T) {
	for _, tt := range []struct {
		in   []byte
		want uint32
		ok   bool
	}{
		{[]byte{0}, 0, true},
		{[]byte{0x7f << 1}, 0x7f, true},
		{[]byte{300<<2&0xff | 1, 300 >> 6}, 300, true},
		{[]byte{0xfb, 0xff, 0xff}, 0x1fffff, true},
		{[]byte{0xf7, 0xff, 0xff, 0xff}, 0xfffffff, true},
		{[]byte{0x0f, 0x78, 0x56, 0x34, 0x12}, 0x12345678, true},
		{[]byte{0x0f, 0x78}, 0, false},
		{[]byte{1}, 0, false},
		{nil, 0, false},
	} {
		c := &compressed{tt.in, true}
		if got := c.uint(); c.ok != tt.ok || c.ok && got != tt.want {
			t.Errorf("% x reads %#x, %v", tt.in, got, c.ok)
		}
	}
}

// __except targets and filters of C code, against llvm-readobj's raw tables.
func TestScope_table(t *testing.T) {
	im := mustLoad(t, fixture(t, "sample_x64.dll"))
	if len(im.LandingPads) < 3 { // an __except block, its filter, a __finally
		t.Fatalf("landing pads %#x", im.LandingPads)
	}
	for _, p := range im.LandingPads {
		if !im.Executable(p) {
			t.Errorf("landing pad %#x is not code", p)
		}
	}
	starts := hints(im, object.FromPData)
	inside := 0
	for _, p := range im.LandingPads {
		if !contains(starts, p) {
			inside++
		}
	}
	if inside != 1 {
		t.Errorf("%d landing pads inside functions, want the one __except block: %#x", inside, im.LandingPads)
	}
}

// A part that the compiler moved away has its frame before its first
// instruction; the symbol tells which entries these are.
func TestCold_parts_are_no_functions(t *testing.T) {
	const cc = "x86_64-w64-mingw32-gcc"
	path, err := exec.LookPath(cc)
	if err != nil {
		t.Skipf("%s is not installed", cc)
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.exe")
	program := `#include <stdio.h>
__attribute__((cold, noinline)) void report(int x) { fprintf(stderr, "%d", x); }
__attribute__((noinline)) int work(int x, char **v) {
	int sum = 0;
	for (int i = 0; i < x; i++) {
		sum += puts(v[i]);
		if (sum > 1000) { report(sum); report(i); sum = 0; }
	}
	return sum;
}
int main(int c, char **v) { return work(c, v); }
`
	if err := os.WriteFile(src, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(path, "-O2", src, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	im := mustLoad(t, data)
	cold := 0
	for _, s := range im.Symbols {
		if s.Name != "work.cold" {
			continue
		}
		cold++
		if contains(hints(im, object.FromPData), s.Addr) {
			t.Errorf("work.cold (%#x) is hinted at as a function", s.Addr)
		}
		found := false
		for _, p := range im.Parts {
			found = found || p.Addr == s.Addr && p.Size > 0
		}
		if !found {
			t.Errorf("work.cold (%#x) is no part: %+v", s.Addr, im.Parts)
		}
	}
	if cold == 0 {
		t.Skip("this compiler does not split the function")
	}
}
