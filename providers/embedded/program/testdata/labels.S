/* Assembly that gives its symbols no type: a function that returns by way of
   the stack, a function with a global place in its middle, and data. */
	.text
	.globl _start, pushes, whole, middle, bytes
_start:
	mov	$60, %eax
	syscall
	ud2
pushes:
	lea	behind(%rip), %rax
	push	%rax
	ret
	.ascii	"JUNKJUNK"
behind:
	mov	$5, %eax
	ret
whole:
	test	%edi, %edi
	jz	middle
	push	%rdi
	ret
middle:
	mov	$6, %eax
	ret
bytes:
	.byte	0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
