// Calls of undefined functions, some of which do not return.
extern int printf(const char *, ...);
extern void exit(int) __attribute__((noreturn));
extern void abort(void) __attribute__((noreturn));
extern int other(int);

__attribute__((noinline)) void die(const char *why) {
	printf("%s %d\n", why, 1);
	exit(3);
}
int twice(int a) { return other(a) + other(a + 1); }
int chain(int a) { return other(a * 3); }
int check(int a) {
	if (a < 0) die("negative");
	if (a > 100) abort();
	return twice(a) * 2;
}
