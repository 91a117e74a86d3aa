package versions

import "testing"

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
