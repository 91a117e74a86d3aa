/* A library with one of everything that the loader reads from a Mach-O image. */
extern int imported_one(int);
extern int imported_two(int);
extern int imported_data;
extern int maybe_there(int) __attribute__((weak_import));

static int state;
static __thread int counter = 3;

__attribute__((constructor)) static void before(void) { state = 1; }

__attribute__((noinline)) static int taken(int x) { return imported_one(x) + 1; }
__attribute__((noinline)) static int taken_too(int x) { return imported_two(x) + 2; }
int (*table[])(int) = {taken, taken_too, imported_one};
int *data_pointer = &imported_data;
int exported_value = 42;
__attribute__((weak)) int weak_definition(int x) { return x + state; }

int leaf(int x) { return x + exported_value; }
int calls(int i, int x) {
	if (maybe_there)
		x += maybe_there(x);
	return table[i & 1](x) + weak_definition(x) + *data_pointer;
}
int local_thread(void) { return ++counter; }
int array(int n) {
	char buf[64];
	for (int i = 0; i < 64; i++)
		buf[i] = (char)imported_one(i);
	return buf[n & 63];
}
