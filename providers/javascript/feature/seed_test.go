package feature

import "testing"

func TestExact(t *testing.T) {
	for _, tt := range []struct {
		kind  SeedKind
		value string
		s     string
		want  bool
	}{
		{ByModule, "search.js", "src/search.js", true},
		{ByModule, "search.js", "src/research.js", false},
		{ByModule, "SEARCH.js", "src/search.js", true},
		{ByString, "search.js", "src/search.js", false},
		{byEndpoint, "https://a.b/c", "https://a.b/c?q=", true},
		{byEndpoint, "b/c", "https://a.b/c", false},
		{ByNative, "fast", "build/fast.node", true},
	} {
		if got := NewExact(tt.kind, tt.value, false).Match(tt.s); got != tt.want {
			t.Errorf("%s %q in %q: %v", tt.kind, tt.value, tt.s, got)
		}
	}
}
