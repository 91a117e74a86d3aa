package bundle

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// helperKind says what a helper of a bundler makes of its argument.
type helperKind uint8

const (
	noHelper helperKind = iota
	commonJS            // (cb, mod) => () => (mod || cb((mod = {exports: {}}).exports, mod), mod.exports)
	esmInit             // (fn, res, err) => () => (fn && (res = fn(fn = 0)), res)
	flat                // (fn) => { var mod; return (parent) => (mod || fn(mod = {exports: {}, parent}, mod.exports), mod.exports) }
)

// wrappers reads var require_a = helper({"a.js" (exports, module) {…}}), as
// esbuild and Rolldown write CommonJS modules and modules that run late, browser-pack-flat
// modules that load each other in a circle, or the functions that Rollup makes of them.
func (d *detector) wrappers() {
	helpers := map[scope.BindingID]helperKind{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		var ident, fn parse.Ref
		switch n.Kind {
		case parse.Declarator:
			ident, fn = n.First(), d.Next(n.First())
		case parse.FuncDecl:
			ident, fn = n.First(), parse.Ref(i)
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
	d.importedHelpers(helpers)
	b := Bundle{Bundler: d.esbuildOrRolldown(), Basis: "variables that hold modules wrapped by a helper"}
	d.helped(&b, helpers)
	if b.Bundler == Esbuild {
		b.Bundler = d.esbuildOrRolldown()
	}
	if len(b.Modules) == 0 {
		b = Bundle{Bundler: Rollup, Basis: "functions that run a module once and keep its exports"}
		d.once(&b)
	}
	d.add(b)
}

// esbuildOrRolldown tells bundlers with the same helpers apart: that of Rolldown lets
// go of the functions that it has run, Bun keeps what imports of CommonJS modules gave.
func (d *detector) esbuildOrRolldown() Bundler {
	if strings.HasPrefix(d.Src, "// @bun") || strings.Contains(d.Src, "__toESMCache_") {
		return Bun
	}
	if d.forgets || strings.Contains(d.Src, "//#region ") || strings.Contains(d.Src, "rolldown") {
		return Rolldown
	}
	return Esbuild
}

// helperOf tells the helpers apart by what they assign to their parameters.
func (d *detector) helperOf(fn parse.Ref) helperKind {
	params := d.Kid(fn, 1)
	first := d.First(params)
	if d.Kids(params) == 1 && d.Kind(first) == parse.Ident && d.At(fn).End-d.At(fn).Start < 400 && d.flatFactory(fn, d.Scopes.Of[first]) {
		return flat
	}
	if n := d.Kids(params); n != 2 && n != 3 || d.Kind(first) != parse.Ident || d.Kind(d.Next(first)) != parse.Ident || d.At(fn).End-d.At(fn).Start > 600 {
		return noHelper
	}
	callback, kept := d.Scopes.Of[first], d.Scopes.Of[d.Next(first)]
	if d.Kids(params) == 3 { // one that keeps what was thrown
		kept = 0
	}
	for _, use := range d.usesOf(kept) { // mod = {exports: {}}
		assign := d.Parents[use]
		if d.Kind(assign) != parse.Assign || d.First(assign) != use {
			continue
		}
		value := d.Kid(assign, 1)
		if d.Kind(value) == parse.Object && d.Kids(value) == 1 {
			if key, ok := d.KeyOf(d.First(d.First(value)), false); ok && key == "exports" {
				for _, use := range d.usesOf(callback) { // cb = null
					up := d.Parents[use]
					d.forgets = d.forgets || d.Kind(up) == parse.Assign && d.First(up) == use && d.Kind(d.Next(use)) == parse.Null
				}
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

// flatFactory reports whether a function makes the function that runs what it is given
// once: with mod = {exports: {}, parent: parent} and mod.exports.
func (d *detector) flatFactory(fn parse.Ref, callback scope.BindingID) bool {
	for _, use := range d.usesOf(callback) {
		call := d.Parents[use]
		assign := d.Next(use)
		object := d.Next(d.First(assign))
		if d.Kind(call) != parse.Call || d.First(call) != use || d.Kind(assign) != parse.Assign || d.Kind(object) != parse.Object || d.Kids(object) != 2 || d.enclosing(call) == fn {
			continue
		}
		exports, _ := d.KeyOf(d.First(d.First(object)), false)
		parent, _ := d.KeyOf(d.First(d.Last(object)), false)
		if exports == "exports" && parent == "parent" {
			return true
		}
	}
	return false
}

// importedHelpers finds helpers that the file has from another chunk: what is
// imported from it is called with what a helper is called with, and what it gives
// is only called, without arguments, or exported.
func (d *detector) importedHelpers(helpers map[scope.BindingID]helperKind) {
	for s := d.First(d.Root); s != 0; s = d.Next(s) {
		if d.Kind(s) != parse.Import {
			continue
		}
		source := d.StringValue(d.First(s))
		if !strings.HasPrefix(source, ".") {
			continue
		}
		for k := d.Next(d.First(s)); k != 0; k = d.Next(k) {
			if d.Kind(k) != parse.ImportName {
				continue
			}
			b := d.Scopes.Of[d.Kid(k, 1)]
			if kind := d.importedHelper(b, chunkName.MatchString(source)); kind != noHelper {
				helpers[b] = kind
			}
		}
	}
}

// chunkName are the names that chunks with helpers have when nobody chose others.
var chunkName = regexp.MustCompile(`(?:^|/)(?:chunk-[A-Z0-9]{8}|rolldown-runtime[\w.-]*)\.[cm]?js$`)

func (d *detector) importedHelper(b scope.BindingID, chunk bool) helperKind {
	calls, keyed, shaped := 0, 0, 0
	for _, use := range d.usesOf(b) {
		call := d.Parents[use]
		if d.Kind(call) == parse.ExportName {
			continue
		}
		holder, fn, path := d.heldCall(call)
		if holder == 0 || d.First(call) != use || d.Kids(d.Kid(fn, 1)) > 2 {
			return noHelper
		}
		for _, u := range d.usesOf(d.Scopes.Of[holder]) {
			switch up := d.Parents[u]; {
			case u == holder || d.Kind(up) == parse.ExportName:
			case d.Kind(up) != parse.Call || d.First(up) != u || d.Next(u) != 0:
				return noHelper
			}
		}
		calls++
		if path != "" {
			keyed++
		}
		if d.First(d.Kid(fn, 1)) != 0 {
			shaped++
		}
	}
	switch {
	case calls == 0 || keyed < calls && !chunk:
		return noHelper
	case shaped > 0:
		return commonJS
	}
	return esmInit
}

// heldCall reads a = helper(function …) and a = helper({"path" () {…}}).
func (d *detector) heldCall(call parse.Ref) (holder, fn parse.Ref, path string) {
	up := d.Parents[call]
	if k := d.Kind(up); d.Kind(call) != parse.Call || k != parse.Declarator && k != parse.Assign || d.Kind(d.First(up)) != parse.Ident || d.Next(d.First(up)) != call {
		return 0, 0, ""
	}
	fn = d.Kid(call, 1)
	if d.Kind(fn) == parse.Object && d.Kids(fn) == 1 {
		p := d.First(fn)
		path, _ = d.KeyOf(d.First(p), d.At(p).Flags&parse.Computed != 0)
		fn = d.Kid(p, 1)
	}
	if !d.Kind(fn).IsFunction() {
		return 0, 0, ""
	}
	return d.First(up), fn, path
}

func (d *detector) helped(b *Bundle, helpers map[scope.BindingID]helperKind) {
	held := map[scope.BindingID]int{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Kind == parse.Call {
			d.heldByNone(b, parse.Ref(i))
			continue
		}
		if n.Kind != parse.Declarator && n.Kind != parse.Assign || d.Kind(n.First()) != parse.Ident {
			continue
		}
		call := d.Next(n.First())
		if d.Kind(call) != parse.Call {
			continue
		}
		kind := noHelper
		switch callee := d.First(call); d.Kind(callee) {
		case parse.Ident:
			kind = helpers[d.Scopes.Of[callee]]
		case parse.Dot: // of a chunk that was required
			switch name := d.NameOf(d.Kid(callee, 1)); {
			case strings.HasPrefix(name, "__commonJS"):
				kind = commonJS
			case strings.HasPrefix(name, "__esm"):
				kind = esmInit
			}
		}
		if kind == noHelper {
			continue
		}
		holder, fn, path := d.heldCall(call)
		if holder == 0 {
			continue
		}
		m := d.wrapped(d.NameOf(n.First()), parse.Ref(i), fn)
		m.Path, m.Hoisted = path, kind == esmInit
		switch kind {
		case commonJS:
			d.roles(fn, ExportsRole, ModuleRole)
		case flat:
			d.roles(fn, ModuleRole, ExportsRole)
			b.Joins, b.Bundler, b.Basis = true, Browserify, "variables that hold modules that load each other in a circle"
		}
		held[d.Scopes.Of[n.First()]] = len(b.Modules)
		b.Modules = append(b.Modules, m)
	}
	d.wrapperCalls(b, held)
	d.inlinedLoads(b)
}

// heldByNone reads helper(function …)() of a helper and a module that are used once: a
// minifier puts both where they are used.
func (d *detector) heldByNone(b *Bundle, call parse.Ref) {
	callee, fn := d.First(call), d.Kid(call, 1)
	if !d.Kind(callee).IsFunction() || !d.Kind(fn).IsFunction() || d.Next(fn) != 0 || d.Kids(d.Kid(callee, 1)) < 2 {
		return
	}
	kind := d.helperOf(callee)
	if kind != commonJS && kind != esmInit {
		return
	}
	m := d.wrapped("module@"+parse.FormatNumber(float64(d.At(fn).Start)), call, fn)
	m.Path, m.inlined = "", true
	if kind == commonJS {
		d.roles(fn, ExportsRole, ModuleRole)
	}
	b.Modules = append(b.Modules, m)
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
