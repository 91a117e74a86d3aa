package facts

import (
	"context"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/symbol"
)

// compiles notes calls that compile text and run it.
func (e *extractor) compiles(r, callee parse.Ref) {
	f := e.f
	first := f.Next(callee)
	if first == 0 {
		return
	}
	name := ""
	switch f.Kind(callee) {
	case parse.Ident:
		name = f.NameOf(callee)
		switch name {
		case "eval", "Function", "setTimeout", "setInterval", "execScript":
			if e.Scopes.Of[callee] != 0 {
				return
			}
		default:
			if e.functionMaker(callee) {
				e.compiled(r, "Function", first)
			}
			return
		}
	case parse.Dot, parse.Index:
		name, _ = f.PropertyOf(callee)
	case parse.Sequence: // (0, eval)(…)
		name = e.Names.Path(callee)
	default:
		return
	}
	switch name {
	case "eval", "Function":
		if e.Names.Path(callee) == name {
			e.compiled(r, name, first)
		}
	case "setTimeout", "setInterval", "execScript":
		if k := f.Kind(first); k == parse.String || k == parse.Template || k == parse.Binary {
			e.compiled(r, name, first)
		}
	case "constructor":
		if inner, ok := f.PropertyOf(f.First(callee)); ok && inner == "constructor" { // a.constructor.constructor("…")
			e.compiled(r, "Function", first)
		}
	case "runInThisContext", "runInNewContext", "runInContext", "compileFunction", "Script":
		if path := e.Names.Path(callee); strings.HasPrefix(path, "vm.") {
			e.compiled(r, path, first)
		}
	case "executeJavaScript":
		e.compiled(r, name, first)
	}
}

// functionMaker reports whether a variable holds the constructor of functions of a kind
// that has no global: Object.getPrototypeOf(async function () {}).constructor.
func (e *extractor) functionMaker(r parse.Ref) bool {
	f := e.f
	value, ok := e.Names.Origin(e.Scopes.Of[r])
	if !ok || e.Scopes.Of[r] == 0 {
		return false
	}
	if name, known := f.PropertyOf(value); !known || name != "constructor" {
		return false
	}
	object := f.First(value)
	return f.Kind(object).IsFunction() || f.Kind(object) == parse.Call && e.Names.Path(f.First(object)) == "Object.getPrototypeOf" && f.Kind(f.Kid(object, 1)).IsFunction()
}

// compiled notes code that is compiled of texts, the last of them the body.
func (e *extractor) compiled(r parse.Ref, via string, first parse.Ref) {
	last := first
	for k := first; k != 0; k = e.f.Next(k) {
		if last = k; strings.HasPrefix(via, "vm.") || strings.HasPrefix(via, "set") || via == "executeJavaScript" {
			break
		}
	}
	if text, ok := e.Names.Constant(last); ok && idle(text) {
		return
	}
	e.fact(Compiled, "", via, r).Dynamic = true
}

// maxIdle bounds the texts that are looked at.
const maxIdle = 1000

// idle reports whether code does nothing but give what is there, as "return this".
func idle(code string) bool {
	if len(code) > maxIdle {
		return false
	}
	f, err := parse.Parse(context.Background(), "(function(){"+code+"\n})", parse.Options{})
	if err != nil || f.Failed > 0 {
		return false
	}
	for i := range f.Nodes {
		switch f.Nodes[i].Kind {
		case parse.Call, parse.New, parse.Tagged, parse.ImportCall, parse.Assign, parse.Index, parse.Update:
			return false
		}
	}
	return true
}

// chooses notes members of the global object whose names are only known when the
// program runs.
func (e *extractor) chooses(r, object parse.Ref) {
	f := e.f
	if f.Kind(object) != parse.Ident {
		return
	}
	switch e.Names.Path(object) {
	case "window", "globalThis", "self", "global":
	default:
		return
	}
	switch up := e.parents[r]; f.Kind(up) {
	case parse.Assign:
		if f.First(up) == r {
			return
		}
	case parse.Unary: // typeof window[a], delete window[a]
		return
	}
	e.fact(Chosen, "", symbol.Unknown, r).Dynamic = true
}
