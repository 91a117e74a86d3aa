/* Defaults that compilers move to the front of the section, before all functions. */
#define NI __attribute__((noinline))
volatile int sink;
NI int f0(int x) { sink += x; return x * 3; }
NI int f1(int x) { sink -= x; return x * 5; }
NI int f2(int x) { sink ^= x; return x * 7; }
NI int f3(int x) { sink |= x; return x * 9; }
NI int dense(int x, int y)
{
	switch (x) {
	case 0: return f0(y);
	case 1: return f1(y + 1);
	case 2: return f2(y + 2);
	case 3: return f3(y + 3);
	case 4: return f0(y) + f1(y);
	case 5: return f1(y) * f2(y);
	case 6: return f3(y) - f2(y);
	case 7: return sink;
	default: return -1;
	}
}
#ifdef TWO
NI int wide(long x, int y)
{
	switch (x) {
	case 0: return f0(y);
	case 1: return f1(y + 1);
	case 2: return f2(y + 2);
	case 3: return f3(y + 3);
	case 4: return f0(y) + f1(y);
	case 5: return f1(y) * f2(y);
	case 6: return f3(y) - f2(y);
	default: return -1;
	}
}
#else
#define wide(x, y) 0
#endif
int main(int argc, char **argv) { return dense(argc, 1) + wide(argc, 2); }
