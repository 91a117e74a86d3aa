package facts

import (
	"slices"

	"rea/providers/javascript/parse"
)

// Objects and classes whose methods hand on what they are given: what their fields
// are made with, and of what an object is an instance.

// methods are what calls of methods and fields of classes are found by.
type methods struct {
	calls  map[string][]parse.Ref // by name of the method
	fields map[field]parse.Ref    // what this.a is given: its only value, or several
	// once are the expressions that make the only object of a class, 0 where there are
	// others; by class.
	once map[parse.Ref]parse.Ref
}

type field struct {
	class parse.Ref
	name  string
}

const several parse.Ref = -1

// classAround is the class whose methods a place is in, or 0.
func (e *extractor) classAround(r parse.Ref) parse.Ref {
	for steps := 0; steps < 200 && r != 0; steps++ {
		if k := e.f.Kind(r); k == parse.Class || k == parse.ClassDecl {
			return r
		}
		r = e.parents[r]
	}
	return 0
}

func (e *extractor) methodsOf() *methods {
	if e.methods != nil {
		return e.methods
	}
	m := &methods{calls: map[string][]parse.Ref{}, fields: map[field]parse.Ref{}, once: map[parse.Ref]parse.Ref{}}
	e.methods = m
	f := e.f
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch r := parse.Ref(i); n.Kind {
		case parse.Call:
			if callee := n.First(); f.Kind(callee) == parse.Dot {
				switch f.Kind(f.First(callee)) {
				case parse.This, parse.Ident, parse.Dot, parse.New:
					if name := f.NameOf(f.Kid(callee, 1)); len(m.calls[name]) < maxChosen {
						m.calls[name] = append(m.calls[name], r)
					}
				}
			}
		case parse.Assign:
			if target := n.First(); f.Kind(target) == parse.Dot && f.Kind(f.First(target)) == parse.This {
				if class := e.classAround(r); class != 0 {
					m.give(field{class, f.NameOf(f.Kid(target, 1))}, f.Kid(r, 1))
				}
			}
		case parse.Member:
			if n.Flags&(parse.IsMethod|parse.Getter|parse.Setter|parse.Static) == 0 && f.Kid(r, 1) != 0 {
				if name, ok := f.KeyOf(n.First(), n.Flags&parse.Computed != 0); ok {
					m.give(field{e.parents[r], name}, f.Kid(r, 1))
				}
			}
		}
	}
	return m
}

func (m *methods) give(to field, value parse.Ref) {
	if m.fields[to] != 0 {
		value = several
	}
	m.fields[to] = value
}

// field is the value of this.a, where there is one alone, or 0 and which argument of the
// constructor it is. What a constructor is given is known where it is called once.
func (e *extractor) field(r parse.Ref) (value parse.Ref, construct int) {
	f := e.f
	if f.Kind(r) != parse.Dot || f.Kind(f.First(r)) != parse.This {
		return 0, 0
	}
	class := e.classAround(r)
	if class == 0 {
		return 0, 0
	}
	value = e.methodsOf().fields[field{class, f.NameOf(f.Kid(r, 1))}]
	if value <= 0 {
		return 0, 0
	}
	piece, ok := e.parameterPiece(value)
	switch {
	case !ok:
		return value, 0
	case piece.Member != "":
		return 0, 0
	}
	if only := e.madeOnce(class, piece.function); only != 0 {
		return f.Kid(only, piece.Parameter), 0
	}
	return 0, piece.Parameter
}

// madeOnce is the only expression that makes an object of a class with a constructor, or
// 0 where there are others or may be.
func (e *extractor) madeOnce(class, constructor parse.Ref) parse.Ref {
	only, known := e.methodsOf().once[class]
	if known {
		return only
	}
	if up := e.f.Kind(e.parents[class]); up != parse.ExportDecl && up != parse.ExportDef {
		if calls, closed := e.callsOf(constructor); len(calls) == 1 && closed {
			only = calls[0]
		}
	}
	e.methods.once[class] = only
	return only
}

// constructed are pieces where the object is made by an expression.
func (e *extractor) constructed(pieces []Piece, made parse.Ref) []Piece {
	if !slices.ContainsFunc(pieces, func(p Piece) bool { return p.construct > 0 }) {
		return pieces
	}
	out := slices.Clone(pieces)
	for i := range out {
		if n := out[i].construct; n > 0 {
			out[i] = Piece{Unknown: true}
			if list := e.pieces(e.f.Kid(made, n)); len(list) == 1 && list[0].construct == 0 {
				out[i] = list[0]
			}
		}
	}
	return out
}

// instanceOf is the expression new C(…) that makes what a method is called on, or 0.
func (e *extractor) instanceOf(call parse.Ref) parse.Ref {
	object := e.f.First(e.f.First(call))
	if e.f.Kind(object) == parse.Dot {
		object, _ = e.field(object)
	}
	if object = e.made(object); e.f.Kind(object) == parse.New {
		return object
	}
	return 0
}

// classNamed is the class of this file that an expression names, or 0.
func (e *extractor) classNamed(r parse.Ref) parse.Ref {
	f := e.f
	b := e.Scopes.Binding(r)
	if f.Kind(r) != parse.Ident || b == nil || b.Decl == 0 {
		return 0
	}
	if up := e.parents[b.Decl]; f.Kind(up) == parse.ClassDecl || f.Kind(up) == parse.Class {
		return up
	}
	if value, ok := e.Names.Origin(e.Scopes.Of[r]); ok && f.Kind(value) == parse.Class {
		return value
	}
	return 0
}

// membersGiven are the members of arguments of a call that are literal objects and may
// name what is asked for.
func (e *extractor) membersGiven(call parse.Ref) (out map[Member][]Piece) {
	f := e.f
	for i, arg := 0, f.Next(f.First(call)); i < len(Texts{}) && arg != 0; i, arg = i+1, f.Next(arg) {
		if f.Kind(arg) != parse.Object {
			continue
		}
		for _, name := range []string{"url", "uri", "path", "pathname", "endpoint", "route", "channel", "href"} {
			value := e.Names.Member(arg, name)
			if value == 0 {
				continue
			}
			if pieces := e.pieces(value); len(pieces) <= maxShared && (pieces[0].Text != "" || settled(pieces) || chosenByCallers(pieces)) {
				if out == nil {
					out = map[Member][]Piece{}
				}
				out[Member{i, name}] = pieces
			}
		}
	}
	return out
}

// exportInstance makes wrappers of the methods of an object that is exported: what its
// constructor was given is known.
func (e *extractor) exportInstance(made parse.Ref, path []string, class parse.Ref, tell func([]*Wrapper, []string, ...string)) {
	if class == 0 {
		return
	}
	for _, facts := range [][]Fact{e.out.Facts, e.out.Wrappers} {
		for i := range facts {
			w := facts[i].Wrapper
			if w == nil || w.class != class || w.static {
				continue
			}
			own := *w
			own.Pieces, own.Exports = e.constructed(w.Pieces, made), nil
			tell([]*Wrapper{&own}, path)
			fact := facts[i]
			fact.Wrapper = &own
			e.out.Wrappers = append(e.out.Wrappers, fact)
		}
	}
	for i := range e.out.Calls {
		if w := e.out.Calls[i].Wrapper; w != nil && w.class == class && !w.static {
			tell([]*Wrapper{w}, path)
		}
	}
}
