// Short strings that code and tables refer to.
#include <stdio.h>
#include <string.h>
static const char *const names[] = {"no", "ja", "oui", "da"};
int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "six")) puts("ok");
	puts(names[argc & 3]);
	return 0;
}
