package ssa_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/format/native"
)

// analysed is a whole program with what building its functions needs.
func analysed(t testing.TB, path string) (*program.Program, func(i int) *ssa.Input) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Analyze(t.Context(), im, program.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, ok := lower.New(p)
	if !ok {
		t.Fatal("no lifter")
	}
	return p, func(i int) *ssa.Input { return l.Function(i) }
}

// samples are programs of the machine, and one that is built for the test.
func samples(t testing.TB) []string {
	out := []string{"/bin/ls", "/bin/bash"}
	if g, err := exec.LookPath("gofmt"); err == nil {
		out = append(out, g)
	}
	if cc, err := exec.LookPath("aarch64-linux-gnu-gcc"); err == nil {
		dir := t.TempDir()
		src, bin := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
		if err := os.WriteFile(src, []byte(loops), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, err := exec.Command(cc, "-O2", "-static", "-o", bin, src).CombinedOutput(); err != nil {
			t.Logf("%s", o)
		} else {
			out = append(out, bin)
		}
	}
	return out
}

const loops = `
#include <stdio.h>
int table[16];
int sum(int n) { int s = 0; for (int i = 0; i < n && i < 16; i++) s += table[i]; return s; }
int main(int argc, char **argv) { printf("%d\n", sum(argc)); return 0; }
`

func TestInvariantsHoldOnPrograms(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p, in := analysed(t, path)
			var built, unknown, values int
			start := time.Now()
			for i := range p.Functions {
				if testing.Short() && i%8 != 0 {
					continue
				}
				if len(p.FunctionBlocks(i)) == 0 {
					continue
				}
				f, err := ssa.Build(t.Context(), in(i))
				if err != nil {
					t.Fatalf("%#x: %v", p.Functions[i].Entry, err)
				}
				built++
				values += len(f.Values)
				if !f.FrameKnown {
					unknown++
				}
				if err := f.Check(); err != nil {
					t.Fatalf("%#x %s: %v\n%s", p.Functions[i].Entry, p.Functions[i].Name, err, f.Text())
				}
			}
			t.Logf("%d functions, %d values, %d with a stack pointer that is not followed, %v", built, values, unknown, time.Since(start))
			if built == 0 {
				t.Fatal("no function was built")
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	p, in := analysed(t, "/bin/ls")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range p.Functions {
		if len(p.FunctionBlocks(i)) > 0 {
			if _, err := ssa.Build(ctx, in(i)); err != context.Canceled {
				t.Fatalf("got %v", err)
			}
			return
		}
	}
}
