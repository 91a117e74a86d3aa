package macho

import (
	stdmacho "debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// images are the linked files that testdata/build.sh makes from testdata/src.
var images = []string{
	"sample_x86_64.dylib", "sample_arm64.dylib", "chained_x86_64.dylib", "chained_arm64.dylib", "throw_x86_64", "throw_arm64",
}

var objects = []string{"sample_x86_64.o", "sample_arm64.o"}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func mustLoad(tb testing.TB, data []byte, slice string) *object.Image {
	tb.Helper()
	im, err := Load(data, slice)
	if err != nil {
		tb.Fatal(err)
	}
	return im
}

// objdump runs the newest llvm-objdump there is; older ones can't read chained
// fixups or function starts.
func objdump(t *testing.T, args ...string) string {
	t.Helper()
	for _, n := range []string{"llvm-objdump-19", "llvm-objdump-16", "llvm-objdump"} {
		if p, err := exec.LookPath(n); err == nil {
			out, err := exec.Command(p, append([]string{"--macho"}, args...)...).Output()
			if err != nil {
				t.Fatalf("%s %v: %v", n, args, err)
			}
			return string(out)
		}
	}
	t.Skip("llvm-objdump (16 or later) is not installed")
	return ""
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

func hints(im *object.Image, from object.HintSource) []uint64 {
	var out []uint64
	for _, h := range im.Hints {
		if h.Source == from {
			out = append(out, h.Addr)
		}
	}
	return out
}

func property(im *object.Image, name string) string {
	for _, p := range im.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

func mitigation(im *object.Image, name string) string {
	for _, m := range im.Mitigations {
		if m.Name == name {
			return m.State
		}
	}
	return ""
}

func TestHeaders_agree_with_debug_macho(t *testing.T) {
	for _, name := range append(append([]string{}, images...), objects...) {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			f, err := stdmacho.Open(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			bias := uint64(0)
			if im.Kind == object.Relocatable {
				bias = ObjectBase
			}
			type section struct {
				Name               string
				Addr, Size, Offset uint64
			}
			var got, want []section
			for _, s := range im.Sections {
				got = append(got, section{s.Name, s.Addr, s.Size, s.Offset})
			}
			for _, s := range f.Sections {
				want = append(want, section{s.Seg + "," + s.Name, s.Addr + bias, s.Size, uint64(s.Offset)})
			}
			sort.SliceStable(want, func(i, j int) bool { return want[i].Addr < want[j].Addr })
			equal(t, "sections", got, want)

			gotSyms, wantSyms := map[string]uint64{}, map[string]uint64{}
			for _, s := range im.Symbols {
				if s.Source == "symtab" {
					gotSyms[s.Name] = s.Addr
				}
			}
			for _, s := range f.Symtab.Syms {
				v := s.Value
				if s.Type&nTypeMask == nSection {
					v += bias
				}
				if s.Type&nStab == 0 {
					wantSyms[s.Name] = v
				}
			}
			equal(t, "symbols", gotSyms, wantSyms)

			var libs, wantLibs []string
			for _, l := range im.Libraries {
				libs = append(libs, l.Name)
			}
			wantLibs, err = f.ImportedLibraries()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "libraries", libs, wantLibs)
			if len(im.Notes) > 0 {
				t.Errorf("notes on an undamaged file: %q", im.Notes)
			}
		})
	}
}

// Every fixup, against the tables as llvm-objdump prints them.
func TestFixups_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			path := filepath.Join("testdata", name)
			binds, rebases := map[uint64]string{}, map[uint64]uint64{}
			line := regexp.MustCompile(`(?m)^__\w+ +__\w+ +(0x[0-9A-F]+) +(?:pointer +(?:\d+ +)?)?(?:\S+ +)?(_\S+|dyld_stub_binder)`)
			for _, table := range []string{"--weak-bind", "--lazy-bind", "--bind"} {
				for _, m := range line.FindAllStringSubmatch(objdump(t, table, path), -1) {
					binds[number(t, m[1])] = m[2]
				}
			}
			for _, m := range regexp.MustCompile(`(?m)^__\w+\s+__\w+\s+(0x[0-9A-F]+)\s+pointer$`).FindAllStringSubmatch(objdump(t, "--rebase", path), -1) {
				rebases[number(t, m[1])] = 0
			}
			chained := regexp.MustCompile(`(?m)^__\w+\s+__\w+\s+(0x[0-9A-F]+)\s+0x[0-9A-F]+\s+(bind|rebase)\s+(.*)$`)
			for _, m := range chained.FindAllStringSubmatch(objdump(t, "--dyld-info", path), -1) {
				if f := strings.Fields(m[3]); m[2] == "bind" {
					binds[number(t, m[1])] = f[2]
				} else {
					rebases[number(t, m[1])] = number(t, f[len(f)-1])
				}
			}
			if len(binds) == 0 {
				t.Fatal("llvm-objdump shows no binds")
			}
			gotBinds, gotRebases := map[uint64]string{}, map[uint64]uint64{}
			for _, r := range im.Relocations {
				if r.Symbol != "" {
					gotBinds[r.Addr] = r.Symbol
				} else {
					gotRebases[r.Addr] = r.Target
				}
			}
			equal(t, "binds", gotBinds, binds)
			for a := range rebases {
				_, bound := binds[a]
				if bound { // a lazy pointer's first target
					delete(rebases, a)
				} else if rebases[a] == 0 {
					rebases[a] = le64(im.Bytes(a, 8)) & (1<<56 - 1)
				}
			}
			equal(t, "rebases", gotRebases, rebases)
		})
	}
}

func le64(b []byte) uint64 {
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// Stubs and slots with their names, against the indirect symbol table.
func TestStubs_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			out := objdump(t, "--indirect-symbols", filepath.Join("testdata", name))
			stubs := map[uint64]string{}
			slots := map[uint64]string{}
			var in map[uint64]string
			for _, l := range strings.Split(out, "\n") {
				if strings.HasPrefix(l, "Indirect symbols for") {
					in = slots
					if strings.Contains(l, "__stubs") {
						in = stubs
					}
				}
				if f := strings.Fields(l); len(f) == 3 && strings.HasPrefix(f[0], "0x") {
					in[number(t, f[0])] = f[2]
				}
			}
			got := map[uint64]string{}
			for _, s := range im.Stubs {
				if s.Kind == object.StubJump {
					got[s.Addr] = s.Name
					if slots[s.Slot] != s.Name {
						t.Errorf("stub of %s goes through the slot of %q", s.Name, slots[s.Slot])
					}
				}
			}
			equal(t, "stubs", got, stubs)
			for _, i := range im.Imports {
				if i.Slot != 0 && slots[i.Slot] != i.Name {
					t.Errorf("slot %#x of %s belongs to %q", i.Slot, i.Name, slots[i.Slot])
				}
				if i.Stub != 0 && stubs[i.Stub] != i.Name {
					t.Errorf("stub %#x of %s belongs to %q", i.Stub, i.Name, stubs[i.Stub])
				}
			}
		})
	}
}

func TestFunction_starts_and_exports_agree_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			path := filepath.Join("testdata", name)
			var want []uint64
			for _, m := range regexp.MustCompile(`(?m)^([0-9a-f]{16})$`).FindAllStringSubmatch(objdump(t, "--function-starts", path), -1) {
				want = append(want, number(t, "0x"+m[1]))
			}
			equal(t, "function starts", hints(im, object.FromFunctionStarts), want)
			exports, wantExports := map[string]uint64{}, map[string]uint64{}
			for _, m := range regexp.MustCompile(`(?m)^(0x[0-9A-F]+)\s+(\S+)`).FindAllStringSubmatch(objdump(t, "--exports-trie", path), -1) {
				wantExports[m[2]] = number(t, m[1])
			}
			for _, e := range im.Exports {
				exports[e.Name] = e.Addr
			}
			equal(t, "exports", exports, wantExports)
		})
	}
}

// The compact unwind table against llvm-objdump's reading of it.
func TestCompact_unwind_agrees_with_llvm(t *testing.T) {
	for _, name := range images {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			out := objdump(t, "--unwind-info", filepath.Join("testdata", name))
			want := map[uint64]bool{}
			for _, m := range regexp.MustCompile(`\[\d+\]: function offset=(0x[0-9a-f]+),\s+encoding(?:\[\d+\])?=(0x[0-9a-f]+)`).FindAllStringSubmatch(out, -1) {
				if number(t, m[2]) != 0 {
					want[im.Base+number(t, m[1])] = true
				}
			}
			for _, m := range regexp.MustCompile(`personality\[\d+\]: (0x[0-9a-f]+)`).FindAllStringSubmatch(out, -1) {
				_ = m // a pointer to the routine; imported here
			}
			got := map[uint64]bool{}
			for _, a := range hints(im, object.FromCompactUnwind) {
				got[a] = true
			}
			equal(t, "entries", got, want)
		})
	}
}

// Landing pads of catch blocks begin with the call that begins a catch; cleanup
// pads with a destructor. Each must lie in its function and behind its calls.
func TestLanding_pads(t *testing.T) {
	for _, name := range []string{"throw_x86_64", "throw_arm64"} {
		im := mustLoad(t, fixture(t, name), "")
		var catcher, main uint64
		for _, s := range im.Symbols {
			switch s.Name {
			case "_catcher":
				catcher = s.Addr
			case "_main":
				main = s.Addr
			}
		}
		if len(im.LandingPads) < 2 {
			t.Fatalf("%s: landing pads %#x", name, im.LandingPads)
		}
		for _, p := range im.LandingPads {
			if p <= catcher || catcher < main && p >= main {
				t.Errorf("%s: landing pad %#x is not in catcher (%#x)", name, p, catcher)
			}
		}
		for _, c := range im.CallSites {
			if c.Addr < catcher || c.Size == 0 || c.Size > 4096 {
				t.Errorf("%s: call site %+v", name, c)
			}
		}
	}
}

// Applied relocations of objects, against the symbols that calls should reach.
func TestObject_relocations_are_applied(t *testing.T) {
	for _, name := range objects {
		t.Run(name, func(t *testing.T) {
			im := mustLoad(t, fixture(t, name), "")
			var taken uint64
			for _, s := range im.Symbols {
				if s.Name == "_taken" {
					taken = s.Addr
				}
			}
			stubs := map[uint64]string{}
			for _, s := range im.Stubs {
				stubs[s.Addr] = s.Name
			}
			var calls []string
			code := im.Bytes(taken, 32)
			for i := 0; i+5 <= len(code); i++ {
				w := uint32(le64(code[i : i+4]))
				var target uint64
				switch {
				case im.Arch == object.X86_64 && code[i] == 0xe8:
					target = taken + uint64(i) + 5 + uint64(int64(int32(le64(code[i+1:i+5]))))
				case im.Arch == object.ARM64 && i%4 == 0 && w>>26 == 0x25:
					target = taken + uint64(i) + uint64(int64(int32(w<<6)>>4))
				}
				if n := stubs[target]; n != "" {
					calls = append(calls, n)
				}
			}
			if len(calls) == 0 || calls[0] != "_imported_one" {
				t.Errorf("taken calls %q, want _imported_one", calls)
			}
			// The table of function pointers leads to the functions.
			var table uint64
			addrs := map[string]uint64{}
			for _, s := range im.Symbols {
				addrs[s.Name] = s.Addr
			}
			table = addrs["_table"]
			equal(t, "table[0]", le64(im.Bytes(table, 8)), addrs["_taken"])
			equal(t, "table[1]", le64(im.Bytes(table+8, 8)), addrs["_taken_too"])
			equal(t, "table[2]", stubs[le64(im.Bytes(table+16, 8))], "_imported_one")
		})
	}
}

// Sizes that an object's unwind entries give, against the distances of symbols.
func TestObject_unwind_hints(t *testing.T) {
	for _, name := range objects {
		im := mustLoad(t, fixture(t, name), "")
		sizes := map[uint64]uint64{}
		for _, h := range im.Hints {
			if h.Source == object.FromCompactUnwind {
				sizes[h.Addr] = h.Size
			}
		}
		n := 0
		for _, s := range im.Symbols {
			if size, ok := sizes[s.Addr]; ok && s.Kind == object.SymFunction {
				n++
				if size == 0 || size > 0x200 {
					t.Errorf("%s: %s has size %d", name, s.Name, size)
				}
			}
		}
		if n < 5 {
			t.Errorf("%s: %d functions have unwind entries", name, n)
		}
	}
}
