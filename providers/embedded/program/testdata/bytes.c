// Switches over a byte that has no other values than those with a case, so that
// nothing is compared; their tables stand side by side.
struct item {
	unsigned char pad[3], kind;
};

volatile int sink;

#define WORK(n) sink = sink * ((n) + 3) + (n); sink = sink ^ ((n) << 2)

#define F(n, parameter, kind)                                                                                          \
	static __attribute__((noinline)) int f##n(parameter, int x) {                                                      \
		switch (kind) {                                                                                                \
		case 0: WORK(n); return x + 1;                                                                                 \
		case 1: WORK(n + 1); return sink * 3;                                                                          \
		case 2: WORK(n + 7); return x - sink;                                                                          \
		case 3: WORK(n + 9); sink = x; return 8;                                                                       \
		case 4: WORK(n + 2); return x & n;                                                                             \
		case 5: WORK(n + 5); return x ^ sink;                                                                          \
		case 6: WORK(n + 6); sink = 2; return x;                                                                       \
		case 7: WORK(n + 8); return sink / 7;                                                                          \
		case 8: WORK(n + 4); return -x;                                                                                \
		default: __builtin_unreachable();                                                                              \
		}                                                                                                              \
	}
#define G(n, parameter, kind)                                                                                          \
	F(n##0, parameter, kind) F(n##1, parameter, kind) F(n##2, parameter, kind) F(n##3, parameter, kind)                \
	F(n##4, parameter, kind) F(n##5, parameter, kind) F(n##6, parameter, kind) F(n##7, parameter, kind)

G(1, struct item *p, p->kind)
G(2, int kind, (unsigned char)kind)
G(3, struct item *p, p->kind)
G(4, int kind, (unsigned char)kind)

#define C(n, value)                                                                                                    \
	f##n##0(value, x) + f##n##1(value, x) + f##n##2(value, x) + f##n##3(value, x) + f##n##4(value, x) +                \
		f##n##5(value, x) + f##n##6(value, x) + f##n##7(value, x)

int run(struct item *p, int x) { return C(1, p) + C(2, x) + C(3, p) + C(4, x); }
