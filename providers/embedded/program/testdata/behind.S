# Code that runs on past the end its call frame states, as the C library's clone does.
	.intel_syntax noprefix
	.text
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	call	f
	call	g
	ud2
	.cfi_endproc
	.size _start, . - _start
	.p2align 4
	.type f, @function
f:
	.cfi_startproc
	test	edi, edi
	je	.Lbad
	mov	eax, 56
	.cfi_endproc
behind:
	syscall
	mov	edx, eax
	test	eax, eax
	jl	.Lbad
behind_ret:
	ret
.Lbad:
	.cfi_startproc
	neg	eax
	ret
	.cfi_endproc
	.size f, . - f
	.p2align 4
	.type g, @function
g:
	.cfi_startproc
	mov	eax, 1
	ret
	.cfi_endproc
	.size g, . - g
