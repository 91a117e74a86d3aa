package program

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestBlocksAgainstCompiler compares block starts of code with exceptions with
// those that clang lists in .llvm_bb_addr_map. Blocks that only the one before
// runs into cannot be seen, as unoptimized code has them.
func TestBlocksAgainstCompiler(t *testing.T) {
	for _, c := range []struct {
		level          string
		missing, wrong int // of a thousand
	}{{"-O0", 40, 20}, {"-O2", 5, 10}} {
		t.Run(c.level, func(t *testing.T) {
			b := build(t, "clang++", []string{"exc.cpp"}, c.level, "-fbasic-block-sections=labels")
			want := listedBlocks(t, b.path)
			found, wrong, missing := map[uint64]bool{}, 0, 0
			p := b.analyze(t, 0)
			for _, x := range p.Blocks {
				found[x.Start] = true
				if f := p.Functions[x.Function]; want[f.Entry] && !want[x.Start] {
					wrong++
				}
			}
			for a := range want {
				if !found[a] {
					missing++
				}
			}
			if n := len(want); n < 300 || missing*1000 > n*c.missing || wrong*1000 > n*c.wrong {
				t.Errorf("of %d blocks %d are missing and %d are wrong", n, missing, wrong)
			}
		})
	}
}

// listedBlocks reads the starts of blocks of some size as llvm-readobj prints them.
func listedBlocks(t *testing.T, path string) map[uint64]bool {
	t.Helper()
	out, err := exec.Command("llvm-readobj-14", "--bb-addr-map", path).Output()
	if err != nil {
		t.Skipf("needs llvm-readobj-14: %v", err)
	}
	want := map[uint64]bool{}
	var at, off uint64
	for l := range strings.Lines(string(out)) {
		name, v, _ := strings.Cut(strings.TrimSpace(l), ": ")
		n, _ := strconv.ParseUint(v, 0, 64)
		switch name {
		case "At":
			at = n
		case "Offset":
			off = n
		case "Size":
			if n > 0 {
				want[at+off] = true
			}
		}
	}
	return want
}
