/* What makes disassemblers go wrong: jumps that are always or never taken, with
   the first byte of a call behind them, and calls that hand on the address of the
   text behind them. revisited is one whose test something else jumps to, asks is
   one that leaves the answer to the system, comes returns to where it was called
   from by way of a register. */
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
	call	zero
	call	pair
	call	carry
	call	equal
	call	never
	call	inline
	call	revisited
	call	asks
	call	caller
	mov	$60, %eax
	syscall
	ud2
	done	_start

	function zero
	xor	%ebx, %ebx
	mov	$7, %ecx
	test	%ebx, %ebx
	je	1f
	.byte	0xe8
1:	mov	$7, %eax
	ret
	done	zero

	function pair
	cmp	$5, %edi
	jz	1f
	jnz	1f
	.byte	0xe9
1:	mov	$8, %eax
	ret
	done	pair

	function carry
	clc
	jnc	1f
	.byte	0xe8
1:	mov	$9, %eax
	ret
	done	carry

	function equal
	cmp	%r9, %r9
	jne	2f
	je	1f
2:	.byte	0xe8
1:	mov	$10, %eax
	ret
	done	equal

	function never
	mov	$3, %eax
	test	%eax, %eax
	je	junk
	mov	$11, %eax
	ret
	done	never

	.byte	0x63, 0x7c, 0x77
junk:	.byte	0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67

	function inline
	jmp	2f
1:	pop	%rdi
	mov	(%rdi), %eax
	ret
2:	call	1b
	.asciz	"text behind a call: its address is popped"
	done	inline

	function revisited
	xor	%eax, %eax
1:	test	%eax, %eax
	je	2f
	mov	$12, %eax
	ret
2:	inc	%eax
	cmp	%edi, %eax
	jb	1b
	mov	$13, %eax
	ret
	done	revisited

	function asks
	mov	$39, %eax
	syscall
	test	%eax, %eax
	je	1f
	mov	$14, %eax
1:	ret
	done	asks

	function caller
	call	comes
	mov	$15, %eax
	ret
	done	caller

	function comes
	pop	%rdx
	mov	$39, %eax
	syscall
	push	%rdx
	ret
	done	comes
