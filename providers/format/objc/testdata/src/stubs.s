// Message sends through stubs that the linker makes.
	.section __TEXT,__text,regular,pure_instructions
	.globl _sends
_sends:
#if defined(__x86_64__)
	call _objc_msgSend$init
	call "_objc_msgSend$area:"
#else
	bl _objc_msgSend$init
	bl "_objc_msgSend$area:"
#endif
	ret
