package embedded_test

import "testing"

// TestRegistersPushedToAlignTheStack: which register is pushed to align the
// stack, and into which the word is taken off again, says nothing of parameters.
func TestRegistersPushedToAlignTheStack(t *testing.T) {
	eng := open(t, build(t, "gcc", "a.c", `
extern int snprintf(char *, unsigned long, const char *, ...);
asm(".globl text,drops\n.type text,@function\n.type drops,@function\n.text\n"
    "text: push %rbx\n mov %rsi,%rbx\n push %r9\n cmpb $3,8(%rdi)\n jne 1f\n mov (%rdi),%rcx\n lea form(%rip),%rdx\n pop %r8\n mov %rbx,%rdi\n mov $44,%esi\n xor %eax,%eax\n pop %rbx\n jmp snprintf@plt\n"
    "1: call after\n mov %eax,%eax\n pop %rdx\n pop %rbx\n ret\n.size text,.-text\n"
    "drops: push %rbx\n mov %rdi,%rbx\n push %rdx\n call after\n cmp %eax,%ebx\n jg 1f\n incl sink(%rip)\n1: pop %rax\n pop %rbx\n ret\n.size drops,.-drops\n");
int sink;
const char form[] = "%ld";
__attribute__((noinline)) int after(void) { return sink * 3; }
int text(void *, char *);
void drops(int);
int main(int argc, char **argv) { drops(argc); return text(argv[0], argv[1]) + snprintf(argv[1], 4, "%d", argc); }`, "-O2"))
	for name, want := range map[string]int{"text": 2, "drops": 1} {
		p, err := eng.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, api := interfaceAt(t, eng, p.Address); len(api.Parameters) != want {
			t.Errorf("%s has %d parameters: %+v", name, len(api.Parameters), api.Parameters)
		}
	}
}
