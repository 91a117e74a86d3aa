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
		tb.Skipf("go build for %s/%s: %v\n%s", goos, goarch, err, msg)
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
