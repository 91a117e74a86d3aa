package bundle

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// once reads modules that Rollup runs at their first use: a flag is looked at,
// set, the module runs, and its exports are given.
//
//	function requireA () { if (done) return a.exports; done = 1; …; return a.exports }
//	function requireA () { return done || (done = 1, …), a.exports }
//	function requireA () { return done ? a : (done = 1, …, a) }
//
// A minifier puts those that are used once where they are used, as a function
// that is called there or as the expression itself.
func (d *detector) once(b *Bundle) {
	held := map[scope.BindingID]int{}
	named := 0
	for i := range d.Nodes {
		if d.Nodes[i].Kind != parse.Assign {
			continue
		}
		unit, exports, ok := d.flagged(parse.Ref(i))
		if !ok {
			continue
		}
		m := Module{Kind: Wrapped, At: d.span(unit), Source: d.span(unit)}
		var holder parse.Ref
		if d.Kind(unit).IsFunction() {
			m = d.wrapped("", unit, unit)
			holder = d.holder(unit)
		}
		if holder != 0 {
			m.ID = d.NameOf(holder)
			named++
			held[d.Scopes.Of[holder]] = len(b.Modules)
		} else { // it has no name but that of its exports
			m.ID = d.NameOf(exports)
			m.inlined = true
		}
		b.Modules = append(b.Modules, m)
	}
	if named < 2 && !strings.Contains(d.Src, "hasRequired") {
		b.Modules = nil
		return
	}
	d.wrapperCalls(b, held)
	d.inlinedLoads(b)
}

// holder is the name under which a function is called, 0 for one that is called
// where it stands.
func (d *detector) holder(fn parse.Ref) parse.Ref {
	if d.Kind(fn) == parse.FuncDecl {
		return d.First(fn)
	}
	if up := d.Parents[fn]; d.Kind(up) == parse.Declarator && d.Kind(d.First(up)) == parse.Ident {
		return d.First(up)
	}
	return 0
}

// inlinedLoads are those of modules that stand in the module that loads them.
func (d *detector) inlinedLoads(b *Bundle) {
	places := nestOf(b.Modules)
	for i := range b.Modules {
		m := &b.Modules[i]
		if !m.inlined {
			continue
		}
		if from := places.Around(i); from >= 0 {
			b.Modules[from].Requires = append(b.Modules[from].Requires, Require{ID: m.ID, At: m.At})
		} else {
			b.Entries = append(b.Entries, m.ID)
		}
	}
	b.Entries = sortedOnce(b.Entries)
}

// flagged reads the module that sets a flag: the function, or the expression,
// that it is, and the name of its exports.
func (d *detector) flagged(set parse.Ref) (unit, exports parse.Ref, ok bool) {
	n := d.At(set)
	if n.Op != parse.Equal || d.Kind(n.First()) != parse.Ident || d.Text(d.Next(n.First())) != "1" {
		return 0, 0, false
	}
	flag := d.Scopes.Binding(n.First())
	if flag == nil || flag.Reads != 1 || flag.Writes != 1 || flag.How != scope.Var && flag.How != scope.Let {
		return 0, 0, false
	}
	for _, use := range d.usesOf(d.Scopes.Of[n.First()]) {
		if use == n.First() {
			continue
		}
		switch up := d.Parents[use]; d.Kind(up) {
		case parse.If:
			unit, exports = d.flaggedIf(up, use, set)
		case parse.Logical, parse.Cond:
			unit, exports = d.flaggedExpression(up, use, set)
		}
	}
	return unit, exports, unit != 0
}

// flaggedIf reads if (done) return a; done = 1;
func (d *detector) flaggedIf(test, use, set parse.Ref) (unit, exports parse.Ref) {
	then := d.Kid(test, 1)
	if d.Kind(then) == parse.Block {
		then = d.First(then)
	}
	fn := d.starts(test)
	if d.First(test) != use || d.Kind(then) != parse.Return || fn == 0 {
		return 0, 0
	}
	next := d.Next(test)
	for d.Kind(next) == parse.VarDecl && d.declaresOnly(next) {
		next = d.Next(next)
	}
	if exports = d.exportsOf(d.First(then)); exports == 0 || !d.leads(set, next) {
		return 0, 0
	}
	return fn, exports
}

// flaggedExpression reads done || (done = 1, …), a and done ? a : (done = 1, …, a).
func (d *detector) flaggedExpression(e, use, set parse.Ref) (unit, exports parse.Ref) {
	if d.First(e) != use {
		return 0, 0
	}
	whole := e
	switch d.Kind(e) {
	case parse.Logical:
		if d.At(e).Op != parse.Lor || !d.leads(set, d.Next(use)) {
			return 0, 0
		}
		if whole = d.Parents[e]; d.Kind(whole) != parse.Sequence || d.First(whole) != e {
			return 0, 0
		}
		exports = d.exportsOf(d.Last(whole))
	case parse.Cond:
		if !d.leads(set, d.Kid(e, 2)) {
			return 0, 0
		}
		exports = d.exportsOf(d.Next(use))
	}
	if exports == 0 {
		return 0, 0
	}
	up := d.Parents[whole]
	switch {
	case d.Kind(up) == parse.Return:
		if fn := d.starts(up); fn != 0 {
			return fn, exports
		}
	case d.Kind(up) == parse.Arrow && d.First(d.Kid(up, 1)) == 0:
		return up, exports
	}
	return whole, exports
}

// declaresOnly reports whether no variable of a declaration gets a value.
func (d *detector) declaresOnly(r parse.Ref) bool {
	for k := d.First(r); k != 0; k = d.Next(k) {
		if d.Kind(d.Next(d.First(k))) != parse.Empty {
			return false
		}
	}
	return true
}

// leads reports whether set is what a statement or expression does first.
func (d *detector) leads(set, r parse.Ref) bool {
	for {
		switch d.Kind(r) {
		case parse.ExprStmt, parse.Sequence:
			r = d.First(r)
		default:
			return r == set
		}
	}
}

// starts is the function without parameters whose body begins with a statement,
// or 0.
func (d *detector) starts(s parse.Ref) parse.Ref {
	body := d.Parents[s]
	fn := d.Parents[body]
	if d.Kind(body) != parse.Block || !d.Kind(fn).IsFunction() || d.First(d.Kid(fn, 1)) != 0 {
		return 0
	}
	first := d.First(body)
	if d.Kind(first) == parse.ExprStmt && d.Kind(d.First(first)) == parse.String {
		first = d.Next(first)
	}
	if first != s {
		return 0
	}
	return fn
}

// exportsOf is the variable in a or a.exports, or 0.
func (d *detector) exportsOf(r parse.Ref) parse.Ref {
	if d.Kind(r) == parse.Dot && d.NameOf(d.Kid(r, 1)) == "exports" {
		r = d.First(r)
	}
	if d.Kind(r) != parse.Ident || d.Scopes.Of[r] == 0 {
		return 0
	}
	return r
}
