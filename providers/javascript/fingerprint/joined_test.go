package fingerprint_test

import (
	"strings"
	"testing"

	"rea/providers/javascript/fingerprint"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// The normal form of a piece of a statement is that of the piece, whatever the names in
// other pieces are.
func TestPiecesOfStatements(t *testing.T) {
	of := func(src string) string {
		f, err := parse.Parse(t.Context(), src, parse.Options{})
		if err != nil || f.Failed > 0 {
			t.Fatalf("%q: %v %v", src, err, f.Errors)
		}
		at := parse.Span{Start: uint32(strings.Index(src, "a=")), End: uint32(strings.Index(src, ",b="))}
		return fingerprint.NewNormalizer(f, scope.Resolve(f)).Joined(f.First(f.Root), at)
	}
	const piece = "var a=f(x=>{let o;return x.one(o)}),b=g((...r)=>r.two);"
	for src, same := range map[string]bool{
		"var a=f(o=>{let x;return o.one(x)}),b=g((...r)=>r.two);": true,
		"var a=f(x=>{let o;return x.one(o)}),b=g((...o)=>o.two);": true,
		"var a=f(r=>{let x;return r.one(x)}),b=h(3);":             true,
		"var a=f(x=>{let o;return x.one(x)}),b=g((...r)=>r.two);": false,
		"var a=h(x=>{let o;return x.one(o)}),b=g((...r)=>r.two);": false,
	} {
		if (of(src) == of(piece)) != same {
			t.Errorf("%s and %s: the same is %v", src, piece, !same)
		}
	}
}
