package semantic

import (
	"slices"
	"strings"

	"rea/providers/javascript/address"
	"rea/providers/javascript/parse"
)

// literal is what is kept of a text, which may be joined to others around it.
func (e *extractor) literal(r parse.Ref) string {
	var before, after []string // from the nearest on
	left, part := maxBefore, r
	for ; left > 0; part = e.Parents[part] {
		up := e.Parents[part]
		if e.Kind(up) != parse.Binary || e.At(up).Op != parse.Plus {
			break
		}
		var here, behind strings.Builder
		for k := e.First(up); k != part && k != 0 && left > 0; k = e.Next(k) {
			e.lead(k, &here, &left)
		}
		for k := e.Next(part); k != 0 && left > 0; k = e.Next(k) {
			e.lead(k, &behind, &left)
		}
		before, after = append(before, here.String()), append(after, behind.String())
	}
	slices.Reverse(before)
	front := strings.Join(before, "")
	if front == "" {
		front = e.beside(part, &left)
	}
	text, behind := e.StringValue(r), strings.Join(after, "")
	if !strings.Contains(front+text, ":") { // only credentials end behind what they begin with
		behind = ""
	}
	return address.Piece(front, text, behind)
}

// beside is what stands before a text that others are joined to when the program runs:
// an argument of a command, the name of a header, the begin of an address.
func (e *extractor) beside(r parse.Ref, left *int) string {
	var b strings.Builder
	up := e.Parents[r]
	switch e.Kind(up) {
	case parse.Array:
		for k := e.First(up); k != r && k != 0; k = e.Next(k) {
			if e.Next(k) == r && e.Kind(k) == parse.String {
				e.lead(k, &b, left)
				b.WriteByte(' ')
			}
		}
	case parse.Property:
		if key, ok := e.KeyOf(e.First(up), e.At(up).Flags&parse.Computed != 0); ok && e.Kid(up, 1) == r {
			if call := e.Parents[e.Parents[up]]; e.Kind(call) == parse.New && e.query(call) {
				return "?" + key + "="
			}
			b.WriteString(key + ": ")
		}
	case parse.Assign: // url.password = "…"
		if to := e.First(up); e.Kid(up, 1) == r && e.Kind(to) == parse.Dot {
			return e.NameOf(e.Kid(to, 1)) + ": "
		}
	case parse.New:
		if e.Kid(up, 1) == r && e.query(up) {
			return "?"
		}
	case parse.Call:
		callee := e.First(up)
		if e.Kind(callee) != parse.Dot || r == callee {
			return ""
		}
		if key := e.Next(callee); key != 0 && e.Next(key) == r { // headers.set("authorization", "…")
			name, ok := e.Names.Constant(key)
			switch {
			case e.query(e.First(callee)) && ok:
				return "?" + name + "="
			case e.query(e.First(callee)):
				return "?{}="
			case ok:
				return name + ": "
			}
			return ""
		}
		if e.NameOf(e.Kid(callee, 1)) != "concat" { // "https://h/".concat("?a=b")
			return ""
		}
		e.lead(e.First(callee), &b, left)
		for k := e.Next(callee); k != r && k != 0 && *left > 0; k = e.Next(k) {
			e.lead(k, &b, left)
		}
	}
	return b.String()
}

// query reports whether an expression makes or is an object of a class that holds a
// query: new URLSearchParams(…), one that a variable holds, url.searchParams.
func (e *extractor) query(r parse.Ref) bool {
	if e.Kind(r) == parse.Ident && e.Scopes.Of[r] != 0 {
		value, ok := e.Names.Origin(e.Scopes.Of[r])
		if !ok {
			return false
		}
		r = value
	}
	switch e.Kind(r) {
	case parse.New:
		return e.Text(e.First(r)) == "URLSearchParams"
	case parse.Dot:
		return e.NameOf(e.Kid(r, 1)) == "searchParams"
	}
	return false
}

// lead writes the text of a part, with {} for what varies.
func (e *extractor) lead(r parse.Ref, to *strings.Builder, left *int) {
	if *left--; *left < 0 {
		return
	}
	switch n := e.At(r); {
	case n.Kind == parse.String && n.End-n.Start <= maxLabel:
		to.WriteString(e.StringValue(r))
	case n.Kind == parse.Chunk && n.End-n.Start <= maxLabel:
		to.WriteString(e.ChunkValue(r))
	case n.Kind == parse.Binary && n.Op == parse.Plus, n.Kind == parse.Template:
		for k := n.First(); k != 0; k = e.Next(k) {
			e.lead(k, to, left)
		}
	default:
		to.WriteString("{}")
	}
}
