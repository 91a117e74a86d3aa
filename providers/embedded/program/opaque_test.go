package program

import (
	"slices"
	"testing"
)

// TestSettledJumps follows no jump the way that it never goes, and a call no
// further where its return address is popped; where an outcome only seems settled
// it follows both ways.
func TestSettledJumps(t *testing.T) {
	b := build(t, "gcc", []string{"opaque.S"}, "-nostdlib", "-static")
	p := b.analyze(t, 0)
	missing, wrong := b.score(t, p)
	for _, a := range missing {
		t.Errorf("%s at %#x is missing", b.truth[a], a)
	}
	for _, a := range wrong {
		t.Errorf("%#x is no function", a)
	}
	constants := map[string][]byte{"zero": {7}, "pair": {8}, "carry": {9}, "equal": {10}, "never": {11}, "revisited": {12, 13}, "asks": {14}, "caller": {15}}
	for i := range p.Functions {
		f := &p.Functions[i]
		name := b.truth[f.Entry]
		var loaded []byte
		for _, g := range p.FunctionRanges(i) {
			if g.Start < f.Entry || g.End > f.Entry+b.sizes[f.Entry] {
				t.Errorf("%s has [%#x, %#x), which is not its own", name, g.Start, g.End)
			}
		}
		for a := f.Entry; a < f.Entry+b.sizes[f.Entry]; a++ {
			in := b.im.Bytes(a, 5)
			if o := p.sp.off(a); p.starts.has(o) && len(in) == 5 && in[0] == 0xb8 {
				loaded = append(loaded, in[1])
			}
		}
		for _, c := range constants[name] {
			if !slices.Contains(loaded, c) {
				t.Errorf("%s: the instruction that returns %d is missing", name, c)
			}
		}
		if name == "inline" && f.Size != b.sizes[f.Entry]-42 {
			t.Errorf("inline has %d bytes, want all but the 42 of its text", f.Size)
		}
	}
}
