package facts

import (
	"strings"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A ChunkName is how webpack's runtime names the file of a chunk by its id:
//
//	r.u = (id) => { if (id === "a") return "b.js"; return "" + ({1: "x"}[id] || id) + ".js" }
type ChunkName struct {
	Cases  map[string]string
	Pieces []ChunkPiece
}

// A ChunkPiece is a text, what a table has for the id, or the id.
type ChunkPiece struct {
	Text  string
	Table map[string]string
	ID    bool // the id itself, where the table does not have it
}

// File is the name of the file of a chunk.
func (c *ChunkName) File(id string) (string, bool) {
	if name, ok := c.Cases[id]; ok {
		return name, true
	}
	var b strings.Builder
	for i := range c.Pieces {
		p := &c.Pieces[i]
		text, ok := p.Table[id]
		switch {
		case ok:
		case p.ID:
			text = id
		case p.Table != nil:
			return "", false
		default:
			text = p.Text
		}
		if b.WriteString(text); b.Len() > maxAddress {
			return "", false
		}
	}
	return b.String(), len(c.Pieces) > 0
}

// chunk is the file of a chunk that webpack's runtime names: what a call r.u(1)
// gives, where r.u is a function of this file without anything to run for it.
func (e *extractor) chunk(call parse.Ref) (string, bool) {
	f := e.f
	callee := f.First(call)
	if f.Kind(callee) != parse.Dot || f.NameOf(f.Kid(callee, 1)) != "u" || f.Kind(f.First(callee)) != parse.Ident {
		return "", false
	}
	names := e.chunkName(e.assignedTo(f.First(callee), "u"))
	id, ok := e.Names.Constant(f.Next(callee))
	if !ok || names == nil {
		return "", false
	}
	return names.File(id)
}

// chunkOfRuntime is the id in new URL(r.p + r.u(1), r.b), where r is what a bundle
// loads with and its runtime is in another file.
func (e *extractor) chunkOfRuntime(r parse.Ref) (string, bool) {
	f := e.f
	if f.Kind(r) != parse.New || e.Names.Path(f.First(r)) != "URL" {
		return "", false
	}
	sum := f.Kid(r, 1)
	call := f.Last(sum)
	if f.Kind(sum) != parse.Binary || f.Kind(call) != parse.Call {
		return "", false
	}
	callee := f.First(call)
	if f.Kind(callee) != parse.Dot || f.NameOf(f.Kid(callee, 1)) != "u" || e.role(f.First(callee)) != bundle.RequireRole || f.Kind(f.First(sum)) != parse.Dot {
		return "", false
	}
	return e.Names.Constant(f.Next(callee))
}

// NameOfChunks reads r.u = (id) => …, where r is what a bundle loads with. It gives
// nil where the program has no runtime that loads chunks.
func NameOfChunks(p *Program) *ChunkName {
	e := &extractor{Program: p, f: p.File, parents: p.Parents}
	for i := range e.f.Nodes {
		n := &e.f.Nodes[i]
		target := n.First()
		if n.Kind == parse.Assign && n.Op == parse.Equal && e.f.Kind(target) == parse.Dot && e.f.NameOf(e.f.Kid(target, 1)) == "u" && e.role(e.f.First(target)) == bundle.RequireRole {
			if name := e.chunkName(e.f.Next(target)); name != nil {
				return name
			}
		}
	}
	return nil
}

// chunkName reads a function that names chunks, nil for others.
func (e *extractor) chunkName(names parse.Ref) *ChunkName {
	f := e.f
	parameter := f.First(f.Kid(names, 1))
	if !f.Kind(names).IsFunction() || f.Kind(parameter) != parse.Ident {
		return nil
	}
	id := e.Scopes.Of[parameter]
	name := &ChunkName{Cases: map[string]string{}}
	body := f.Kid(names, 2)
	if f.Kind(body) != parse.Block {
		return name.ended(e.chunkPieces(nil, body, id, maxChunkHops))
	}
	for s := f.First(body); s != 0; s = f.Next(s) {
		if f.Kind(s) == parse.If { // if (id === "a") return "b"
			of, ok := e.isID(f.First(s), id)
			then := f.Kid(s, 1)
			if f.Kind(then) == parse.Block {
				then = f.First(then)
			}
			text, constant := e.Names.Constant(f.First(then))
			if !ok || f.Kind(then) != parse.Return || !constant {
				return nil
			}
			name.Cases[of] = text
			continue
		}
		if f.Kind(s) != parse.Return {
			return nil
		}
		return name.ended(e.chunkPieces(nil, f.First(s), id, maxChunkHops))
	}
	return nil
}

const maxChunkHops = 16

func (c *ChunkName) ended(pieces []ChunkPiece, ok bool) *ChunkName {
	if c.Pieces = pieces; !ok {
		return nil
	}
	return c
}

// isID is the constant that a test compares an id with.
func (e *extractor) isID(test parse.Ref, id scope.BindingID) (string, bool) {
	f := e.f
	if op := f.At(test).Op; f.Kind(test) != parse.Binary || op != parse.EqEq && op != parse.EqEqEq {
		return "", false
	}
	left, right := f.First(test), f.Last(test)
	if f.Kind(left) != parse.Ident || e.Scopes.Of[left] != id {
		left, right = right, left
	}
	if f.Kind(left) != parse.Ident || e.Scopes.Of[left] != id {
		return "", false
	}
	return e.Names.Constant(right)
}

// chunkPieces adds the pieces of an expression.
func (e *extractor) chunkPieces(list []ChunkPiece, r parse.Ref, id scope.BindingID, hops int) ([]ChunkPiece, bool) {
	f := e.f
	if r == 0 || hops <= 0 {
		return nil, false
	}
	isID := func(r parse.Ref) bool { return f.Kind(r) == parse.Ident && id != 0 && e.Scopes.Of[r] == id }
	switch k := f.Kind(r); {
	case isID(r):
		return append(list, ChunkPiece{ID: true}), true
	case k == parse.Template || k == parse.Binary && f.At(r).Op == parse.Plus:
		ok := true
		for k := f.First(r); k != 0 && ok; k = f.Next(k) {
			if f.Kind(k) == parse.Chunk {
				list = append(list, ChunkPiece{Text: f.ChunkValue(k)})
			} else {
				list, ok = e.chunkPieces(list, k, id, hops-1)
			}
		}
		return list, ok
	case k == parse.Index && isID(f.Kid(r, 1)): // {1: "a"}[id]
		object := e.Names.Literal(f.First(r))
		if object == 0 {
			return nil, false
		}
		table := map[string]string{}
		for p := f.First(object); p != 0; p = f.Next(p) {
			key, ok := f.KeyOf(f.First(p), false)
			text, known := e.Names.Constant(f.Kid(p, 1))
			if f.Kind(p) != parse.Property || !ok || !known {
				return nil, false
			}
			table[key] = text
		}
		return append(list, ChunkPiece{Table: table}), true
	case k == parse.Logical && f.At(r).Op == parse.Lor && isID(f.Last(r)): // {…}[id] || id
		before := len(list)
		list, ok := e.chunkPieces(list, f.First(r), id, hops-1)
		if !ok || len(list) != before+1 || list[before].Table == nil {
			return nil, false
		}
		list[before].ID = true
		return list, true
	case k == parse.Cond: // id === 1 ? "a" : id
		of, ok := e.isID(f.First(r), id)
		text, known := e.Names.Constant(f.Kid(r, 1))
		if !ok || !known || !isID(f.Kid(r, 2)) {
			return nil, false
		}
		return append(list, ChunkPiece{Table: map[string]string{of: text}, ID: true}), true
	}
	text, ok := e.Names.Constant(r)
	return append(list, ChunkPiece{Text: text}), ok
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
