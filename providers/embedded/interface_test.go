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

const interfaces = `
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline, noipa))
int state;
KEEP void none(void) { state++; }
KEEP int one(int a) { return a * 2; }
KEEP int second(int a, int b) { return b; }
KEEP long three(long a, char *b, long *c) { *c = a + b[0]; return a; }
KEEP int six(int a, int b, int c, int d, int e, int f) { return a + b * c - d / (e + 1) + f; }
KEEP int eight(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b + c + d + e + f + g * 2 + h * 3; }
KEEP double scale(double x, double y) { return x * y + 1; }
KEEP float mixed(int n, float x, char *p, double d) { return n * x + p[0] + (float)d; }
KEEP char *copy(const char *s) { size_t n = strlen(s); char *p = malloc(n + 1); if (p) memcpy(p, s, n + 1); return p; }
KEEP int forward(int a, int b, int c) { return six(a, b, c, 1, 2, 3); }
KEEP int loop(int *p, size_t n) { int s = 0; for (size_t i = 0; i < n; i++) s += p[i]; return s; }
KEEP int calls(int (*f)(int, int), int a) { return f(a, 7) + f(8, a); }
KEEP void fill(char *p, int c, size_t n) { char local[64]; memset(local, c, sizeof local); memcpy(p, local, n); }
KEEP int branch(int a, int b) { if (a > 3) return one(b); none(); return second(a, 4); }
KEEP long deep(long a, long b, long c, long d) { if (!a) return b; return deep(a - 1, c, d, b) + 1; }
int main(int argc, char **argv) {
  long c = 0; none();
  return one(argc) + second(1, argc) + (int)three(1, argv[0], &c) + six(1, 2, 3, 4, 5, 6) + eight(1, 2, 3, 4, 5, 6, 7, 8) + (int)scale(1, 2) + (int)mixed(1, 2, argv[0], 3) +
    (int)strlen(copy(argv[0])) + forward(1, 2, 3) + loop(&argc, 1) + calls(second, 1) + (fill(argv[0], 1, 2), 0) + branch(1, 2) + (int)deep(1, 2, 3, 4);
}
`

// interfaceAt reads the calling interface of the function at an address.
func interfaceAt(t *testing.T, eng engine.Engine, at model.Address) (*engine.Body, *model.NativeAPIAvailable) {
	t.Helper()
	b, err := eng.Body(t.Context(), at, engine.API|engine.Locals)
	if err != nil {
		t.Fatal(err)
	}
	api, ok := b.API.(*model.NativeAPIAvailable)
	if !ok {
		t.Fatalf("no interface of %s: %v", at, b.API)
	}
	return b, api
}

// declaredResult is the kind of a result in debug information: "void",
// "integer" or "floating-point".
func declaredResult(api *model.NativeAPIAvailable) string {
	switch typ := *api.ReturnType; typ {
	case "void":
		return typ
	case "float", "double":
		return "floating-point"
	}
	return "integer"
}

func resultOf(api *model.NativeAPIAvailable) string {
	switch {
	case api.ReturnType == nil:
		return "unknown"
	case *api.ReturnType == "void", *api.ReturnType == "floating-point":
		return *api.ReturnType
	case strings.HasPrefix(*api.ReturnType, "floating-point"):
		return "floating-point"
	}
	return "integer"
}

// TestParametersAgainstDebugInformation compares what is concluded from
// stripped programs with what the debug information of their twins declares.
func TestParametersAgainstDebugInformation(t *testing.T) {
	for _, compiler := range [][]string{
		{"gcc", "strip", "-O0"}, {"gcc", "strip", "-O1"}, {"gcc", "strip", "-O2"}, {"gcc", "strip", "-Os"}, {"clang", "strip", "-O0"}, {"clang", "strip", "-O2"},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-strip", "-O0"}, {"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-strip", "-O2"},
		{"x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-strip", "-O0"}, {"x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-strip", "-O2"},
		{"i686-w64-mingw32-gcc", "i686-w64-mingw32-strip", "-O0"}, {"i686-w64-mingw32-gcc", "i686-w64-mingw32-strip", "-O2"},
	} {
		t.Run(compiler[0]+compiler[2], func(t *testing.T) {
			full := build(t, compiler[0], "a.c", interfaces, "-g", compiler[2])
			stripped := full + ".stripped"
			if out, err := exec.Command(compiler[1], "-o", stripped, full).CombinedOutput(); err != nil {
				t.Skipf("%v\n%s", err, out)
			}
			if source := os.Getenv("REA_INTERFACE_PROGRAM"); source != "" { // a larger program, to measure
				full, stripped = source, source+".stripped"
			}
			truth, eng := open(t, full), open(t, stripped)
			var same, declared, found, functions, wrong, results, undecided, wrongResults int
			for p, err := range truth.Procedures(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := eng.Body(t.Context(), p.Address, 0); err != nil {
					continue
				}
				_, want := interfaceAt(t, truth, p.Address)
				if want.SignatureSource != "DWARF" || strings.Contains(*want.Signature, "...") {
					continue
				}
				if !strings.Contains(interfaces, " "+strings.TrimPrefix(p.Name, "_")+"(") && os.Getenv("REA_INTERFACE_PROGRAM") == "" {
					continue // of the C library's startup
				}
				_, got := interfaceAt(t, eng, p.Address)
				functions++
				if strings.HasPrefix(compiler[0], "i686") && strings.Contains(*want.Signature, "double ") {
					continue // a double takes two words
				}
				n, m := len(want.Parameters), len(got.Parameters)
				switch truth, found := declaredResult(want), resultOf(got); {
				case truth == found:
					results++
				case found == "unknown":
					undecided++
				case p.Name != "main":
					wrongResults++
					t.Errorf("%s: result %q, declared as %s", p.Name, found, *want.Signature)
				}
				same += min(n, m)
				declared += n
				found += m
				if n != m {
					wrong++
					t.Logf("%s: %d parameters, declared as %s", p.Name, m, *want.Signature)
				}
			}
			if functions < 10 {
				t.Fatalf("only %d functions were compared", functions)
			}
			precision, recall := float64(same)/float64(found), float64(same)/float64(declared)
			t.Logf("%d functions, %d with another number; parameters: precision %.3f, recall %.3f; results: %d right, %d wrong, %d left open",
				functions, wrong, precision, recall, results, wrongResults, undecided)
			if precision < 0.98 || recall < 0.93 {
				t.Error("parameters are not found well enough")
			}
		})
	}
}

// TestRegistersThatACallKeeps: a compiler that knows which registers a callee
// leaves alone sets one before that call for a later one.
func TestRegistersThatACallKeeps(t *testing.T) {
	for _, level := range []string{"-O2", "-Os"} {
		eng := open(t, build(t, "gcc", "a.c", `
extern int printf(const char *, ...);
__attribute__((noinline)) double scale(double a, int c) { return a * c + a; }
__attribute__((noinline)) int both(int a, int b) { return printf("%d %d", a, b); }
int main(int argc, char **argv) { double d = scale(argc, 3); return both((int)d, argc); }`, level))
		for name, want := range map[string]int{"scale": 2, "both": 2} {
			p, err := eng.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, api := interfaceAt(t, eng, p.Address); len(api.Parameters) != want {
				t.Errorf("%s: %s has %d parameters: %+v", level, name, len(api.Parameters), api.Parameters)
			}
		}
	}
}

func TestPlaceOfAReturnedStructure(t *testing.T) {
	eng := open(t, build(t, "aarch64-linux-gnu-gcc", "a.c", `
struct wide { long a[5]; };
__attribute__((noinline, noipa)) struct wide make(long a) { struct wide w = {{a, 1, 2, 3, a}}; return w; }
int main(int argc, char **argv) { return (int)make(argc).a[4]; }`, "-O1"))
	p, err := eng.Resolve(t.Context(), "make")
	if err != nil {
		t.Fatal(err)
	}
	if _, api := interfaceAt(t, eng, p.Address); len(api.Parameters) != 1 || api.ReturnType == nil || !strings.HasPrefix(*api.ReturnType, "structure") {
		t.Errorf("make is taken for %+v", api)
	}
}

func TestTypesOfParametersHandedToLibraryFunctions(t *testing.T) {
	full := build(t, "gcc", "a.c", interfaces, "-O1")
	eng := open(t, full)
	p, err := eng.Resolve(t.Context(), "copy")
	if err != nil {
		t.Fatal(err)
	}
	_, api := interfaceAt(t, eng, p.Address)
	if len(api.Parameters) != 1 || api.Parameters[0].Type == nil || *api.Parameters[0].Type != "const char *" || api.Parameters[0].Source != "inferred" {
		t.Errorf("parameters of copy: %+v", api.Parameters)
	}
	if p, err = eng.Resolve(t.Context(), "fill"); err != nil {
		t.Fatal(err)
	}
	b, _ := interfaceAt(t, eng, p.Address)
	buffer := false
	for _, v := range b.Locals {
		buffer = buffer || !v.Parameter && v.Source == "inferred" && v.Location != nil && strings.HasPrefix(*v.Location, "entry_sp-0x")
	}
	if !buffer {
		t.Errorf("the buffer of fill is not among %+v", b.Locals)
	}
	if p, err = eng.Resolve(t.Context(), "strlen"); err != nil {
		t.Fatal(err)
	}
	if _, api = interfaceAt(t, eng, p.Address); api.Signature == nil || *api.Signature != "size_t strlen(const char *s)" {
		t.Errorf("strlen is declared as %v", api.Signature)
	}
}

const goInterfaces = `package main

import (
	"errors"
	"os"
)

var sink int

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func forward(a, b int) int { return add(a, b) + add(b, a) }

//go:noinline
func text(s string, n int) string { return s[n:] }

//go:noinline
func rows(xs []int, f func(int) int) { for _, x := range xs { sink += f(x) } }

//go:noinline
func nothing() { sink++; forward(sink, 2) }

//go:noinline
func scale(x, y float64) float64 { return x*y + float64(len(os.Args)) }

//go:noinline
func fails(e error, n int) error { if n > sink { return errors.New("n") }; return e }

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j int) int { return a + b + c + d + e + f + g + h + i*forward(j, a) }

func main() {
	rows([]int{1, len(os.Args)}, func(x int) int { return forward(x, sink) })
	nothing()
	print(text(os.Args[0], 1), scale(1, 2), fails(nil, 3) == nil, many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
}
`

func TestGoParametersAreThoseOfItsRegisterConvention(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(goInterfaces), 0o644); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "program")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, filepath.Join(dir, "main.go"))
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v\n%s", err, out)
		}
		eng := open(t, path)
		for name, want := range map[string]struct {
			parameters int
			result     string
		}{
			"main.add": {2, "integer"}, "main.forward": {2, "integer"}, "main.text": {3, "integer"}, "main.rows": {4, "void"}, "main.nothing": {0, "unknown"},
			"main.scale": {2, "floating-point"}, "main.fails": {3, "integer"}, "main.many": {10, "integer"},
		} {
			p, err := eng.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			_, got := interfaceAt(t, eng, p.Address)
			if len(got.Parameters) != want.parameters || resultOf(got) != want.result {
				t.Errorf("%s %s: %d parameters, %s; want %d, %s", arch, name, len(got.Parameters), resultOf(got), want.parameters, want.result)
			}
		}
	}
}
