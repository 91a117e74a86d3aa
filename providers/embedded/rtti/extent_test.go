package rtti_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/embedded"
	"rea/runtime/engine"
)

// A program whose last virtual table may be followed by anything: type_infos
// that the loader copies into it, other tables, names.
const thrower = `
#include <cstdio>
#include <new>
#include <typeinfo>
namespace { struct Hidden { virtual int f(int x) { return x; } virtual int g(int x) { return x + 1; } virtual ~Hidden() {} int v; }; }
struct Seen : Hidden { int f(int x) override { if (x > 5) throw x; if (x > 4) throw 2.5; if (x > 3) throw std::bad_alloc(); return x * 2; } };
struct Last { virtual void only() { puts("only"); } };
int main(int argc, char **argv) {
  Hidden *h = argc > 2 ? new Hidden : new Seen;
  Last *l = new Last;
  try { l->only(); return h->f(argc) + h->g(argc); }
  catch (int i) { return i; } catch (double) { return 9; } catch (const std::type_info &t) { return 7; }
}
`

// TestTablesEndWhereTheirSymbolsDo compares the tables found in stripped programs
// with the sizes that the symbols of the unstripped ones give.
func TestTablesEndWhereTheirSymbolsDo(t *testing.T) {
	for _, compiler := range [][]string{{"g++", "-O2", "-no-pie"}, {"g++", "-O0", "-no-pie"}, {"g++", "-O2"}, {"clang++", "-O1", "-no-pie"}, {"aarch64-linux-gnu-g++", "-O2", "-no-pie"}} {
		t.Run(strings.Join(compiler, ""), func(t *testing.T) {
			cc, err := exec.LookPath(compiler[0])
			if err != nil {
				t.Skip(compiler[0] + " is not installed")
			}
			dir := t.TempDir()
			src, whole, bin := filepath.Join(dir, "a.cc"), filepath.Join(dir, "whole"), filepath.Join(dir, "a")
			if err := os.WriteFile(src, []byte(thrower), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"-o", whole}, {"-s", "-o", bin}} {
				if out, err := exec.Command(cc, append(append(compiler[1:len(compiler):len(compiler)], args...), src)...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			f, err := elf.Open(whole)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			symbols, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			want := map[uint64]uint64{} // by the first method's slot: how many
			for _, s := range symbols {
				if strings.HasPrefix(s.Name, "_ZTV") && s.Size > 16 && !strings.Contains(s.Name, "@") && s.Section < elf.SHN_LORESERVE && s.Section != elf.SHN_UNDEF && f.Sections[s.Section].Type != elf.SHT_NOBITS {
					want[s.Value+16] = s.Size/8 - 2
				}
			}
			if len(want) < 2 {
				t.Fatalf("%d virtual tables in the symbols", len(want))
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
			classes, err := eng.(engine.CPlusPlus).CppClasses(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, c := range classes {
				for _, v := range c.Vtables {
					n, ok := want[uint64(v.Address)]
					if !ok {
						t.Errorf("%s: no symbol has a table at %#x", c.Name, v.Address)
					} else if found++; uint64(v.MethodCount) != n {
						t.Errorf("%s: the table at %#x has %d methods, want %d", c.Name, v.Address, v.MethodCount, n)
					}
				}
			}
			if found != len(want) {
				t.Errorf("%d of %d tables were found", found, len(want))
			}
		})
	}
}
