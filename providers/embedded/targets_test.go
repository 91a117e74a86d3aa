package embedded_test

import (
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/runtime/engine"
)

const dispatching = `
#include <cstdlib>
extern "C" {
int red(int x) { return x + 1; }
int green(int x) { return x + 2; }
int blue(int x) { return x + 3; }
typedef int (*action)(int);
static const action actions[3] = {red, green, blue};
int by_table(unsigned n, int x) { if (n >= 3) return 0; return actions[n](x) + 1; }
action changing = green;
action table[4] = {blue, green, green, red};
int by_changing(unsigned n, int x) { return table[n & 3](x) + 1; }
int by_pointer(int x) { return changing(x) + 1; }
int by_choice(int c, int x) { action f = c ? red : blue; return f(x) + 1; }
int by_parameter(action f, int x) { return f(x) + 1; }
}
struct Shape { virtual int area(int) { return 0; } virtual int edges(int) { return 1; } virtual ~Shape() {} };
struct Square : Shape { int edges(int) override { return 4; } };
struct Circle : Shape { int edges(int) override { return 5; } int area(int) override { return 9; } };
extern "C" int by_object(Shape *s, int x) { return s->edges(x) + 1; }
int main(int argc, char **argv) {
  Shape *s = argc > 5 ? (Shape *)new Square : argc > 3 ? (Shape *)new Circle : new Shape;
  if (argc == 77) changing = red, table[argc & 3] = green;
  return by_changing(argc, 7) + by_table(argc, 1) + by_pointer(2) + by_choice(argc, 3) + by_parameter(argc > 2 ? red : green, 4) + by_object(s, 5);
}
`

func TestTargetsOfComputedCalls(t *testing.T) {
	for _, compiler := range [][]string{
		{"g++", "-O0"}, {"g++", "-O1"}, {"g++", "-O1", "-no-pie"}, {"clang++", "-O0"}, {"aarch64-linux-gnu-g++", "-O1"}, {"x86_64-w64-mingw32-g++", "-O1"},
	} {
		t.Run(strings.Join(compiler, ""), func(t *testing.T) {
			eng := open(t, build(t, compiler[0], "a.cc", dispatching, append(compiler[1:], "-fno-inline")...))
			for _, tt := range []struct {
				procedure string
				state     model.CallTargetState
				methods   []model.CallTargetMethod
				targets   string
			}{
				{"by_table", "candidates", []model.CallTargetMethod{"constant_table"}, "blue green red"},
				{"by_changing", "candidates", []model.CallTargetMethod{"values"}, "blue green red"},
				{"by_pointer", "candidates", []model.CallTargetMethod{"values"}, "green"},
				{"by_choice", "candidates", []model.CallTargetMethod{"values"}, "blue red"},
				{"by_parameter", "unresolved", []model.CallTargetMethod{"none"}, ""},
				{"by_object", "candidates", []model.CallTargetMethod{"virtual_slot"}, "_ZN5Shape5edgesEi _ZN6Circle5edgesEi _ZN6Square5edgesEi"},
			} {
				p, err := eng.Resolve(t.Context(), tt.procedure)
				if err != nil {
					t.Fatal(err)
				}
				b, err := eng.Body(t.Context(), p.Address, engine.Targets)
				if err != nil {
					t.Fatal(err)
				}
				b.Targets = slices.DeleteFunc(b.Targets, func(r model.CallTarget) bool { return r.Kind != model.CallTargetKindIndirectCall })
				if len(b.Targets) != 1 {
					t.Errorf("%s has %d indirect calls", tt.procedure, len(b.Targets))
					continue
				}
				row := b.Targets[0]
				var names []string
				for _, r := range row.Targets {
					names = append(names, *r.Name)
				}
				slices.Sort(names)
				got := strings.Join(names, " ")
				if tt.procedure == "by_object" { // other classes of the library may have that slot
					for _, want := range strings.Fields(tt.targets) {
						if !slices.Contains(names, want) {
							t.Errorf("%s lacks %s: %s", tt.procedure, want, got)
						}
					}
					got = tt.targets
				}
				if row.State != tt.state || !slices.Contains(tt.methods, row.Method) || got != tt.targets {
					t.Errorf("%s: %s by %s: %s (%v)", tt.procedure, row.State, row.Method, got, *row.Reason)
				}
			}
		})
	}
}
