package program

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// labels is a program of computed jumps without a bound, whose tables lie
// before words that would do as entries.
const labels = `
static int f(int x) { return x * 3 + 1; }
int apart(const unsigned char *p, int y) {
  static const int t[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a, &&e - &&a};
  static const int after[] = {3, 7, 11};
  y += after[y & 1];
  goto *(&&a + t[*p++]);
a: y = f(y); goto *(&&a + t[*p++]);
b: y = f(y + 1); goto *(&&a + t[*p++]);
c: y = f(y + 2); goto *(&&a + t[*p++]);
d: y = f(y + 3); goto *(&&a + t[*p++]);
e: return y;
}
int whole(const unsigned char *p, int y) {
  static void *const t[] = {&&a, &&b, &&c, &&d};
  static void *const other[] = {&&b, &&c};
  if (y == 9) goto *other[p[1]];
  goto *t[*p++];
a: y = f(y); goto *t[*p++];
b: y = f(y + 1); goto *t[*p++];
c: y = f(y + 2); goto *t[*p++];
d: return y;
}
int main(int argc, char **argv) { return apart((const unsigned char *)argv[0], argc) + whole((const unsigned char *)argv[1], argc); }
`

// TestTablesEndWithTheirSymbols: where a symbol gives the size of a table that
// nothing bounds, it has no more entries.
func TestTablesEndWithTheirSymbols(t *testing.T) {
	for _, x := range []struct {
		name string
		cc   []string
	}{
		{"gcc-O0", []string{"gcc", "-O0"}}, {"gcc-O2", []string{"gcc", "-O2"}}, {"clang-O0", []string{"clang", "-O0"}}, {"clang-O2", []string{"clang", "-O2"}},
		{"fixed", []string{"gcc", "-O1", "-no-pie", "-fno-pie"}}, {"arm64", []string{"aarch64-linux-gnu-gcc", "-O1"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src, bin := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
			if err := os.WriteFile(src, []byte(labels), 0o600); err != nil {
				t.Fatal(err)
			}
			tool(t, x.cc[0], append(x.cc[1:], "-o", bin, src)...)
			f, err := elf.Open(bin)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			symbols, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			p := analyzeFile(t, bin)
			sized := 0
			for _, table := range p.Tables {
				for _, s := range symbols {
					if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || table.Addr-s.Value >= s.Size {
						continue
					}
					sized++
					if n := uint64(len(table.Targets)) * uint64(table.EntrySize); table.Addr+n > s.Value+s.Size {
						t.Errorf("the table at %#x has %d targets, its symbol %s %d bytes", table.Addr, len(table.Targets), s.Name, s.Size)
					}
				}
			}
			if sized == 0 {
				t.Errorf("no table of %d has a symbol", len(p.Tables))
			}
		})
	}
}
