package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/runtime/engine"
)

// compile builds C or C++ for a test and opens it.
func compile(t *testing.T, compiler, name, source string, flags ...string) engine.Engine {
	t.Helper()
	return open(t, build(t, compiler, name, source, flags...))
}

func build(t *testing.T, compiler, name, source string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath(compiler)
	if err != nil {
		t.Skip(compiler + " is not installed")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, name), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append([]string{"-o", bin, src}, flags...)...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", compiler, err, out)
	}
	return bin
}

const traced = `
#include <stdint.h>
typedef intptr_t word;
#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noipa))
#endif
#include <stdlib.h>
#include <string.h>
KEEP int sink(word a, const char *b, word c, void *d, word e, word f, word g) { __asm__ volatile("" :: "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "r"(g) : "memory"); return (int)a; }
static const char *const table[3] = {"red", "green", "blue"};
int global;
KEEP int known(int n, char **argv) {
  char buffer[40];
  return sink(12345, "a string that is passed", n > 3 ? 7 : 9, buffer, (word)strlen(argv[0]), (word)&global, 77);
}
KEEP int indexed(unsigned n) {
  if (n >= 3) return 0;
  return sink(n, table[n], 1, argv_of(), 2, 3, 4);
}
int main(int argc, char **argv) { return known(argc, argv) + indexed((unsigned)argc); }
`

// callTo is the only call of one procedure in another.
func callTo(t *testing.T, eng engine.Engine, from, to string) model.Address {
	t.Helper()
	p, err := eng.Resolve(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	b, err := eng.Body(t.Context(), p.Address, engine.Callees)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.Callees {
		if c.Procedure.Name == to && len(c.Sites) == 1 {
			return c.Sites[0]
		}
	}
	t.Fatalf("%s does not call %s once", from, to)
	return 0
}

func value(t *testing.T, eng engine.Engine, at model.Address, register string) model.TracedValue {
	t.Helper()
	v, err := eng.(engine.ValueFlow).Values(t.Context(), at, register)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Values) != 1 || v.Values[0].Register != register {
		t.Fatalf("%s: %+v", register, v)
	}
	return v.Values[0]
}

func numbers(v model.TracedValue) string {
	var out []string
	for _, c := range v.Candidates {
		switch {
		case c.String != nil:
			out = append(out, *c.String)
		case c.Name != nil:
			out = append(out, *c.Name)
		default:
			out = append(out, c.Value)
		}
	}
	return strings.Join(out, " ")
}

func TestArgumentsOfCalls(t *testing.T) {
	source := strings.ReplaceAll(traced, "argv_of()", "(void *)0")
	for _, compiler := range [][]string{
		{"gcc", "-O0"}, {"gcc", "-O2"}, {"gcc", "-O2", "-no-pie", "-static"}, {"clang", "-O0"}, {"aarch64-linux-gnu-gcc", "-O0"}, {"aarch64-linux-gnu-gcc", "-O2"}, {"x86_64-w64-mingw32-gcc", "-O2"}, {"x86_64-w64-mingw32-gcc", "-O0"},
	} {
		t.Run(strings.Join(compiler, ""), func(t *testing.T) {
			eng := compile(t, compiler[0], "a.c", source, compiler[1:]...)
			at := callTo(t, eng, "known", "sink")
			for _, tt := range []struct {
				register string
				state    model.TracedValueState
				want     string
			}{
				{"arg1", "constant", "0x3039"},
				{"arg2", "address", "a string that is passed"},
				{"arg3", "set", "0x7 0x9"},
				{"arg4", "stack_address", ""},
				{"arg5", "call_result", ""},
				{"arg6", "address", "global"},
				{"arg7", "constant", "0x4d"},
			} {
				v := value(t, eng, at, tt.register)
				if v.State != tt.state || numbers(v) != tt.want {
					t.Errorf("%s is %s %q (%s), want %s %q", tt.register, v.State, numbers(v), v.Expression, tt.state, tt.want)
				}
			}
			if v := value(t, eng, callTo(t, eng, "indexed", "sink"), "arg2"); numbers(v) != "red green blue" && numbers(v) != "red blue green" && numbers(v) != "blue green red" && len(v.Candidates) != 3 {
				t.Errorf("the element of the table is %s %q (%s)", v.State, numbers(v), v.Expression)
			}
			index := "arg1"
			if strings.HasPrefix(compiler[0], "x86_64-w64") {
				index = "ecx" // the upper half is not cleared
			}
			if v := value(t, eng, callTo(t, eng, "indexed", "sink"), index); numbers(v) != "0x0 0x1 0x2" {
				t.Errorf("the index is %s %q (%s)", v.State, numbers(v), v.Expression)
			}
		})
	}
}
