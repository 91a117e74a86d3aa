package program

import "testing"

// TestGuessesAreTakenBack takes back what seemed to be functions that nothing
// leads to once a table shows that it is blocks, and takes no constants for the
// beginning of the function behind them.
func TestGuessesAreTakenBack(t *testing.T) {
	b := build(t, "gcc", []string{"guesses.S"}, "-nostdlib", "-static")
	p := b.analyze(t, 0)
	missing, wrong := b.score(t, p)
	for _, a := range missing {
		t.Errorf("%s at %#x is missing", b.truth[a], a)
	}
	for _, a := range wrong {
		t.Errorf("%#x is no function", a)
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		for _, g := range p.FunctionRanges(i) {
			if g.Start < f.Entry || g.End > f.Entry+b.sizes[f.Entry] {
				t.Errorf("%s has [%#x, %#x), which is not its own", b.truth[f.Entry], g.Start, g.End)
			}
		}
	}
}
