package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// A Global is a call of a member of a global that the language and its hosts do
// not have: something that another program put there.
type Global struct {
	Name   string // of the global
	Member string // path below it
	Texts  Texts
	At     parse.Span
}

// A Call is one of what a module exports, with a text among its arguments.
type Call struct {
	From  *Reference
	Texts Texts
	// Members are those of arguments that are objects, by index of the argument and name.
	Members map[Member][]Piece
	At      parse.Span
	// Wrapper is the function whose callers choose an argument, or parts of it; nil for
	// none. Its pieces are not used.
	Wrapper *Wrapper
}

// A Member is a member of an argument.
type Member struct {
	Argument int
	Name     string
}

// Texts are the first arguments of a call: what each is put together of, nil where
// that is not known.
type Texts [3][]Piece

const (
	// maxGlobals bounds the calls of globals kept of one file, and those of exports.
	maxGlobals = 20_000
	// maxArgument bounds the text of an argument that is kept.
	maxArgument = 200
)

// texts reads the arguments of a call.
func (e *extractor) texts(call parse.Ref) (t Texts, any bool) {
	arg := e.f.Next(e.f.First(call))
	for i := 0; i < len(t) && arg != 0; i, arg = i+1, e.f.Next(arg) {
		k := e.f.Kind(arg)
		switch k {
		case parse.String, parse.Template, parse.Binary, parse.Dot, parse.Index, parse.Ident, parse.Call:
		default:
			continue
		}
		if text, ok := e.Names.Constant(arg); ok {
			if len(text) <= maxArgument {
				t[i], any = []Piece{{Text: text}}, true
			}
			continue
		}
		pieces := e.pieces(arg)
		if settled(pieces) && (k == parse.Dot || k == parse.Ident) {
			t[i], any = pieces, true
			continue
		}
		if text, ok := e.Path(arg); ok && len(text) <= maxArgument { // path.join(__dirname, "a")
			t[i], any = []Piece{{Text: text}}, true
		} else if len(pieces) <= maxShared && chosenByCallers(pieces) || textual(pieces) {
			t[i], any = pieces, true
		}
	}
	return t, any
}

// rootOf is the identifier with which a path of properties begins, or 0.
func (e *extractor) rootOf(r parse.Ref) parse.Ref {
	f := e.f
	for steps := 0; steps < 8; steps++ {
		switch f.Kind(r) {
		case parse.Ident:
			return r
		case parse.Dot, parse.Index:
			r = f.First(r)
		case parse.Sequence: // (0, a.b)(…)
			r = f.Last(r)
		default:
			return 0
		}
	}
	return 0
}

// outside keeps calls as files.open(…), window.files.open(…) and those of variables
// that hold them, where files is declared nowhere, and calls of what modules export.
func (e *extractor) outside(r, callee parse.Ref) {
	f := e.f
	root := e.rootOf(callee)
	if root == 0 {
		if f.Kind(callee) != parse.Dot {
			return
		}
		switch object := f.First(callee); f.Kind(object) { // new Client().get("/a"), this.client.get("/a")
		case parse.New:
			e.exported(r, callee)
		case parse.Dot:
			if value, _ := e.field(object); value != 0 {
				e.exported(r, callee)
			}
		}
		return
	}
	b := e.Scopes.Of[root]
	if b == 0 {
		if f.Kind(callee) == parse.Ident || hosted(f.NameOf(root)) {
			return
		}
		e.global(r, callee)
		return
	}
	value, _, module := e.Names.From(b)
	switch {
	case value == 0:
	case module, f.Kind(value) == parse.Call, f.Kind(value) == parse.Await, f.Kind(value) == parse.New:
		e.exported(r, callee)
	case f.Kind(value) == parse.Ident, f.Kind(value) == parse.Dot, f.Kind(value) == parse.Index:
		origin := e.rootOf(value)
		switch {
		case origin == 0:
		case e.Scopes.Of[origin] == 0:
			if !hosted(f.NameOf(origin)) {
				e.global(r, callee)
			}
		default: // const a = b.c, where b is what a module gives
			e.exported(r, callee)
		}
	}
}

func (e *extractor) global(r, callee parse.Ref) {
	if len(e.out.Globals) >= maxGlobals {
		return
	}
	name, member, ok := strings.Cut(e.Names.Path(callee), ".")
	if ok && name != symbol.Unknown && !hosted(name) {
		texts, _ := e.texts(r)
		e.out.Globals = append(e.out.Globals, Global{name, member, texts, e.span(r)})
	}
}

func (e *extractor) exported(r, callee parse.Ref) {
	if len(e.out.Calls) >= maxGlobals {
		return
	}
	texts, any := e.texts(r)
	members := e.membersGiven(r)
	if !any && members == nil {
		return
	}
	if from := e.reference(callee, maxHops); from != nil && !from.Own {
		c := Call{From: from, Texts: texts, Members: members, At: e.span(r)}
		c.Wrapper = e.wrapperOf(c.pieces())
		e.out.Calls = append(e.out.Calls, c)
	}
}

// hosted reports whether a global is there in every program.
func hosted(name string) bool {
	switch name {
	case "console", "Object", "Array", "Math", "JSON", "Promise", "Reflect", "String", "Number", "Symbol", "Date", "document", "process",
		"Buffer", "module", "exports", "require", "performance", "navigator", "location", "history", "localStorage", "sessionStorage",
		"Error", "Map", "Set", "WeakMap", "Function", "RegExp", "Intl", "URL", "crypto", "Proxy", "Atomics", "BigInt", "ArrayBuffer", "Uint8Array":
		return true
	}
	return false
}

// function is the function or literal that an exported value is.
func (e *extractor) function(r parse.Ref) parse.Ref {
	f := e.f
	for f.Kind(r) == parse.Assign {
		r = f.Last(r)
	}
	if b := e.Scopes.Binding(r); f.Kind(r) == parse.Ident && b != nil {
		if value, ok := e.Names.Origin(e.Scopes.Of[r]); ok {
			return value
		}
		if b.How == scope.FunctionDecl {
			return e.parents[b.Decl]
		}
	}
	return r
}
