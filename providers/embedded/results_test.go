package embedded_test

import (
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/runtime/engine"
)

// TestResultsOfSeveralRegisters: structures of two words come back in two
// registers, larger ones at the caller's place, what a call left may be meant.
func TestResultsOfSeveralRegisters(t *testing.T) {
	const source = `
#include <stdarg.h>
#include <stdio.h>
struct ii { long a, b; }; struct id { long a; double b; }; struct dd { double a, b; }; struct big { long a, b, c, d; };
#define KEEP __attribute__((noinline, noipa))
volatile long sink;
KEEP struct ii ii(long x) { return (struct ii){x * 2, x + 1}; }
KEEP struct id id(long x) { return (struct id){x * 2, x + 1.5}; }
KEEP struct dd dd(long x) { return (struct dd){x * 2.5, x + 1.5}; }
KEEP struct big big(long x) { return (struct big){x, x + 1, x + 2, x + 3}; }
KEEP long quotient(long a, long b) { return a / b; }
KEEP int compared(double a, double b) { return a + 1 < b; }
KEEP int show(const char *f, ...) { va_list l; va_start(l, f); int r = vprintf(f, l); va_end(l); return r; }
int main(int c, char **v) {
  show("%d", c); struct big b = big(c);
  sink = ii(c).a + ii(c).b; sink += id(c).a + id(c).b; sink += dd(c).a + dd(c).b;
  return b.c + quotient(c, 3) + compared(c, 2) + show("%d", c) * 0;
}`
	const variadic = "variadic: "
	for _, c := range []struct {
		compiler string
		results  map[string]string
	}{
		{"gcc", map[string]string{"ii": "integers or pointers in rax and rdx", "id": "integer or pointer in rax and floating-point in xmm0", "dd": "floating-point in xmm0 and xmm1",
			"big": "pointer in rax: the first argument", "quotient": "integer or pointer in rax", "compared": "integer or pointer in rax", "show": ""}},
		{"aarch64-linux-gnu-gcc", map[string]string{"ii": "integers or pointers in x0 and x1", "dd": "floating-point in v0 and v1",
			"big": "structure at the place given by the caller", "quotient": "integer or pointer in x0", "show": ""}},
		{"x86_64-w64-mingw32-gcc", map[string]string{"big": "pointer in rax: the first argument", "quotient": "integer or pointer in rax", "show": ""}},
	} {
		eng := open(t, build(t, c.compiler, "a.c", source, "-O2"))
		for name, want := range c.results {
			p, err := eng.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			_, api := interfaceAt(t, eng, p.Address)
			got := ""
			if api.ReturnType != nil {
				got, _, _ = strings.Cut(*api.ReturnType, ",")
			}
			if name == "show" {
				if got != "" && got != "int" {
					t.Errorf("%s: show returns %q", c.compiler, got)
				}
				if len(api.Parameters) != 1 || !slices.ContainsFunc(api.Limitations, func(s string) bool { return strings.HasPrefix(s, variadic) }) {
					t.Errorf("%s: show has %+v, %q", c.compiler, api.Parameters, api.Limitations)
				}
				continue
			}
			if !strings.HasPrefix(got, want) || strings.Contains(got, " and ") != strings.Contains(want, " and ") {
				t.Errorf("%s: %s returns %q, want %q", c.compiler, name, got, want)
			}
		}
	}
}

// TestRegistersByPosition: where the n-th parameter takes the n-th register of
// either kind, the code tells which.
func TestRegistersByPosition(t *testing.T) {
	for _, level := range []string{"-O0", "-O2"} {
		eng := open(t, build(t, "x86_64-w64-mingw32-gcc", "a.c", `
__attribute__((noinline, noipa)) float mixed(float a, int n, double b, char *p) { return a * n + b + *p; }
__attribute__((noinline, noipa)) double last(int a, double b) { return b * 2; }
int main(int c, char **v) { return mixed(c, c, c, v[0]) + last(c, c); }`, level))
		for name, want := range map[string]string{"mixed": "xmm0 rdx xmm2 r9", "last": "rcx or xmm0 xmm1"} {
			p, err := eng.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			_, api := interfaceAt(t, eng, p.Address)
			var got []string
			for _, v := range api.Parameters {
				got = append(got, strings.TrimPrefix(*v.Location, "register "))
			}
			if name == "last" && level == "-O0" { // it stores the one that it does not use
				want = "rcx xmm1"
			}
			if at := strings.Join(got, " "); at != want {
				t.Errorf("%s: parameters of %s are in %s, want %s", level, name, at, want)
			}
		}
	}
}

// TestParametersInOtherRegisters: a parameter shows wherever the code put it.
func TestParametersInOtherRegisters(t *testing.T) {
	eng := open(t, build(t, "gcc", "a.c", `
#include <stdio.h>
__attribute__((noinline, noipa)) int shown(char *text) { return fputs(text, stdout) + printf("%d %s", 7, text); }
int main(int c, char **v) { return shown(v[0]); }`, "-O2"))
	v, err := eng.(engine.ValueFlow).Values(t.Context(), callTo(t, eng, "shown", "fputs"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(v.Values, func(row model.TracedValue) bool {
		return row.Register != "rdi" && row.State == model.TracedValueStateParameter && row.Expression == "arg1"
	}) {
		t.Errorf("no register besides rdi holds the parameter: %+v", v.Values)
	}
}

// TestNumbersOfPositionIndependentCode: a number that lies within the file is
// no address when nothing in the code makes one.
func TestNumbersOfPositionIndependentCode(t *testing.T) {
	eng := open(t, build(t, "gcc", "a.c", `
char table[8000];
__attribute__((noinline, noipa)) long take(long n, void *p) { return n + (long)p; }
int main(int c, char **v) { return (int)take(0x340, table + 5000); }`, "-O2", "-fPIE", "-pie"))
	at := callTo(t, eng, "main", "take")
	if v := value(t, eng, at, "rdi"); v.State != model.TracedValueStateConstant {
		t.Errorf("a number is %+v", v)
	}
	if v := value(t, eng, at, "rsi"); v.State != model.TracedValueStateAddress {
		t.Errorf("an address is %+v", v)
	}
}
