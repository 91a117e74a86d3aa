package program

import (
	"strings"
	"testing"
)

// TestPartsAtTheFront takes no part for a function because it is the first code
// of its section, or because a landing pad may not be its first instruction.
func TestPartsAtTheFront(t *testing.T) {
	for _, c := range []struct{ cc, source, flags string }{
		{"gcc", "coldswitch.c", "-O2 -no-pie -fno-asynchronous-unwind-tables"},
		{"gcc", "coldswitch.c", "-O2 -no-pie -fno-asynchronous-unwind-tables -DTWO"},
		{"gcc", "coldswitch.c", "-O3 -no-pie -fno-asynchronous-unwind-tables -DTWO"},
		{"g++", "exc.cpp", "-O2 -static"},
	} {
		t.Run(c.source+" "+c.flags, func(t *testing.T) {
			b := build(t, c.cc, []string{c.source}, strings.Fields(c.flags)...)
			cold := b.cold
			if len(cold) == 0 {
				t.Fatal("the test program has no parts")
			}
			p := b.analyze(t, 0)
			for i := range p.Functions {
				if f := &p.Functions[i]; cold[f.Entry] && f.Kind != KindPart {
					t.Errorf("the part at %#x is a function (%v)", f.Entry, f.Evidence)
				}
			}
		})
	}
}
