package application_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// packed is what bundles are made to say: of each file and module its format, its
// exports and what it loads.
func packed(t *testing.T, files map[string]string) (out []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := analyze(t, dir)
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		switch n.Kind {
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
		default:
			continue
		}
		row := *n.Label
		for _, key := range []string{"module_format", "exports"} {
			if v, ok := n.Properties[key]; ok {
				row += " " + key + "=" + string(v)
			}
		}
		var loads []string
		for j := range a.Graph.Edges {
			e := &a.Graph.Edges[j]
			if e.From == int64(i) && e.Relation == model.ApplicationRelationImports {
				loads = append(loads, *a.Graph.Nodes[e.To].Label+"("+string(a.Provenance[e.Provenance].State)+")")
			}
		}
		slices.Sort(loads)
		if len(loads) > 0 {
			row += " loads " + strings.Join(loads, " ")
		}
		out = append(out, row)
	}
	slices.Sort(out)
	return out
}

const webpackRuntime = `function r(i) { var m = {exports: {}}; __webpack_modules__[i](m, m.exports, r); return m.exports; }
r.n = (m) => { var getter = () => m; r.d(getter, { a: getter }); return getter; };
r.d = (e, d) => { for (var k in d) Object.defineProperty(e, k, { get: d[k] }); };
`

func TestExportsOfPackedModules(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"concatenated", `(() => { var __webpack_modules__ = ({ "./l.js": (m, e, r) => { m.exports = 1; } });
` + webpackRuntime + `var __webpack_exports__ = {};
(() => {
// EXPORTS
r.d(__webpack_exports__, { VERSION: () => VERSION });

// NAMESPACE OBJECT: ./math.js
var math_ns = {};
r.d(math_ns, { add: () => add, sub: () => sub });

;// ./math.js
const add = 1, sub = 2;

// EXTERNAL MODULE: ./l.js
var l = r("./l.js");
var l_default = r.n(l);
;// ./index.js
const VERSION = [math_ns, l_default()];
})();
})();`, []string{
			`./index.js exports=["VERSION"] loads ./l.js(inferred) ./math.js(inferred)`, `./l.js exports=["module.exports"]`, `./math.js exports=["add","sub"]`,
			`a.js module_format="script" exports=["VERSION"]`,
		}},
		{"lists", `(()=>{var __webpack_modules__={5(e,t,n){n.d(t,["W",0,f,"x",()=>g,"y",0,"z"]);const f=1,g=2}};` + webpackRuntime + `var o=r(5);console.log(o)})()`, []string{
			`5 exports=["W","x","y"]`, `a.js module_format="script"`,
		}},
		{"turbopack", `(globalThis.TURBOPACK||(globalThis.TURBOPACK=[])).push([document.currentScript,12,(e,t,r)=>{"use strict";e.s(["a",()=>n,"b",0,"text"]);var n=e.i(34)},34,e=>{e.v({c:1})}]);`, []string{
			`12 exports=["a","b"] loads 34(observed)`, `34 exports=["c"]`, `a.js module_format="script"`,
		}},
		{"umd", `(function (root, factory) { if (typeof define === "function" && define.amd) define([], factory); else if (typeof exports === "object") exports["Lib"] = factory(); else root["Lib"] = factory(); })(self, function () { return 1; });`, []string{
			`a.js module_format="umd" exports=["Lib"]`,
		}},
		{"commonjs", `"use strict"; const fs = require("fs"); fs.readFileSync("a");`, []string{`a.js module_format="commonjs" loads fs(observed)`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, packed(t, map[string]string{"a.js": tt.src})); diff != "" {
				t.Errorf("packed (-want +got):\n%s", diff)
			}
		})
	}
}
