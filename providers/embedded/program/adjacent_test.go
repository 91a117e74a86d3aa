package program

import "testing"

// TestTablesSideBySide: a table that nothing bounds ends before entries that
// lead to another function's code.
func TestTablesSideBySide(t *testing.T) {
	for _, cc := range [][]string{
		{"clang", "-O2"}, {"clang", "-O3"}, {"gcc", "-Os"}, {"aarch64-linux-gnu-gcc", "-O2"}, {"clang", "-O2", "-fno-pie", "-no-pie"},
	} {
		t.Run(cc[0]+cc[1]+map[bool]string{true: "fixed"}[len(cc) > 2], func(t *testing.T) {
			t.Parallel()
			b := build(t, cc[0], []string{"adjacent.c"}, append(cc[1:], "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")...)
			p := b.analyze(t, 1)
			for _, name := range []string{"framed", "bare"} {
				entry := b.addr(t, name)
				i, ok := p.FunctionAt(entry)
				if !ok {
					t.Errorf("%s at %#x is no function", name, entry)
					continue
				}
				for _, x := range p.Tables {
					if f, _ := p.FunctionContaining(x.Jump); f != i {
						continue
					}
					for _, to := range x.Targets {
						if f, _ := p.FunctionContaining(to); f != i {
							t.Errorf("%s: a target at %#x lies outside", name, to)
						}
					}
				}
			}
		})
	}
}
