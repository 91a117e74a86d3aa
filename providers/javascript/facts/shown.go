package facts

import (
	"strconv"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// loads reads what a window shows.
func loads(e *extractor, c *call) {
	if c.n == 0 {
		return
	}
	before := len(e.out.Facts)
	if text, ok := e.Names.Constant(c.args[0]); ok && c.name == "loadURL" {
		e.shown(text, c)
	} else {
		e.page(c.args[0], c)
	}
	if k := e.f.Kind(e.f.First(c.r)); k == parse.Dot || k == parse.Index {
		for i := before; i < len(e.out.Facts); i++ {
			if e.out.Facts[i].Kind == Document || e.out.Facts[i].Kind == Endpoint {
				e.shows = append(e.shows, showing{e.f.First(e.f.First(c.r)), i})
			}
		}
	}
}

// shown reads an address that a window loads.
func (e *extractor) shown(text string, c *call) {
	scheme, rest, ok := strings.Cut(text, ":")
	switch {
	case !ok:
		e.fact(Document, text, c.name, c.r)
	case scheme == "http", scheme == "https", scheme == "ws", scheme == "wss", strings.HasPrefix(scheme, "chrome"), scheme == "devtools", scheme == "view-source":
		e.endpoint(c.args[0], c.name, "", c.r)
	case scheme == "data", scheme == "about", scheme == "blob", scheme == "javascript": // a page without a file
		kind, _, _ := strings.Cut(rest, ",")
		kind, _, _ = strings.Cut(kind, ";")
		if scheme == "blob" || scheme == "javascript" || len(kind) > maxKind {
			kind = ""
		}
		e.fact(Document, scheme+":"+kind, c.name, c.r, Value{"inline", true})
	case scheme == "file":
		e.fact(Document, text, c.name, c.r)
	default: // of a protocol that the program answers: "app://host/index.html"
		name := strings.TrimLeft(rest, "/")
		if strings.HasPrefix(rest, "//") {
			_, name, _ = strings.Cut(name, "/")
		}
		e.fact(Document, name, c.name, c.r, Value{"scheme", scheme})
	}
}

// page reads a file or a variable of the environment that a window loads.
func (e *extractor) page(r parse.Ref, c *call) {
	fact := e.located(Document, r, c.name, c.r)
	if !fact.Dynamic {
		return
	}
	value := e.made(r)
	if k := e.f.Kind(value); k == parse.Dot || k == parse.Index {
		if name, ok := strings.CutPrefix(e.Names.Path(value), "process.env."); ok {
			fact.Details = append(fact.Details, Value{"variable", name})
		}
	}
}

// link tells of pages into which window they are loaded, where one alone is meant.
func (e *extractor) link() {
	e.preferred()
	if len(e.shows) == 0 || len(e.opened) == 0 {
		return
	}
	holders := map[string][]int{} // openings
	for i := range e.opened {
		for _, key := range e.holders(e.opened[i].r) {
			holders[key] = append(holders[key], i)
		}
	}
	for _, s := range e.shows {
		found := -1
		for _, key := range e.receivers(s.receiver) {
			list := holders[key]
			if len(list) == 1 {
				found = list[0]
			} else if len(list) > 1 {
				found = -2
			}
			if len(list) > 0 {
				break
			}
		}
		fact := &e.out.Facts[s.fact]
		switch {
		case found >= 0:
		case found == -1 && len(e.opened) == 1:
			found, fact.Guessed = 0, true
		default:
			continue
		}
		for _, w := range e.opened[found].fact {
			at := e.out.Facts[w].At
			if at == fact.At { // the same caller gives the options and the page
				fact.Windows = append(fact.Windows[:0], at)
				break
			}
			fact.Windows = append(fact.Windows, at)
		}
	}
}

// holders are keys of what holds the window that an expression makes: variables,
// members, functions that give it, the class it is of.
func (e *extractor) holders(r parse.Ref) (keys []string) {
	f := e.f
	if f.Kind(f.First(r)) == parse.Super {
		for up := e.parents[r]; up != 0; up = e.parents[up] {
			if k := f.Kind(up); k == parse.Class || k == parse.ClassDecl {
				keys = append(keys, classKey(up))
				if f.Kind(f.First(up)) == parse.Ident {
					keys = append(keys, variableKey(e.Scopes.Of[f.First(up)]), variableKey(e.declared(f.First(up))))
				}
				r = up
				break
			}
		}
		if f.Kind(r) == parse.ClassDecl {
			return keys
		}
	}
	return append(keys, e.keeps(r, 3)...)
}

func variableKey(b scope.BindingID) string { return "v" + strconv.Itoa(int(b)) }

func classKey(r parse.Ref) string { return "c" + strconv.Itoa(int(r)) }

// keeps are keys of what the value of an expression is put into.
func (e *extractor) keeps(r parse.Ref, hops int) (keys []string) {
	f := e.f
	for up := e.parents[r]; up != 0; r, up = up, e.parents[up] {
		switch f.Kind(up) {
		case parse.Assign, parse.Declarator:
			target := f.First(up)
			if target == r {
				return keys
			}
			if f.Kind(target) == parse.Ident && e.Scopes.Of[target] != 0 {
				b := e.Scopes.Of[target]
				keys = append(keys, variableKey(b))
				if hops > 0 {
					for _, use := range e.usesOf(b) { // return win
						if f.Kind(e.parents[use]) == parse.Return {
							keys = append(keys, e.givenBy(e.parents[use])...)
						}
					}
				}
			} else if k := f.Kind(target); k == parse.Dot || k == parse.Index {
				keys = append(keys, e.memberKey(target))
			}
			if f.Kind(up) == parse.Declarator {
				return keys
			}
		case parse.Member:
			return append(keys, "m.this."+f.Text(f.First(up)))
		case parse.Return:
			return append(keys, e.givenBy(up)...)
		case parse.Arrow:
			return append(keys, e.functionKey(up)...)
		case parse.Logical, parse.Cond, parse.Await, parse.Sequence:
		default:
			return keys
		}
	}
	return keys
}

// givenBy are keys of the function that a statement returns from.
func (e *extractor) givenBy(r parse.Ref) []string {
	for up := e.parents[r]; up != 0; up = e.parents[up] {
		if e.f.Kind(up).IsFunction() {
			return e.functionKey(up)
		}
	}
	return nil
}

func (e *extractor) functionKey(function parse.Ref) []string {
	f := e.f
	outer := e.parents[function]
	switch {
	case f.Kind(function) == parse.FuncDecl && f.Kind(f.First(function)) == parse.Ident:
		return []string{variableKey(e.Scopes.Of[f.First(function)])}
	case f.Kind(outer) == parse.Declarator && f.Kind(f.First(outer)) == parse.Ident:
		return []string{variableKey(e.Scopes.Of[f.First(outer)])}
	case f.Kind(outer) == parse.Member:
		return []string{"m.this." + f.Text(f.First(outer))}
	}
	return nil
}

func (e *extractor) memberKey(r parse.Ref) string {
	return "m." + e.f.Text(r)
}

// receivers are keys of what a page is loaded into, the surest first.
func (e *extractor) receivers(r parse.Ref) (keys []string) {
	f := e.f
	for f.Kind(r) == parse.Dot && (f.NameOf(f.Kid(r, 1)) == "webContents" || f.NameOf(f.Kid(r, 1)) == "mainFrame") {
		r = f.First(r)
	}
	switch f.Kind(r) {
	case parse.Ident:
		b := e.Scopes.Of[r]
		if b == 0 {
			return nil
		}
		keys = append(keys, variableKey(b))
		if value, ok := e.Names.Origin(b); ok {
			keys = append(keys, e.receivers(value)...)
		}
	case parse.This:
		for up := e.parents[r]; up != 0; up = e.parents[up] {
			if k := f.Kind(up); k == parse.Class || k == parse.ClassDecl {
				return []string{classKey(up)}
			}
		}
	case parse.Dot, parse.Index:
		keys = append(keys, e.memberKey(r))
	case parse.Call, parse.New, parse.Await, parse.Assign, parse.Logical:
		callee := f.First(r)
		if f.Kind(r) == parse.Assign || f.Kind(r) == parse.Logical {
			callee = f.Last(r)
		}
		switch f.Kind(callee) {
		case parse.Ident:
			keys = append(keys, variableKey(e.Scopes.Of[callee]))
		case parse.Dot:
			keys = append(keys, e.memberKey(callee))
		case parse.Call, parse.New:
			keys = append(keys, e.receivers(callee)...)
		}
	}
	return keys
}
