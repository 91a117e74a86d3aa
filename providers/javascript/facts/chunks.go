package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// chunk is the file of a chunk that webpack's runtime names: what a call r.u(1)
// gives, where r.u is a function of this file without anything to run for it.
func (e *extractor) chunk(call parse.Ref, hops int) (string, bool) {
	f := e.f
	callee := f.First(call)
	if f.Kind(callee) != parse.Dot || f.NameOf(f.Kid(callee, 1)) != "u" || f.Kind(f.First(callee)) != parse.Ident {
		return "", false
	}
	names := e.assignedTo(f.First(callee), "u")
	parameter := f.First(f.Kid(names, 1))
	if !f.Kind(names).IsFunction() || f.Kind(parameter) != parse.Ident {
		return "", false
	}
	id, ok := e.evaluate(f.Next(callee), nil, hops)
	if !ok {
		return "", false
	}
	given := map[scope.BindingID]string{e.Scopes.Of[parameter]: id}
	body := f.Kid(names, 2)
	if f.Kind(body) != parse.Block {
		return e.evaluate(body, given, hops)
	}
	for s := f.First(body); s != 0; s = f.Next(s) {
		if f.Kind(s) == parse.If { // if (id === "a") return "b"
			test := f.First(s)
			left, known := e.evaluate(f.First(test), given, hops)
			right, both := e.evaluate(f.Last(test), given, hops)
			if op := f.At(test).Op; !known || !both || op != parse.EqEq && op != parse.EqEqEq {
				return "", false
			}
			if left != right {
				continue
			}
			if s = f.Kid(s, 1); f.Kind(s) == parse.Block {
				s = f.First(s)
			}
		}
		if f.Kind(s) != parse.Return {
			return "", false
		}
		return e.evaluate(f.First(s), given, hops)
	}
	return "", false
}

// publicPath reports whether an expression is where webpack's runtime says that all
// chunks lie.
func (e *extractor) publicPath(r parse.Ref) bool {
	f := e.f
	return f.Kind(r) == parse.Dot && f.NameOf(f.Kid(r, 1)) == "p" && f.Kind(f.First(r)) == parse.Ident && e.assignedTo(f.First(r), "u") != 0
}

// assignedTo is what a member of a variable is assigned, or 0.
func (e *extractor) assignedTo(variable parse.Ref, name string) parse.Ref {
	f := e.f
	if e.Scopes.Of[variable] == 0 {
		return 0
	}
	for _, use := range e.usesOf(e.Scopes.Of[variable]) {
		dot := e.parents[use]
		if assign := e.parents[dot]; f.Kind(dot) == parse.Dot && f.NameOf(f.Kid(dot, 1)) == name && f.Kind(assign) == parse.Assign && f.First(assign) == dot {
			return f.Kid(assign, 1)
		}
	}
	return 0
}

// evaluate is the text of an expression in which variables have texts.
func (e *extractor) evaluate(r parse.Ref, given map[scope.BindingID]string, hops int) (string, bool) {
	f := e.f
	if r == 0 || hops <= 0 {
		return "", false
	}
	switch f.Kind(r) {
	case parse.Ident:
		if text, ok := given[e.Scopes.Of[r]]; ok {
			return text, true
		}
	case parse.Template, parse.Binary:
		if f.Kind(r) == parse.Binary && f.At(r).Op != parse.Plus {
			return "", false
		}
		var b strings.Builder
		for k := f.First(r); k != 0; k = f.Next(k) {
			text, ok := "", true
			if f.Kind(k) == parse.Chunk {
				text = f.ChunkValue(k)
			} else if text, ok = e.evaluate(k, given, hops-1); !ok {
				return "", false
			}
			if b.WriteString(text); b.Len() > maxAddress {
				return "", false
			}
		}
		return b.String(), true
	case parse.Index: // {1: "a"}[id]
		key, ok := e.evaluate(f.Kid(r, 1), given, hops-1)
		object := e.Names.Literal(f.First(r))
		if !ok || object == 0 {
			return "", false
		}
		return e.evaluate(e.Names.Member(object, key), given, hops-1)
	case parse.Logical: // {…}[id] || id
		if f.At(r).Op == parse.Lor {
			for k := f.First(r); k != 0; k = f.Next(k) {
				if text, ok := e.evaluate(k, given, hops-1); ok && text != "" {
					return text, true
				}
			}
		}
		return "", false
	}
	return e.Names.Constant(r)
}
