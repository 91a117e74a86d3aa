package bundle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

func fileOf(t testing.TB, src string) *bundle.File {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := scope.Resolve(f)
	return &bundle.File{File: f, Scopes: table, Names: symbol.New(f, table), Parents: f.Parents()}
}

// places makes what a source map would say of a text in which @0 to @9 mark where
// code of a source begins, and gives the text without them.
func places(marked string) (src string, list []bundle.Place) {
	var b strings.Builder
	for i := 0; i < len(marked); i++ {
		if marked[i] == '@' && i+1 < len(marked) && marked[i+1] >= '0' && marked[i+1] <= '9' {
			list = append(list, bundle.Place{At: uint32(b.Len()), Source: int32(marked[i+1] - '0')})
			i++
			continue
		}
		b.WriteByte(marked[i])
	}
	return b.String(), list
}

// TestSplit divides code as minifiers leave it: modules in one declaration, in one
// sequence, in the head of another's statement, in each other.
func TestSplit(t *testing.T) {
	paths := []string{"a.js", "b.js", "c.js", "d.js"}
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"one_declaration", `var @0a=1,@1b=@1a+1,@2c=@2b;@2console.log(c);`, []string{
			"a.js: var a=1", "b.js: b=a+1 ← a.js", "c.js: c=b;console.log(c); ← b.js",
		}},
		{"one_sequence", `@0f(),@1g(),@1h();@2if(@2i(),@3j)k();`, []string{"a.js: f()", "b.js: g(),h();", "c.js: i()", "d.js: ,j)k();"}},
		{"moved_in", `@0function f(){@1return 1}@1var b=f();@0var c=2;`, []string{"a.js: function f(){return 1}", "b.js: var b=f(); ← a.js", "a.js: var c=2;"}},
		{"in_a_wrapper", `(()=>{var m={5:(e,t,n)=>{@0var a=n(6);@1var b=a.x;@2t.c=b},6:(e,t)=>{@3t.x=1}};function r(i){var e={exports:{}};m[i](e,e.exports,r);return e.exports}r(5)})()`, []string{
			"-: var a=n(6);var b=a.x;t.c=b ← 6", "a.js: var a=n(6); ← 6", "b.js: var b=a.x; ← a.js", "c.js: t.c=b ← b.js", "d.js: t.x=1",
		}},
		{"the_name_tells", `@0var @1a=1;@0function @2f(){@0return 1}`, []string{"b.js: var a=1;", "c.js: function f(){return 1}"}},
		{"inlined", `@0(function(){@0g()@1})(@1a,@1b).@2sub(@3c);var @3d=1;`, []string{"c.js: (function(){g()})(a,b).sub(c); ← a.js", "d.js: var d=1;", "a.js: (function(){g()})(a,b)"}},
		{"parameters_made_variables", `var @1a;@0var @0b=a;@0/* of c */@2c(b);/* of d */
/* and d */var @3d=2;`, []string{"a.js: var b=a;", "c.js: c(b); ← a.js", "d.js: /* and d */var d=2;"}},
		{"something_between", `var @0a=1;runtime();var @0b=2;@1f();`, []string{"a.js: var a=1;", "a.js: var b=2;", "b.js: f();"}},
		{"a_region_without_its_comment", "// ../a.js\nvar @0a=1;var @1b=2;\n// ../d.js\nvar @3d=a;\n// ../c.js\nvar @2c=3;", []string{
			"a.js: var a=1;", "b.js: var b=2;", "../d.js: \nvar d=a;\n ← a.js", "../c.js: \nvar c=3;",
		}},
		{"one_source_in_pieces", `var h=(c,m)=>()=>(m||c((m={exports:{}}).exports,m),m.exports),x=h((e,m)=>{@0var a=1;"x";@0m.exports=a});@1var y=h((e,m)=>{@1m.exports=x()});`, []string{
			`a.js: var a=1;"x";m.exports=a`, "b.js: m.exports=x() ← x",
		}},
		{"of_systemjs", `System.register([],function(e,t){"use strict";@0function f(){}@1return{execute:function(){@0var a=f;@1e("b",a);@2g()}}});`, []string{
			"a.js: function f(){}return{execute:function(){var a=f;", "b.js: e(\"b\",a); ← a.js", "c.js: g()",
		}},
		{"of_umd", `(function(g,f){f(g.L={})})(this,function(e){@0var a=1;@1var b=a+"some text";@0e.b=b});`, []string{"a.js: var a=1;", "b.js: var b=a+\"some text\"; ← a.js", "a.js: e.b=b ← b.js"}},
		{"code_of_others", `(()=>{var m={5:e=>{@0e.x=1}};function r(i){var e={exports:{}};m[i](e,e.exports,r);return e.exports}var n=r(5);@1f(),@2g(),@1h(@2n().k([@3s.get("b")],@1y),@1z)})()`, []string{
			"a.js: e.x=1", "b.js: f()", "c.js: g() ← 5 d.js", "b.js: h(n().k([s.get(\"b\")],y),z) ← c.js", "d.js: s.get(\"b\")",
		}},
		{"nothing_to_say", `var a=1;var b=2;`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, list := places(tt.src)
			f := fileOf(t, src)
			found := bundle.Detect(f)
			f.Split(found, list, paths)
			var have []string
			for i := range found.Bundles {
				for _, m := range found.Bundles[i].Modules {
					path := m.Path
					if path == "" {
						path = "-"
					}
					row := path + ": " + src[m.Source.Start:m.Source.End]
					for k, q := range m.Requires {
						if k == 0 {
							row += " ←"
						}
						row += " " + q.ID[strings.LastIndexByte(q.ID, '#')+1:]
					}
					have = append(have, row)
				}
			}
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Errorf("modules (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDetect holds ranges to the file, whatever it is.
func FuzzDetect(f *testing.F) {
	for _, seed := range []string{
		`@0var a=1,@1b=a;`, "//#region src/a.js\nvar a;\n//#endregion\n//#region b.js\na;\n//#endregion",
		"// src/a.js\nvar a;\n// src/b.js\nvar b=a;", `(()=>{var m={5:(e,t,n)=>{n(6)},6:()=>{}};function r(i){var e={exports:{}};m[i](e,e.exports,r)}r(5)})()`,
		`(self.webpackChunk=[]).push([[1],{2:(e,t,n)=>{n(3)}}])`, `(globalThis.TURBOPACK=[]).push([1,2,(e,t,r)=>{e.i(3)}])`,
		`module.exports=[1,e=>{e.i(2)}]`, `__d(function(g,r,i,a,m,e,d){r(d[0])},7,[8],"a.js");`, `System.register("a",["b"],function(){})`,
		`var h=(c,m)=>()=>(m||c((m={exports:{}}).exports,m),m.exports),x=h((e,m)=>{m.exports=1}),y=h(()=>{x()});`,
		`var c,d,a={exports:{}},b={};function f(){return c||(c=1,a.exports=(d||(d=1,b.x=1),b)),a.exports}function g(){return f()}`,
		`import{a as H}from"./chunk-ABCD2345.js";var x=H((e,m)=>{m.exports=1});x();export{x as default};`,
		`({1:[function(require,module,exports){require("./a")},{"./a":2}]},{},[1])`, `require=(function(){})({1:[function(r){},{}]},{},[1])`,
		`parcelRequire.register("a",function(m,e){});var $=parcelRequire;$.register("b",function(){$("a")})`,
	} {
		f.Add(seed)
	}
	for _, code := range []string{ // variables that are made of themselves
		"var h = h(() => {});",
		`var a = a.b.require("x").c; var z = z.mainModule.require("child_process"); z.exec("ls");`,
		`var q = (0, q.r)(); var p1 = p2(), p2 = p1();`,
		`var {createRequire: w} = w("module"); var v = w(import.meta.url); v("fs").readFileSync("x");`,
		`var __toESM = (m) => { return m.__esModule ? m.default : m }; var k = __toESM(k(k));`,
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 20_000 {
			return
		}
		src, list := places(text)
		file := fileOf(t, src)
		found := bundle.Detect(file)
		file.Split(found, list, []string{"a.js", "b.js", "", "d.js", "e", "f", "g", "h", "i", "j"})
		for i := range found.Bundles {
			if b := &found.Bundles[i]; len(b.Modules) == 0 && !b.Joins && b.Bundler != bundle.Webpack && b.Bundler != bundle.Rspack && b.Bundler != bundle.Turbopack {
				t.Fatal("a bundle without modules")
			}
			for _, m := range found.Bundles[i].Modules {
				if m.At.Start > m.Source.Start || m.Source.Start > m.Source.End || m.Source.End > m.At.End || int(m.At.End) > len(src) {
					t.Fatalf("module %q at %v, code %v of %d bytes", m.ID, m.At, m.Source, len(src))
				}
				for _, q := range m.Requires {
					if q.At.Start > q.At.End || int(q.At.End) > len(src) {
						t.Fatalf("load of %q at %v", q.ID, q.At)
					}
				}
			}
		}
		for name, m := range file.Exported(found) {
			if m.Bundle >= len(found.Bundles) || m.Module >= len(found.Bundles[m.Bundle].Modules) {
				t.Fatalf("%q is of module %v", name, m)
			}
		}
	})
}
