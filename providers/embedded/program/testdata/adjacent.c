/* Two functions whose tables lie side by side and have no bound. Nothing calls
   the second one, which keeps no registers. */
volatile int sink;
__attribute__((noinline)) int other(int x) { return sink = x * 7 + 1; }
__attribute__((noinline)) int framed(int kind, int x, int y) {
  int a = other(x), b = other(a + y), c = other(b);
  switch (kind) {
  case 2: a += other(c); break;
  case 3: b *= other(a) - 5; break;
  case 4: c ^= other(b) + 9; break;
  case 5: a -= 3 * other(y); break;
  case 6: a = other(x) & 7; break;
  default: __builtin_unreachable();
  }
  return a + b * c;
}
__attribute__((used, noinline)) int bare(int kind, int x, int y) {
  switch (kind) {
  case 2: return x * y;
  case 3: return (x ^ 0x55) + y;
  case 4: return x - 3 * y;
  case 5: return (x >> 3) | y;
  case 6: return x % 17;
  default: __builtin_unreachable();
  }
}
int main(int n, char **v) { return framed(n, n + 1, n * 3); }
