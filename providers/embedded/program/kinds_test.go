package program

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compile runs a compiler on a source of testdata and loads what it makes.
func compile(t *testing.T, cc, source string, flags ...string) (*Program, string) {
	t.Helper()
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("needs %s: %v", cc, err)
	}
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{"-o", out}, flags...)
	if out, err := exec.Command(cc, append(args, filepath.Join("testdata", source))...).CombinedOutput(); err != nil {
		t.Skipf("%s does not build %s: %v\n%s", cc, source, err, out)
	}
	p := analyzeFile(t, out)
	return p, out
}

// symbols reads a symbol table with the standard library.
func symbols(t *testing.T, path string) map[string]elf.Symbol {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]elf.Symbol{}
	for _, s := range list {
		out[s.Name] = s
	}
	return out
}

// stripped analyses a copy of the program without its symbols.
func stripped(t *testing.T, path string) *Program {
	t.Helper()
	out := path + ".stripped"
	if msg, err := exec.Command("strip", "-s", "-o", out, path).CombinedOutput(); err != nil {
		t.Skipf("strip: %v\n%s", err, msg)
	}
	p := analyzeFile(t, out)
	return p
}

func count(p *Program, k UnresolvedKind) (n int) {
	for _, u := range p.Unresolved {
		if u.Kind == k {
			n++
		}
	}
	return n
}

// TestCodeBehindStatedEnd: what a function runs on into belongs to it, though
// its call frame ends before.
func TestCodeBehindStatedEnd(t *testing.T) {
	whole, path := compile(t, "gcc", "behind.S", "-nostdlib", "-static")
	syms := symbols(t, path)
	for name, p := range map[string]*Program{"with symbols": whole, "stripped": stripped(t, path)} {
		f, ok := p.FunctionAt(syms["f"].Value)
		if !ok {
			t.Fatalf("%s: f is not found", name)
		}
		size := uint64(0)
		for _, g := range p.FunctionRanges(f) {
			size += g.End - g.Start
		}
		if size != syms["f"].Size || p.Functions[f].Size != size {
			t.Errorf("%s: f has %d bytes, its symbol %d", name, size, syms["f"].Size)
		}
		for _, label := range []string{"behind", "behind_ret"} {
			a := syms[label].Value
			if i, ok := p.FunctionContaining(a); !ok || i != f || !p.IsInstruction(a) {
				t.Errorf("%s: %s at %#x belongs to function %d (%v), want %d", name, label, a, i, ok, f)
			}
		}
	}
}

// TestPartsKeepTheirParents: cold parts that lie one after the other, each
// ending in a call, belong each to the function that jumps to it.
func TestPartsKeepTheirParents(t *testing.T) {
	whole, path := compile(t, "gcc", "cleanups.c", "-O2", "-fexceptions", "-fno-ipa-icf")
	syms := symbols(t, path)
	parts := 0
	for name, p := range map[string]*Program{"with symbols": whole, "stripped": stripped(t, path)} {
		for part, s := range syms {
			parent, ok := strings.CutSuffix(part, ".cold")
			if !ok {
				continue
			}
			parts++
			want := syms[parent]
			i, ok := p.FunctionContaining(s.Value)
			if !ok || p.Functions[i].Entry != want.Value {
				t.Errorf("%s: %s belongs to %#x (%v), want %#x", name, part, p.Functions[i].Entry, ok, want.Value)
				continue
			}
			if got := p.Functions[i].Size; got != want.Size+s.Size {
				t.Errorf("%s: %s has %d bytes, want %d and %d", name, parent, got, want.Size, s.Size)
			}
		}
		if i, ok := p.FunctionAt(syms["_Unwind_Resume"].Value); !ok || !p.Functions[i].NoReturn {
			t.Errorf("%s: the function that ends every part returns", name)
		}
	}
	if parts == 0 {
		t.Skip("the compiler made no cold parts")
	}
	for part := range syms {
		parent, ok := strings.CutSuffix(part, ".cold")
		if !ok {
			continue
		}
		i, ok := whole.FunctionNamed(part)
		if !ok || whole.Functions[i].Name != parent {
			t.Errorf("%s is found as function %d (%v)", part, i, ok)
		}
	}
}

// TestAdjacentTablesWithoutBounds: a table that nothing bounds ends where the
// next one begins, and nothing is decoded that the function does not run.
func TestAdjacentTablesWithoutBounds(t *testing.T) {
	for _, cc := range []string{"gcc", "clang", "aarch64-linux-gnu-gcc"} {
		for _, opt := range []string{"-O2", "-O3"} {
			t.Run(cc+opt, func(t *testing.T) {
				b := build(t, cc, []string{"gotos.c"}, opt)
				p := b.analyze(t, 0)
				run, ok := p.FunctionAt(b.addr(t, "run"))
				if !ok {
					t.Fatal("run is not found")
				}
				ends := map[uint64]uint64{}
				for _, table := range p.Tables {
					if i, ok := p.FunctionContaining(table.Jump); !ok || i != run {
						continue
					}
					ends[table.Addr] = max(ends[table.Addr], table.Addr+uint64(len(table.Targets))*uint64(table.EntrySize))
				}
				if len(ends) != 3 {
					t.Fatalf("%d tables, want 3", len(ends))
				}
				var sizes []int
				for a, end := range ends {
					for other := range ends {
						if a < other && end > other {
							t.Errorf("the table at %#x reads into the one at %#x", a, other)
						}
					}
					sizes = append(sizes, int(end-a)/4)
				}
				slices.Sort(sizes)
				if sizes[0] < 3 || sizes[1] < 5 || sizes[2] < 7 || sizes[0] > 8 {
					t.Errorf("tables of %d entries, the source has 3, 5 and 7", sizes)
				}
				if n := count(p, OverlappingCode) + count(p, UndecodableCode); n > 0 {
					t.Errorf("%d places of invented code", n)
				}
			})
		}
	}
}

// TestCallsInObjects: relocated calls in objects name what they call, and end
// where it does not return.
func TestCallsInObjects(t *testing.T) {
	for _, c := range []struct {
		cc, under string
		flags     []string
	}{
		{"gcc", "", []string{"-c", "-O2"}},
		{"gcc", "", []string{"-c", "-O0"}},
		{"gcc", "", []string{"-c", "-O2", "-fno-plt"}},
		{"clang", "", []string{"-c", "-O2", "-fno-addrsig"}},
		{"aarch64-linux-gnu-gcc", "", []string{"-c", "-O2"}},
		{"x86_64-w64-mingw32-gcc", "", []string{"-c", "-O2"}},
		{"clang", "", []string{"-c", "-O2", "--target=x86_64-pc-windows-msvc"}},
		{"clang", "", []string{"-c", "-O2", "--target=aarch64-pc-windows-msvc"}},
		{"clang", "_", []string{"-c", "-O2", "--target=x86_64-apple-macos"}},
		{"clang", "_", []string{"-c", "-O2", "--target=arm64-apple-macos"}},
	} {
		t.Run(c.cc+strings.Join(c.flags, ""), func(t *testing.T) {
			p, _ := compile(t, c.cc, "object.c", c.flags...)
			reached := map[string]map[string]bool{}
			for i := range p.Functions {
				name := strings.TrimPrefix(p.Functions[i].Name, c.under)
				reached[name] = map[string]bool{}
				for _, call := range p.CallsIn(i) {
					if call.Import >= 0 {
						reached[name][strings.TrimPrefix(p.Image.Imports[call.Import].Name, c.under)] = true
					}
				}
				if want := name == "die"; p.Functions[i].NoReturn != want {
					t.Errorf("%s: no return %v", name, !want)
				}
			}
			for f, want := range map[string][]string{"die": {"printf", "exit"}, "twice": {"other"}, "chain": {"other"}, "check": {"abort"}} {
				for _, w := range want {
					if !reached[f][w] {
						t.Errorf("%s does not call %s but %v", f, w, reached[f])
					}
				}
			}
			for _, k := range []UnresolvedKind{UnresolvedCall, UnresolvedJump, OpenFlow} {
				if n := count(p, k); n > 0 {
					t.Errorf("%d of kind %s", n, k)
				}
			}
		})
	}
}

// TestCallsThroughLoadedPointers: a register that was loaded from a slot of the
// loader's leads where the slot does, in stubs and where they are done without.
func TestCallsThroughLoadedPointers(t *testing.T) {
	for _, cc := range []string{"aarch64-linux-gnu-gcc", "gcc", "i686-linux-gnu-gcc"} {
		for _, plt := range []string{"-fplt", "-fno-plt"} {
			t.Run(cc+plt, func(t *testing.T) {
				p, _ := compile(t, cc, "object.c", "-O1", "-shared", "-fPIC", "-nostdlib", plt)
				reached := map[string]bool{}
				for _, call := range p.Calls {
					if call.Import >= 0 && (call.Slot != 0 || call.Kind == IndirectJump) {
						reached[p.Image.Imports[call.Import].Name] = true
					}
				}
				for _, want := range []string{"other", "printf", "abort"} {
					if !reached[want] {
						t.Errorf("no slot leads to %s but to %v", want, reached)
					}
				}
				most := 0
				if plt == "-fplt" {
					most = 1 // the stub that binds lazily, whose slot only the loader fills
				}
				if n := count(p, UnresolvedJump) + count(p, UnresolvedCall); n > most {
					t.Errorf("%d transfers have no target", n)
				}
			})
		}
	}
}

func goProgram(t *testing.T, source string, env ...string) *Program {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs go: %v", err)
	}
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, filepath.Join("testdata", source))
	cmd.Env = append(os.Environ(), append([]string{"CGO_ENABLED=0"}, env...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("go does not build the test program: %v\n%s", err, msg)
	}
	p := analyzeFile(t, out)
	return p
}

// TestGoRecover: a deferred call may recover, so a function that panics below
// it returns.
func TestGoRecover(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			p := goProgram(t, "recover.go", "GOOS=linux", "GOARCH="+arch)
			for name, want := range map[string]bool{"main.safe": false, "main.loop": false, "main.fatal": true} {
				if i, ok := p.FunctionNamed(name); !ok || p.Functions[i].NoReturn != want {
					t.Errorf("%s: found %v, no return %v, want %v", name, ok, !want, want)
				}
			}
			utf := 0
			for _, s := range p.Strings {
				text := p.Text(s)
				ascii := !strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 })
				if s.Encoding != UTF16 && ascii != (s.Encoding == ASCII) {
					t.Errorf("%q at %#x is labelled %s", text, s.Addr, s.Encoding)
				}
				if strings.Contains(text, "wörld ähnlich") { // println joins its constants
					utf++
				}
			}
			if utf != 1 {
				t.Errorf("the string with other letters is found %d times", utf)
			}
		})
	}
}

// TestShortStrings: text of two and three letters is a string where something
// refers to it, and a pointer that looks like text is none.
func TestShortStrings(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O0"}, {"-O2", "-no-pie"}} {
		b := build(t, "gcc", []string{"short.c"}, flags...)
		p := b.analyze(t, 0)
		want := map[string]bool{"no": true, "ja": true, "oui": true, "da": true, "six": true, "ok": true}
		for _, s := range p.Strings {
			text := p.Text(s)
			delete(want, text)
			if name := b.im.Sections[s.Section].Name; len(text) < minString && name != ".rodata" && name != ".interp" {
				t.Errorf("%v: %q in %s", flags, text, name)
			}
		}
		if flags[0] == "-O2" {
			delete(want, "six") // compared in registers
		}
		if len(want) > 0 {
			t.Errorf("%v: %v are not found", flags, want)
		}
	}
}

// TestSwitchesOverBytes: that an index is a byte says how far it reaches, not that
// each of its 256 values has an entry. The source has nine cases in 32 functions.
func TestSwitchesOverBytes(t *testing.T) {
	for _, c := range []struct {
		cc    string
		flags []string
	}{
		{"clang", []string{"--target=aarch64-linux-gnu", "-nostdlib", "-fuse-ld=lld"}},
		{"clang", []string{"-nostdlib", "-fuse-ld=lld"}},
		{"gcc", []string{"-nostdlib"}}, // that for AArch64 makes comparisons of them
	} {
		t.Run(c.cc+c.flags[0], func(t *testing.T) {
			p, _ := compile(t, c.cc, "bytes.c", append(append([]string{"-O2", "-shared", "-fPIC", "-Wl,-s"}, noUnwind...), c.flags...)...)
			if len(p.Tables) != 32 {
				t.Fatalf("%d tables, want 32", len(p.Tables))
			}
			long := 0
			for i := range p.Tables {
				switch n := len(p.Tables[i].Targets); {
				case n < 9:
					t.Errorf("the table at %#x has %d entries, the source 9", p.Tables[i].Addr, n)
				case n > 9:
					long++
				}
			}
			if long > 1 { // after the last table comes what happens to come
				t.Errorf("%d tables have more than 9 entries", long)
			}
			if n := count(p, OverlappingCode) + count(p, UndecodableCode); n > 0 {
				t.Errorf("%d places of invented code", n)
			}
		})
	}
}
