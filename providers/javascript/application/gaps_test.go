package application_test

import (
	"strings"
	"testing"

	"rea/generated/model"
)

// Files that can't be read as what they are named for are told of.
func TestGapsOfFiles(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, what, reason string }{
		"manifest":  {"package.json", "[]", "file package.json", "no object"},
		"utf16":     {"a.js", "\xff\xfef\x00", "file a.js", "UTF-16"},
		"not_utf8":  {"a.js", "x = '\xe9'", "bytes of a.js", "from byte 5 on"},
		"map":       {"a.js.map", `{"version": 3, "sources": [`, "source map of a.js.map", "it is no JSON from byte"},
		"map_kind":  {"a.js.map", `{"version": 3, "sources": 5}`, "source map of a.js.map", "/sources is not"},
		"data":      {"b.json", `{"a":`, "file b.json", "it is no JSON"},
		"positions": {"a.js.map", `{"version": 3, "sources": ["a"], "mappings": "!!!"}`, "source map of a.js.map", "positions"},
	} {
		t.Run(name, func(t *testing.T) {
			a := analyze(t, write(t, map[string]string{tt.file: tt.text, "use.js": "require('./b.json')"}))
			g := a.Graph.Coverage.Gaps
			if len(g) != 1 || g[0].What != tt.what || !strings.Contains(g[0].Reason, tt.reason) || a.Graph.Coverage.Status != model.ApplicationCoverageStatusPartial {
				t.Errorf("gaps = %+v", g)
			}
		})
	}
}

// Programs that name what is no source map are told of.
func TestGapsOfDeclaredMaps(t *testing.T) {
	for name, tt := range map[string]struct{ address, reason string }{
		"itself":    {"a.js", "a.js, which is not a source map"},
		"data":      {"b.json", "b.json, which is not a source map"},
		"null":      {"data:application/json,null", "it is not a source map"},
		"undecoded": {"data:;base64,%%%", "cannot be decoded"},
		"nothing":   {"data:application/json", "cannot be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			a := analyze(t, write(t, map[string]string{"a.js": "f()\n//# sourceMappingURL=" + tt.address + "\n", "b.json": "{}"}))
			g := a.Graph.Coverage.Gaps
			if len(g) != 1 || g[0].What != "source map of a.js" || !strings.Contains(g[0].Reason, tt.reason) {
				t.Errorf("gaps = %+v", g)
			}
		})
	}
}

// Code beyond the bounds of the parser is told as that.
func TestGapsOfDeepCode(t *testing.T) {
	for name, code := range map[string]string{"brackets": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "members": "a" + strings.Repeat(".b", 50_000)} {
		a := analyze(t, write(t, map[string]string{"a.js": code}))
		if g := a.Graph.Coverage.Gaps; len(g) != 1 || g[0].What != "statements of a.js" || !strings.Contains(g[0].Reason, "nested deeper") {
			t.Errorf("%s: gaps = %+v", name, g)
		}
	}
}
