package pe

import (
	stdpe "debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// goProgram cross-compiles a small program with the Go toolchain at hand.
func goProgram(tb testing.TB, goos, goarch string) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("cross-compiling takes long")
	}
	dir := tb.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	out := filepath.Join(dir, "program")
	cmd := exec.Command("go", "build", "-o", out, src)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GO111MODULE=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build for %s/%s: %v\n%s", goos, goarch, err, msg)
	}
	return out
}

// coffSymbols compares the defined symbols of an image with debug/pe's.
func coffSymbols(t *testing.T, path string) *object.Image {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im := mustLoad(t, data)
	f, err := stdpe.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, got := map[string]uint64{}, map[string]uint64{}
	for _, s := range f.Symbols {
		if s.SectionNumber > 0 && s.StorageClass == classExternal {
			want[s.Name] = im.Base + uint64(f.Sections[s.SectionNumber-1].VirtualAddress) + uint64(s.Value)
		}
	}
	for _, s := range im.Symbols {
		if s.Defined && s.Global && s.Section != "" && s.Source == "coff" {
			got[s.Name] = s.Addr
		}
	}
	if len(want) < 100 {
		t.Fatalf("debug/pe shows %d symbols", len(want))
	}
	equal(t, "symbols", got, want)
	if len(im.Notes) > 0 {
		t.Errorf("notes: %q", im.Notes)
	}
	return im
}

func TestGo_programs(t *testing.T) {
	for _, tt := range []struct {
		goarch string
		arch   object.Arch
	}{{"amd64", object.X86_64}, {"arm64", object.ARM64}} {
		t.Run(tt.goarch, func(t *testing.T) {
			im := coffSymbols(t, goProgram(t, "windows", tt.goarch))
			equal(t, "arch", im.Arch, tt.arch)
			functions := map[uint64]bool{}
			for _, s := range im.Symbols {
				if s.Kind == object.SymFunction {
					functions[s.Addr] = true
				}
			}
			// Every function table entry of a Go program is one of its functions.
			for _, a := range hints(im, object.FromPData) {
				if !functions[a] {
					t.Errorf("function table entry %#x has no symbol", a)
				}
			}
		})
	}
}

// A program of the GNU toolchain: symbols, and exception tables in their form.
func TestMinGW_programs(t *testing.T) {
	for _, cc := range []string{"x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc"} {
		t.Run(cc, func(t *testing.T) {
			path, err := exec.LookPath(cc)
			if err != nil {
				t.Skipf("%s is not installed", cc)
			}
			dir := t.TempDir()
			src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.exe")
			program := "#include <stdio.h>\n__attribute__((noinline)) int twice(int x) { return printf(\"%d\", 2 * x); }\nint main(int c, char **v) { return twice(c); }\n"
			if err := os.WriteFile(src, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			if msg, err := exec.Command(path, "-O2", "-g", src, "-o", out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			im := coffSymbols(t, out)
			byName := map[string]object.Symbol{}
			for _, s := range im.Symbols {
				byName[strings.TrimPrefix(s.Name, "_")] = s
			}
			for _, name := range []string{"main", "twice"} {
				if s := byName[name]; s.Kind != object.SymFunction || !im.Executable(s.Addr) {
					t.Errorf("%s is %+v", name, s)
				}
			}
			equal(t, "debug information", im.Debug, []string{"dwarf"})
			source := object.FromPData
			if im.Arch == object.X86 {
				source = object.FromEHFrame
			}
			if !contains(hints(im, source), byName["twice"].Addr) {
				t.Errorf("twice (%#x) is not among the hints of %s", byName["twice"].Addr, source)
			}
		})
	}
}

func BenchmarkLoad_go_program(b *testing.B) {
	data, err := os.ReadFile(goProgram(b, "windows", "amd64"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustLoad(b, data)
	}
}

// An AArch64 object: its imports are reached through pointers whose address is
// put together from a page and an offset, its own functions by branches.
func TestARM64_object_relocations(t *testing.T) {
	clang := tool(t, "clang")
	out := filepath.Join(t.TempDir(), "sample.obj")
	src := filepath.Join("testdata", "src", "sample.c")
	if msg, err := exec.Command(clang, "--target=aarch64-pc-windows-msvc", "-O1", "-fms-extensions", "-c", src, "-o", out).CombinedOutput(); err != nil {
		t.Skipf("clang can't build for Windows on ARM64: %v\n%s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	im := mustLoad(t, data)
	slots := map[uint64]string{}
	for _, i := range im.Imports {
		if i.Slot != 0 {
			slots[i.Slot] = i.Name
		}
	}
	loaded, called := map[string]bool{}, map[uint64]bool{}
	for _, s := range im.Sections {
		if !s.Code {
			continue
		}
		code := im.SectionBytes(&s)
		for i := 0; i+8 <= len(code); i += 4 {
			at := s.Addr + uint64(i)
			w0, w1 := le.Uint32(code[i:]), le.Uint32(code[i+4:])
			if w0>>26 == 0x25 { // bl
				called[at+uint64(int64(int32(w0<<6)>>4))] = true
			}
			if w0&0x9f000000 != 0x90000000 || w1&0xffc00000 != 0xf9400000 || w1>>5&31 != w0&31 { // adrp; ldr
				continue
			}
			page := int64(int32((w0>>5&0x7ffff<<2|w0>>29&3)<<11)) >> 11 << 12
			loaded[slots[at&^0xfff+uint64(page)+uint64(w1>>10&0xfff)*8]] = true
		}
	}
	for _, name := range []string{"imported_one", "imported_two"} {
		if !loaded[name] {
			t.Errorf("no code loads the pointer of %s: %v", name, loaded)
		}
	}
	functions := map[uint64]bool{}
	for _, s := range im.Symbols {
		functions[s.Addr] = functions[s.Addr] || s.Kind == object.SymFunction
	}
	for _, s := range im.Stubs {
		functions[s.Addr] = true
	}
	if len(called) == 0 {
		t.Error("no calls")
	}
	for a := range called {
		if !functions[a] {
			t.Errorf("a call leads to %#x, which is no function", a)
		}
	}
	for _, h := range im.Hints {
		if h.Source == object.FromPData && h.Size > 0 && !functions[h.Addr] {
			t.Errorf("unwind data of %#x, which is no function", h.Addr)
		}
	}
}
