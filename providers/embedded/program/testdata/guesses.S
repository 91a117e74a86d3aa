/* What looks like functions that nothing leads to and is none: cases of a jump
   through a table of halfwords among the code of a function that itself nothing
   leads to, and constants right before a function, the last of which decode
   together with its first bytes. */
	.macro function name
	.type \name, @function
\name:
	.endm
	.macro done name
	.size \name, .-\name
	.endm

	.text
	.globl _start
	function _start
	lea	constants(%rip), %rsi
	mov	(%rsi,%rdi,8), %rdi
	call	behind
	mov	$60, %eax
	syscall
	ud2
	done	_start

constants:
	.quad 0x1122334455667788, 0x99aabbccddeeff00, 0x4141414141414141

	function behind
	xor	%eax, %eax
	test	%edi, %edi
	jz	1f
	inc	%eax
1:	ret
	done	behind

	function halfwords
	sub	$97, %edi
	cmp	$5, %edi
	jae	6f
	lea	7f(%rip), %rcx
	movzwl	(%rcx,%rdi,2), %eax
	lea	halfwords(%rip), %rcx
	add	%rax, %rcx
	jmp	*%rcx
7:	.irp n, 1, 2, 3, 4, 5
	.short	\n\()f-halfwords
	.endr
	.irp n, 1, 2, 3, 4, 5
\n:	mov	$\n, %eax
	ret
	.endr
6:	xor	%eax, %eax
	ret
	done	halfwords

	function unlike
	mov	(%rdi), %eax
	bswap	%eax
	ret
	done	unlike
