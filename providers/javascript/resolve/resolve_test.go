package resolve_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/javascript/jstest"
	"rea/providers/javascript/resolve"
)

// An application in memory.
type files map[string]string

func (f files) Has(p string) bool { _, ok := f[p]; return ok }

func (f files) Manifest(dir string) *resolve.Manifest {
	text, ok := f[path.Join(dir, "package.json")]
	if !ok {
		return nil
	}
	m, _ := resolve.ReadManifest([]byte(text))
	return m
}

// node prints what Node itself resolves each specifier to, from each file.
const node = `
const fs = require("fs"), {createRequire} = require("module");
const out = JSON.parse(fs.readFileSync(0, "utf8")).map(([from, specifier]) => {
  try { return createRequire(from).resolve(specifier); } catch { return ""; }
});
process.stdout.write(JSON.stringify(out));
`

func TestResolutionIsNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	dir := jstest.Packages(t, "express@4.21.2", "rxjs@7.8.1", "uuid@11.0.3", "chalk@5.4.1", "@babel/core@7.26.0", "vue@3.5.13", "vite@6.0.7", "postcss@8.4.49", "undici@7.2.0", "preact@10.25.4", "yargs@17.7.2")
	app := files{}
	root := filepath.Join(dir, "node_modules")
	var sources []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		text := ""
		if d.Name() == "package.json" {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text = string(data)
		}
		app[filepath.ToSlash(rel)] = text
		if strings.HasSuffix(p, ".js") || strings.HasSuffix(p, ".cjs") || strings.HasSuffix(p, ".mjs") {
			sources = append(sources, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var asked [][2]string
	specifiers := []string{"express", "rxjs", "rxjs/operators", "uuid", "@babel/core", "@babel/core/lib/config", "vue", "vue/dist/vue.cjs.js", "vite", "postcss", "undici", "preact/hooks", "preact/package.json", "preact/nowhere", "yargs/helpers", "debug", "./nowhere", "nowhere", "../package.json", "chalk"}
	for i := 0; i < len(sources); i += 40 {
		for _, s := range specifiers {
			asked = append(asked, [2]string{sources[i], s})
		}
		asked = append(asked, [2]string{sources[i], "./" + strings.TrimSuffix(path.Base(sources[i]), path.Ext(sources[i]))})
	}
	full := make([][2]string, len(asked))
	for i, a := range asked {
		full[i] = [2]string{filepath.Join(dir, a[0]), a[1]}
	}
	input, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var truth []string
	if err := json.Unmarshal(jstest.Node(t, dir, node, input), &truth); err != nil {
		t.Fatal(err)
	}
	r := resolve.New(app)
	wrong := 0
	for i, a := range asked {
		want := truth[i]
		if want != "" {
			if !strings.HasPrefix(want, dir) {
				continue // outside of what is known here
			}
			want = filepath.ToSlash(strings.TrimPrefix(want, dir+string(filepath.Separator)))
		}
		if got := r.Resolve(a[0], a[1], resolve.How{Require: true}).Path; got != want && !(want == "" && strings.HasSuffix(got, ".mjs")) {
			if wrong++; wrong < 20 {
				t.Logf("%s from %s is %q, not %q", a[1], a[0], got, want)
			}
		}
	}
	t.Logf("%d of %d differ", wrong, len(asked))
	if wrong*200 > len(asked) || len(asked) < 500 {
		t.Errorf("%d of %d resolutions differ from Node's", wrong, len(asked))
	}
}

// linked are files with symbolic links.
type linked struct {
	files
	to map[string]string
}

func (l linked) Link(p string) (string, bool) { to, ok := l.to[p]; return to, ok }

// TestLinksAreFollowed has the layout of a store of packages that links join, a
// workspace, and links that lead nowhere.
func TestLinksAreFollowed(t *testing.T) {
	r := resolve.New(linked{files{
		"node_modules/.pnpm/a@1.0.0/node_modules/a/package.json": `{"name":"a","main":"lib"}`,
		"node_modules/.pnpm/a@1.0.0/node_modules/a/lib/index.js": "",
		"node_modules/.pnpm/b@2.0.0/node_modules/b/package.json": `{"name":"b","exports":{".":"./b.js","./x/*":"./x/*","./x/*.js":"./y/*.js"}}`,
		"node_modules/.pnpm/b@2.0.0/node_modules/b/b.js":         "",
		"node_modules/.pnpm/b@2.0.0/node_modules/b/y/z.js":       "",
		"packages/tool/package.json":                             `{"name":"tool","main":"t.js","browser":{"./t.js":"./web.js","b":"./b.js","fs":false}}`,
		"packages/tool/t.js":                                     "",
		"packages/tool/web.js":                                   "",
		"packages/tool/b.js":                                     "",
		"main.js":                                                "",
	}, map[string]string{
		"node_modules/a": ".pnpm/a@1.0.0/node_modules/a", "node_modules/.pnpm/a@1.0.0/node_modules/b": "../../b@2.0.0/node_modules/b",
		"node_modules/tool": "../packages/tool", "node_modules/self": "self", "node_modules/up": "../../..", "node_modules/etc": "/etc",
		"node_modules/one": "two", "node_modules/two": "one",
	}})
	a, tool := "node_modules/.pnpm/a@1.0.0/node_modules/a/lib/index.js", "packages/tool/t.js"
	for _, tt := range []struct {
		from, specifier, want string
		browser               bool
	}{
		{"main.js", "a", a, false},
		{a, "b", "node_modules/.pnpm/b@2.0.0/node_modules/b/b.js", false},
		{a, "b/x/z.js", "node_modules/.pnpm/b@2.0.0/node_modules/b/y/z.js", false},
		{"main.js", "b", "", false},
		{"main.js", "tool", tool, false},
		{"main.js", "tool", "packages/tool/web.js", true},
		{tool, "b", "packages/tool/b.js", true},
		{tool, "fs", "", true},
		{"main.js", "self", "", false}, {"main.js", "up", "", false}, {"main.js", "etc/passwd", "", false}, {"main.js", "one", "", false},
	} {
		if got := r.Resolve(tt.from, tt.specifier, resolve.How{Require: true, Browser: tt.browser}).Path; got != tt.want {
			t.Errorf("%s from %s is %q, not %q", tt.specifier, tt.from, got, tt.want)
		}
	}
}

func TestManifestsOfAllShapes(t *testing.T) {
	for _, text := range []string{`[]`, `null`, `1`, `"a"`, ``, `{`, `{"name":1,"exports":[[[]]],"bin":3}`, `{"exports":` + strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000) + `}`, `{"__proto__":{"main":"x"},"constructor":{}}`} {
		app := files{"node_modules/a/package.json": text, "node_modules/a/index.js": "", "b.js": ""}
		r := resolve.New(app)
		for _, s := range []string{"a", "a/b", "a/../../b", "@a", "@a/b/c", "#x", "./node_modules/a", "/b", "../../etc/passwd"} {
			if p := r.Resolve("b.js", s, resolve.How{}).Path; p != "" && !app.Has(p) {
				t.Errorf("%s with %.40s is %s, which is not there", s, text, p)
			}
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add(`{"name":"a","exports":{".":{"import":"./m.mjs","default":"./i.js"},"./*":"./lib/*.js","./private/*":null},"imports":{"#x":"./i.js"}}`, "a/b")
	f.Fuzz(func(t *testing.T, manifest, specifier string) {
		app := files{"node_modules/a/package.json": manifest, "node_modules/a/i.js": "", "node_modules/a/m.mjs": "", "node_modules/a/lib/b.js": "", "c.js": "", "package.json": manifest}
		r := resolve.New(app)
		for _, from := range []string{"c.js", "node_modules/a/i.js"} {
			if p := r.Resolve(from, specifier, resolve.How{}).Path; p != "" && !app.Has(p) {
				t.Fatalf("%q is %q, which is not there", specifier, p)
			}
		}
	})
}
