package parse_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

func read(t testing.TB, src string) *parse.File {
	t.Helper()
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// within fails a test that takes longer than it may by an order of magnitude.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	began := time.Now()
	do()
	if d := time.Since(began); d > limit {
		t.Errorf("it took %v", d)
	}
}

func TestHostileTextEndsSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("large inputs")
	}
	deep := 5_000_000
	for _, tt := range []struct {
		name, src string
		refused   bool
	}{
		{"open_brackets", strings.Repeat("[", deep), true},
		{"open_braces", strings.Repeat("{", deep), true},
		{"open_parens", strings.Repeat("(", deep), true},
		{"closed_brackets", strings.Repeat("[", deep/2) + strings.Repeat("]", deep/2), true},
		{"closing_braces", strings.Repeat("}", deep/10), true},
		{"arrows", strings.Repeat("a=>", deep/5) + "a", true},
		{"not", strings.Repeat("!", deep) + "a", true},
		{"new", strings.Repeat("new ", deep/5) + "a", true},
		{"ternaries", strings.Repeat("a?b:", deep/5) + "c", true},
		{"assignments", strings.Repeat("a=", deep/5) + "c", true},
		{"else_if", strings.Repeat("if(a)b;else ", deep/10), true},
		{"functions", strings.Repeat("function f(){", deep/20), true},
		{"templates", strings.Repeat("`${", deep/10), true},
		{"jsx", strings.Repeat("<a>", deep/10), true},
		{"classes", strings.Repeat("class a{b=", deep/10), true},
		{"long_sum", strings.Repeat("a+", deep) + "a", false},
		{"long_mix", strings.Repeat("a+b-", deep/10) + "a", true},
		{"long_chain", "a" + strings.Repeat(".b()", deep/10), true},
		{"long_list", "f(" + strings.Repeat("a,", deep) + "a)", false},
		{"long_string", `x="` + strings.Repeat("s", 50<<20) + `"`, false},
		{"long_string_escapes", `x="` + strings.Repeat(`\n`, 10<<20) + `"`, false},
		{"open_string", `x="` + strings.Repeat("s", 10<<20), true},
		{"open_comment", "/*" + strings.Repeat("s", 10<<20), true},
		{"comments", strings.Repeat("/**/", 1<<20), false},
		{"regexes", strings.Repeat("/[;", 200_000), true},
		{"template_starts", strings.Repeat("`;", 200_000) + "`", true},
		{"errors", strings.Repeat("var 1;\n", 500_000), true},
		{"nul", strings.Repeat("\x00", 1<<20), true},
		{"invalid_utf8", "x = \"" + strings.Repeat("\xff\xfe", 1<<20) + "\"", false},
		{"invalid_utf8_outside", strings.Repeat("\xff", 1<<20), true},
		{"escapes", "\\u{" + strings.Repeat("0", 1<<20) + "41}", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			within(t, 20*time.Second, func() {
				f := read(t, tt.src)
				if (f.Failed > 0) != tt.refused {
					t.Errorf("%d errors: %v", f.Failed, f.Errors[:min(3, len(f.Errors))])
				}
				if len(f.Errors) > parse.MaxErrors {
					t.Errorf("%d errors are kept", len(f.Errors))
				}
				scope.Resolve(f)
			})
		})
	}
}

func TestStatementsAroundAnErrorAreKept(t *testing.T) {
	f := read(t, "var a = 1;\nfunction b() { return c( }\nvar d = 4;\nclass E { x = ; y() {} }\nexport const g = 7;\n")
	if f.Failed == 0 {
		t.Fatal("no error")
	}
	names := map[string]bool{}
	table := scope.Resolve(f)
	for _, b := range table.Bindings[1:] {
		if b.Decl != 0 {
			names[f.NameOf(b.Decl)] = true
		}
	}
	for _, want := range []string{"a", "b", "d", "g"} {
		if !names[want] {
			t.Errorf("%s is lost; there are %v", want, names)
		}
	}
}

func TestACancelledReadingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := parse.Parse(ctx, strings.Repeat("a();\n", 1_000_000), parse.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if len(f.Nodes) > 1_000_000 {
		t.Errorf("%d nodes were read", len(f.Nodes))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a?.b?.[c](...d) ?? e", "for await (const x of y) {}", "async (a, {b = 1, ...c}) => await a", "class A extends B { static #x = 1; get y() {} accessor z; static {} }",
		"import a, {b as c} from 'd' with {type: 'json'}; export * as e from 'f'; export default async function* () {}", "`a${b}c${`d`}`", "/[/]\\//.test(x)/2",
		"<a b={c} {...d}>e{f}<></></a>", "label: for (;;) continue label", "({a, b: [c], ...d} = e)", "a\n++b", "x = y / z / 1", "let let_ = 0x1fn + .5e-3", "#!/usr/bin/env node\n<!-- x\n",
		"do a(); while (b) c", "if (a) function b() {}", "var \\u0061b = '\\u{1F600}\\x41\\0'", "using x = y; await using z = w",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file := read(t, src)
		seen := make([]bool, len(file.Nodes))
		var walk func(r parse.Ref, depth int)
		walk = func(r parse.Ref, depth int) {
			if seen[r] {
				t.Fatalf("node %d is twice in the tree", r)
			}
			seen[r] = true
			n := file.At(r)
			if n.Start > n.End || int(n.End) > len(src) {
				t.Fatalf("node %d has the range %d to %d of %d", r, n.Start, n.End, len(src))
			}
			for k := n.First(); k != 0; k = file.Next(k) {
				walk(k, depth+1)
			}
			if n.Kind == parse.String {
				file.StringValue(r)
			}
			if n.Kind == parse.Number {
				file.NumberKey(r)
			}
		}
		walk(file.Root, 0)
		table := scope.Resolve(file)
		for i, b := range table.Of {
			if int(b) >= len(table.Bindings) {
				t.Fatalf("node %d means binding %d", i, b)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := strings.Repeat("function f(a,b){var c=a.d(b,1)||{e:\"g\",h:[1,2]};return c?c.e+b:new X(a)}\n", 10_000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		read(b, src)
	}
}
