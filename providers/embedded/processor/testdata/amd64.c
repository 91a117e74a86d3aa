// Runs instruction samples: reads struct sample from stdin, executes the code
// with the registers given, writes struct sample with the registers left.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define WINDOW 512

struct sample {
	uint64_t regs[32];
	uint64_t flags;
	uint64_t signal;
	uint8_t vector[32][32];
	uint8_t memory[WINDOW];
	uint8_t code[64];
	uint64_t length;
};

#define PAGE ((uint8_t *)0x40000000)
#define CODE ((uint8_t *)0x41000000)

struct sample state __attribute__((aligned(64)));
uint64_t host_sp, flags_after;
static sigjmp_buf out;

void enter(void);
void leave(void);

__asm__(
	".text\n.globl enter\nenter:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, host_sp(%rip)\n"
	"lea state+272(%rip), %rax\n"
	"vmovdqu 0(%rax), %ymm0\nvmovdqu 32(%rax), %ymm1\nvmovdqu 64(%rax), %ymm2\nvmovdqu 96(%rax), %ymm3\n"
	"vmovdqu 128(%rax), %ymm4\nvmovdqu 160(%rax), %ymm5\nvmovdqu 192(%rax), %ymm6\nvmovdqu 224(%rax), %ymm7\n"
	"vmovdqu 256(%rax), %ymm8\nvmovdqu 288(%rax), %ymm9\nvmovdqu 320(%rax), %ymm10\nvmovdqu 352(%rax), %ymm11\n"
	"vmovdqu 384(%rax), %ymm12\nvmovdqu 416(%rax), %ymm13\nvmovdqu 448(%rax), %ymm14\nvmovdqu 480(%rax), %ymm15\n"
	"push state+256(%rip)\npopf\n"
	"mov state+0(%rip), %rax\nmov state+8(%rip), %rcx\nmov state+16(%rip), %rdx\nmov state+24(%rip), %rbx\n"
	"mov state+32(%rip), %rsp\nmov state+40(%rip), %rbp\nmov state+48(%rip), %rsi\nmov state+56(%rip), %rdi\n"
	"mov state+64(%rip), %r8\nmov state+72(%rip), %r9\nmov state+80(%rip), %r10\nmov state+88(%rip), %r11\n"
	"mov state+96(%rip), %r12\nmov state+104(%rip), %r13\nmov state+112(%rip), %r14\nmov state+120(%rip), %r15\n"
	"jmp *code_address(%rip)\n"
	".globl leave\nleave:\n"
	"mov %rax, state+0(%rip)\nmov %rcx, state+8(%rip)\nmov %rdx, state+16(%rip)\nmov %rbx, state+24(%rip)\n"
	"mov %rsp, state+32(%rip)\nmov %rbp, state+40(%rip)\nmov %rsi, state+48(%rip)\nmov %rdi, state+56(%rip)\n"
	"mov %r8, state+64(%rip)\nmov %r9, state+72(%rip)\nmov %r10, state+80(%rip)\nmov %r11, state+88(%rip)\n"
	"mov %r12, state+96(%rip)\nmov %r13, state+104(%rip)\nmov %r14, state+112(%rip)\nmov %r15, state+120(%rip)\n"
	"mov host_sp(%rip), %rsp\npushf\npop state+256(%rip)\ncld\n"
	"lea state+272(%rip), %rax\n"
	"vmovdqu %ymm0, 0(%rax)\nvmovdqu %ymm1, 32(%rax)\nvmovdqu %ymm2, 64(%rax)\nvmovdqu %ymm3, 96(%rax)\n"
	"vmovdqu %ymm4, 128(%rax)\nvmovdqu %ymm5, 160(%rax)\nvmovdqu %ymm6, 192(%rax)\nvmovdqu %ymm7, 224(%rax)\n"
	"vmovdqu %ymm8, 256(%rax)\nvmovdqu %ymm9, 288(%rax)\nvmovdqu %ymm10, 320(%rax)\nvmovdqu %ymm11, 352(%rax)\n"
	"vmovdqu %ymm12, 384(%rax)\nvmovdqu %ymm13, 416(%rax)\nvmovdqu %ymm14, 448(%rax)\nvmovdqu %ymm15, 480(%rax)\n"
	"vzeroupper\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"
	".data\ncode_address: .quad 0x41000000\n.text\n");

static void caught(int n) { siglongjmp(out, n); }

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
	if (mmap(CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 2;
	static char inbuf[1 << 16], outbuf[1 << 16];
	setvbuf(stdin, inbuf, _IOFBF, sizeof inbuf);
	setvbuf(stdout, outbuf, _IOFBF, sizeof outbuf);
	while (fread(&state, sizeof state, 1, stdin) == 1) {
		memset(PAGE, 0, 4096);
		memcpy(PAGE + 1792, state.memory, WINDOW);
		memset(CODE, 0xcc, 128);
		memcpy(CODE, state.code, state.length);
		uint8_t *p = CODE + state.length;
		*p++ = 0xff, *p++ = 0x25, *p++ = 0, *p++ = 0, *p++ = 0, *p++ = 0; // jmp [rip]
		uint64_t target = (uint64_t)leave;
		memcpy(p, &target, 8);
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
