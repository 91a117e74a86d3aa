// Functions whose landing pads lie in cold parts, each of which ends in a call
// of a function that leaves through a pointer and never returns.
#include <stdlib.h>

extern void work(int);
static int locks[8];
static void unlock(int *i) { locks[*i]--; if (locks[*i] > 1) work(-1); }

typedef void resume(void *);
static resume *volatile link_to;
__attribute__((noinline)) void _Unwind_Resume(void *e) {
	resume *r = link_to;
	if (!r) abort();
	r(e);
	__builtin_unreachable();
}

#define F(n) __attribute__((noinline)) int f##n(int a) { \
	int i __attribute__((cleanup(unlock))) = n; locks[i]++; work(a + n); return locks[n] * a; }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

__attribute__((noinline)) void work(int x) { if (x == 77) __builtin_trap(); __asm__ volatile("call *%0" : : "r"(link_to) : "memory"); }
int main(int argc, char **argv) {
	(void)argv;
	return f0(argc) + f1(argc) + f2(argc) + f3(argc) + f4(argc) + f5(argc) + f6(argc) + f7(argc);
}
