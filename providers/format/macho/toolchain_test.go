package macho

import (
	stdmacho "debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/object"
)

// goProgram cross-compiles a small program with the Go toolchain at hand.
func goProgram(tb testing.TB, goarch string) string {
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
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+goarch, "CGO_ENABLED=0", "GO111MODULE=off")
	if msg, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build for darwin/%s: %v\n%s", goarch, err, msg)
	}
	return out
}

// Go's own linker: symbols as debug/macho reads them, a stub for every import.
func TestGo_programs(t *testing.T) {
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) {
			path := goProgram(t, goarch)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			im := mustLoad(t, data, "")
			f, err := stdmacho.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, want := map[string]uint64{}, map[string]uint64{}
			for _, s := range f.Symtab.Syms {
				if s.Type&nStab == 0 && s.Sect > 0 {
					want[s.Name] = s.Value
				}
			}
			entry := uint64(0)
			for _, s := range im.Symbols {
				if s.Defined && s.Section != "" {
					name := s.Name
					if strings.HasPrefix(name, "_") && strings.Contains(name, ".") {
						name = name[1:] // as debug/macho has it
					}
					got[name] = s.Addr
				}
				if s.Name == "__rt0_"+goarch+"_darwin" {
					entry = s.Addr
				}
			}
			equal(t, "symbols", got, want)
			equal(t, "entry", im.Entry, entry)
			imported, err := f.ImportedSymbols()
			if err != nil {
				t.Fatal(err)
			}
			stubs := map[string]int{}
			for _, i := range im.Imports {
				if i.Stub != 0 && i.Slot != 0 && im.Executable(i.Stub) {
					stubs[i.Name]++
				}
			}
			wantStubs := map[string]int{}
			for _, n := range imported {
				wantStubs[n] = 1
			}
			equal(t, "stubs", stubs, wantStubs)
			equal(t, "debug information", im.Debug, []string{"dwarf"})
			equal(t, "kind", im.Kind, object.Executable)
			if len(im.Notes) > 0 {
				t.Errorf("notes: %q", im.Notes)
			}
		})
	}
}

func BenchmarkLoad_go_program(b *testing.B) {
	data, err := os.ReadFile(goProgram(b, "arm64"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		mustLoad(b, data, "")
	}
}

// An object file of nothing but external functions has all its symbols.
func TestObjects_of_external_symbols_are_not_stripped(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("clang is not installed")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "a.c")
	if err := os.WriteFile(src, []byte("int twice(int n) { return 2 * n; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"x86_64-apple-macos11", "arm64-apple-macos11"} {
		out := filepath.Join(dir, target+".o")
		if msg, err := exec.Command(clang, "-target", target, "-O1", "-c", "-o", out, src).CombinedOutput(); err != nil {
			t.Skipf("%v\n%s", err, msg)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if mustLoad(t, data, "").Strip {
			t.Errorf("%s is called stripped", target)
		}
	}
}
