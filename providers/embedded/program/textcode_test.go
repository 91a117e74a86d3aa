package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTextAmongCode: strings between hand-written functions are listed when
// their address is taken, and nothing else of the code is.
func TestTextAmongCode(t *testing.T) {
	const x64 = `
	.text
	.globl _start
_start:	lea hello(%rip), %rdi
	call print
	lea inner(%rip), %rdi
	call print
	movups table(%rip), %xmm0
	lea code(%rip), %rax
	call *%rax
	mov $60, %eax
	syscall
	hlt
hello:	.asciz "a line of text among the code"
unused:	.asciz "nobody takes the address of this"
lead:	.ascii "prefix "
inner:	.asciz "h\303\251llo, and the rest"
short:	.asciz "ab"
	.balign 16
table:	.ascii "ABCDEFGHIJKLMNO\0"
	.balign 16
print:	mov $1, %eax
	mov %rdi, %rsi
	ret
	.balign 16
code:	push %rbp
	push %rbx
	push %rcx
	push %rdx
	push %rsi
	.byte 0x58, 0x58, 0x58, 0x58, 0x5b
	.byte 0x00, 0xc0
	ret
`
	const a64 = `
	.text
	.globl _start
_start:	adr x0, hello
	bl print
	adr x0, inner
	bl print
	mov x8, #93
	svc #0
	udf #0
hello:	.asciz "a line of text among the code"
unused:	.asciz "nobody takes the address of this"
lead:	.ascii "prefix "
inner:	.asciz "h\303\251llo, and the rest"
	.balign 16
print:	mov x1, x0
	ret
`
	for _, tt := range []struct{ cc, source string }{{"gcc", x64}, {"aarch64-linux-gnu-gcc", a64}} {
		t.Run(tt.cc, func(t *testing.T) {
			dir := t.TempDir()
			src, bin := filepath.Join(dir, "a.s"), filepath.Join(dir, "a")
			if err := os.WriteFile(src, []byte(tt.source), 0o600); err != nil {
				t.Fatal(err)
			}
			tool(t, tt.cc, "-nostdlib", "-static", "-s", "-o", bin, src)
			p := analyzeFile(t, bin)
			var got []string
			for _, s := range p.Strings {
				if name := p.Image.Sections[s.Section].Name; strings.HasPrefix(name, ".text") {
					got = append(got, p.Text(s))
				}
			}
			slices.Sort(got)
			if want := []string{"a line of text among the code", "héllo, and the rest"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
