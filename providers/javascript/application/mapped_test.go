package application_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/providers/javascript/jstest"
)

// joined builds a project whose modules share one scope, minified, with a map.
const joined = `
const path = require("path"), fs = require("fs"), esbuild = require("esbuild");
const [dir] = process.argv.slice(2);
fs.mkdirSync(path.join(dir, "src"), {recursive: true});
const names = [];
for (let i = 0; i < 12; i++) {
  fs.writeFileSync(path.join(dir, "src/m" + i + ".js"), "export function f" + i + "(a) { console.log('module é " + i + "', a); return a + " + i + " * Math.random(); }\n");
  names.push(i);
}
fs.writeFileSync(path.join(dir, "src/index.js"), names.map((i) => "import {f" + i + "} from './m" + i + ".js';").join("\n") + "\nconsole.log(" + names.map((i) => "f" + i + "(1)").join(",") + ");\n");
for (const [sourcemap, out, format] of [[true, "dist", "esm"], ["external", "external", "esm"], ["inline", "inline", "iife"]])
  esbuild.buildSync({entryPoints: [path.join(dir, "src/index.js")], bundle: true, minify: true, sourcemap, outfile: path.join(dir, out, "app.js"), format, charset: "utf8"});
`

func TestASourceMapTellsJoinedModulesApart(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	packages := jstest.Packages(t, "esbuild@0.25.0")
	dir := t.TempDir()
	jstest.Node(t, packages, joined, nil, dir)
	for _, out := range []string{"external", "inline"} { // a map that is not declared, and one that is longer than the code
		modulesAreTheirs(t, filepath.Join(dir, out))
	}
	a := modulesAreTheirs(t, filepath.Join(dir, "dist"))
	var sources []string
	for _, row := range rows(a, model.ApplicationNodeKindSourceModule) {
		sources = append(sources, strings.Fields(row)[1])
	}
	var m struct{ SourcesContent []string }
	data, err := os.ReadFile(filepath.Join(dir, "dist/app.js.map"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if len(sources) != len(m.SourcesContent) || !slices.Contains(sources, "../src/m3.js") {
		t.Errorf("sources = %v", sources)
	}
}

// modulesAreTheirs holds each module to the text that only it has.
func modulesAreTheirs(t *testing.T, dir string) *model.ApplicationAnalysis {
	t.Helper()
	a := analyze(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind != model.ApplicationNodeKindJavascriptModule {
			continue
		}
		at := *n.Location
		part := string(text[a.Locations.Start[at]:a.Locations.End[at]])
		name, ok := strings.CutPrefix(filepath.Base(*n.Label), "m")
		if !ok {
			continue
		}
		number := strings.TrimSuffix(name, ".js")
		if !strings.Contains(part, "module é "+number+`"`) || strings.Count(part, "module é") != 1 {
			t.Errorf("%s is %q", *n.Label, part)
		}
		found++
	}
	if found != 12 {
		t.Errorf("%s: %d of 12 modules were found", filepath.Base(dir), found)
	}
	return a
}
