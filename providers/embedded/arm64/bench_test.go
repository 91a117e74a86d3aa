package arm64

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/isa"
)

// goProgram builds a small Go program for AArch64 and returns its path.
func goProgram(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	text := "package main\n\nimport (\n\t\"encoding/json\"\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc main() {\n\tb, _ := json.Marshal(http.DefaultTransport)\n\tfmt.Println(b)\n}\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", out, src)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot build for arm64: %v\n%s", err, b)
	}
	return out
}

func textSection(t testing.TB, path string) (*elf.Section, []byte) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return s, data
}

// BenchmarkDecode reports the time per instruction of a linear sweep.
func BenchmarkDecode(b *testing.B) {
	_, code := textSection(b, goProgram(b))
	d := New()
	var in isa.Inst
	off := 0
	b.ReportAllocs()
	for b.Loop() {
		if off+4 > len(code) {
			off = 0
		}
		d.Decode(code[off:], uint64(off), &in)
		off += 4
	}
}

// BenchmarkLift reports the time per instruction to lift a linear sweep.
func BenchmarkLift(b *testing.B) {
	_, code := textSection(b, goProgram(b))
	d := New()
	var out ir.Code
	off := 0
	b.ReportAllocs()
	for b.Loop() {
		if off+4 > len(code) {
			off = 0
		}
		if len(out.Insts) > 2000 {
			out.Reset()
		}
		off += d.Lift(code[off:off+4], uint64(off), &out)
	}
}
