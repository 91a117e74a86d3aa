package embedded_test

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/runtime/engine"
)

const packedSource = `
#include <sys/mman.h>
#include <string.h>
unsigned char *place;
__attribute__((noinline)) int unprotect(void *p) { return mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC); }
__attribute__((noinline)) int protect(void *p) { return mprotect(p, 4096, PROT_READ | PROT_EXEC); }
int main(int argc, char **argv) { return unprotect(argv) + protect(argv); }
`

// dense is a section of executable code that looks like noise.
func dense() string {
	var b strings.Builder
	b.WriteString("__asm__(\".section .noise,\\\"ax\\\",@progbits\\n\"\n")
	x := uint32(12345)
	for range 512 {
		b.WriteString("\".byte 0")
		for range 32 {
			x = x*1664525 + 1013904223
			b.WriteString("," + itoa(x>>24))
		}
		b.WriteString("\\n\"\n")
	}
	b.WriteString("\".text\\n\");\n")
	return b.String()
}

func itoa(n uint32) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func notes(t *testing.T, eng engine.Engine) string {
	t.Helper()
	s, err := eng.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(s.Notes, "\n")
}

func TestSignsOfPackedAndChangingCode(t *testing.T) {
	plain := notes(t, open(t, build(t, "gcc", "a.c", interfaces, "-O1")))
	for _, sign := range []string{"dense", "writable and executable", "packed", "imports"} {
		if strings.Contains(plain, sign) {
			t.Errorf("an ordinary program is noted as %q:\n%s", sign, plain)
		}
	}
	eng := open(t, build(t, "gcc", "a.c", packedSource+dense(), "-O1"))
	got := notes(t, eng)
	if !strings.Contains(got, "section .noise is executable and as dense as") {
		t.Errorf("dense code is not noted:\n%s", got)
	}
	if n := strings.Count(got, "the call of mprotect at"); n != 1 {
		t.Errorf("%d calls are noted, one makes memory writable and executable:\n%s", n, got)
	}
	if got := notes(t, open(t, build(t, "gcc", "a.c", "void _start(void) { for (;;) ; }\n", "-O1", "-Wl,-N", "-static", "-nostdlib"))); !strings.Contains(got, "is writable and executable") {
		t.Errorf("writable code is not noted:\n%s", got)
	}
}

// TestCodeEncryptedByAByte: its entropy is that of code, but what unwind data
// states to be functions does not decode.
func TestCodeEncryptedByAByte(t *testing.T) {
	var source strings.Builder
	for i := range uint32(40) {
		fmt.Fprintf(&source, "__attribute__((noinline)) int f%d(int x) { for (int i = 0; i < x; i++) x += i * %d; return x ^ %d; }\n", i, i+3, i*7)
	}
	source.WriteString("int main(int c, char **v) { int s = 0;\n")
	for i := range uint32(40) {
		fmt.Fprintf(&source, "s += f%d(c);\n", i)
	}
	source.WriteString("return s; }\n")
	bin := build(t, "gcc", "a.c", source.String(), "-O1", "-s")
	if got := notes(t, open(t, bin)); strings.Contains(got, "do not decode") {
		t.Errorf("an ordinary program is noted:\n%s", got)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	f.Close()
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data[text.Offset : text.Offset+text.Size] {
		data[text.Offset+uint64(i)] ^= 0x5a
	}
	other := filepath.Join(t.TempDir(), "encrypted")
	if err := os.WriteFile(other, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := notes(t, open(t, other)); !strings.Contains(got, "do not decode: the code is probably encrypted") {
		t.Errorf("encrypted code is not noted:\n%s", got)
	}
}
