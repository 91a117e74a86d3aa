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
