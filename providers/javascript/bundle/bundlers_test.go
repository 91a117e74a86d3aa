package bundle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// bundlers are installed to build the project of testdata/build.cjs.
var bundlers = []string{
	"webpack@5.97.1", "webpack4@npm:webpack@4.47.0", "@rspack/core@1.1.8", "esbuild@0.25.0", "rollup@4.30.1",
	"@rollup/plugin-node-resolve@16.0.0", "@rollup/plugin-commonjs@28.0.2", "@rollup/plugin-replace@6.0.2", "@rollup/plugin-terser@0.4.4",
	"vite@6.0.7", "browserify@17.0.1", "terser@5.37.0", "@parcel/core@2.13.3", "@parcel/config-default@2.13.3", "@parcel/fs@2.13.3",
	"metro@0.81.0", "metro-babel-transformer@0.81.0", "react@18.3.1", "nanoid@5.0.9", "lodash.debounce@4.0.8", "clsx@2.1.1",
}

// A build is what one bundler made, and what it says about it.
type build struct {
	Name    string
	Files   map[string]string
	Modules []truth
}

type truth struct {
	ID, Path, File, Source string
	Bytes                  int
	Format                 string
	Wrapped                bool
	Nested                 []struct{ Path string }
	ImportedBy, Imports    []string
}

func builds(t *testing.T) []build {
	t.Helper()
	if testing.Short() {
		t.Skip("installs bundlers")
	}
	dir := jstest.Packages(t, bundlers...)
	script, err := filepath.Abs("testdata/build.cjs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	result := filepath.Join(dir, "builds-"+hex.EncodeToString(sum[:8])+".json")
	if _, err := os.Stat(result); err != nil {
		cmd := exec.Command("node", script, dir, result)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "NODE_OPTIONS=--openssl-legacy-provider")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building: %v\n%s", err, out)
		}
	}
	data, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var list []build
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 30 {
		t.Fatalf("only %d builds", len(list))
	}
	return list
}

// detect takes a build apart.
func detect(t *testing.T, b *build) (list []bundle.Bundle, texts []string) {
	t.Helper()
	names := make([]string, 0, len(b.Files))
	for name := range b.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := parse.Parse(t.Context(), b.Files[name], parse.Options{})
		if err != nil || f.Failed > 0 {
			t.Fatalf("%s: %v %v", name, err, f.Errors)
		}
		table := scope.Resolve(f)
		file := &bundle.File{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()}
		for _, found := range bundle.Detect(file).Bundles {
			for i := range found.Modules {
				if found.Modules[i].Eval != 0 {
					readEval(t, file, &found.Modules[i])
				}
			}
			list = append(list, found)
			texts = append(texts, b.Files[name])
		}
	}
	return list, texts
}

func readEval(t *testing.T, file *bundle.File, m *bundle.Module) {
	t.Helper()
	f, err := parse.Parse(t.Context(), file.EvalWrapper(m), parse.Options{})
	if err != nil || f.Failed > 0 {
		t.Fatalf("evaluated module %s: %v %v", m.ID, err, f.Errors)
	}
	table := scope.Resolve(f)
	bundle.ReadEval(&bundle.File{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()}, m)
}

// family is the bundler that a build is by.
func (b *build) family() string {
	name, _, _ := strings.Cut(b.Name, "/")
	return strings.TrimSuffix(name, "4")
}

func TestModulesOfWebpackAndRspackAreThoseOfTheirStatistics(t *testing.T) {
	expected, found, edges, missing, surplus := 0, 0, 0, 0, 0
	for _, b := range builds(t) {
		if f := b.family(); f != "webpack" && f != "rspack" {
			continue
		}
		list, _ := detect(t, &b)
		ids := map[string]*bundle.Module{}
		if !slices.ContainsFunc(list, func(l bundle.Bundle) bool { return string(l.Bundler) == b.family() }) && b.Name != "rspack/runtime" {
			t.Errorf("%s is not recognized", b.Name)
		}
		for i := range list {
			for j := range list[i].Modules {
				m := &list[i].Modules[j]
				if m.Kind == bundle.Wrapped {
					ids[m.ID] = m
				}
			}
		}
		// The entry may stand in the bootstrap, where its wrapper is gone.
		inlined := len(b.Modules) - len(ids)
		for _, m := range b.Modules {
			expected++
			if ids[m.ID] != nil {
				found++
			} else if inlined == 1 && slices.ContainsFunc(list, func(l bundle.Bundle) bool {
				return slices.ContainsFunc(l.Modules, func(m bundle.Module) bool { return m.Kind != bundle.Wrapped })
			}) {
				found++
			} else {
				t.Logf("%s: module %s (%s) was not found", b.Name, m.ID, m.Path)
			}
		}
		e, miss, more := compareEdges(t, &b, ids)
		edges, missing, surplus = edges+e, missing+miss, surplus+more
	}
	t.Logf("%d of %d modules, edges: %d common, %d missing, %d surplus", found, expected, edges, missing, surplus)
	if float64(found) < 0.99*float64(expected) {
		t.Errorf("%d of %d modules were found", found, expected)
	}
	if f1 := 2 * float64(edges) / float64(2*edges+missing+surplus); f1 < 0.97 {
		t.Errorf("F1 of import edges is %.3f", f1)
	}
}

// compareEdges compares which modules load which, between those in wrappers.
func compareEdges(t *testing.T, b *build, ids map[string]*bundle.Module) (common, missing, surplus int) {
	want := map[[2]string]bool{}
	for _, m := range b.Modules {
		for _, from := range m.ImportedBy {
			if ids[from] != nil && ids[m.ID] != nil && from != m.ID {
				want[[2]string{from, m.ID}] = true
			}
		}
	}
	have := map[[2]string]bool{}
	for id, m := range ids {
		for _, q := range m.Requires {
			if ids[q.ID] != nil && q.ID != id {
				have[[2]string{id, q.ID}] = true
			}
		}
	}
	for e := range want {
		if have[e] {
			common++
		} else {
			missing++
			t.Logf("%s: edge %v is missing", b.Name, e)
		}
	}
	for e := range have {
		if !want[e] {
			surplus++
			t.Logf("%s: edge %v is surplus", b.Name, e)
		}
	}
	return common, missing, surplus
}

func TestJoinedModulesAreToldApartByComments(t *testing.T) {
	for _, b := range builds(t) {
		if b.Name != "webpack/prod" && b.Name != "rspack/prod" {
			continue
		}
		list, _ := detect(t, &b)
		for _, m := range b.Modules {
			for _, n := range m.Nested {
				if !slices.ContainsFunc(list, func(l bundle.Bundle) bool {
					return slices.ContainsFunc(l.Modules, func(found bundle.Module) bool {
						return found.Kind == bundle.Region && strings.HasSuffix(found.Path, strings.TrimLeft(n.Path, "./"))
					})
				}) {
					t.Errorf("%s: the joined module %s was not found", b.Name, n.Path)
				}
			}
		}
	}
}

func TestModulesOfBrowserifyAreExact(t *testing.T) {
	for _, b := range builds(t) {
		if b.family() != "browserify" {
			continue
		}
		list, texts := detect(t, &b)
		if len(list) != 1 || list[0].Bundler != bundle.Browserify || len(list[0].Modules) != len(b.Modules) {
			t.Fatalf("%s: %d bundles", b.Name, len(list))
		}
		for _, m := range b.Modules {
			i := slices.IndexFunc(list[0].Modules, func(f bundle.Module) bool { return f.ID == m.ID })
			if i < 0 {
				t.Errorf("%s: module %s is missing", b.Name, m.ID)
				continue
			}
			found := &list[0].Modules[i]
			if text := texts[0][found.Source.Start:found.Source.End]; m.Source != "" && strings.TrimSpace(text) != strings.TrimSpace(m.Source) {
				t.Errorf("%s: the source of %s is not that of the file", b.Name, m.Path)
			}
			var have []string
			for _, q := range found.Requires {
				have = append(have, q.ID)
			}
			if b.Name == "browserify/dev" {
				slices.Sort(have)
				slices.Sort(m.Imports)
				if !slices.Equal(slices.Compact(have), slices.Compact(m.Imports)) {
					t.Errorf("%s: %s loads %v, not %v", b.Name, m.Path, have, m.Imports)
				}
			}
		}
	}
}

func TestModulesOfEsbuildAreThoseOfItsMetafile(t *testing.T) {
	for _, b := range builds(t) {
		if b.family() != "esbuild" {
			continue
		}
		list, texts := detect(t, &b)
		byPath := map[string]int{}
		wrapped := 0
		for i, l := range list {
			if l.Bundler != bundle.Esbuild {
				t.Errorf("%s is taken for %s", b.Name, l.Bundler)
			}
			for _, m := range l.Modules {
				byPath[m.Path] += strings.Count(texts[i][m.At.Start:m.At.End], "\n") + 1
				if m.Kind == bundle.Wrapped {
					wrapped++
				}
			}
		}
		if b.Name == "esbuild/min" { // no comments: what has a wrapper is found
			if wrapped < 8 {
				t.Errorf("%s: %d wrapped modules", b.Name, wrapped)
			}
			continue
		}
		for _, m := range b.Modules {
			if m.Bytes > 0 && byPath[m.Path] == 0 {
				t.Errorf("%s: module %s was not found", b.Name, m.Path)
			}
		}
	}
}

func TestModulesOfParcelAndMetro(t *testing.T) {
	for _, b := range builds(t) {
		f := b.family()
		if f != "parcel" && f != "metro" {
			continue
		}
		list, _ := detect(t, &b)
		ids, paths := map[string]*bundle.Module{}, map[string]bool{}
		total := 0
		for i := range list {
			if string(list[i].Bundler) != f {
				t.Errorf("%s is taken for %s", b.Name, list[i].Bundler)
			}
			for j := range list[i].Modules {
				m := &list[i].Modules[j]
				ids[m.ID] = m
				paths[m.Path] = true
				total++
			}
		}
		if f == "metro" {
			if total != len(b.Modules) {
				t.Errorf("%s: %d modules, not %d", b.Name, total, len(b.Modules))
			}
			continue
		}
		edges, missing := 0, 0
		for _, m := range b.Modules {
			if !m.Wrapped {
				continue
			}
			found := ids[m.ID]
			if found == nil {
				t.Errorf("%s: module %s (%s) was not found", b.Name, m.ID, m.Path)
				continue
			}
			for _, to := range m.Imports {
				if ids[to] == nil {
					continue
				}
				edges++
				if !slices.ContainsFunc(found.Requires, func(q bundle.Require) bool { return q.ID == to }) {
					missing++
					t.Logf("%s: %s (%s) does not load %s", b.Name, m.ID, m.Path, to)
				}
			}
		}
		if missing*33 > edges {
			t.Errorf("%s: %d of %d edges are missing", b.Name, missing, edges)
		}
	}
}

func TestWrappersOfRollupAndVite(t *testing.T) {
	for _, b := range builds(t) {
		if f := b.family(); f != "rollup" && f != "vite" {
			continue
		}
		list, _ := detect(t, &b)
		wrapped := 0
		for _, l := range list {
			if string(l.Bundler) != b.family() && l.Bundler != bundle.Rollup && l.Bundler != bundle.SystemJS {
				t.Errorf("%s is taken for %s", b.Name, l.Bundler)
			}
			for _, m := range l.Modules {
				if l.Bundler != bundle.SystemJS && m.Kind == bundle.Wrapped {
					wrapped++
				}
			}
		}
		commonjs := 0
		for _, m := range b.Modules { // ?commonjs-es-import and the like were cut off by the build
			if strings.Contains(m.Path, "react/") || strings.HasSuffix(m.Path, ".cjs") || strings.Contains(m.Path, "lodash.debounce") {
				commonjs++
			}
		}
		t.Logf("%s: %d wrappers", b.Name, wrapped)
		if wrapped < 5 { // react and its production build, legacy.cjs, inner.cjs, lodash.debounce
			t.Errorf("%s: %d wrappers were found", b.Name, wrapped)
		}
	}
}
