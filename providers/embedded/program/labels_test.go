package program

import "testing"

// TestSymbolsWithoutType makes functions of code that a global symbol without a
// type names, and of no place inside one and no data.
func TestSymbolsWithoutType(t *testing.T) {
	p, path := compile(t, "gcc", "labels.S", "-nostdlib", "-static")
	syms := symbols(t, path)
	for name, want := range map[string]bool{"_start": true, "pushes": true, "whole": true, "middle": false, "bytes": false} {
		i, found := p.FunctionAt(syms[name].Value)
		if found != want {
			t.Errorf("%s is a function: %v, want %v", name, found, want)
		}
		if found && p.Functions[i].Name != name {
			t.Errorf("%s has the name %q", name, p.Functions[i].Name)
		}
	}
}
