/* Functions that nothing leads to, as various compilers lay them out: behind
   zeroes, of one instruction, of an object without alignment, behind a call of
   what unwinds the stack and is seen neither to return nor not to, and behind
   the only one that jumps there. */
	.macro function name
	.type \name, @function
\name:
	.endm
	.macro done name
	.size \name, .-\name
	.endm

	.text
	.globl _start
	.p2align 4, 0
	function _start
	sub	$8, %rsp
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	call	used\n
	.endr
	.irp n, 0, 2, 4, 6
	call	raising\n
	.endr
	.irp n, 0, 1, 3, 6
	call	loose\n
	.endr
	call	before0
	call	before1
	mov	$60, %eax
	syscall
	ud2
	done	_start

	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	.p2align 4, 0
	function used\n
	lea	\n(%rdi), %eax
	ret
	done	used\n
	.p2align 4, 0
	function short\n	/* leaves two bytes */
	mov	%rdi, %rax
	add	$0x12345, %rax
	nopl	(%rax)
	ret
	done	short\n
	.p2align 4, 0
	function nothing\n
	ret
	done	nothing\n
	.endr

	.p2align 4
	function resume
	mov	(%rdi), %rax
	mov	8(%rdi), %rsp
	jmp	*%rax
	done	resume
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	.p2align 4
	function raising\n
	push	%rbx
	mov	%rdi, %rbx
	call	used\n
	test	%eax, %eax
	jne	1f
	pop	%rbx
	ret
	xchg	%ax, %ax
	nopl	0x12345678(%rax)
1:	mov	%rbx, %rdi
	call	resume	/* ends where the next one begins */
	done	raising\n
	.endr

	.irp n, 0, 1
	.p2align 4
	function before\n
	test	%rdi, %rdi
	je	1f
	lea	16(%rdi, %rsi, 8), %rdi
	mov	$0x12345678, %edx
	jmp	behind\n
1:	lea	0x12345678(%rsi), %rdi
	jmp	behind\n
	done	before\n
	.p2align 4
	function behind\n
	mov	8(%rdi), %rax
	add	%rdx, %rax
	ret
	done	behind\n
	.endr

	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	.p2align 1
	function loose\n
	push	%rbx
	mov	%rdi, %rbx
	call	used\n
	add	%rbx, %rax
	pop	%rbx
	ret
	done	loose\n
	.endr
	.section .note.GNU-stack, "", @progbits
