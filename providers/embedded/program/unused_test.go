package program

import "testing"

// TestUnusedFunctions finds functions that nothing leads to.
func TestUnusedFunctions(t *testing.T) {
	b := build(t, "gcc", []string{"unused.S"}, "-nostdlib", "-static")
	missing, wrong := b.score(t, b.analyze(t, 0))
	for _, a := range missing {
		t.Errorf("%s at %#x is missing", b.truth[a], a)
	}
	for _, a := range wrong {
		t.Errorf("%#x is no function", a)
	}
}

// TestPlacesToPatch takes no list of places to patch for one of functions: what
// clang lists there is padding before them.
func TestPlacesToPatch(t *testing.T) {
	b := build(t, "clang", []string{"switchy.c"}, "-O2", "-fpatchable-function-entry=16,5")
	p := b.analyze(t, 0)
	for _, f := range p.Functions {
		if f.Evidence == ByPointer && b.truth[f.Entry] == "" {
			t.Errorf("%#x is no function", f.Entry)
		}
	}
}
