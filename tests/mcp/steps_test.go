package mcp

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rea/tests/built"
)

// write puts files below dir, which it returns.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipped is an archive of one file.
func zipped(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fileSteps use the tools that read a file by its path, with nothing open.
func fileSteps(t *testing.T, fixture string) []step {
	samples, err := filepath.Abs("../../providers/format")
	if err != nil {
		t.Fatal(err)
	}
	macho := filepath.Join(samples, "macho", "testdata", "throw_arm64")
	dir := write(t, t.TempDir(), map[string]string{
		"App.app/Contents/Info.plist": `<plist version="1.0"><dict><key>CFBundleIdentifier</key><string>org.example.app</string></dict></plist>`,
	})
	return []step{
		{tool: "inspect_go_binary", args: object{"path": built.Rea(t), "package_limit": 5, "type_limit": 5, "dependency_limit": 5}},
		{tool: "inspect_macho", args: object{"path": macho}},
		{tool: "list_architectures", args: object{"path": macho}},
		{tool: "inspect_signature", args: object{"path": macho}},
		{tool: "inspect_pe_resources", args: object{"path": filepath.Join(samples, "pe", "testdata", "sample_x64.dll")}},
		{tool: "inspect_plist", args: object{"path": filepath.Join(dir, "App.app"), "pointer": "/CFBundleIdentifier"}},
		{tool: "trace_dylib_resolution", args: object{"path": fixture, "max_depth": 1}},
	}
}

// packageSteps compare two releases: of an archive and of an application.
func packageSteps(t *testing.T) []step {
	dir := write(t, t.TempDir(), map[string]string{
		"old.zip":          zipped(t, "data.txt", "one"),
		"new.zip":          zipped(t, "data.txt", "two"),
		"old/package.json": `{"name": "menu", "version": "1.0.0", "main": "main.js"}`,
		"old/main.js":      "const { greet } = require('./greet');\ngreet('menu');\n",
		"old/greet.js":     "exports.greet = function greet(who) { fetch('https://example.org/' + who); };\n",
		"new/package.json": `{"name": "menu", "version": "1.1.0", "main": "main.js"}`,
		"new/main.js":      "const { greet } = require('./greet');\ngreet('menu');\ngreet('again');\n",
		"new/greet.js":     "exports.greet = function greet(who) { fetch('https://example.org/v2/' + who); };\n",
	})
	in := func(name string) object { return object{"path": filepath.Join(dir, name)} }
	keep := func(name string) map[string][]string { return map[string][]string{name: {"evidence_id"}} }
	return []step{
		{tool: "inspect_artifact", args: in("old.zip"), keep: keep("$oldArchive")},
		{tool: "inspect_artifact", args: in("new.zip"), keep: keep("$newArchive")},
		{tool: "compare_artifacts", args: object{"left": retained("$oldArchive"), "right": retained("$newArchive")}},
		{tool: "extract_artifact", args: in("old.zip")},
		{tool: "analyze_javascript_application", args: in("old"), keep: keep("$oldApplication")},
		{tool: "analyze_javascript_application", args: in("new"), keep: keep("$newApplication")},
		{tool: "compare_application_versions", args: object{"left": retained("$oldApplication"), "right": retained("$newApplication")}},
		{tool: "trace_application_feature", args: object{"application": retained("$newApplication"), "seed": object{"kind": "string", "value": "greet"}}},
		{tool: "trace_javascript_semantics", args: object{"application": retained("$newApplication"), "seed": object{"kind": "function", "value": "greet"}, "direction": "callers"}},
		{tool: "compare_javascript_export_shapes", args: object{"left": retained("$oldApplication"), "right": retained("$newApplication")}},
		{tool: "inspect_analysis_view", args: object{"analysis": retained("$newApplication"), "view": "modules"}},
		{tool: "inspect_analysis_view", args: object{"analysis": retained("$newApplication"), "view": "module", "name": "greet.js"}},
		{tool: "analyze_javascript_application", args: object{"path": filepath.Join(dir, "new"), "detail": "summary"}},
		{tool: "import_reference_source", args: in("old"), keep: keep("$source")},
		{tool: "compare_source_to_bundle", args: object{"application": retained("$newApplication"), "reference": retained("$source")}},
	}
}
