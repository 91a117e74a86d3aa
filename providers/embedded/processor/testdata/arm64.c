// Runs instruction samples; see amd64.c.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define WINDOW 512

struct sample {
	uint64_t regs[32]; // x0-x30, sp
	uint64_t flags;    // nzcv
	uint64_t signal;
	uint8_t vector[32][32];
	uint8_t memory[WINDOW];
	uint8_t code[64];
	uint64_t length;
};

#define PAGE ((uint8_t *)0x40000000)
#define CODE ((uint8_t *)0x41000000)

struct sample state __attribute__((aligned(64)));
struct { uint64_t sp, tls, saved[12], spare; } host;
static sigjmp_buf out;

void enter(void);
void leave(void);

__asm__(
	".text\n.globl enter\nenter:\n"
	"adrp x9, host\nadd x9, x9, :lo12:host\n"
	"mov x10, sp\nmrs x11, tpidr_el0\nstp x10, x11, [x9]\n"
	"stp x19, x20, [x9, #16]\nstp x21, x22, [x9, #32]\nstp x23, x24, [x9, #48]\nstp x25, x26, [x9, #64]\nstp x27, x28, [x9, #80]\nstp x29, x30, [x9, #96]\n"
	"ldr x11, [x9, #112]\nmsr tpidr_el0, x11\n"
	"adrp x30, state\nadd x30, x30, :lo12:state\n"
	"ldr x0, [x30, #248]\nmov sp, x0\nldr x0, [x30, #256]\nmsr nzcv, x0\n"
	"add x1, x30, #272\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\nldr q\\n, [x1, #(\\n*32)]\n.endr\n"
	"ldp x0, x1, [x30]\nldp x2, x3, [x30, #16]\nldp x4, x5, [x30, #32]\nldp x6, x7, [x30, #48]\n"
	"ldp x8, x9, [x30, #64]\nldp x10, x11, [x30, #80]\nldp x12, x13, [x30, #96]\nldp x14, x15, [x30, #112]\n"
	"ldp x16, x17, [x30, #128]\nldp x18, x19, [x30, #144]\nldp x20, x21, [x30, #160]\nldp x22, x23, [x30, #176]\n"
	"ldp x24, x25, [x30, #192]\nldp x26, x27, [x30, #208]\nldr x28, [x30, #224]\n"
	"movz x29, #0x40ff, lsl #16\nmovk x29, #0xfff8\nbr x29\n" // loads x29 and x30, then the sample
	".globl leave\nleave:\n"
	"msr tpidr_el0, x30\n"
	"adrp x30, state\nadd x30, x30, :lo12:state\n"
	"stp x0, x1, [x30]\nstp x2, x3, [x30, #16]\nstp x4, x5, [x30, #32]\nstp x6, x7, [x30, #48]\n"
	"stp x8, x9, [x30, #64]\nstp x10, x11, [x30, #80]\nstp x12, x13, [x30, #96]\nstp x14, x15, [x30, #112]\n"
	"stp x16, x17, [x30, #128]\nstp x18, x19, [x30, #144]\nstp x20, x21, [x30, #160]\nstp x22, x23, [x30, #176]\n"
	"stp x24, x25, [x30, #192]\nstp x26, x27, [x30, #208]\nstp x28, x29, [x30, #224]\n"
	"mrs x0, tpidr_el0\nmov x1, sp\nstp x0, x1, [x30, #240]\nmrs x0, nzcv\nstr x0, [x30, #256]\n"
	"add x1, x30, #272\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\nstr q\\n, [x1, #(\\n*32)]\n.endr\n"
	"adrp x9, host\nadd x9, x9, :lo12:host\n"
	"ldp x10, x11, [x9]\nmov sp, x10\nmsr tpidr_el0, x11\n"
	"ldp x19, x20, [x9, #16]\nldp x21, x22, [x9, #32]\nldp x23, x24, [x9, #48]\nldp x25, x26, [x9, #64]\nldp x27, x28, [x9, #80]\nldp x29, x30, [x9, #96]\n"
	"ret\n");

static void caught(int n) {
	// The thread pointer holds the sample's x30; the C library needs its own.
	__asm__ volatile("msr tpidr_el0, %0" ::"r"(host.tls));
	siglongjmp(out, n);
}

int main(void) {
	static uint8_t stack[65536];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_handler = caught, .sa_flags = SA_ONSTACK};
	int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
	for (int i = 0; i < 5; i++)
		sigaction(signals[i], &sa, 0);
	if (mmap(PAGE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 2;
	if (mmap(CODE - 4096, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 2;
	uint32_t prelude[] = {0xf94077dd, 0xf9407bde}; // ldr x29, [x30, #232]; ldr x30, [x30, #240]
	memcpy(CODE - 8, prelude, 8);
	__builtin___clear_cache((char *)CODE - 8, (char *)CODE);
	static char inbuf[1 << 16], outbuf[1 << 16];
	setvbuf(stdin, inbuf, _IOFBF, sizeof inbuf);
	setvbuf(stdout, outbuf, _IOFBF, sizeof outbuf);
	while (fread(&state, sizeof state, 1, stdin) == 1) {
		memset(PAGE, 0, 4096);
		memcpy(PAGE + 1792, state.memory, WINDOW);
		memset(CODE, 0, 128);
		memcpy(CODE, state.code, state.length);
		uint64_t at = (uint64_t)CODE + state.length;
		uint32_t b = 0x14000000 | (uint32_t)((((int64_t)leave - (int64_t)at) >> 2) & 0x3ffffff);
		memcpy((void *)at, &b, 4);
		__builtin___clear_cache((char *)CODE, (char *)CODE + 128);
		int n = sigsetjmp(out, 1);
		if (n == 0)
			enter();
		state.signal = n;
		memcpy(state.memory, PAGE + 1792, WINDOW);
		if (fwrite(&state, sizeof state, 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) != 0;
}
