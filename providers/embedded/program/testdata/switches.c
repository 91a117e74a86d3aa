/* Switches and computed jumps of many shapes, without a library. Every table
   that a compiler makes of them stands in its listing. */
static volatile int sink;
#define NI __attribute__((noinline))
NI int f1(int x) { return sink + x * 3; }
NI int f2(int x, int y) { sink += y; return x ^ y; }
#define C(n, k) case n: r = f1(r + k); break
#define D(n, k) case n: r = f2(r, k); if (r & n) r++; break
#define SIX(n, k) C(n, k); D(n + 1, k + 3); C(n + 2, k * 5); D(n + 3, k + 11); C(n + 4, k - 1); D(n + 5, k ^ 77)
#define SWITCH(name, type, value, before, cases, other) NI int name(type x, int r, unsigned char *p) { before switch (value) { cases; default: other; } return r; }
SWITCH(dense, int, x, , SIX(0, 3); SIX(6, 9), r = -1)
SWITCH(low, int, x, , SIX(100, 3); SIX(106, 9), r = -1)
SWITCH(negative, int, x, , SIX(-9, 3); SIX(-3, 9); SIX(3, 40), r = -1)
SWITCH(narrow, signed char, x, , SIX(-20, 3); SIX(-14, 9); SIX(-8, 40), r = -1)
SWITCH(wide, long long, x, , SIX(5, 3); SIX(11, 9), r = -1)
SWITCH(far, int, x, , SIX(0x7ffffff0, 3); SIX(0x7ffffff6, 9), r = -1)
SWITCH(masked, int, x & 7, , SIX(0, 3); C(6, 4); D(7, 5), __builtin_unreachable())
SWITCH(bits, int, (x >> 4) & 15, , SIX(0, 3); SIX(6, 9); C(12, 3); D(13, 4); C(14, 5); D(15, 8), __builtin_unreachable())
SWITCH(shifted, int, (unsigned)x >> 29, , SIX(0, 3); C(6, 4); D(7, 5), __builtin_unreachable())
SWITCH(remainder, int, (unsigned)x % 11, , SIX(0, 3); C(6, 4); D(7, 5); C(8, 6); D(9, 7); C(10, 9), __builtin_unreachable())
SWITCH(guarded, int, x, if (x < 3 || x > 14) return f1(r);, SIX(3, 3); SIX(9, 9), __builtin_unreachable())
SWITCH(character, int, *p, , SIX(40, 3); SIX(46, 9); SIX(52, 6), r = 7)
SWITCH(gaps, int, x, , SIX(0, 3); C(9, 4); D(12, 5); C(15, 6); D(18, 7), r = -1)
SWITCH(branches, int, x ? x + 2 : 0, , SIX(0, 3); SIX(6, 9), r = -1)
SWITCH(holes, int, x, , SIX(5, 3); SIX(11, 5); C(31, 4); D(32, 5), __builtin_unreachable())
SWITCH(part, int, (x >> 2) & 15, , SIX(0, 3); C(6, 4); D(7, 5); C(8, 7), __builtin_unreachable())
/* more values than registers: addresses of tables are kept in the frame */
NI int pressed(int x, int r, unsigned char *p) {
	int a = f1(x), b = f1(a), c = f1(b), d = f1(c), e = f1(d), g = f1(e), h = f1(g), i = f1(h), j = f1(i), k = f1(j), l = f1(k), m = f1(l), n = f1(m);
	while (*p) {
		switch (*p++) { SIX(40, 3); SIX(46, 9); SIX(52, 6); default: r ^= a; }
		a += b ^ r, b ^= c + a, c -= d ^ b, d += e, e ^= g, g += h, h -= i, i ^= j, j += k, k ^= l, l += m, m ^= n, n += a;
		switch (*p & 127) { SIX(60, 7); SIX(66, 19); default: r += n; }
		for (int q = 0; q < (a & 7); q++)
			switch (r & 63) { SIX(10, 17); SIX(16, 23); default: r = f2(r, m); }
	}
	return r + a + b + c + d + e + g + h + i + j + k + l + m + n;
}
/* numbers below zero are no part of what one way lets through */
NI int around(int x, int r, unsigned char *p) {
	int v = f2(r, x);
	if (v > 2) {
		if (f1(x) & 1) return v;
	} else if (v <= 0 && !f1(r))
		return r;
	switch (v) { SIX(-4, 3); SIX(2, 9); SIX(8, 12); default: r = -1; }
	return r;
}
NI int twice(int x, int r, unsigned char *p) {
	switch (x) { SIX(0, 3); SIX(6, 9); }
	sink = r;
	switch (x) { SIX(0, 31); SIX(6, 91); default: r = f2(r, 5); }
	return r;
}
NI int state(int x, int r, unsigned char *p) {
	int s = 0;
	while (*p) {
		int c = *p++;
		switch (s) {
		case 0: if (c == 'a') s = 1; else if (c == 'b') s = 4; break;
		case 1: r += c; s = c & 1 ? 2 : 3; break;
		case 2: r = f2(r, c); s = 0; break;
		case 3: if (c == x) s = 5; break;
		case 4: sink = c; s = 6; break;
		case 5: r ^= f1(c); s = 7; break;
		case 6: if (r > 100) return r; s = 0; break;
		case 7: r -= f1(r); s = c % 8; break;
		}
	}
	return r;
}
/* a bound that holds on one of two ways to the jump */
NI int oneway(int x, int r, unsigned char *p) {
	if ((unsigned)(x - 3) <= 1) r = f1(r); else r = f2(r, x);
	while (*p) {
		if (f1(r) == 0) r++;
		switch (x) { SIX(0, 3); default: __builtin_unreachable(); }
		p++;
	}
	return r;
}
NI int threaded(int x, int r, unsigned char *p) {
	static const void *const t[] = {&&a, &&b, &&c, &&d, &&e, &&z};
#define NEXT goto *t[*p++]
	NEXT; a: r = f1(r); NEXT; b: r += 3; sink = r; NEXT; c: r = f2(r, 5); NEXT; d: r ^= x; NEXT; e: r -= f1(2); NEXT; z: return r;
}
NI int several(int x, int r, unsigned char *p) {
	static const void *const t[] = {&&a, &&b, &&c, &&d, &&z}, *const u[] = {&&e, &&f, &&g, &&z};
	goto *t[*p++];
	a: r = f1(r); goto *u[*p++]; b: r += 3; goto *t[*p++]; c: r = f2(r, 5); goto *u[*p++]; d: r ^= x; goto *t[*p++];
	e: r = f1(r * 7); goto *t[*p++]; f: r = f1(r - 7); goto *t[*p++]; g: r = f2(r, r + 7); goto *u[*p++]; z: return r;
}
int main(void) {
	unsigned char b[9] = {1, 2, 3};
	int x = sink, r = sink;
#define CALL(n) r += n(x, r, b)
	CALL(dense); CALL(low); CALL(negative); CALL(narrow); CALL(wide); CALL(far); CALL(masked); CALL(bits); CALL(shifted); CALL(remainder);
	CALL(guarded); CALL(character); CALL(gaps); CALL(branches); CALL(twice); CALL(state); CALL(oneway); CALL(threaded); CALL(several);
	CALL(holes); CALL(part); CALL(pressed); CALL(around);
	for (;;) sink = r;
}
