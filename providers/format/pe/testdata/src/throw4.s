# A function whose exceptions are handled by __CxxFrameHandler4, its compressed
# tables written by hand: an unwind map with a funclet and a destructor, and a
# try block with one handler that continues at two places. The exported labels
# tell where everything is.
	.text
	.globl entry
	.seh_proc entry
entry:
	subq $40, %rsp
	.seh_stackalloc 40
	.seh_endprologue
	callq *__imp_may_throw(%rip)
	nop
	.globl continue_one, continue_two
continue_one:
	xorl %eax, %eax
continue_two:
	addq $40, %rsp
	retq
	.seh_handler __CxxFrameHandler4, @unwind, @except
	.seh_handlerdata
	.long info@IMGREL
	.text
	.seh_endproc

	.p2align 4
	.globl unwind_funclet
unwind_funclet:
	leaq 32(%rdx), %rcx
	retq
	.p2align 4
	.globl destructor
destructor:
	retq
	.p2align 4
	.globl catch_funclet
catch_funclet:
	leaq continue_one(%rip), %rax
	retq

	.section .xdata, "dr"
info:
	.byte 0x18                   # unwind map, try map
	.long unwind_map@IMGREL
	.long try_map@IMGREL
	.long states@IMGREL
unwind_map:
	.byte 3 << 1                 # three entries
	.byte 0 << 1                 # nothing to do
	.byte (3 | 1 << 2) << 1      # a funclet
	.long unwind_funclet@IMGREL
	.byte (1 | 2 << 2) << 1      # a destructor, of the object at 300
	.long destructor@IMGREL
	.byte 300 << 2 & 0xff | 1, 300 >> 6
try_map:
	.byte 1 << 1
	.byte 0 << 1, 1 << 1, 2 << 1
	.long handlers@IMGREL
handlers:
	.byte 1 << 1
	.byte 0x2d                   # adjectives, object, two continuations as image offsets
	.byte 64 << 1
	.byte 40 << 1
	.long catch_funclet@IMGREL
	.long continue_one@IMGREL
	.long continue_two@IMGREL
states:
	.byte 1 << 1, 0 << 1, 0 << 1

	.section .drectve, "yn"
	.ascii " /export:unwind_funclet /export:destructor /export:catch_funclet /export:continue_one /export:continue_two"
