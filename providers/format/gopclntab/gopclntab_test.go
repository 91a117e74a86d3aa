package gopclntab

import (
	"bytes"
	stdelf "debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/format/elf"
	"rea/providers/format/object"
)

const program = `package main

import (
	"fmt"
	"os"
)

type shape interface{ area() float64 }
type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

//go:noinline
func total(shapes ...shape) (sum float64) {
	for _, s := range shapes {
		sum += s.area()
	}
	return sum
}

func main() {
	fmt.Fprintln(os.Stdout, total(square{2}, square{3}))
}
`

// build compiles the program with the Go toolchain of the machine.
func build(t testing.TB, env []string, args ...string) string {
	t.Helper()
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed")
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "out")
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(gobin, append(append([]string{"build", "-o", out}, args...), src)...)
	cmd.Env = append(os.Environ(), "GO111MODULE=off", "CGO_ENABLED=0", "GOFLAGS=")
	cmd.Env = append(cmd.Env, env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %v: %v\n%s", args, err, msg)
	}
	return out
}

func load(t testing.TB, path string) *object.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := elf.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// truth is what the Go symbol table of an unstripped ELF file says.
func truth(t *testing.T, path string) map[uint64]stdelf.Symbol {
	t.Helper()
	f, err := stdelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64]stdelf.Symbol{}
	for _, s := range symbols {
		if stdelf.ST_TYPE(s.Info) == stdelf.STT_FUNC && s.Size > 0 {
			out[s.Value] = s
		}
	}
	return out
}

func TestFunctionsAgreeWithSymbols(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		args []string
	}{
		{"amd64", []string{"GOOS=linux", "GOARCH=amd64"}, nil},
		{"amd64_pie", []string{"GOOS=linux", "GOARCH=amd64"}, []string{"-buildmode=pie"}},
		{"arm64", []string{"GOOS=linux", "GOARCH=arm64"}, nil},
		{"386", []string{"GOOS=linux", "GOARCH=386"}, nil},
		{"s390x_big_endian", []string{"GOOS=linux", "GOARCH=s390x"}, nil},
		{"cgo_external", []string{"CGO_ENABLED=1"}, []string{"-ldflags=-linkmode=external"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.name != "amd64" {
				t.Skip("builds the standard library for another target")
			}
			path := build(t, tt.env, tt.args...)
			want := truth(t, path)
			tab := Find(load(t, path))
			if tab == nil {
				t.Fatal("no table found")
			}
			compare(t, tab, want)
			checkLines(t, tab, path)

			stripped := build(t, tt.env, append(tt.args, "-trimpath", "-ldflags=-s -w "+external(tt.args))...)
			im := load(t, stripped)
			tab = Find(im)
			if tab == nil {
				t.Fatal("no table found in the stripped build")
			}
			if len(tab.Functions()) < 500 {
				t.Errorf("only %d functions in the stripped build", len(tab.Functions()))
			}
		})
	}
}

func external(args []string) string {
	if strings.Contains(strings.Join(args, " "), "external") {
		return "-linkmode=external"
	}
	return ""
}

func compare(t *testing.T, tab *Table, want map[uint64]stdelf.Symbol) {
	t.Helper()
	wrongName, wrongSize := 0, 0
	for _, f := range tab.Functions() {
		s, ok := want[f.Entry]
		if !ok || s.Name != strings.ReplaceAll(f.Name, "·", ".") && !strings.HasPrefix(s.Name, "_") && !strings.HasSuffix(s.Name, ".abi0") && !strings.HasSuffix(s.Name, "[...]") && !strings.Contains(s.Name, "[") {
			if wrongName++; wrongName < 5 {
				t.Logf("%#x: %q, the symbol table has %q", f.Entry, f.Name, s.Name)
			}
			continue
		}
		// Some linkers count the padding as part of the function.
		rest := tab.r.im.Bytes(f.End, int(s.Size-min(f.End-f.Entry, s.Size)))
		padding := uint64(len(rest)) == s.Size-(f.End-f.Entry) && len(bytes.Trim(rest, "\x00\xcc")) == 0
		if f.End-f.Entry != s.Size && !padding {
			if wrongSize++; wrongSize < 5 {
				t.Logf("%#x %s: size %d, the symbol table has %d", f.Entry, f.Name, f.End-f.Entry, s.Size)
			}
		}
	}
	n := len(tab.Functions())
	if n < 500 || wrongName > 0 || wrongSize > n/200 {
		t.Errorf("%d functions, %d names and %d sizes differ from the symbol table", n, wrongName, wrongSize)
	}
	missing := 0
	for addr, s := range want {
		if strings.HasPrefix(s.Name, "main.") && tab.FuncAt(addr) == nil {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d functions of package main are missing", missing)
	}
}

// checkLines compares positions with the Go library's own reader.
func checkLines(t *testing.T, tab *Table, path string) {
	t.Helper()
	f, err := stdelf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".gopclntab")
	if s == nil {
		s = f.Section(".data.rel.ro.gopclntab")
	}
	if s == nil {
		t.Fatal("no .gopclntab section")
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := gosym.NewTable(nil, gosym.NewLineTable(data, tab.TextStart))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, fn := range tab.Functions() {
		if i%37 != 0 {
			continue
		}
		for pc := fn.Entry; pc < fn.End; pc += 24 {
			file, line, _ := ref.PCToLine(pc)
			gotFile, gotLine, ok := tab.Line(pc)
			if ok != (line > 0) || ok && (gotFile != file || gotLine != line) {
				t.Fatalf("%#x in %s: %s:%d %v, the library says %s:%d", pc, fn.Name, gotFile, gotLine, ok, file, line)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("only %d positions were compared", checked)
	}
}
