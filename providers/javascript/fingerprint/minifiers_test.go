package fingerprint_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"rea/providers/javascript/fingerprint"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A print is what a text is recognized by.
type print struct{ features, sketch, normal string }

func printOf(t *testing.T, src string) print {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil || f.Failed > 0 {
		t.Fatalf("%v %v", err, f.Errors)
	}
	table := scope.Resolve(f)
	parents := f.Parents()
	var set fingerprint.Set
	for i := range f.Nodes {
		fingerprint.Feature(&set, f, table, parse.Ref(i), f.Kind(parents[i]))
		fingerprint.Exported(&set, f, parse.Ref(i))
	}
	normal := fingerprint.NewNormalizer(f, table).Code(f.First(f.Root), parse.Span{End: uint32(len(src))}, nil)
	return print{set.Digest(), set.Sketch(), normal}
}

// minify prints each file as it is and as three minifiers write it.
const minify = `
const fs = require("fs"), terser = require("terser"), esbuild = require("esbuild"), swc = require("@swc/core");
(async () => {
  const out = [];
  for (const file of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const src = fs.readFileSync(file, "utf8");
    const wrapped = "(function(module,exports,require){" + src + "\n})";
    try {
      out.push([file, src,
        (await terser.minify(src, {compress: {}, mangle: {toplevel: true}})).code,
        (await esbuild.transform(src, {minify: true, format: "cjs", legalComments: "none"})).code,
        (await swc.minify(src, {compress: true, mangle: true, module: false})).code]);
    } catch (e) { process.stderr.write(file + ": " + e.message + "\n"); }
  }
  process.stdout.write(JSON.stringify(out));
})();
`

func TestModulesMatchThemselvesAfterMinification(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	dir := jstest.Packages(t, "terser@5.37.0", "esbuild@0.25.0", "@swc/core@1.10.4", "express@4.21.2", "lodash@4.17.21", "moment@2.30.1", "semver@7.6.3", "commander@12.1.0", "handlebars@4.7.8")
	var files []string
	for _, pattern := range []string{
		"express/lib/*.js", "express/lib/*/*.js", "semver/*/*.js", "commander/lib/*.js", "handlebars/dist/cjs/handlebars/*.js",
		"handlebars/dist/cjs/handlebars/*/*.js", "body-parser/lib/*.js", "body-parser/lib/*/*.js", "send/*.js", "qs/lib/*.js", "debug/src/*.js", "finalhandler/*.js", "iconv-lite/lib/*.js",
	} {
		found, err := filepath.Glob(filepath.Join(dir, "node_modules", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	input, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	var list [][5]string
	if err := json.Unmarshal(jstest.Node(t, dir, minify, input), &list); err != nil {
		t.Fatal(err)
	}
	minifiers := []string{"", "", "terser", "esbuild", "swc"}
	sketches := map[string]print{}
	total, equal, nearest := 0, 0, 0
	prints := make([][5]print, len(list))
	for i, v := range list {
		for k := 1; k < 5; k++ {
			prints[i][k] = printOf(t, v[k])
		}
		sketches[v[0]] = prints[i][1]
	}
	for i, v := range list {
		if prints[i][1].features == "" {
			continue
		}
		for k := 2; k < 5; k++ {
			total++
			if prints[i][k].features == prints[i][1].features {
				equal++
			} else {
				t.Logf("%s differs after %s, similarity %.2f", filepath.Base(v[0]), minifiers[k], fingerprint.Similar(prints[i][k].sketch, prints[i][1].sketch))
			}
			// The module itself must be the most similar of all.
			best, at := 0.0, ""
			for j := range list {
				if s := fingerprint.Similar(prints[j][1].sketch, prints[i][k].sketch); s > best {
					best, at = s, list[j][0]
				}
			}
			if at == v[0] || prints[i][1].features == sketches[at].features {
				nearest++
			}
		}
	}
	t.Logf("%d texts: %d have the digest of their source, %d are most similar to it", total, equal, nearest)
	if total < 100 || float64(equal) < 0.9*float64(total) || float64(nearest) < 0.99*float64(total) {
		t.Error("minified modules are not recognized")
	}
}

func TestNormalFormIgnoresNamesAndLayout(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"names", "function f(a,b){return a+b}", "function g(x, y) {\n return (x + y); // sum\n}", true},
		{"quotes_and_numbers", `x = {a: "it's", b: 1000}`, `x={"a":'it\'s',b:1e3}`, true},
		{"keys_and_members", "x = {a: 1, 'b-c': 2, 10: 3}; y = x.a; class A { 'm'() {} }", `x = {"a": 1, "b-c": 2, "10": 3}; y = x["a"]; class A { m() {} }`, true},
		{"computed_keys", "x = {['__proto__']: a}", "x = {'__proto__': a}", false},
		{"keys_and_variables", "x = a['b']", "x = a[b]", false},
		{"other_keys", "x = {a: 1}", "x = {'b': 1}", false},
		{"private_members_and_strings", "class A { #a; b(o) { return o.#a } }", "class A { #a; b(o) { return o['#a'] } }", false},
		{"optional_members", "x = a?.['b']", "x = a['b']", false},
		{"what_arrow_functions_return", "f(x => { return x + 1 })", "f(x => x + 1)", true},
		{"objects_that_arrow_functions_return", "f(() => { return {a: 1} })", "f(() => ({a: 1}))", true},
		{"arrow_functions_that_return_nothing", "f(x => { return })", "f(x => {})", false},
		{"arrow_functions_that_drop", "f(x => { x() })", "f(x => x())", false},
		{"bodies_of_functions", "f(function (x) { return x })", "f(x => x)", false},
		{"swapped", "function f(a,b){return a-b}", "function f(a,b){return b-a}", false},
		{"globals", "foo()", "bar()", false},
		{"strings", `f("a")`, `f("b")`, false},
		{"operators", "f(a=>a+1)", "f(a=>a-1)", false},
		{"big_integers", "f(1n)", "f(1)", false},
		{"big_integers_in_hexadecimal", "f(0x10n)", "f(16)", false},
		{"big_integers_written_otherwise", "f(0x10n, 1_000n)", "f(16n, 1000n)", true},
		{"numbers_written_otherwise", "f(0x10, 1_000)", "f(16, 1e3)", true},
		{"raw_text_of_tagged_templates", `String.raw` + "`a\\n${b}`", `String.raw` + "`a\\x0a${b}`", false},
		{"raw_text_behind_an_expression", "t`${b}\\n`", "t`${b}\\x0a`", false},
		{"templates_inside_of_tagged_ones", "t`${`\\n`}`", "t`${`\\x0a`}`", true},
		{"cooked_text_of_templates", "f(`a\\n${b}`)", "f(`a\\x0a${b}`)", true},
		{"end_of_chain_before_a_member", "f(a?.b.c)", "f((a?.b).c)", false},
		{"end_of_chain_before_an_index", "f(a?.[b][c])", "f((a?.[b])[c])", false},
		{"end_of_chain_before_a_call", "a?.b()", "(a?.b)()", false},
		{"end_of_chain_far_back", "f(a?.b.c().d.e)", "f((a?.b.c().d).e)", false},
		{"end_of_chain_in_a_chain", "f((a?.b).c.d)", "f((a?.b.c).d)", false},
		{"chain_goes_on_optionally", "f(a?.b?.c)", "f((a?.b)?.c)", true},
		{"parentheses_that_end_no_chain", "f(a.b.c)", "f((a.b).c)", true},
		{"parentheses_around_a_chain", "f(a?.b)", "f((a?.b))", true},
		{"lone_surrogate_and_replacement", `f("\ud800")`, `f("\ufffd")`, false},
		{"lone_surrogates", `f("\ud800")`, `f("\ud801")`, false},
		{"lone_surrogates_in_templates", "f(`\\udc00`)", "f(`\\udc01`)", false},
		{"surrogate_pairs", `f("\ud83d\ude00")`, `f("\u{1f600}")`, true},
		{"surrogates_out_of_order", `f("\ude00\ud83d")`, `f("\u{1f600}")`, false},
		{"directives_in_parentheses", `function f(){"use strict";g()}`, `function f(){("use strict");g()}`, false},
		{"directives_with_escapes", `function f(){"use strict";g()}`, `function f(){"use\x20strict";g()}`, false},
		{"prototype_and_property_of_its_name", "f({__proto__: __proto__})", "f({__proto__})", false},
		{"line_ends_in_templates", "f(`a\r\nb\rc`)", "f(`a\nb\nc`)", true},
		{"line_ends_in_raw_templates", "t`a\r\nb`", "t`a\nb`", true},
		{"line_ends_written_as_escapes", "f(`a\\r\\nb`)", "f(`a\nb`)", false},
		{"names_that_eval_may_use", "(function (x) { return eval(a) })", "(function (y) { return eval(a) })", false},
		{"names_around_what_eval_may_use", "(x => () => eval(a))", "(y => () => eval(a))", false},
		{"names_beside_eval", "(x => x)(eval(a))", "(y => y)(eval(a))", true},
		{"names_and_indirect_eval", "(x => (0, eval)(a))", "(y => (0, eval)(a))", true},
		{"labels", "a: for (;;) { b: for (;;) { if (c) continue a; break b } }", "x: for (;;) { y: for (;;) { if (c) continue x; break y } }", true},
		{"labels_swapped", "a: for (;;) { b: for (;;) { if (c) continue a; break b } }", "a: for (;;) { b: for (;;) { if (c) continue b; break a } }", false},
		{"label_and_none", "a: for (;;) for (;;) break a", "a: for (;;) for (;;) break", false},
		{"private_names", "class A { #a = 1; #b; c() { return this.#a + this.#b } }", "class A { #p = 1; #q; c() { return this.#p + this.#q } }", true},
		{"private_names_swapped", "class A { #a = 1; #b; c() { return this.#a - this.#b } }", "class A { #a = 1; #b; c() { return this.#b - this.#a } }", false},
		{"private_names_of_outer_classes", "class A { #a; b() { return class { #c; d(x) { return x.#a } } } }", "class A { #a; b() { return class { #c; d(x) { return x.#c } } } }", false},
		{"private_names_that_hide", "class A { #a; b() { return class { #a; d(x) { return x.#a } } } }", "class A { #a; b() { return class { #b; d(x) { return x.#b } } } }", true},
		{"private_and_public", "class A { #a; b() { return this.#a } }", "class A { #a; b() { return this.a } }", false},
		{"flags", "async function f(){}", "function f(){}", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if same := printOf(t, tt.a).normal == printOf(t, tt.b).normal; same != tt.same {
				t.Errorf("same = %v", same)
			}
		})
	}
}

func TestExportsWrittenOtherwiseHaveTheSameFeatures(t *testing.T) {
	written := printOf(t, `import {toDate} from "./toDate.js"; export function getMinutes(date, options) { return toDate(date, options?.in).getMinutes(); } export const {unit, list: [first]} = toDate.parts; export default getMinutes;`)
	listed := printOf(t, `import{toDate as n}from"./toDate.js";function o(t,e){return n(t,e?.in).getMinutes()}const{unit:u,list:[f]}=n.parts;var i=o;export{i as default,o as getMinutes,u as unit,f as first};`)
	if written.features == "" || written.features != listed.features {
		t.Error("exports in a list and with their declarations have other features")
	}
}
