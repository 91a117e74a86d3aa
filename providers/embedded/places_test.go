package embedded_test

import (
	"strings"
	"testing"
)

const places = `
typedef unsigned long size;
enum kind { A, B };
struct pair { long a, b; };
__attribute__((noinline)) double mixed(float a, size n, double b, const enum kind k) { return a * n + b * (k + 1); }
__attribute__((noinline)) long split(struct pair p, int x) { return p.a + p.b * x; }
volatile int sink;
int main(int argc, char **argv) { struct pair p = {argc, 2}; sink = mixed(argc, argc + 1, 3, argc > 2) + split(p, argc); return sink; }
`

// TestPlacesOfDeclaredParameters: parameters of optimized code, to which debug
// information gives no single place, have the registers that carry them.
func TestPlacesOfDeclaredParameters(t *testing.T) {
	for compiler, want := range map[string]string{
		"gcc":                    "xmm0 rdi xmm1 rsi",
		"clang":                  "xmm0 rdi xmm1 rsi",
		"aarch64-linux-gnu-gcc":  "v0 x0 v1 x1",
		"x86_64-w64-mingw32-gcc": "xmm0 rdx xmm2 r9",
	} {
		eng := open(t, build(t, compiler, "a.c", places, "-O2", "-g"))
		for _, name := range []string{"mixed", "split"} {
			p, err := eng.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			_, api := interfaceAt(t, eng, p.Address)
			var got []string
			for _, v := range api.Parameters {
				if v.Location != nil {
					got = append(got, strings.TrimPrefix(*v.Location, "register "))
				}
			}
			if at := strings.Join(got, " "); name == "mixed" && at != want {
				t.Errorf("%s: %s comes in %s, want %s", compiler, name, at, want)
			}
			for _, at := range got {
				if strings.TrimLeft(at, "0123456789") == "" {
					t.Errorf("%s: %s: the place %q has no name", compiler, name, at)
				}
			}
		}
	}
}
