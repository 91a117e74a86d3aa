// Runs instruction samples of IA-32, as amd64.c does. It needs no library:
// systems rarely have the 32-bit ones.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define WINDOW 512

struct sample {
	u64 regs[32];
	u64 flags;
	u64 signal;
	u8 vector[32][32];
	u8 memory[WINDOW];
	u8 code[64];
	u64 length;
};

#define PAGE ((u8 *)0x40000000)
#define CODE ((u8 *)0x41000000)

struct sample state __attribute__((aligned(64)));
u32 host_sp, signal_number;

void enter(void);
void leave(void);
void caught(int n);

__asm__(
	".text\n.globl enter\nenter:\n"
	"push %ebx\npush %ebp\npush %esi\npush %edi\n"
	"mov %esp, host_sp\n"
	"mov $state+272, %eax\n"
	"vmovdqu 0(%eax), %ymm0\nvmovdqu 32(%eax), %ymm1\nvmovdqu 64(%eax), %ymm2\nvmovdqu 96(%eax), %ymm3\n"
	"vmovdqu 128(%eax), %ymm4\nvmovdqu 160(%eax), %ymm5\nvmovdqu 192(%eax), %ymm6\nvmovdqu 224(%eax), %ymm7\n"
	"push state+256\npopf\n"
	"mov state+0, %eax\nmov state+8, %ecx\nmov state+16, %edx\nmov state+24, %ebx\n"
	"mov state+32, %esp\nmov state+40, %ebp\nmov state+48, %esi\nmov state+56, %edi\n"
	"jmp *code_address\n"
	".globl leave\nleave:\n"
	"mov %eax, state+0\nmov %ecx, state+8\nmov %edx, state+16\nmov %ebx, state+24\n"
	"mov %esp, state+32\nmov %ebp, state+40\nmov %esi, state+48\nmov %edi, state+56\n"
	"mov host_sp, %esp\npushf\npop state+256\ncld\n"
	"mov $state+272, %eax\n"
	"vmovdqu %ymm0, 0(%eax)\nvmovdqu %ymm1, 32(%eax)\nvmovdqu %ymm2, 64(%eax)\nvmovdqu %ymm3, 96(%eax)\n"
	"vmovdqu %ymm4, 128(%eax)\nvmovdqu %ymm5, 160(%eax)\nvmovdqu %ymm6, 192(%eax)\nvmovdqu %ymm7, 224(%eax)\n"
	"pop %edi\npop %esi\npop %ebp\npop %ebx\nret\n"
	".globl caught\ncaught:\n"
	"mov 4(%esp), %eax\nmov %eax, signal_number\nmov host_sp, %esp\ncld\n"
	"pop %edi\npop %esi\npop %ebp\npop %ebx\nret\n"
	".globl _start\n_start:\nand $-16, %esp\ncall run\nmov %eax, %ebx\nmov $1, %eax\nint $0x80\n"
	".data\ncode_address: .long 0x41000000\n.text\n");

static int system6(int n, u32 a, u32 b, u32 c, u32 d, u32 e, u32 f) {
	int r;
	u32 in[2] = {n, f};
	__asm__ volatile("push %%ebp\nmov 4(%1), %%ebp\nmov (%1), %%eax\nint $0x80\npop %%ebp" : "=&a"(r) : "0"(in), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return r;
}

static void copy(u8 *to, const u8 *from, u32 n) {
	for (u32 i = 0; i < n; i++)
		((volatile u8 *)to)[i] = from[i];
}

static int whole(int call, int fd, u8 *p, u32 n) {
	while (n > 0) {
		int k = system6(call, fd, (u32)p, n, 0, 0, 0);
		if (k <= 0)
			return 0;
		p += k, n -= k;
	}
	return 1;
}

int run(void) {
	static u8 stack[65536];
	u32 ss[3] = {(u32)stack, 0, sizeof stack};
	system6(186, (u32)ss, 0, 0, 0, 0, 0); // sigaltstack
	int signals[] = {4, 11, 7, 8, 5};
	for (int i = 0; i < 5; i++) {
		u32 action[5] = {(u32)caught, 0x48000000, 0, 0, 0}; // SA_ONSTACK, SA_NODEFER
		system6(174, signals[i], (u32)action, 0, 8, 0, 0); // rt_sigaction
	}
	if (system6(192, (u32)PAGE, 4096, 3, 0x32, -1, 0) != (int)PAGE || system6(192, (u32)CODE, 4096, 7, 0x32, -1, 0) != (int)CODE)
		return 2;
	while (whole(3, 0, (u8 *)&state, sizeof state)) {
		for (u32 i = 0; i < 4096; i++)
			((volatile u8 *)PAGE)[i] = 0;
		copy(PAGE + 1792, state.memory, WINDOW);
		for (u32 i = 0; i < 128; i++)
			((volatile u8 *)CODE)[i] = 0xcc;
		copy(CODE, state.code, state.length);
		u8 *p = CODE + (u32)state.length;
		u32 far = (u32)leave - (u32)(p + 5);
		*(volatile u8 *)p = 0xe9;
		copy(p + 1, (u8 *)&far, 4);
		signal_number = 0;
		enter();
		state.signal = signal_number;
		copy(state.memory, PAGE + 1792, WINDOW);
		if (!whole(4, 1, (u8 *)&state, sizeof state))
			return 1;
	}
	return 0;
}
