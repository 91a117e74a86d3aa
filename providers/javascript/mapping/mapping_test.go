package mapping

import "testing"

func TestClean(t *testing.T) {
	for p, want := range map[string]string{
		"webpack://app/./src/a.js?1a2b": "src/a.js",
		"webpack:///./src/a.js":         "src/a.js",
		"../../../project/src/a.ts":     "project/src/a.ts",
		"/abs/a.js":                     "abs/a.js",
		"":                              "",
	} {
		if got := Clean(p); got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
}

func TestSamePath(t *testing.T) {
	for _, tt := range []struct {
		source, current string
		want            bool
	}{
		{"src/a.js", "src/a.js", true},
		{"src/a.js", "project/src/a.js", true},
		{"packages/app/src/a.js", "src/a.js", true},
		{"a.js", "src/a.js", true},
		{"src/a.js", "a.js", false}, // any a.js could be it
		{"src/a.js", "src/ba.js", false},
		{"src/index.js", "node_modules/b/src/index.js", false},
		{"node_modules/b/index.js", "node_modules/b/index.js", true},
	} {
		if got := samePath(tt.source, tt.current); got != tt.want {
			t.Errorf("%s and %s: %v", tt.source, tt.current, got)
		}
	}
}
