package embedded_test

import (
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/runtime/engine"
)

const hierarchies = `
struct Log { virtual int log(int x) { return x; } int level = 0; };
struct Shape { virtual int area(int) { return 0; } virtual int edges(int) { return 1; } };
struct Square : Shape { int area(int x) override { return x * x; } };
struct Both : Square, Log { int log(int x) override { return x + level; } };
struct Shared : virtual Log { int q = 1; int log(int x) override { return x + q; } };
struct Deep : Shared { int log(int x) override { return x - q; } int own(int x); virtual int more(int x) { return x + 9; } };
__attribute__((noinline)) int logs(Log *p) { return p->log(3) + 1; }
__attribute__((noinline)) int areas(int n, const Shape &s, Log *) { return const_cast<Shape &>(s).area(n) + 1; }
__attribute__((noinline)) int Deep::own(int x) { return more(x) + 1; }
int main(int n, char **) { Both b; Shared s; Deep d; Log l; Shape h; Square q; return logs(n > 2 ? &b : n > 3 ? (Log *)&s : n > 4 ? (Log *)&d : &l) + areas(n, n > 2 ? q : n > 3 ? b : h, &l) + d.own(n); }
`

// TestMethodsOfDeclaredReceivers: the declared type of a parameter limits which
// methods a call through it can have.
func TestMethodsOfDeclaredReceivers(t *testing.T) {
	for _, compiler := range [][]string{
		{"g++", "-O0"}, {"g++", "-O1"}, {"clang++", "-O1"}, {"aarch64-linux-gnu-g++", "-O1"}, {"x86_64-w64-mingw32-g++", "-O1", "-g"},
	} {
		t.Run(strings.Join(compiler, ""), func(t *testing.T) {
			eng := open(t, build(t, compiler[0], "a.cc", hierarchies, append(compiler[1:], "-fno-inline")...))
			for procedure, want := range map[string]string{
				"_Z4logsP3Log":           "_ZN3Log3logEi _ZN4Deep3logEi _ZN6Shared3logEi _ZThn8_N4Both3logEi _ZTv0_n24_N4Deep3logEi _ZTv0_n24_N6Shared3logEi",
				"_Z5areasiRK5ShapeP3Log": "_ZN5Shape4areaEi _ZN6Square4areaEi",
				"_ZN4Deep3ownEi":         "_ZN4Deep4moreEi",
			} {
				p, err := eng.Resolve(t.Context(), procedure)
				if err != nil {
					t.Fatal(err)
				}
				b, err := eng.Body(t.Context(), p.Address, engine.Targets)
				if err != nil {
					t.Fatal(err)
				}
				b.Targets = slices.DeleteFunc(b.Targets, func(r model.CallTarget) bool { return r.Kind != model.CallTargetKindIndirectCall })
				if len(b.Targets) != 1 {
					t.Fatalf("%s has %d indirect calls", procedure, len(b.Targets))
				}
				var names []string
				for _, r := range b.Targets[0].Targets {
					if r.Name != nil {
						names = append(names, *r.Name)
					}
				}
				slices.Sort(names)
				if got := strings.Join(names, " "); got != want {
					t.Errorf("%s: %s (%s), want %s", procedure, got, *b.Targets[0].Reason, want)
				}
			}
		})
	}
}
