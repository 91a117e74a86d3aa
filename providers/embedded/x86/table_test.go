package x86

import "testing"

// TestTables: the embedded tables parse and every opcode has one meaning.
func TestTables(t *testing.T) {
	tables, err := readTables()
	if err != nil {
		t.Fatal(err)
	}
	for mode := range 2 {
		s, err := buildSet(tables, mode)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("mode %d: %d entries, %d branches, %d children", mode, len(s.entries), len(s.branches), len(s.children))
	}
}
