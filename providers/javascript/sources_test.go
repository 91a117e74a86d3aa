package javascript_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/javascript/jstest"
)

// copied is a folder with the files of another that a choice takes.
func copied(t *testing.T, from string, take func(path string) bool) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, p)
		if err != nil || d.IsDir() || !take(filepath.ToSlash(rel)) {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// The sources of one release in the bundles of the next, which dropped plain.js:
// that is gone only where the application shows all its code.
func TestSourcesInABundle(t *testing.T) {
	first, second := jstest.Electron(t)
	d := tools(t)
	source, _, _ := call(t, d, "import_reference_source", object{"path": copied(t, first.Sources, func(p string) bool { return !strings.HasPrefix(p, "renderer/") })})
	for _, tt := range []struct {
		name   string
		take   func(p string) bool
		status string
		whole  bool
	}{
		{"all_code_shown", func(p string) bool { return strings.HasPrefix(p, "dist/") && !strings.HasPrefix(p, "dist/renderer/") }, "removed", true},
		{"a_page_of_joined_modules", func(p string) bool { return strings.HasPrefix(p, "dist/") }, "unknown", false},
		{"without_the_source_maps", func(p string) bool {
			return strings.HasPrefix(p, "dist/") && !strings.HasPrefix(p, "dist/renderer/") && !strings.HasSuffix(p, ".map")
		}, "unknown", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			app, _, _ := call(t, d, "analyze_javascript_application", object{"path": copied(t, second.Folder, tt.take)})
			_, _, r := call(t, d, "compare_source_to_bundle", object{"application": retained(app), "reference": retained(source), "limit": 500})
			got := map[string]string{}
			for _, i := range items(r["items"]) {
				got[i["source_path"].(string)] = i["status"].(string)
			}
			if got["main/plain.js"] != tt.status {
				t.Errorf("main/plain.js is %s, want %s: %v", got["main/plain.js"], tt.status, r["coverage"])
			}
			for _, p := range []string{"main/store.js", "main/updates.js", "preload/index.js", "indexer/index.js"} {
				if tt.whole && got[p] != "unchanged" || got[p] == "removed" || got[p] == "modified" {
					t.Errorf("%s is %s", p, got[p])
				}
			}
			for _, p := range []string{"main/search.js", "main/export.js", "main/index.js"} {
				if tt.whole && got[p] != "modified" || got[p] == "removed" || got[p] == "unchanged" {
					t.Errorf("%s is %s", p, got[p])
				}
			}
		})
	}
}

// Two releases of an archive.
func TestTwoArchives(t *testing.T) {
	first, second := jstest.Electron(t)
	d := tools(t)
	left, _, _ := call(t, d, "analyze_javascript_application", object{"path": first.Archive})
	right, _, _ := call(t, d, "analyze_javascript_application", object{"path": second.Archive})
	_, _, r := call(t, d, "compare_application_versions", object{"left": retained(left), "right": retained(right), "include_unchanged": true, "limit": 500})
	got := map[string]string{}
	for _, i := range items(r["items"]) {
		side, ok := i["left"].(object)
		if !ok {
			side = i["right"].(object)
		}
		label, _ := side["label"].(string)
		got[i["kind"].(string)+" "+label] = i["status"].(string)
	}
	for name, want := range map[string]string{
		"javascript-module webpack://notes/src/main/store.js":   "unchanged",
		"javascript-module webpack://notes/src/main/updates.js": "unchanged",
		"javascript-module webpack://notes/src/main/search.js":  "changed",
		"javascript-module webpack://notes/src/main/export.js":  "changed",
		"javascript-module webpack://notes/src/main/archive.js": "unknown", // the page does not tell its modules apart
		"source-module webpack://notes/src/main/store.js":       "unchanged",
		"source-module webpack://notes/src/main/plain.js":       "removed",
		"browser-window BrowserWindow":                          "changed",
		"ipc-channel notes:search":                              "unchanged",
		"context-bridge-api notes":                              "unchanged",
		"native-addon build/Release/fastindex.node":             "unchanged",
		"storage last-search":                                   "unchanged",
		"javascript-asset dist/preload.js":                      "unchanged",
		"javascript-asset dist/main.js":                         "changed",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %s", name, got[name], want)
		}
	}
	if s := got["javascript-module webpack://notes/src/main/plain.js"]; s == "unchanged" || s == "" {
		t.Errorf("the dropped module is %q", s)
	}
}

// What leads to a native add-on ends in a handoff that is bound to its bytes.
func TestNativeHandoff(t *testing.T) {
	app, _ := jstest.Electron(t)
	d := tools(t)
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": app.Archive})
	_, _, r := call(t, d, "trace_application_feature", object{"application": retained(id), "seed": object{"kind": "channel", "value": "notes:search"}, "direction": "outgoing"})
	handoffs := items(r["native_handoffs"])
	if len(handoffs) != 1 || handoffs[0]["sha256"] != digestOf(t, app.Addon) || handoffs[0]["status"] != "requires-provider-analysis" {
		t.Fatalf("handoffs: %v", handoffs)
	}
	if names, ok := handoffs[0]["requested_names"].([]any); !ok || len(names) == 0 || names[0] != "fastindex" {
		t.Errorf("requested: %v", handoffs[0]["requested_names"])
	}
}

// The file that a bundler made has the name of an entry, and is not what became of it.
func TestBundlesThatBearTheNameOfAFile(t *testing.T) {
	d := tools(t)
	sources := map[string]string{"index.js": "import { a } from './lib/a.js'; document.title = a('first');", "main.js": "import './index.js'; window.started = Date.now();", "lib/a.js": "export const a = (x) => x + ' of a title';", "other.js": "export const changed = 'before this';"}
	shipped := map[string]string{
		"index.js": `System.register("lib/a.js", [], function (e) { return { execute: function () { e("a", (x) => x + " of a title"); } }; });
System.register("start", ["lib/a.js"], function (e) { var a; return { setters: [(m) => { a = m.a; }], execute: function () { document.title = a("first"); } }; });`,
		"main.js": "import './index.js';", "other.js": "export const changed = 'after that';",
	}
	tree := func(files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	source, _, _ := call(t, d, "import_reference_source", object{"path": tree(sources)})
	app, _, _ := call(t, d, "analyze_javascript_application", object{"path": tree(shipped)})
	_, _, r := call(t, d, "compare_source_to_bundle", object{"application": retained(app), "reference": retained(source), "limit": 500})
	got := map[string]string{}
	for _, i := range items(r["items"]) {
		got[i["source_path"].(string)] = i["status"].(string)
	}
	for name, want := range map[string]string{"index.js": "unknown", "main.js": "unknown", "other.js": "modified"} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}
