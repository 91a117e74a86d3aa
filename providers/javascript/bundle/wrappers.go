package bundle

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// helperKind says what a helper of a bundler makes of its argument.
type helperKind uint8

const (
	noHelper helperKind = iota
	commonJS            // (cb, mod) => () => (mod || cb((mod = {exports: {}}).exports, mod), mod.exports)
	esmInit             // (fn, res) => () => (fn && (res = fn(fn = 0)), res)
)

// wrappers reads var require_a = helper({"a.js" (exports, module) {…}}), as
// esbuild and Rolldown write CommonJS modules and modules that run late, and
// function requireA () {…}, as Rollup does.
func (d *detector) wrappers() {
	helpers := map[scope.BindingID]helperKind{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		var ident, fn parse.Ref
		switch n.Kind {
		case parse.Declarator:
			ident, fn = n.First, d.Next(n.First)
		case parse.FuncDecl:
			ident, fn = n.First, parse.Ref(i)
		default:
			continue
		}
		if d.Kind(ident) != parse.Ident || !d.Kind(fn).IsFunction() {
			continue
		}
		if k := d.helperOf(fn); k != noHelper && d.Scopes.Of[ident] != 0 {
			helpers[d.Scopes.Of[ident]] = k
		}
	}
	b := Bundle{Bundler: d.esbuildOrRolldown(), Basis: "variables that hold modules wrapped by a helper"}
	if len(helpers) > 0 {
		d.helped(&b, helpers)
	}
	if len(b.Modules) == 0 {
		b = Bundle{Bundler: Rollup, Basis: "functions that run a module once and keep its exports"}
		d.once(&b)
	}
	d.add(b)
}

func (d *detector) esbuildOrRolldown() Bundler {
	if strings.Contains(d.Src, "//#region ") || strings.Contains(d.Src, "rolldown") {
		return Rolldown
	}
	return Esbuild
}

// helperOf tells the helpers apart by what they assign to their parameters.
func (d *detector) helperOf(fn parse.Ref) helperKind {
	params := d.Kid(fn, 1)
	first := d.First(params)
	if d.Kids(params) != 2 || d.Kind(first) != parse.Ident || d.Kind(d.Next(first)) != parse.Ident || d.At(fn).End-d.At(fn).Start > 600 {
		return noHelper
	}
	callback, kept := d.Scopes.Of[first], d.Scopes.Of[d.Next(first)]
	for _, use := range d.usesOf(kept) { // mod = {exports: {}}
		assign := d.Parents[use]
		if d.Kind(assign) != parse.Assign || d.First(assign) != use {
			continue
		}
		value := d.Kid(assign, 1)
		if d.Kind(value) == parse.Object && d.Kids(value) == 1 {
			if key, ok := d.KeyOf(d.First(d.First(value)), false); ok && key == "exports" {
				return commonJS
			}
		}
	}
	for _, use := range d.usesOf(callback) { // fn = 0
		assign := d.Parents[use]
		if d.Kind(assign) == parse.Assign && d.First(assign) == use && d.Text(d.Kid(assign, 1)) == "0" {
			return esmInit
		}
	}
	return noHelper
}

func (d *detector) helped(b *Bundle, helpers map[scope.BindingID]helperKind) {
	held := map[scope.BindingID]int{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Kind != parse.Declarator && n.Kind != parse.Assign || d.Kind(n.First) != parse.Ident {
			continue
		}
		call := d.Next(n.First)
		if d.Kind(call) != parse.Call || d.Kind(d.First(call)) != parse.Ident {
			continue
		}
		kind := helpers[d.Scopes.Of[d.First(call)]]
		if kind == noHelper {
			continue
		}
		fn, path := d.Kid(call, 1), ""
		if d.Kind(fn) == parse.Object && d.Kids(fn) == 1 {
			p := d.First(fn)
			path, _ = d.KeyOf(d.First(p), d.At(p).Flags&parse.Computed != 0)
			fn = d.Kid(p, 1)
		}
		if !d.Kind(fn).IsFunction() {
			continue
		}
		m := d.wrapped(d.NameOf(n.First), parse.Ref(i), fn)
		m.Path, m.Hoisted = path, kind == esmInit
		if kind == commonJS {
			d.roles(fn, ExportsRole, ModuleRole)
		}
		held[d.Scopes.Of[n.First]] = len(b.Modules)
		b.Modules = append(b.Modules, m)
	}
	d.wrapperCalls(b, held)
}

// wrapperCalls finds which modules call which: a call of the variable that holds
// a module loads it.
func (d *detector) wrapperCalls(b *Bundle, held map[scope.BindingID]int) {
	places := nestOf(b.Modules)
	for binding, target := range held {
		for _, use := range d.usesOf(binding) {
			call := d.Parents[use]
			if d.Kind(call) != parse.Call || d.First(call) != use {
				continue
			}
			at := d.span(call)
			if from := places.Innermost(at.Start); from >= 0 && from != target {
				q := Require{ID: b.Modules[target].ID, Specifier: b.Modules[target].Path, Dynamic: d.later(call), At: at}
				b.Modules[from].Requires = append(b.Modules[from].Requires, q)
			} else if from < 0 {
				b.Entries = append(b.Entries, b.Modules[target].ID)
			}
		}
	}
	b.Entries = sortedOnce(b.Entries)
}

// once reads function requireA () { if (done) return a; done = 1; … return a }.
func (d *detector) once(b *Bundle) {
	held := map[scope.BindingID]int{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Kind != parse.FuncDecl || d.Kind(n.First) != parse.Ident || d.First(d.Kid(parse.Ref(i), 1)) != 0 {
			continue
		}
		if !d.runsOnce(parse.Ref(i)) {
			continue
		}
		m := d.wrapped(d.NameOf(n.First), parse.Ref(i), parse.Ref(i))
		held[d.Scopes.Of[n.First]] = len(b.Modules)
		b.Modules = append(b.Modules, m)
	}
	if len(b.Modules) < 2 && !strings.Contains(d.Src, "hasRequired") {
		b.Modules = nil
		return
	}
	d.wrapperCalls(b, held)
}

// runsOnce reports whether a function sets a variable that it looks at first,
// and gives another variable.
func (d *detector) runsOnce(fn parse.Ref) bool {
	body := d.Kid(fn, 2)
	s := d.First(body)
	if d.Kind(s) == parse.ExprStmt && d.Kind(d.First(s)) == parse.String {
		s = d.Next(s)
	}
	var flag parse.Ref
	var rest parse.Ref
	switch d.Kind(s) {
	case parse.If: // if (done) return a; done = 1;
		flag = d.First(s)
		then := d.Kid(s, 1)
		if d.Kind(then) == parse.Block {
			then = d.First(then)
		}
		if d.Kind(then) != parse.Return || d.Kind(d.First(then)) != parse.Ident {
			return false
		}
		rest = d.Next(s)
		if d.Kind(rest) == parse.ExprStmt {
			rest = d.First(rest)
		}
	case parse.Return: // return done ? a : (done = 1, …, a), or done || (done = 1, …), a
		e := d.First(s)
		if d.Kind(e) == parse.Sequence {
			e = d.First(e)
		}
		switch d.Kind(e) {
		case parse.Cond:
			flag, rest = d.First(e), d.Kid(e, 2)
		case parse.Logical:
			flag, rest = d.First(e), d.Kid(e, 1)
		default:
			return false
		}
	default:
		return false
	}
	if d.Kind(rest) == parse.Sequence {
		rest = d.First(rest)
	}
	b := scope.BindingID(0)
	if d.Kind(flag) == parse.Ident {
		b = d.Scopes.Of[flag]
	}
	target := d.First(rest)
	return b != 0 && d.Kind(rest) == parse.Assign && d.Kind(target) == parse.Ident && d.Scopes.Of[target] == b && d.Text(d.Kid(rest, 1)) == "1"
}
