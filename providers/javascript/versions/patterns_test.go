package versions

import (
	"fmt"
	"strings"
	"testing"
)

// An endpoint is not gone from a version that has a pattern which may be it.
func TestEndpointsThatMayBePatterns(t *testing.T) {
	const pattern = "const get = p => fetch(`https://h.example/v1/${p}`); get(C.x)"
	for _, tt := range []struct {
		old, recent string
		want        Status
		candidates  int
	}{
		{"fetch('https://h.example/v1/users')", pattern, Unknown, 1},
		{"fetch('https://h.example/v2/users')", pattern, Removed, 0},
		{pattern, "fetch('https://h.example/v1/users')", Unknown, 1},
		{pattern, "fetch('https://h.example/v2/users')", Removed, 0},
	} {
		old, recent := analyzed(t, folder(t, map[string]string{"m.js": tt.old})), analyzed(t, folder(t, map[string]string{"m.js": tt.recent}))
		c, err := Compare(t.Context(), old, recent)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range c.Items {
			it := &c.Items[i]
			if it.Left < 0 || old.Graph.Nodes[it.Left].Kind != "endpoint" {
				continue
			}
			found = true
			if it.Status != tt.want || len(it.Candidates) != tt.candidates {
				t.Errorf("%s to %s: %s is %s (%s) with %d candidates, want %s with %d", tt.old, tt.recent, old.Label(it.Left), it.Status, it.Reason, len(it.Candidates), tt.want, tt.candidates)
			}
		}
		if !found {
			t.Errorf("%s to %s: nothing became of it", tt.old, tt.recent)
		}
	}
}

// Candidates that are not listed are counted, and many addresses with the same
// begin are held against many patterns within a bound.
func TestManyPatterns(t *testing.T) {
	const most, shared = 1100, 3000
	var old, recent strings.Builder
	fmt.Fprintf(&old, "fetch('https://h.example/%s');", strings.Repeat("a", most))
	for i := range most {
		fmt.Fprintf(&recent, "fetch(`https://h.example/%s${C[%d]}`);", strings.Repeat("a", i), i)
	}
	for i := range shared {
		fmt.Fprintf(&old, "fetch('https://g.example/x/%d');", i)
		fmt.Fprintf(&recent, "fetch(`https://g.example/${C.x}/y%d`);", i)
	}
	left, right := analyzed(t, folder(t, map[string]string{"m.js": old.String()})), analyzed(t, folder(t, map[string]string{"m.js": recent.String()}))
	c, err := Compare(t.Context(), left, right)
	if err != nil {
		t.Fatal(err)
	}
	listed, omitted, removed := 0, 0, 0
	for i := range c.Items {
		it := &c.Items[i]
		switch {
		case it.Left < 0 || left.Graph.Nodes[it.Left].Kind != "endpoint":
		case it.Status == Removed:
			removed++
		default:
			listed, omitted = listed+len(it.Candidates), omitted+it.Omitted
		}
	}
	if listed != maxCandidates || omitted != most-maxCandidates || removed != shared {
		t.Errorf("%d candidates are listed and %d omitted, %d endpoints removed; want %d, %d and %d", listed, omitted, removed, maxCandidates, most-maxCandidates, shared)
	}
}
