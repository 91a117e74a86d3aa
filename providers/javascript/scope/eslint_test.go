package scope_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"rea/providers/javascript/jstest"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// popular are packages whose shipped files are resolved, with the files.
var popular = map[string][]string{
	"lodash@4.17.21":        {"lodash/lodash.js", "lodash/lodash.min.js"},
	"react@18.3.1":          {"react/cjs/react.development.js", "react/umd/react.production.min.js"},
	"react-dom@18.3.1":      {"react-dom/cjs/react-dom.development.js", "react-dom/cjs/react-dom.production.min.js"},
	"jquery@3.7.1":          {"jquery/dist/jquery.js", "jquery/dist/jquery.min.js"},
	"underscore@1.13.7":     {"underscore/underscore-umd.js", "underscore/underscore-esm.js"},
	"moment@2.30.1":         {"moment/moment.js", "moment/min/moment-with-locales.min.js"},
	"three@0.170.0":         {"three/build/three.module.js", "three/build/three.module.min.js", "three/build/three.cjs"},
	"vue@3.5.13":            {"vue/dist/vue.global.js", "vue/dist/vue.global.prod.js", "vue/dist/vue.esm-browser.js"},
	"rxjs@7.8.1":            {"rxjs/dist/bundles/rxjs.umd.js", "rxjs/dist/bundles/rxjs.umd.min.js"},
	"axios@1.7.9":           {"axios/dist/axios.js", "axios/dist/axios.min.js"},
	"immutable@5.0.3":       {"immutable/dist/immutable.js", "immutable/dist/immutable.es.js"},
	"ramda@0.30.1":          {"ramda/dist/ramda.js", "ramda/dist/ramda.min.js"},
	"bluebird@3.7.2":        {"bluebird/js/browser/bluebird.js", "bluebird/js/browser/bluebird.min.js"},
	"handlebars@4.7.8":      {"handlebars/dist/handlebars.js", "handlebars/dist/handlebars.min.js"},
	"@babel/parser@7.26.3":  {"@babel/parser/lib/index.js"},
	"typescript@5.7.2":      {"typescript/lib/typescript.js"},
	"acorn@8.14.0":          {"acorn/dist/acorn.js", "acorn/dist/acorn.mjs"},
	"d3@7.9.0":              {"d3/dist/d3.js", "d3/dist/d3.min.js"},
	"preact@10.25.4":        {"preact/dist/preact.js", "preact/dist/preact.mjs"},
	"uuid@11.0.3":           {"uuid/dist/esm-browser/v4.js", "uuid/dist/cjs/v4.js"},
	"core-js-bundle@3.39.0": {"core-js-bundle/index.js", "core-js-bundle/minified.js"},
}

// resolver prints, for each file, the uses of names: where each begins, and
// where the name is first declared, -1 when it is global, -2 when the language
// declares it.
const resolver = `
const fs = require("fs"), acorn = require("acorn"), {analyze} = require("eslint-scope");
const files = JSON.parse(fs.readFileSync(0, "utf8"));
const out = [];
for (const file of files) {
  const src = fs.readFileSync(file, "utf8");
  let tree, type = "module";
  try { tree = acorn.parse(src, {ecmaVersion: "latest", sourceType: type, ranges: true, allowHashBang: true}); }
  catch { type = "commonjs"; tree = acorn.parse(src, {ecmaVersion: "latest", sourceType: "script", ranges: true, allowReturnOutsideFunction: true, allowHashBang: true}); }
  if (type === "module" && !tree.body.some(n => /^(Im|Ex)port/.test(n.type))) type = "commonjs";
  const m = analyze(tree, {ecmaVersion: 2022, sourceType: type, ignoreEval: true, fallback: "none"});
  const uses = [];
  for (const s of m.scopes) for (const r of s.references) {
    const d = r.resolved && r.resolved.defs[0];
    uses.push([r.identifier.range[0], r.resolved ? (d ? d.name.range[0] : -2) : -1]);
  }
  uses.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  // Offsets in bytes.
  let byteOf = null;
  if (/[^\0-\x7f]/.test(src)) {
    byteOf = new Uint32Array(src.length + 1);
    let b = 0;
    for (let i = 0; i < src.length; i++) {
      byteOf[i] = b;
      const c = src.charCodeAt(i);
      b += c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c < 0xe000 ? 2 : 3;
    }
    byteOf[src.length] = b;
    for (const u of uses) { u[0] = byteOf[u[0]]; if (u[1] >= 0) u[1] = byteOf[u[1]]; }
  }
  // A default value in a pattern is another write of the same name.
  out.push(uses.filter((u, i) => i === 0 || u[0] !== uses[i-1][0] || u[1] !== uses[i-1][1]));
}
process.stdout.write(JSON.stringify(out));
`

func TestUsesMeanWhatEslintScopeSays(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	specs := []string{"eslint-scope@8.2.0"}
	var files []string
	for spec, names := range popular {
		specs = append(specs, spec)
		files = append(files, names...)
	}
	dir := jstest.Packages(t, specs...)
	var paths []string
	for _, name := range files {
		paths = append(paths, filepath.Join(dir, "node_modules", name))
	}
	input, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	var truth [][][2]int
	if err := json.Unmarshal(jstest.Node(t, dir, resolver, input), &truth); err != nil {
		t.Fatal(err)
	}
	total, equal := 0, 0
	for i, path := range paths {
		n, same := compare(t, path, truth[i])
		total, equal = total+n, equal+same
	}
	if total < 500_000 {
		t.Fatalf("only %d uses were compared", total)
	}
	t.Logf("%d of %d uses are equal (%.4f %%)", equal, total, 100*float64(equal)/float64(total))
	if float64(equal) < 0.999*float64(total) {
		t.Errorf("less than 99.9 %% of the uses are equal")
	}
}

func compare(t *testing.T, path string, truth [][2]int) (total, equal int) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parse.Parse(t.Context(), string(src), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Failed > 0 {
		t.Errorf("%s: %v", path, f.Errors[0])
	}
	table := scope.Resolve(f)
	ours := map[[2]int]int{}
	for _, r := range table.References[1:] {
		declared := -1
		if r.Binding != 0 {
			declared = -2
			if d := table.Bindings[r.Binding].Decl; d != 0 {
				declared = int(f.At(d).Start)
			}
		}
		ours[[2]int{int(f.At(r.Node).Start), declared}]++
	}
	shown := 0
	for _, u := range truth {
		total++
		if ours[u] > 0 {
			ours[u]--
			equal++
			continue
		}
		if shown++; shown <= 3 {
			at := min(u[0], len(src))
			t.Logf("%s: %d: %q is declared at %d by eslint-scope", filepath.Base(path), at, bytes.TrimSpace(src[at:min(at+40, len(src))]), u[1])
		}
	}
	extra := 0
	for u, n := range ours {
		extra += n
		if n > 0 && shown < 6 {
			shown++
			t.Logf("%s: ours alone: %d → %d %q", filepath.Base(path), u[0], u[1], src[u[0]:min(u[0]+40, len(src))])
		}
	}
	return total + max(0, extra-(total-equal)), equal
}
