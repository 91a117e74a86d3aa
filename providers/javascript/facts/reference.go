package facts

import (
	"slices"
	"strings"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
)

// A Reference is what a module exports: the one that is loaded at a place, or the
// one that refers to its own.
type Reference struct {
	Own bool
	At  parse.Span // of what loads the module: a call, an import or export statement
	// Part is the part of the file that is loaded where code tells it by a variable
	// of its own, else -1. See Program.Wrapped.
	Part int
	// ID is what a bundle is asked for, where it is known.
	ID   string
	Path []string // export, and properties of it
}

// A Piece is a part of a text.
type Piece struct {
	Text    string
	From    *Reference // the text is that of a value of a module
	Unknown bool       // the text is only known when the program runs
	Chunk   bool       // the text is the file of the chunk with the id Text
	// Parameter is that of a function whose callers choose the text, which is unknown too:
	// its index plus one, and the member that is taken of it.
	Parameter int
	Member    string
	function  parse.Ref
	// construct is the argument of the constructor that the text is, plus one: it is
	// unknown where that is not known.
	construct int
}

// A Constant is a value that a module exports: the text, or a value of another
// module with all that is below it.
type Constant struct {
	Path   []string // export, and properties of it; "*" is all that From has
	Pieces []Piece
	From   *Reference
	At     parse.Span
}

const (
	maxHops      = 24
	maxPieces    = 64
	maxConstants = 5000 // expressions that are looked at for one export
	maxBelow     = 6    // levels below an export
)

// reference is the value of a module that an expression is.
func (e *extractor) reference(r parse.Ref, hops int) *Reference {
	f := e.f
	if r == 0 || hops <= 0 {
		return nil
	}
	switch f.Kind(r) {
	case parse.Ident:
		b := e.Scopes.Of[r]
		if e.exportsName(r) {
			return &Reference{Own: true, Part: -1}
		}
		if b == 0 {
			return nil
		}
		value, path, module := e.Names.From(b)
		switch {
		case value == 0:
			return nil
		case module:
			return (&Reference{At: e.span(e.importOf(value)), Part: -1}).below(steps(path)...)
		}
		return e.reference(value, hops-1).below(steps(path)...)
	case parse.Dot, parse.Index:
		if e.exportsOf(r) {
			return &Reference{Own: true, Part: -1}
		}
		if name, ok := f.PropertyOf(r); ok {
			if value, _ := e.field(r); value != 0 {
				return e.reference(value, hops-1)
			}
			return e.reference(f.First(r), hops-1).below(name)
		}
	case parse.Call:
		return e.loaded(r, hops)
	case parse.Await:
		return e.reference(f.First(r), hops-1)
	case parse.New: // what methods of its class are called on
		return e.reference(f.First(r), hops-1).below(prototype)
	case parse.ImportCall:
		return &Reference{At: e.span(r), Part: -1}
	case parse.Sequence, parse.Assign:
		return e.reference(f.Last(r), hops-1)
	}
	return nil
}

// importOf is the statement of the name of a module.
func (e *extractor) importOf(source parse.Ref) parse.Ref { return e.parents[source] }

// loaded is the module that a call gives.
func (e *extractor) loaded(r parse.Ref, hops int) *Reference {
	f := e.f
	callee := f.First(r)
	switch {
	case e.Names.IsRequire(callee) && f.Next(callee) != 0:
		return &Reference{At: e.span(r), Part: -1}
	case e.role(callee) == bundle.RequireRole:
		id, ok := f.Constant(f.Next(callee))
		if f.Kind(f.Next(callee)) == parse.Number {
			id, ok = f.NumberKey(f.Next(callee))
		}
		if !ok {
			id = ""
		}
		return &Reference{At: e.span(r), Part: -1, ID: id}
	}
	if handed := e.Names.Handed(r); handed != 0 {
		return e.reference(handed, hops-1)
	}
	if e.Wrapped != nil && f.Kind(callee) == parse.Ident && f.Next(callee) == 0 {
		if part, ok := e.Wrapped(callee); ok {
			return &Reference{At: e.span(r), Part: part}
		}
	}
	switch e.Names.Path(callee) {
	case "Object.freeze", "Object.seal":
		return e.reference(f.Next(callee), hops-1)
	}
	return nil
}

func steps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// below is a property of a value.
func (r *Reference) below(names ...string) *Reference {
	if r == nil || len(names) == 0 || len(r.Path) > maxHops {
		return r
	}
	out := *r
	out.Path = append(append([]string{}, r.Path...), names...)
	return &out
}

// Pieces are what the text of an expression is put together of.
func (e *extractor) pieces(r parse.Ref) []Piece {
	p := piecer{extractor: e}
	p.add(r, maxHops)
	return p.list
}

type piecer struct {
	*extractor
	list []Piece
}

func (p *piecer) text(s string) {
	if n := len(p.list); n > 0 && p.list[n-1].From == nil && !p.list[n-1].Unknown {
		p.list[n-1].Text += s
	} else {
		p.list = append(p.list, Piece{Text: s})
	}
}

func (p *piecer) add(r parse.Ref, hops int) {
	f := p.f
	if len(p.list) >= maxPieces || hops <= 0 {
		p.list = append(p.list, Piece{Unknown: true})
		return
	}
	if text, ok := p.Names.Constant(r); ok {
		p.text(text)
		return
	}
	switch k := f.Kind(r); {
	case k == parse.Binary && f.At(r).Op == parse.Plus, k == parse.Template:
		for part := f.First(r); part != 0 && len(p.list) < maxPieces; part = f.Next(part) {
			if f.Kind(part) == parse.Chunk {
				if f.At(part).End > f.At(part).Start {
					p.text(f.ChunkValue(part))
				}
			} else {
				p.add(part, hops-1)
			}
		}
		return
	case k == parse.Call && f.Kind(f.First(r)) == parse.Dot && f.NameOf(f.Kid(f.First(r), 1)) == "concat":
		first := f.First(f.First(r)) // "".concat(a, "b")
		if _, ok := p.Names.Constant(first); ok {
			p.add(first, hops-1)
			for arg := f.Next(f.First(r)); arg != 0; arg = f.Next(arg) {
				p.add(arg, hops-1)
			}
			return
		}
	}
	if piece, ok := p.parameterPiece(r); ok {
		p.list = append(p.list, piece)
		return
	}
	if from := p.reference(r, hops); from != nil && (len(from.Path) > 0 || !from.Own) {
		p.list = append(p.list, Piece{From: from})
		return
	}
	if f.Kind(r) == parse.Ident && p.Scopes.Of[r] != 0 {
		if value, ok := p.Names.Origin(p.Scopes.Of[r]); ok {
			p.add(value, hops-1)
			return
		}
	}
	if k := f.Kind(r); k == parse.Dot || k == parse.Index {
		if name, ok := f.PropertyOf(r); ok {
			if value := p.Names.Property(f.First(r), name); value != 0 {
				p.add(value, hops-1)
				return
			}
			if value, construct := p.field(r); value != 0 {
				p.add(value, hops-1)
				return
			} else if construct > 0 {
				p.list = append(p.list, Piece{Unknown: true, construct: construct})
				return
			}
		}
	}
	p.list = append(p.list, Piece{Unknown: true})
}

// settled reports whether pieces have no part that is only known at run time, and
// some that is of a module.
func settled(pieces []Piece) bool {
	from := false
	for i := range pieces {
		if pieces[i].Unknown {
			return false
		}
		from = from || pieces[i].From != nil
	}
	return from
}

// Pending reports whether a fact's name has parts of other modules.
func (f *Fact) Pending() bool { return len(f.Pieces) > 0 }

// Settle gives a fact its name, once the values of other modules in it are known.
// Parts that are not stand as {} in it.
func (f *Fact) Settle(text, why string) {
	if f.Kind == Endpoint {
		clean, ok := kept(f.Base.join(text))
		if !ok || clean == "" {
			return
		}
		text = clean
	}
	f.Name, f.Dynamic, f.Inferred = text, false, why
	f.clean()
}

// constants reads the values that are exported.
func (e *extractor) constants() {
	for i := range e.out.Exports {
		x := &e.out.Exports[i]
		if x.Value == 0 {
			continue
		}
		c := constants{extractor: e, at: x.At, left: maxConstants}
		switch x.Name {
		case "module.exports":
			c.add(nil, x.Value, 0)
		case others:
			if from := e.reference(x.Value, maxHops); from != nil && !from.Own {
				e.out.Constants = append(e.out.Constants, Constant{Path: []string{others}, From: from, At: x.At})
			}
			x.Value = 0
		default:
			c.add([]string{x.Name}, x.Value, 0)
		}
	}
}

type constants struct {
	*extractor
	at   parse.Span
	left int
}

// maxText bounds the text of a value that other modules may use.
const maxText = 2000

func (c *constants) keep(v Constant) {
	v.At = c.at
	c.out.Constants = append(c.out.Constants, v)
}

func (c *constants) add(path []string, r parse.Ref, depth int) {
	f := c.f
	if c.left--; c.left < 0 || r <= 0 || depth > maxBelow {
		return
	}
	r = c.variable(r)
	switch f.Kind(r) {
	case parse.Func, parse.Arrow, parse.FuncDecl, parse.Number, parse.Regex, parse.Null, parse.True, parse.False:
		return
	}
	if text, ok := c.Names.Constant(r); ok {
		if len(text) <= maxText {
			c.keep(Constant{Path: path, Pieces: []Piece{{Text: text}}})
		}
		return
	}
	if from := c.reference(r, maxHops); from != nil {
		if !from.Own || len(from.Path) > 0 {
			c.keep(Constant{Path: path, From: from})
		}
		return
	}
	if pieces := c.pieces(r); settled(pieces) {
		c.keep(Constant{Path: path, Pieces: pieces})
		return
	}
	c.Names.Properties(r, func(name string, value parse.Ref) {
		c.add(append(append([]string{}, path...), name), value, depth+1)
	})
	if object := c.Names.Literal(r); object != 0 {
		for k := f.First(object); k != 0; k = f.Next(k) {
			if f.Kind(k) != parse.Spread {
				continue
			}
			if from := c.reference(f.First(k), maxHops); from != nil && !from.Own {
				c.keep(Constant{Path: append(append([]string{}, path...), others), From: from})
			}
		}
	}
}

// hasFrom reports whether a piece is a value of a module.
func hasFrom(pieces []Piece) bool {
	return slices.ContainsFunc(pieces, func(p Piece) bool { return p.From != nil })
}

// variable is the one that holds a value which is exported as it is assigned to it:
//
//	exports.A = A = {}
//	A = exports.A || (exports.A = {})
func (e *extractor) variable(r parse.Ref) parse.Ref {
	f := e.f
	for f.Kind(r) == parse.Assign && f.Kind(f.First(r)) != parse.Ident {
		r = f.Last(r)
	}
	if f.Kind(r) == parse.Assign {
		return f.First(r)
	}
	if f.Kind(r) != parse.Object || f.First(r) != 0 {
		return r
	}
	or := e.parents[e.parents[r]]
	if outer := e.parents[or]; f.Kind(or) == parse.Logical && f.Kind(outer) == parse.Assign && f.Kind(f.First(outer)) == parse.Ident {
		return f.First(outer)
	}
	return r
}

// handOn notes an export that is one of another module, or all of them.
func (e *extractor) handOn(name string, statement parse.Ref, path ...string) {
	at := e.span(statement)
	e.out.Constants = append(e.out.Constants, Constant{Path: []string{name}, From: &Reference{At: at, Part: -1, Path: path}, At: at})
}
