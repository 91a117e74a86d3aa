package embedded_test

import (
	"os/exec"
	"strings"
	"testing"
)

const declarations = `
#include <cstdio>
#include <string>
#include <vector>
#include <map>
#define KEEP __attribute__((noinline))
int state;
namespace space {
KEEP int free_one(int a, int unused) { return a + state; }
KEEP double mixed(int a, double x, const char *s, float y) { return a * x + s[0] + y; }
KEEP void nothing(int, const void *) { state++; }
enum class kind { a, b };
KEEP int by_enum(kind k, int n) { return k == kind::a ? n : 0; }
template <class T> KEEP T pick(T a, T *b, bool which) { return which ? a : *b; }
}
struct pair { long a, b; };
struct wide { long a[5]; };
KEEP wide make(long a, long b) { return wide{{a, 1, 2, 3, b}}; }
KEEP long by_value(pair p, int n) { return p.a + n; }
KEEP int unused_last(int a, int b, int c) { return a; }
KEEP int unused_first(int a, double x, int b) { return b; }
struct base {
  int n;
  base(int n, int unused) : n(n) {}
  virtual ~base() { state--; }
  virtual int get(int a) const { return a; }
  virtual int put(int a, int b) { n = a; return b; }
  virtual void ignore(int, double) {}
  static KEEP int fixed(int a) { return a + state; }
  KEEP bool same(const base &o) const { return n == o.n; }
  KEEP std::string text(int a) const { return std::string(a, 'x'); }
};
struct shared : virtual base { int m; shared(int m); int get(int a) const override { return a + m; } };
shared::shared(int m) : base(m, 2), m(m) {}
struct both : shared { both(int a, const char *s) : base(a, 1), shared(a) { puts(s); } int put(int a, int b) override { return a * b + m; } };
KEEP int total(const std::vector<int> &v, const std::map<std::string, int> &m, const std::string &s) {
  int n = 0; for (int x : v) n += x; auto i = m.find(s); return i == m.end() ? n : n + i->second; }
int main(int argc, char **argv) {
  both b(argc, argv[0]); base *p = argc > 3 ? new base(1, 2) : &b; p->ignore(1, 2); std::map<std::string, int> m; m[argv[0]] = argc;
  double d = 2;
  return p->get(1) + p->put(argc, 2) + base::fixed(argc) + p->same(b) + (int)p->text(argc).size() + total({1, argc}, m, argv[0]) + space::free_one(argc, 1) +
    (int)space::mixed(argc, 2, argv[0], 3) + (space::nothing(1, argv), 0) + space::by_enum((space::kind)argc, 1) + space::pick(argc, &argc, argc > 2) + (int)space::pick(d, &d, argc > 2) +
    (int)make(argc, 1).a[2] + (int)by_value({argc, 2}, 3) + unused_last(argc, 1, 2) + unused_first(argc, 2, 3);
}
`

// TestParametersOfMangledNames compares what the names and the code of C++
// programs without debug information tell with what that of their twins
// declares.
func TestParametersOfMangledNames(t *testing.T) {
	for _, compiler := range [][]string{
		{"g++", "strip", "-O0"}, {"g++", "strip", "-O2"}, {"g++", "strip", "-Os"}, {"clang++", "strip", "-O0"}, {"clang++", "strip", "-O2"},
		{"aarch64-linux-gnu-g++", "aarch64-linux-gnu-strip", "-O2"},
	} {
		t.Run(compiler[0]+compiler[2], func(t *testing.T) {
			full := build(t, compiler[0], "a.cpp", declarations, "-g", compiler[2])
			stripped := full + ".stripped"
			if out, err := exec.Command(compiler[1], "--strip-debug", "-o", stripped, full).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			truth, eng := open(t, full), open(t, stripped)
			var functions, exact, named, namedExact int
			for p, err := range truth.Procedures(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				b, err := eng.Body(t.Context(), p.Address, 0)
				if err != nil || b.Classification.External {
					continue
				}
				_, want := interfaceAt(t, truth, p.Address)
				if want.SignatureSource != "DWARF" || strings.Contains(*want.Signature, "...") || strings.Contains(p.Name, ".") || strings.HasPrefix(p.Name, "_ZT") {
					continue
				}
				_, got := interfaceAt(t, eng, p.Address)
				functions++
				declared, floats := 0, 0
				for _, row := range want.Parameters {
					// GCC describes parameters of constructors and destructors that
					// only the kind for a part of an object has, or none.
					if row.Name == "__in_chrg" || row.Name == "__vtt_parm" && !strings.Contains(p.Name, "C2E") && !strings.Contains(p.Name, "D2E") {
						continue
					}
					declared++
					if *row.Type == "double" || *row.Type == "float" {
						floats++
					}
				}
				byName, ambiguous := false, strings.Contains(strings.Join(got.Limitations, "\n"), "does not tell a member function")
				for _, row := range got.Parameters {
					byName = byName || row.Source == "mangled name"
					if strings.HasPrefix(*row.Location, "register v") || strings.HasPrefix(*row.Location, "register xmm") {
						floats--
					}
				}
				same := declared == len(got.Parameters) && floats == 0
				if same {
					exact++
				} else {
					t.Logf("%s: %d, declared %d, by its name %v: %s", p.Name, len(got.Parameters), declared, byName, *want.Signature)
				}
				if byName {
					named++
					if same {
						namedExact++
					} else if !ambiguous {
						t.Errorf("%s does not have the parameters of its name", p.Name)
					}
				}
			}
			t.Logf("%d functions, %d exact; %d by their names, %d exact", functions, exact, named, namedExact)
			if named < 15 || float64(namedExact) < 0.9*float64(named) {
				t.Error("names do not tell parameters well enough")
			}
		})
	}
}
