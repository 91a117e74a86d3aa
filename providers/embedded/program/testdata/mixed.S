# Hand-written assembly with constants and a table among the code.
	.text
	.globl	first
	.type	first, @function
	.p2align 4
first:
	leaq	constants(%rip), %rax
	movq	(%rax), %rax
	addq	8+constants(%rip), %rax
	ret
	.size	first, .-first

	.p2align 4
constants:
	.quad	0x0123456789abcdef, 0xfedcba9876543210
	.quad	0x4889e5554889e555, 0xc3c3c3c3c3c3c3c3

	.globl	second
	.type	second, @function
	.p2align 4
second:
	pushq	%rbx
	movq	%rdi, %rbx
	call	first
	addq	%rbx, %rax
	popq	%rbx
	ret
	.size	second, .-second

	.globl	third
	.type	third, @function
	.p2align 4
third:
	cmpq	$3, %rdi
	ja	1f
	leaq	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
	.p2align 2
table:
	.long	2f-table, 3f-table, 4f-table, 1f-table
2:	movl	$20, %eax
	ret
3:	movl	$30, %eax
	ret
4:	jmp	second
1:	xorl	%eax, %eax
	ret
	.size	third, .-third

	.globl	_start
	.type	_start, @function
	.p2align 4
_start:
	movl	$2, %edi
	call	third
	movq	%rax, %rdi
	movl	$60, %eax
	syscall
	hlt
	.size	_start, .-_start
	.section .note.GNU-stack,"",@progbits
