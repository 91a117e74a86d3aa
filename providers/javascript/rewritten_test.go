package javascript_test

import (
	"testing"
)

// rewritten are modules that give the same in another way, of which syntax does not
// always tell what: nothing of them is removed.
var rewritten = []struct{ file, old, now string }{
	{"assign.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `Object.assign(module.exports, {f: function (a) { return 1; }, g: 2});`},
	{"chain.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const api = module.exports = {}; api.f = function (a) { return 1; }; api.g = 2;`},
	{"conditional.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module.exports = process.env.X ? require('./assign') : require('./freeze');`},
	{"constkey.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const n = 'f'; exports[n] = function (a) { return 1; }; exports['g'] = 2;`},
	{"destr.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `({f: exports.f, g: exports.g} = require('./assign'));`},
	{"evald.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `eval("exports.f = function (a) { return 1; }; exports.g = 2;");`},
	{"factory.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module.exports = make(); function make() { return {f: function (a) { return 1; }, g: 2}; }`},
	{"freeze.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module.exports = Object.freeze({f: function (a) { return 1; }, g: 2});`},
	{"frozen_ref.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const api = {f(a) { return 1; }, g: 2}; module.exports = Object.freeze(api);`},
	{"getter.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `Object.defineProperty(exports, 'f', {enumerable: true, get() { return function (a) { return 1; }; }}); exports.g = 2;`},
	{"lodashish.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const _ = require('lodash'); _.extend(exports, {f(a) { return 1; }, g: 2});`},
	{"loop.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const all = {f(a) { return 1; }, g: 2}; for (const [k, v] of Object.entries(all)) module.exports[k] = v;`},
	{"m_arr.mjs", `export function f(a) { return 1; }
export const g = 2;`, `const [f, g] = [function (a) { return 1; }, 2]; export {f, g};`},
	{"m_asx.mjs", `export function f(a) { return 1; }
export const g = 2;`, `function h(a) { return 1; } const g = 2; export {h as f, g};`},
	{"m_cjsinterop.mjs", `export function f(a) { return 1; }
export const g = 2;`, `import m from './assign.js'; export const {f, g} = m;`},
	{"m_letx.mjs", `export function f(a) { return 1; }
export const g = 2;`, `export let f, g; f = function (a) { return 1; }; g = 2;`},
	{"m_star.mjs", `export function f(a) { return 1; }
export const g = 2;`, `export * from './m_base.mjs';`},
	{"m_starext.mjs", `export function f(a) { return 1; }
export const g = 2;`, `export * from 'elsewhere';`},
	{"m_strname.mjs", `export function f(a) { return 1; }
export const g = 2;`, `function h(a) { return 1; } const g = 2; export {h as 'f', g};`},
	{"modbracket.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module['exports'].f = function (a) { return 1; }; module['exports'].g = 2;`},
	{"modfn.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `fill(module); function fill(m) { m.exports = {f(a) { return 1; }, g: 2}; }`},
	{"nested.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `exports = module.exports = {}; ['f', 'g'].forEach(function (k) { exports[k] = require('./assign')[k]; });`},
	{"newfoo.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `class Foo { f(a) { return 1; } get g() { return 2; } } module.exports = new Foo();`},
	{"oldassign.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `var __assign = function (t, s) { for (var p in s) t[p] = s[p]; return t; }; module.exports = __assign(module.exports, {f: function (a) { return 1; }, g: 2});`},
	{"proto.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `Object.setPrototypeOf(exports, require('./assign'));`},
	{"proto2.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `exports.__proto__ = require('./assign');`},
	{"reexport.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module.exports = require('./assign');`},
	{"reflect.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `Reflect.set(exports, 'f', function (a) { return 1; }); Reflect.defineProperty(exports, 'g', {value: 2});`},
	{"s_arguments.js", `exports.f=function(a,b){};`, `exports.f=function(){ return arguments[1]; };`},
	{"s_bound.js", `exports.f=function(a,b){};`, `function g(a,b){} exports.f=g.bind(null);`},
	{"s_cls_computed.js", `class A { m() {} n() {} } exports.A = A;`, `const k = 'n'; class A { m() {} [k]() {} } exports.A = A;`},
	{"s_cls_computed2.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} [process.env.K]() {} } exports.A = A;`},
	{"s_cls_ctor.js", `class A { m() {} n() {} } exports.A = A;`, `class A { constructor() { this.n = () => {}; } m() {} } exports.A = A;`},
	{"s_cls_deco.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} } exports.A = wrap(A); function wrap(X) { X.prototype.n = function () {}; return X; }`},
	{"s_cls_dyn.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} } for (const k of ['n']) A.prototype[k] = function () {}; exports.A = A;`},
	{"s_cls_extends.js", `class A { m() {} n() {} } exports.A = A;`, `class B { n() {} } class A extends B { m() {} } exports.A = A;`},
	{"s_cls_field.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} n = () => {}; } exports.A = A;`},
	{"s_cls_mix2.js", `class A { m() {} n() {} } exports.A = A;`, `class A extends mix(Object) { m() {} } exports.A = A; function mix(B) { return class extends B { n() {} }; }`},
	{"s_cls_mixin.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} } Object.assign(A.prototype, {n() {}}); exports.A = A;`},
	{"s_cls_protoset.js", `class A { m() {} n() {} } exports.A = A;`, `class A { m() {} } A.prototype.n = function () {}; exports.A = A;`},
	{"s_fn_props.js", `exports.f=function(){}; exports.f.x=1;`, `function f(){} f.x=1; exports.f=f;`},
	{"s_obj_alias.js", `exports.o={x:1,y:2};`, `const o={x:1}; const p=o; p.y=2; exports.o=o;`},
	{"s_obj_computed.js", `exports.o={x:1,y:2};`, `const k='y'; exports.o={x:1,[k]:2};`},
	{"s_obj_ctor.js", `exports.o={x:1,y:2};`, `exports.o=Object.create({y:2}); exports.o.x=1;`},
	{"s_obj_later.js", `exports.o={x:1,y:2};`, `const o={x:1}; o.y=2; exports.o=o;`},
	{"s_obj_later2.js", `exports.o={x:1,y:2};`, `exports.o={x:1}; exports.o.y=2;`},
	{"s_obj_later3.js", `exports.o={x:1,y:2};`, `const o={x:1}; exports.o=o; o['y']=2;`},
	{"s_obj_later4.js", `exports.o={x:1,y:2};`, `const o={x:1}; exports.o=o; more(o); function more(p){ p.y=2; }`},
	{"s_wrapped.js", `exports.f=function(a,b){};`, `exports.f=require('util').promisify(function(a,b,c){});`},
	{"spreadreq.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `module.exports = {...require('./assign')};`},
	{"thisexp.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `this.f = function (a) { return 1; }; this.g = 2;`},
	{"thisiife.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `(function () { this.f = function (a) { return 1; }; this.g = 2; }).call(this);`},
	{"tsstar.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `const tslib = require('tslib'); (0, tslib.__exportStar)(require('./assign'), exports);`},
	{"umd.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `(function (root, factory) { factory(exports); })(this, function (e) { e.f = function (a) { return 1; }; e.g = 2; });`},
	{"umd2.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `(function (f) { if (typeof exports === 'object') f(exports); else f(window.x = {}); }(function (x) { x.f = function (a) { return 1; }; x.g = 2; }));`},
	{"withs.js", `exports.f = function (a) { return 1; }; exports.g = 2;`, `with (exports) { f = function (a) { return 1; }; g = 2; }`},
}

func TestNothingIsFalselyRemoved(t *testing.T) {
	const base = "export function f(a) { return 1; }\nexport const g = 2;\n"
	old, now := map[string]string{"m_base.mjs": base}, map[string]string{"m_base.mjs": base}
	for _, r := range rewritten {
		old[r.file], now[r.file] = r.old, r.now
	}
	d := tools(t)
	left, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, old)})
	right, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, now)})
	_, _, r := call(t, d, "compare_javascript_export_shapes", object{"left": retained(left), "right": retained(right), "limit": 500})
	if r["next_offset"] != nil {
		t.Fatal("more than one page")
	}
	for _, c := range items(r["changes"]) {
		if c["status"] == "removed" || c["status"] == "changed" {
			t.Errorf("%v: %v%v is %v: %v, %v", c["module"].(object)["left_path"], c["export"], c["path"], c["status"], c["left"], c["right"])
		}
	}
	// What is really gone is told.
	gone, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, map[string]string{"assign.js": "exports.f = function (a) { return 1; };"})})
	one, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, map[string]string{"assign.js": old["assign.js"]})})
	_, _, r = call(t, d, "compare_javascript_export_shapes", object{"left": retained(one), "right": retained(gone)})
	if c := items(r["changes"]); len(c) != 1 || c[0]["status"] != "removed" || c[0]["export"] != "g" {
		t.Errorf("what is gone: %v", c)
	}
}
