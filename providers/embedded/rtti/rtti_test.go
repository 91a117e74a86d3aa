package rtti_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/providers/embedded"
	"rea/runtime/engine"
)

const source = `
#include <stdexcept>
#include <cstdio>
namespace shapes {
struct Shape { virtual ~Shape() {} virtual double area() const = 0; virtual const char *name() const { return "shape"; } };
struct Named { virtual const char *label() { return "label"; } long pad; };
struct Square : Shape { double side; double area() const override { return side * side; } };
struct Tile : Square, private Named { const char *name() const override { return "tile"; } const char *label() override { return "tile label"; } };
struct Left : virtual Shape { double area() const override { return 1; } };
struct Right : virtual Shape { double area() const override { return 2; } };
struct Both : Left, Right { double area() const override { return 3; } };
template <class T> struct Box : Shape { T t; double area() const override { return 4; } };
}
struct Failure : std::runtime_error { Failure() : std::runtime_error("failure") {} };
int main(int argc, char **argv) {
  shapes::Shape *s = argc > 3 ? (shapes::Shape *)new shapes::Tile : argc > 2 ? (shapes::Shape *)new shapes::Both : new shapes::Box<int>;
  if (argc > 9) throw Failure();
  printf("%f %s\n", s->area(), s->name());
  return dynamic_cast<shapes::Square *>(s) != nullptr;
}
`

func TestClassesOfPrograms(t *testing.T) {
	for _, compiler := range [][]string{
		{"g++", "-O2"}, {"g++", "-O0"}, {"g++", "-O2", "-no-pie"}, {"g++", "-O1", "-static"}, {"g++", "-O2", "-s"}, {"g++", "-O1", "-static", "-s"}, {"clang++", "-O2"},
		{"aarch64-linux-gnu-g++", "-O2"}, {"x86_64-w64-mingw32-g++", "-O2", "-static"},
	} {
		t.Run(strings.Join(compiler, ""), func(t *testing.T) {
			eng := build(t, compiler)
			all, err := eng.(engine.CPlusPlus).CppClasses(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			find := func(name string) *model.CppClass {
				i := slices.IndexFunc(all, func(c model.CppClass) bool { return c.Name == name })
				if i < 0 {
					t.Fatalf("%s was not found among %d classes", name, len(all))
				}
				return &all[i]
			}
			for _, tt := range []struct {
				name, bases string
				methods     []int // of each table, with both destructors
			}{
				{"shapes::Square", "shapes::Shape", nil},
				{"shapes::Tile", "shapes::Square, private shapes::Named", []int{5, 1}},
				{"shapes::Both", "shapes::Left, shapes::Right", nil},
				{"shapes::Left", "virtual shapes::Shape", nil},
				{"shapes::Box<int>", "shapes::Shape", []int{4}},
				{"Failure", "std::runtime_error", []int{3}},
			} {
				c := find(tt.name)
				var bases []string
				for _, b := range c.Bases {
					name := b.Name
					if b.Virtual {
						name = "virtual " + name
					}
					if !b.Public {
						name = "private " + name
					}
					bases = append(bases, name)
				}
				if got := strings.Join(bases, ", "); got != tt.bases {
					t.Errorf("%s derives from %s, want %s", tt.name, got, tt.bases)
				}
				if tt.methods == nil {
					continue
				}
				var methods []int
				for _, v := range c.Vtables {
					methods = append(methods, len(v.Methods))
				}
				if !slices.Equal(methods, tt.methods) {
					t.Errorf("%s has tables of %v methods, want %v", tt.name, methods, tt.methods)
				}
			}
		})
	}
}

func build(t *testing.T, compiler []string) engine.Engine {
	cc, err := exec.LookPath(compiler[0])
	if err != nil {
		t.Skip(compiler[0] + " is not installed")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a.exe")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, append(compiler[1:], "-o", bin, src)...).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := embedded.Provider{Version: "test"}.Open(t.Context(), &engine.Target{Path: bin, Name: "a", Data: data}, engine.NoNames{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}
