package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/providers/javascript/bundle"
)

// TestShapes takes small bundles apart that are written as their bundlers do.
func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"turbopack_object", `(globalThis.TURBOPACK = globalThis.TURBOPACK || []).push(["static/chunks/a.js", {
"[project]/src/a.js [client] (ecmascript)": ((__turbopack_context__) => { __turbopack_context__.s(["a", () => a]); var b = __turbopack_context__.i("[project]/src/b.js [client] (ecmascript)"); }),
"[project]/src/b.js [client] (ecmascript)": ((__turbopack_context__) => { __turbopack_context__.A("[project]/src/c.js").then(f); }),
}]);`, []string{
			"turbopack [project]/src/a.js [client] (ecmascript) src/a.js wrapped loads [project]/src/b.js [client] (ecmascript)",
			"turbopack [project]/src/b.js [client] (ecmascript) src/b.js wrapped loads later [project]/src/c.js",
		}},
		{"turbopack_flat", `(globalThis.TURBOPACK||(globalThis.TURBOPACK=[])).push(["object"==typeof document?document.currentScript:void 0,123,(e,t,r)=>{"use strict";var n=e.i(456);e.s(["x",()=>n])},456,(e,t,r)=>{t.exports=e.r(789)}]);`, []string{
			"turbopack 123 - wrapped loads 456", "turbopack 456 - wrapped loads 789",
		}},
		{"turbopack_server", `module.exports=[11,(a,b,c)=>{b.exports=a.x("fs",()=>require("fs"))},12,"13",a=>{"use strict";var b=a.i(11);a.s(["y",0,b])},14,a=>{a.v(b=>Promise.all(["c.js"].map(b=>a.l(b))).then(()=>b(12)))}];`, []string{
			"turbopack 11 - wrapped", "turbopack 12 - wrapped loads 11", "turbopack 13 - wrapped loads 11", "turbopack 14 - wrapped loads later 12",
		}},
		{"rollup_inlined", `var a={exports:{}},b={},c,d,e;function f(){return c||(c=1,a.exports=(d||(d=1,b.x=1),b)),a.exports}function g(){if(e)return b;e=1;var h=f();return b}console.log(f(),g());`, []string{
			"rollup f - wrapped loads b", "rollup b - wrapped", "rollup g - wrapped loads f", "rollup starts f", "rollup starts g",
		}},
		{"esbuild_helper_of_a_chunk", `import{a as H,b as T}from"./chunk-ABCD2345.js";var x=H((exports,module)=>{module.exports=1}),y=H(e=>{e.z=x()});console.log(T(y()));export{x as q};`, []string{
			"esbuild x - wrapped", "esbuild y - wrapped loads x", "esbuild starts y",
		}},
		{"esbuild_helper_that_keeps_errors", `(()=>{var u=(t,e,r)=>()=>{if(r)throw r[0];try{return t&&(e=t(t=0)),e}catch(n){throw r=[n],n}};var a,x=u(()=>{a=1}),y=u(()=>{x();f(a)});y()})()`, []string{
			"esbuild x - wrapped", "esbuild y - wrapped loads x", "esbuild starts y",
		}},
		{"rolldown_helper_used_once", "var b=2;((e,t)=>()=>(t||(e((t={exports:{}}).exports,t),e=null),t.exports))((e,t)=>{t.exports=1})();", []string{
			"rolldown module@75 - wrapped", "rolldown starts module@75",
		}},
		{"browser_pack_flat", `(function(){var f=function(t){var e;return function(r){return e||t(e={exports:{},parent:r},e.exports),e.exports}};var _$a_1=f(function(module,exports){exports.x=_$b_2({})});var _$b_2=f(function(module,exports){exports.y=_$a_1(module)});var _$c_3={};_$c_3=_$a_1({});}());`, []string{
			"browserify _$a_1 - wrapped loads _$b_2", "browserify _$b_2 - wrapped loads _$a_1", "browserify starts _$a_1",
		}},
		{"no_helper", `import{memo}from"./react.js";var A=memo((props,ref)=>props.a),B=memo(p=>A);console.log(A,B(1));`, nil},
		{"comments_of_another_bundle", "var before = 1;\n// src/a.js\nvar a = before;\n// src/b.js\nvar b = a;\n", nil},
		{"systemjs", `System.register("a", ["./b.js", "c"], function (exports, module) { "use strict"; return { setters: [], execute: function () {} }; });
System.register("d", [], function (exports) { return { execute: function () {} }; });`, []string{
			"systemjs a - wrapped loads ./b.js loads c", "systemjs d - wrapped",
		}},
		{"systemjs_joined", `System.register(["./b.js"],function(e,t){"use strict";var n;return{setters:[function(e){n=e.x}],execute:function(){var a=n;t.import("./c.js")}}});`, []string{"systemjs  - group loads ./b.js loads later ./c.js"}},
		{"amd", `define("lib/a", ["require", "exports", "./b"], function (require, exports, b) { exports.a = b; }); define("lib/b", function () {});`, []string{
			"amd lib/a - wrapped loads ./b", "amd lib/b - wrapped",
		}},
		{"metro", `__d(function(g,r,i,a,m,e,d){var x=r(d[0]);var y=i(d[1]);e.z=x},7,[8,9],"src/a.js");__d(function(g,r,i,a,m,e,d){},8,[]);__r(7);`, []string{
			"metro 7 src/a.js wrapped loads 8 loads 9", "metro 8 - wrapped", "metro starts 7",
		}},
		{"webpack_chunk_of_modules", `export const __webpack_ids__ = ["1"]; export const __webpack_modules__ = { "./a.js": (module, exports, require) => { require("./b.js"); } };`, []string{
			"webpack ./a.js ./a.js wrapped loads ./b.js",
		}},
		{"webpack_chunk_of_modules_minified", `const t=[37],r={117(e,t,n){n(159)},37:(e,t,n)=>{n(117)}};export{t as __webpack_esm_ids__,r as __webpack_esm_modules__};`, []string{
			"webpack 117 - wrapped loads 159", "webpack 37 - wrapped loads 117",
		}},
		{"webpack_chunk_of_modules_of_old", `export const id = 1; export const ids = [1]; export const modules = { 2: (m, e, r) => { r(3) } };`, []string{"webpack 2 - wrapped loads 3"}},
		{"webpack_concatenated", `(() => { var __webpack_modules__ = ({ "./m.js": (m, e, r) => {} }); function r(i) { var m = {exports: {}}; __webpack_modules__[i](m, m.exports, r); return m.exports; }
r.d = (exports, d) => {};
var __webpack_exports__ = {};
(() => {
// EXPORTS
r.d(__webpack_exports__, { V: () => V });

// NAMESPACE OBJECT: ./b.js
var b_ns = {};
r.d(b_ns, { x: () => x });

// EXTERNAL MODULE: ./l.js
var l = r("./l.js");
var l_fn = () => { return r("./late.js"); };
;// ./a.js
var a = 1;

// EXTERNAL MODULE: ./k.js
var k = r("./k.js");
var k_default = r.n(k);
;// ./b.js
var x = k_default() + l_fn();
;// ./c.js
var V = [a, b_ns, l];
})();
})();`, []string{
			"webpack ./m.js ./m.js wrapped", "webpack entry#./a.js ./a.js region", "webpack entry#./b.js ./b.js region loads ./late.js loads ./k.js",
			"webpack entry#./c.js ./c.js region loads ./l.js loads entry#./a.js loads entry#./b.js", "webpack starts ./l.js", "webpack starts ./late.js", "webpack starts ./k.js",
		}},
		{"rolldown_without_the_first_comment", "-(8 * 24);\n// ../node_modules/a/b.js\nvar a = 1;\n// ../node_modules/a/c.js\nvar c = a;\n// ../node_modules/a/d.js\nvar d = c;\nvar e = 'long enough that what comes first is little of it';\n", []string{
			"esbuild ../node_modules/a/b.js ../node_modules/a/b.js region", "esbuild ../node_modules/a/c.js ../node_modules/a/c.js region loads ../node_modules/a/b.js",
			"esbuild ../node_modules/a/d.js ../node_modules/a/d.js region loads ../node_modules/a/c.js",
		}},
		{"webpack_start_in_a_chunk", `(self.webpackChunkapp=self.webpackChunkapp||[]).push([[179],{12:(e,t,n)=>{n(34)},34:()=>{}},e=>{var t=t=>e(e.s=t);e.O(0,[1],()=>t(12))}]);`, []string{
			"webpack 12 - wrapped loads 34", "webpack 34 - wrapped", "webpack starts 12",
		}},
		{"rolldown", "//#region src/a.js\nvar a = 1;\n//#endregion\n//#region src/b.js\nconsole.log(a);\n//#endregion\n", []string{
			"rolldown src/a.js src/a.js region", "rolldown src/b.js src/b.js region loads src/a.js",
		}},
		{"webpack_context", `(()=>{var m={7(e,t,n){const a={"./p.js":[8,[1]],"./q.js":[9,[2]]};function u(e){const t=a[e],r=t[0];return n.e(t[1][0]).then(()=>n(r))}u.keys=()=>Object.keys(a),u.id=7,e.exports=u},
8(e,t,n){var a={"./l.js":9,"./l":9};function u(e){var t=c(e);return n(t)}function c(e){return a[e]}u.keys=function(){return Object.keys(a)},u.resolve=c,e.exports=u},9(){}};function r(i){var e={exports:{}};m[i](e,e.exports,r);return e.exports}r(7)})()`, []string{
			"webpack 7 - wrapped loads later 8 loads later 9", "webpack 8 - wrapped loads 9 loads 9", "webpack 9 - wrapped", "webpack starts 7",
		}},
		{"webpack_without_runtime", "/******/ (() => { // webpackBootstrap\n/*!******************!*\\\n  !*** ./src/w.js ***!\n  \\******************/\nself.onmessage = 1;\n/******/ })()\n;", []string{"webpack ./src/w.js ./src/w.js region"}},
		{"webpack_joined_without_runtime", "/******/ (() => { // webpackBootstrap\n\n;// ./src/a.js\nconst a = 1;\n;// ./src/b.js\nconsole.log(a);\n\n/******/ })()\n;", []string{
			"webpack entry#./src/a.js ./src/a.js region", "webpack entry#./src/b.js ./src/b.js region loads entry#./src/a.js",
		}},
		{"turbopack_joined", `(globalThis.TURBOPACK||(globalThis.TURBOPACK=[])).push([1,12,(e,t,r)=>{e.s(["a",()=>x],34),e.i(34);var x=e.i(56);e.s([],12)}]);`, []string{"turbopack 12 - wrapped loads 34 loads 56"}},
		{"turbopack_runtime", `(globalThis.TURBOPACK||(globalThis.TURBOPACK=[])).push([1,{otherChunks:["a.js"],runtimeModuleIds:[12]}]),(()=>{})();`, []string{"turbopack starts 12"}},
		{"turbopack_start", `var R=require("../chunks/ssr/[turbopack]_runtime.js")("server/app/page.js");R.c("server/chunks/a.js");R.m(12);module.exports=R.m(12).exports`, []string{"turbopack starts 12"}},
		{"webpack_runtime", `(()=>{var e={},t={};function r(n){var o=t[n];if(o)return o.exports;var a=t[n]={exports:{}};e[n](a,a.exports,r);return a.exports}r.m=e,(()=>{var n={68:0};r.f={};r.f.j=(e,t)=>{n[e]=t}})()})()`, nil},
		{"no_bundle", `var handlers = {open: function () {}, close: function () {}}; handlers[x](y); define(function () {}); push([[1], {a: 1}]);`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := detect(t, &build{Files: map[string]string{"a.js": tt.src}})
			var have []string
			for _, b := range list {
				for _, m := range b.Modules {
					have = append(have, row(&b, &m))
				}
				for _, id := range b.Entries {
					have = append(have, fmt.Sprintf("%s starts %s", b.Bundler, id))
				}
			}
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
		})
	}
}

func row(b *bundle.Bundle, m *bundle.Module) string {
	path := m.Path
	if path == "" {
		path = "-"
	}
	parts := []string{string(b.Bundler), m.ID, path, string(m.Kind)}
	for _, q := range m.Requires {
		verb := "loads"
		if q.Dynamic {
			verb = "loads later"
		}
		parts = append(parts, verb, q.ID)
	}
	return strings.Join(parts, " ")
}
