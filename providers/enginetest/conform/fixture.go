package conform

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
)

// The program that every engine is asked about. Its functions are kept apart by
// noinline; two files have a static function of the same name.
var sources = map[string]string{
	"main.c": `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#define KEEP __attribute__((noinline, noclone, used))
extern int other(int);
KEEP static int twice(int x) { volatile int y = x; return y + y; }
KEEP int add(int a, int b) { return a + b * 3; }
KEEP int loop(const char *s) { int n = 0; while (*s) { if (*s++ == 'x') n += 2; else n ^= 1; } return n; }
KEEP int choose(int k, int v) {
	switch (k) {
	case 0: return add(v, 1);
	case 1: return v * 7;
	case 2: return loop("conformance case two");
	case 3: return v - 9;
	case 4: return v << 3;
	case 5: return twice(v);
	case 6: return v ^ 0x55;
	case 7: return other(v);
	case 8: return v / 3;
	}
	return -1;
}
int (*volatile handler)(int, int) = add;
KEEP int through_pointer(int v) { return handler(v, v) + 1; }
volatile int tails;
KEEP int tail(int v) { tails += v; return choose(v & 15, v + 1); }
const char16_t wide_text[] = u"wide conformance text";
KEEP int greet(int n) { printf("conformance greeting %d\n", n); puts("Gr\303\274\303\237e aus der Konformit\303\244t"); return n; }
int main(int argc, char **argv) {
	if (argc > 20) { puts("too many conformance arguments"); exit(3); }
	return greet(tail(argc)) + through_pointer(argc) + (int)wide_text[argc];
}
`,
	"other.c": `#define KEEP __attribute__((noinline, noclone, used))
KEEP static int twice(int x) { volatile int y = x; return y * 4; }
KEEP int other(int v) { return twice(v) + 5; }
`,
}

// own are the functions of the sources; twice stands for two.
var own = []string{"add", "choose", "greet", "loop", "main", "other", "tail", "through_pointer", "twice"}

// A Fixture is the program, built, and what other tools say about it.
type Fixture struct {
	Path, Stripped string
	Data           []byte
	Symbols        []Symbol            // functions of nm, by address
	code           map[uint64]function // of objdump, by address
	Loads          []Load
}

// Symbol is a function as nm lists it.
type Symbol struct {
	Name       string
	Addr, Size uint64
}

type function struct {
	name         string
	instructions []uint64
	calls        map[string]bool // names of functions that it calls or jumps to
}

// Load is a segment as readelf lists it.
type Load struct{ Offset, Addr, FileSize, Size uint64 }

func output(t T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// Build makes the fixture, with texts of the sources replaced by others (old,
// new, …), or skips the test where the toolchain is missing.
func Build(t T, replace ...string) *Fixture {
	t.Helper()
	for _, name := range []string{"gcc", "strip", "nm", "objdump", "readelf"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, so there is nothing to compare with", name)
		}
	}
	if machine := strings.TrimSpace(output(t, "gcc", "-dumpmachine")); !strings.HasPrefix(machine, "x86_64-") || !strings.Contains(machine, "linux") {
		t.Skipf("gcc builds for %s; the suite knows the listings of x86_64 Linux", machine)
	}
	dir := t.TempDir()
	var files []string
	for _, name := range slices.Sorted(maps.Keys(sources)) { // in link order
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(strings.NewReplacer(replace...).Replace(sources[name])), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	f := &Fixture{Path: filepath.Join(dir, "conformance"), Stripped: filepath.Join(dir, "stripped")}
	output(t, "gcc", append([]string{"-O2", "-g", "-o", f.Path}, files...)...)
	output(t, "strip", "-o", f.Stripped, f.Path)
	var err error
	if f.Data, err = os.ReadFile(f.Path); err != nil {
		t.Fatal(err)
	}
	f.readSymbols(t)
	f.readCode(t)
	f.readLoads(t)
	return f
}

func number(t T, s string, base int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (f *Fixture) readSymbols(t T) {
	for _, line := range strings.Split(output(t, "nm", "-n", "-S", "--defined-only", f.Path), "\n") {
		if p := strings.Fields(line); len(p) == 4 && strings.EqualFold(p[2], "t") {
			f.Symbols = append(f.Symbols, Symbol{p[3], number(t, p[0], 16), number(t, p[1], 16)})
		}
	}
	if len(f.Symbols) < len(own) {
		t.Fatalf("nm lists %d functions", len(f.Symbols))
	}
}

var (
	codeHead = regexp.MustCompile(`^([0-9a-f]+) <([^>]+)>:$`)
	codeLine = regexp.MustCompile(`^ +([0-9a-f]+):\t(\S+)(?: +(.*))?$`)
	transfer = regexp.MustCompile(`^(?:call|jmp)$`)
	direct   = regexp.MustCompile(`^[0-9a-f]+ <([^>+]+)>$`)
)

func (f *Fixture) readCode(t T) {
	f.code = map[uint64]function{}
	var at uint64
	for _, line := range strings.Split(output(t, "objdump", "-d", "-w", "--no-show-raw-insn", f.Path), "\n") {
		if m := codeHead.FindStringSubmatch(line); m != nil {
			at = number(t, m[1], 16)
			f.code[at] = function{name: m[2], calls: map[string]bool{}}
			continue
		}
		m := codeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		fn := f.code[at]
		fn.instructions = append(fn.instructions, number(t, m[1], 16))
		if to := direct.FindStringSubmatch(m[3]); to != nil && transfer.MatchString(m[2]) {
			fn.calls[strings.TrimSuffix(to[1], "@plt")] = true
		}
		f.code[at] = fn
	}
}

func (f *Fixture) readLoads(t T) {
	for _, line := range strings.Split(output(t, "readelf", "-lW", f.Path), "\n") {
		if p := strings.Fields(line); len(p) > 6 && p[0] == "LOAD" {
			f.Loads = append(f.Loads, Load{number(t, p[1], 16), number(t, p[2], 16), number(t, p[4], 16), number(t, p[5], 16)})
		}
	}
	if len(f.Loads) == 0 {
		t.Fatal("readelf lists no segments")
	}
}

// Find gives the only function of a name.
func (f *Fixture) Find(t T, name string) Symbol {
	t.Helper()
	var found []Symbol
	for _, s := range f.Symbols {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("nm lists %d functions named %s", len(found), name)
	}
	return found[0]
}

// parent is the function that a split-off part such as main.cold belongs to.
func (f *Fixture) parent(part Symbol) *Symbol {
	name, _, split := strings.Cut(part.Name, ".cold")
	for i := range f.Symbols {
		if split && f.Symbols[i].Name == name {
			return &f.Symbols[i]
		}
	}
	return nil
}

// parts are the Symbol and what was split off from it, by address.
func (f *Fixture) parts(s Symbol) []Symbol {
	var out []Symbol
	for _, o := range f.Symbols {
		if parent := f.parent(o); o == s || parent != nil && *parent == s {
			out = append(out, o)
		}
	}
	return out
}

// WholeSize is that of the Symbol with its split-off parts.
func (f *Fixture) WholeSize(s Symbol) (n uint64) {
	for _, part := range f.parts(s) {
		n += part.Size
	}
	return n
}

// Inside lists the instructions of objdump in a function.
func (f *Fixture) Inside(s Symbol) []model.Address {
	var out []model.Address
	for _, part := range f.parts(s) {
		for _, addr := range f.code[part.Addr].instructions {
			if addr < part.Addr+part.Size {
				out = append(out, model.Address(addr))
			}
		}
	}
	return out
}

// Calls are the names of functions that a function and its parts transfer to.
func (f *Fixture) Calls(s Symbol) map[string]bool {
	out := map[string]bool{}
	for _, part := range f.parts(s) {
		for name := range f.code[part.Addr].calls {
			if base, _, split := strings.Cut(name, ".cold"); !split || base != s.Name {
				out[name] = true
			}
		}
	}
	return out
}
