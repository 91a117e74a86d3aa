package scope_test

import (
	"strings"
	"testing"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// TestSettle looks at what one use of x means in programs whose declarations of x
// are numbered in order of place; 0 is none of them.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		src  string
		want int
	}{
		{"var x; function f(a = /**/x) { var x }", 1},
		{"var x; function f(a = () => /**/x) { var x }", 1},
		{"var x; function f(a = function (b = /**/x) { var x }) { var x }", 1},
		{"var x; function f(a = function (b) { var x; /**/x }) { var x }", 2},
		{"var x; function f(a) { { /**/x } var x }", 2},
		{"var x; function f(x, a = /**/x) { var x }", 2},
		{"var x; f(a => { { let x } /**/x })", 1},
		{"var x; with (o) { /**/x }", 0},
		{"var x; with (o) { let x; /**/x }", 2},
		{"var x; with (o) { (function (x) { /**/x }) }", 2},
		{"var x; with (o) { } /**/x", 1},
		{"try {} catch (x) { /**/x }", 1},
		{"{ let x } /**/x", 0},
		{"(class x { static { /**/x } })", 1},
		{"class A { a = () => { var x; return /**/x }; b = 1 }", 1},
		{"switch (a) { case 1: let x; default: /**/x }", 1},
		{"for (let x of /**/x) ;", 1},
	} {
		f, err := parse.Parse(t.Context(), c.src, parse.Options{})
		if err != nil || len(f.Errors) > 0 {
			t.Fatal(c.src, err, f.Errors)
		}
		table := scope.Resolve(f)
		use := uint32(strings.Index(c.src, "/**/") + len("/**/"))
		var declared []uint32
		for i := range table.Bindings[1:] {
			if b := &table.Bindings[1+i]; b.Decl != 0 && f.NameOf(b.Decl) == "x" {
				declared = append(declared, f.At(b.Decl).Start)
			}
		}
		got := -1
		for i := range table.References[1:] {
			r := &table.References[1+i]
			if f.At(r.Node).Start != use {
				continue
			}
			got = 0
			if r.Binding != 0 {
				at := f.At(table.Bindings[r.Binding].Decl).Start
				for _, d := range declared {
					if d <= at {
						got++
					}
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: x is declaration %d of it, want %d", c.src, got, c.want)
		}
	}
}

// TestDeep resolves many names far inside of scopes; it would take hours if each
// use were looked for in every scope around it.
func TestDeep(t *testing.T) {
	const deep, many = 2500, 1_000_000
	src := strings.Repeat("{function f(){", deep) + strings.Repeat("a;var b;", many) + strings.Repeat("}}", deep)
	f, err := parse.Parse(t.Context(), src, parse.Options{})
	if err != nil || len(f.Errors) > 0 {
		t.Fatal(err, f.Errors)
	}
	if n := len(scope.Resolve(f).References); n < many {
		t.Errorf("%d uses", n)
	}
}
