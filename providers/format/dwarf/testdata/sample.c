/* Builds the small objects of this directory; build.sh has the commands. */
enum color { RED = -1, GREEN = 5 };
struct list {
	struct list *next;
	int bits : 3, more : 9;
	union { long l; double d; } u;
	char name[4][8];
};
typedef int (*handler)(const struct list *, ...);
static int count;
static inline int twice(int n) { return n * 2 + count; }
int walk(struct list *l, handler h)
{
	int sum = 0;
	for (; l; l = l->next) {
		enum color c = l->bits ? GREEN : RED;
		sum += h(l, c) + twice(sum);
	}
	return sum;
}
__attribute__((cold, noreturn)) void leave(int code) { for (;;) count += code; }
