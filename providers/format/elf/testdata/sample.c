/* Builds the small binaries of this directory; build.sh has the commands. */
extern int puts(const char *);
extern void free(void *);
extern void *malloc(unsigned long);
void *volatile sink;
static int counter = 3;
const char *names[] = { "one", "two" };
static __attribute__((noinline)) int helper(int n) { return n * counter; }
int exported(int n) { return helper(n) + names[n & 1][0]; }
__attribute__((constructor)) void setup(void) { counter = 4; }
int start(int argc)
{
	sink = (void *)&free;
	char *p = malloc(argc + 10);
	puts(p);
	free(p);
	return exported(argc);
}
