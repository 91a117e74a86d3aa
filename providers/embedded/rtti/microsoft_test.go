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

// alone needs no library: the vtable of type_info is a symbol of its own.
const alone = `
typedef decltype(sizeof 0) size_t;
extern "C" { const void *anchor[4]; }
void *operator new(size_t n) { static char pool[4096]; static size_t used; void *p = pool + used; used += (n + 15) & ~(size_t)15; return p; }
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
extern "C" { int _fltused; int sink; int _purecall() { return 0; } void __cxa_pure_virtual() {} }
namespace shapes {
struct Shape { virtual ~Shape() {} virtual int area() const = 0; virtual const char *name() const { return "shape"; } };
struct Named { virtual const char *label() { return "label"; } int pad; };
struct Square : Shape { int side; int area() const override { return side * side; } };
struct Tile : Square, private Named { const char *name() const override { return "tile"; } const char *label() override { return "tile label"; } };
struct Left : virtual Shape { int area() const override { return 1; } int l; };
struct Right : virtual Shape { int area() const override { return 2; } };
struct Both : Left, Right { int area() const override { return 3; } };
template <class T> struct Box : Shape { T t; int area() const override { return 4; } };
class Deep : protected Tile { public: int area() const override { return sink; } };
}
extern "C" int start(int n) {
  using namespace shapes;
  Shape *s = n > 3 ? (Shape *)new Tile : n > 2 ? (Shape *)new Both : n == 1 ? (Shape *)new Square : new Box<int>;
  Deep *d = new Deep;
  return s->area() + s->name()[0] + d->area();
}
`

// TestClassesWithoutLibraries builds for systems whose libraries are not there:
// 32-bit and 64-bit Windows with Microsoft's layout, macOS with Itanium's.
func TestClassesWithoutLibraries(t *testing.T) {
	windows := []string{"lld-link", "/nodefaultlib", "/subsystem:console", "/entry:start", "/out:OUT", "IN"}
	macos := func(arch string) []string {
		return []string{"ld64.lld-14", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-undefined", "dynamic_lookup", "-e", "_start", "-o", "OUT", "IN"}
	}
	for _, tt := range []struct {
		target  string
		link    []string
		abi     model.CppClassABI
		methods int // of the first table of Deep: Itanium's has two destructors and what the second base brings
	}{
		{"x86_64-pc-windows-msvc", append(slices.Clone(windows), "/alternatename:??_7type_info@@6B@=anchor"), model.CppClassABIMicrosoft, 3},
		{"i686-pc-windows-msvc", append(slices.Clone(windows), "/alternatename:??_7type_info@@6B@=_anchor"), model.CppClassABIMicrosoft, 3},
		{"x86_64-apple-macos11", macos("x86_64"), model.CppClassABIItanium, 5},
		{"arm64-apple-macos11", macos("arm64"), model.CppClassABIItanium, 5},
	} {
		t.Run(tt.target, func(t *testing.T) {
			dir := t.TempDir()
			src, object, bin := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.bin")
			if err := os.WriteFile(src, []byte(alone), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("clang++", "--target="+tt.target, "-O1", "-fno-threadsafe-statics", "-c", "-o", object, src).CombinedOutput(); err != nil {
				t.Skipf("clang++: %v\n%s", err, out)
			}
			link := strings.Split(strings.NewReplacer("OUT", bin, "IN", object).Replace(strings.Join(tt.link, "\n")), "\n")
			if out, err := exec.Command(link[0], link[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s: %v\n%s", link[0], err, out)
			}
			data, err := os.ReadFile(bin)
			if err != nil {
				t.Fatal(err)
			}
			eng, err := embedded.Provider{Version: "test"}.Open(t.Context(), &engine.Target{Path: bin, Name: "a", Data: data}, engine.NoNames{})
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			all, err := eng.(engine.CPlusPlus).CppClasses(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, c := range all {
				var bases []string
				for _, b := range c.Bases {
					words := b.Name
					if b.Virtual {
						words = "virtual " + words
					}
					if !b.Public {
						words = "not public " + words
					}
					bases = append(bases, words)
				}
				got[c.Name] = strings.Join(bases, ", ")
				if c.ABI != tt.abi {
					t.Errorf("%s: ABI %s", c.Name, c.ABI)
				}
				if c.Name == "shapes::Deep" && (len(c.Vtables) != 2 || len(c.Vtables[0].Methods) != tt.methods || len(c.Vtables[1].Methods) != 1) {
					t.Errorf("virtual tables of Deep: %+v", c.Vtables)
				}
			}
			for class, bases := range map[string]string{
				"shapes::Shape": "", "shapes::Named": "", "shapes::Square": "shapes::Shape", "shapes::Tile": "shapes::Square, not public shapes::Named",
				"shapes::Left": "virtual shapes::Shape", "shapes::Right": "virtual shapes::Shape", "shapes::Both": "shapes::Left, shapes::Right",
				"shapes::Box<int>": "shapes::Shape", "shapes::Deep": "not public shapes::Tile",
			} {
				if b, ok := got[class]; !ok || b != bases {
					t.Errorf("%s derives from %q (found: %t), want %q", class, b, ok, bases)
				}
			}
		})
	}
}
