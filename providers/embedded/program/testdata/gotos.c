// Jumps through adjacent tables of label differences that no comparison bounds.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int run(const unsigned char *pc, int x) {
	static const int first[] = {&&a - &&base, &&b - &&base, &&c - &&base, &&d - &&base, &&e - &&base};
	static const int second[] = {&&d - &&base, &&c - &&base, &&f - &&base, &&a - &&base, &&e - &&base, &&b - &&base, &&f - &&base};
	static const int third[] = {&&e - &&base, &&f - &&base, &&a - &&base};
	goto *(&&base + first[*pc++]);
base:
	x ^= 0x12345678;
	goto *(&&base + third[*pc++]);
a:	x += 3; puts("a"); goto *(&&base + second[*pc++]);
b:	x *= 7; puts("b"); goto *(&&base + first[*pc++]);
c:	x -= 0x1234567; puts("c"); goto *(&&base + second[*pc++]);
d:	x ^= 0x7654321; puts("d"); goto *(&&base + third[*pc++]);
e:	x = x * x + 11; puts("e"); goto *(&&base + first[*pc++]);
f:	return x;
}

int main(int argc, char **argv) {
	printf("%d\n", run((const unsigned char *)argv[argc - 1], argc));
	return 0;
}
