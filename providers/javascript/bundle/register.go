package bundle

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A registration is a call that hands one module to a loader.
type registration struct {
	bundler Bundler
	module  Module
	entries []string
}

// register reads calls that register one module each: those of Metro, Parcel,
// SystemJS and AMD.
func (d *detector) register(r, callee parse.Ref) {
	switch d.Kind(callee) {
	case parse.Ident, parse.Dot, parse.Sequence:
	default:
		return
	}
	path := d.path(callee)
	switch {
	case path == "__d":
		d.metro(r)
	case path == "__r" && d.Kind(d.Next(callee)) != parse.Empty:
		if id, ok := d.Names.Constant(d.Next(callee)); ok {
			d.registered = append(d.registered, registration{bundler: Metro, entries: []string{id}})
		}
	case path == "System.register" || strings.HasSuffix(path, ".System.register"):
		d.system(r)
	case path == "define":
		d.amd(r)
	default:
		d.parcel(r, callee)
	}
}

// registrations joins the registered modules into bundles.
func (d *detector) registrations() {
	var order []Bundler
	by := map[Bundler]*Bundle{}
	for _, r := range d.registered {
		b := by[r.bundler]
		if b == nil {
			b = &Bundle{Bundler: r.bundler, Basis: "calls that register modules one by one", Joins: r.bundler == Parcel}
			by[r.bundler] = b
			order = append(order, r.bundler)
		}
		b.Entries = append(b.Entries, r.entries...)
		if r.module.Kind != "" {
			b.Modules = append(b.Modules, r.module)
		}
	}
	for _, bundler := range order {
		d.add(*by[bundler])
	}
}

// metro reads __d(function (global, require, importDefault, importAll, module,
// exports, dependencies) {…}, id, [ids], "path").
func (d *detector) metro(r parse.Ref) {
	fn := d.Kid(r, 1)
	if !d.Kind(fn).IsFunction() {
		return
	}
	id, ok := d.Names.Constant(d.Kid(r, 2))
	if !ok {
		return
	}
	m := d.wrapped(id, r, fn)
	m.Path = ""
	if name, ok := d.Names.Constant(d.Kid(r, 4)); ok {
		m.Path = name
	}
	params := d.roles(fn, NoRole, RequireRole, RequireRole, RequireRole, ModuleRole, ExportsRole, NoRole)
	var ids []string
	if list := d.Kid(r, 3); d.Kind(list) == parse.Array {
		for k := d.First(list); k != 0; k = d.Next(k) {
			to, _ := d.Names.Constant(k)
			ids = append(ids, to)
		}
	} else if d.Kind(list) == parse.Object { // {0: 12, 1: 13, paths: {…}}
		for i := 0; ; i++ {
			to := ""
			for k := d.First(list); k != 0; k = d.Next(k) {
				if key, ok := d.KeyOf(d.First(k), false); ok && key == parse.FormatNumber(float64(i)) {
					to, _ = d.Names.Constant(d.Kid(k, 1))
				}
			}
			if to == "" || i > 10000 {
				break
			}
			ids = append(ids, to)
		}
	}
	for _, b := range params[1:4] {
		for _, use := range d.usesOf(b) {
			m.Requires = d.metroRequire(m.Requires, use, params[6], ids)
		}
	}
	// A dependency that is loaded through a helper stands only in the list.
	for _, use := range d.usesOf(params[6]) {
		index := d.Parents[use]
		if d.Kind(index) != parse.Index {
			continue
		}
		if call := d.Parents[index]; d.Kind(call) == parse.Call && !d.hasRole(d.First(call)) {
			if at, ok := d.listed(index, ids); ok {
				m.Requires = append(m.Requires, Require{ID: at, Dynamic: true, At: d.span(call)})
			}
		}
	}
	d.registered = append(d.registered, registration{bundler: Metro, module: m})
}

func (d *detector) hasRole(r parse.Ref) bool {
	return d.Kind(r) == parse.Ident && d.found.Roles[d.Scopes.Of[r]] == RequireRole
}

func (d *detector) listed(index parse.Ref, ids []string) (string, bool) {
	text, ok := d.Names.Constant(d.Kid(index, 1))
	if !ok {
		return "", false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<20 {
			return "", false
		}
		n = n*10 + int(c-'0')
	}
	if n >= len(ids) {
		return "", false
	}
	return ids[n], true
}

func (d *detector) metroRequire(out []Require, use parse.Ref, list scope.BindingID, ids []string) []Require {
	call := d.Parents[use]
	if d.Kind(call) != parse.Call || d.First(call) != use {
		return out
	}
	arg := d.Next(use)
	q := Require{At: d.span(call), Unknown: true, Dynamic: d.later(call)}
	if d.Kind(arg) == parse.Index && d.Kind(d.First(arg)) == parse.Ident && list != 0 && d.Scopes.Of[d.First(arg)] == list {
		if id, ok := d.listed(arg, ids); ok {
			q.ID, q.Unknown = id, false
		}
	} else if id, ok := d.Names.Constant(arg); ok {
		q.ID, q.Unknown = id, false
	}
	if name, ok := d.Names.Constant(d.Next(arg)); ok && d.Next(arg) != 0 {
		q.Specifier = name
	}
	return append(out, q)
}

// system reads System.register(name?, [names], function (exports, module) {…}).
func (d *detector) system(r parse.Ref) {
	name, list, fn := "", d.Kid(r, 1), d.Kid(r, 2)
	if d.Kind(list) == parse.String {
		name, list, fn = d.StringValue(list), fn, d.Kid(r, 3)
	}
	if d.Kind(list) != parse.Array || !d.Kind(fn).IsFunction() {
		return
	}
	m := d.wrapped(name, r, fn)
	context := d.roles(fn, ExportsRole, ModuleRole)[1]
	m.Requires = d.names(list)
	for _, use := range d.usesOf(context) { // module.import("./a.js")
		dot := d.Parents[use]
		call := d.Parents[dot]
		if d.Kind(dot) != parse.Dot || d.First(dot) != use || d.NameOf(d.Kid(dot, 1)) != "import" || d.Kind(call) != parse.Call || d.First(call) != dot {
			continue
		}
		to, ok := d.Names.Constant(d.Next(dot))
		m.Requires = append(m.Requires, Require{ID: to, Specifier: to, Unknown: !ok, Dynamic: true, At: d.span(call)})
	}
	// Rollup names its first parameter so, before and after minification; compilers of
	// single modules give it other names.
	first := d.First(d.Kid(fn, 1))
	if name == "" && d.Kind(first) == parse.Ident && (d.NameOf(first) == "exports" || len(d.NameOf(first)) < 3) && !strings.Contains(d.Src, "__moduleName") {
		m.Kind = Group
	}
	d.registered = append(d.registered, registration{bundler: SystemJS, module: m})
}

// names are the loads that a list of module names stands for.
func (d *detector) names(list parse.Ref) (out []Require) {
	for k := d.First(list); k != 0; k = d.Next(k) {
		name, ok := d.Names.Constant(k)
		out = append(out, Require{ID: name, Specifier: name, Unknown: !ok, At: d.span(k)})
	}
	return out
}

// amd reads define(name, [names]?, function (…) {…}). One without a name is the
// file itself.
func (d *detector) amd(r parse.Ref) {
	name, list, fn := d.Kid(r, 1), d.Kid(r, 2), d.Kid(r, 3)
	if d.Kind(name) != parse.String {
		return
	}
	if d.Kind(list).IsFunction() {
		list, fn = 0, list
	}
	if !d.Kind(fn).IsFunction() || list != 0 && d.Kind(list) != parse.Array {
		return
	}
	m := d.wrapped(d.StringValue(name), r, fn)
	if list == 0 {
		params := d.roles(fn, RequireRole, ExportsRole, ModuleRole)
		m.Requires = d.webpackRequires(params[0], m.Source)
		d.registered = append(d.registered, registration{bundler: AMD, module: m})
		return
	}
	param := d.First(d.Kid(fn, 1))
	for k := d.First(list); k != 0; k = d.Next(k) {
		text, ok := d.Names.Constant(k)
		switch {
		case ok && text == "require" && param != 0:
			d.found.Roles[d.Scopes.Of[param]] = RequireRole
		case ok && text == "exports" && param != 0:
			d.found.Roles[d.Scopes.Of[param]] = ExportsRole
		case ok && text == "module" && param != 0:
			d.found.Roles[d.Scopes.Of[param]] = ModuleRole
		default:
			m.Requires = append(m.Requires, Require{ID: text, Specifier: text, Unknown: !ok, At: d.span(k)})
		}
		if param != 0 {
			param = d.Next(param)
		}
	}
	delete(d.found.Roles, 0)
	d.registered = append(d.registered, registration{bundler: AMD, module: m})
}

// parcel reads register("id", function (module, exports) {…}), where register is
// a property of what loads modules.
func (d *detector) parcel(r, callee parse.Ref) {
	fn := d.Kid(r, 2)
	if d.Kids(r) != 3 || d.Kind(d.Kid(r, 1)) != parse.String || !d.Kind(fn).IsFunction() || !d.usesParcel() {
		return
	}
	require, ok := d.parcelLoader(callee)
	if !ok {
		return
	}
	m := d.wrapped(d.StringValue(d.Kid(r, 1)), r, fn)
	d.roles(fn, ModuleRole, ExportsRole)
	for _, use := range d.usesOf(require) {
		call := d.Parents[use]
		if d.Kind(call) == parse.Sequence {
			call = d.Parents[call]
		}
		if d.Kind(call) == parse.Call && contains(m.Source, d.span(call)) && d.Kind(d.Kid(call, 1)) == parse.String {
			m.Requires = d.require(m.Requires, call, d.Kid(call, 1), false)
		}
	}
	d.registered = append(d.registered, registration{bundler: Parcel, module: m})
}

func (d *detector) usesParcel() bool {
	if d.parcelKnown == 0 {
		d.parcelKnown = 1
		if strings.Contains(d.Src, "parcelRequire") {
			d.parcelKnown = 2
		}
	}
	return d.parcelKnown == 2
}

// parcelLoader is the variable that loads modules, by the callee that registers
// one: loader.register, or a variable that holds it.
func (d *detector) parcelLoader(callee parse.Ref) (scope.BindingID, bool) {
	if d.Kind(callee) == parse.Sequence {
		callee = d.Last(callee)
	}
	if d.Kind(callee) == parse.Ident {
		value, ok := d.Names.Origin(d.Scopes.Of[callee])
		if !ok {
			return 0, false
		}
		callee = value
	}
	if d.Kind(callee) != parse.Dot || d.NameOf(d.Kid(callee, 1)) != "register" || d.Kind(d.First(callee)) != parse.Ident {
		return 0, false
	}
	b := d.Scopes.Of[d.First(callee)]
	return b, b != 0
}
