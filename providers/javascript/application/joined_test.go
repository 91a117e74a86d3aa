package application_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// TestJoinedModulesAreOneGroup has files whose modules share one scope, as bundlers
// leave them, and files that no bundler made.
func TestJoinedModulesAreOneGroup(t *testing.T) {
	minified := "function a(e){return e+1}function b(e){return a(e)}function c(){}function d(){}function e(){}function f(){}function g(){}function h(){}function i(){}function j(){}" + strings.Repeat("b(1);", 120)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"vite", map[string]string{
			"assets/index-J9ZjKA7l.js": "const m=()=>{dispatchEvent(new Event(`vite:preloadError`))};import(`./lazy-lJPYJQY0.js`);import('./plain.js')", "assets/lazy-lJPYJQY0.js": "var a=()=>1;export{a as default}", "assets/plain.js": "export default 1",
		}, []string{"vite assets/index-J9ZjKA7l.js", "vite assets/lazy-lJPYJQY0.js"}},
		{"esbuild", map[string]string{"a.js": `import{a as t}from"./chunk-F3N7BVDQ.js";t();`, "chunk-F3N7BVDQ.js": "var t=()=>1;export{t as a};"}, []string{"esbuild a.js", "esbuild chunk-F3N7BVDQ.js"}},
		{"helper_of_esbuild", map[string]string{"a.js": `(()=>{var d=Object.defineProperty;var h=(t,e)=>{for(var r in e)d(t,r,{get:e[r],enumerable:!0})};var x={};h(x,{a:()=>1});console.log(x)})()`}, []string{"esbuild a.js"}},
		{"helper_of_rolldown", map[string]string{"a.js": "var e=Object.defineProperty,t=(t,n)=>{let r={};for(var i in t)e(r,i,{get:t[i],enumerable:!0});return r};console.log(t({a:()=>1}))"}, []string{"rolldown a.js"}},
		{"names_of_rollup", map[string]string{"a.js": "const a = 1;\nconst a$1 = 2;\nfunction b$1() {}\nclass c$1 {}\nconsole.log(a, a$1, b$1, c$1);\n"}, []string{"rollup a.js"}},
		{"namespaces_of_rollup", map[string]string{"a.js": `var a=Object.freeze({__proto__:null,b:1});console.log(a)`}, []string{"rollup a.js"}},
		{"systemjs", map[string]string{"a.js": `System.register(["./b.js"],function(e,t){"use strict";return{setters:[],execute:function(){}}});`, "b.js": `System.register([],function(_export,_context){return{execute:function(){}}});`}, []string{"systemjs a.js"}},
		{"minified", map[string]string{"a.js": minified, "node_modules/x/min.js": minified}, []string{"unknown a.js"}},
		{"one_source", map[string]string{"a.js": minified + "\n//# sourceMappingURL=a.js.map", "a.js.map": `{"version":3,"sources":["src/a.js"],"names":[],"mappings":"AAAA"}`}, nil},
		{"written", map[string]string{"a.js": "function add(a, b) { return a + b; }\nconsole.log(add(1, 2));\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := analyze(t, write(t, tt.files))
			var have []string
			for i := range a.Graph.Nodes {
				if n := &a.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindModuleGroup {
					have = append(have, strings.Trim(string(n.Properties["bundler"]), `"`)+" "+*n.Label)
				}
			}
			slices.Sort(have)
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCopiesOfAModuleInSeveralChunks has one module in chunks that are loaded together,
// and another bundle with the same id.
func TestCopiesOfAModuleInSeveralChunks(t *testing.T) {
	got := packed(t, map[string]string{
		"a.js":     `(self.webpackChunkapp=self.webpackChunkapp||[]).push([[1],{10:(e,t,n)=>{n(20)}}]);`,
		"b.js":     `(self.webpackChunkapp=self.webpackChunkapp||[]).push([[2],{20:(e,t,n)=>{t.b=1}}]);`,
		"c.js":     `(self.webpackChunkapp=self.webpackChunkapp||[]).push([[3],{20:(e,t,n)=>{t.b=1,t.c=2}}]);`,
		"other.js": `(self.webpackChunkother=self.webpackChunkother||[]).push([[4],{20:(e,t,n)=>{t.d=1},30:(e,t,n)=>{n(40)}}]);`,
		"more.js":  `exports.ids=[5];exports.modules={40:(e,t,n)=>{t.x=1}};`,
	})
	want := []string{
		`10 loads 20(inferred)`, `20 exports=["b","c"]`, `20 exports=["b"]`, `20 exports=["d"]`, `30 loads 40(inferred)`, `40 exports=["x"]`,
		`a.js module_format="script"`, `b.js module_format="script"`, `c.js module_format="script"`, `more.js module_format="script" exports=["ids","modules"]`, `other.js module_format="script"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packed (-want +got):\n%s", diff)
	}
}
