package bundle

import (
	"strings"

	"rea/providers/javascript/parse"
)

// packed reads the tables of Browserify and Parcel: {id: [function (require,
// module, exports) {…}, {"./name": id}]}, handed to a function together with the
// ids to start.
func (d *detector) packed(call, callee, table parse.Ref) {
	if d.Kind(table) != parse.Object || d.taken[table] || d.First(table) == 0 {
		return
	}
	for k := d.First(table); k != 0; k = d.Next(k) {
		pair := d.Kid(k, 1)
		if d.Kind(k) != parse.Property || d.Kind(pair) != parse.Array || !d.Kind(d.First(pair)).IsFunction() || d.Kind(d.Next(d.First(pair))) != parse.Object {
			return
		}
	}
	d.taken[table] = true
	b := Bundle{Bundler: d.packer(callee, table), Basis: "a loader called with modules and their dependency tables"}
	for k := d.First(table); k != 0; k = d.Next(k) {
		key, ok := d.KeyOf(d.First(k), d.At(k).Flags&parse.Computed != 0)
		if !ok {
			continue
		}
		b.Modules = append(b.Modules, d.packedModule(key, k))
	}
	for a := d.Next(table); a != 0; a = d.Next(a) {
		if d.Kind(a) != parse.Array {
			continue
		}
		for e := d.First(a); e != 0; e = d.Next(e) {
			if id, ok := d.Names.Constant(e); ok {
				b.Entries = append(b.Entries, id)
			}
		}
		break
	}
	d.add(b)
}

// packer tells the two apart: Parcel's loader keeps itself under a name.
func (d *detector) packer(callee, table parse.Ref) Bundler {
	last := d.Last(d.Parents[table])
	if text, ok := d.Names.Constant(last); ok && strings.HasPrefix(text, "parcelRequire") {
		return Parcel
	}
	for r, hops := d.Parents[table], 0; r != 0 && hops < 4; r, hops = d.Parents[r], hops+1 {
		if d.Kind(r) == parse.Assign && strings.HasPrefix(d.Text(d.First(r)), "parcelRequire") {
			return Parcel
		}
	}
	fn := d.First(d.Kid(d.First(table), 1))
	if d.Kids(d.Kid(fn, 1)) > 3 {
		return Parcel
	}
	return Browserify
}

func (d *detector) packedModule(id string, at parse.Ref) Module {
	pair := d.Kid(at, 1)
	fn := d.First(pair)
	m := d.wrapped(id, at, fn)
	deps := map[string]string{}
	for k := d.First(d.Next(fn)); k != 0; k = d.Next(k) {
		if name, ok := d.KeyOf(d.First(k), false); ok && d.Kind(k) == parse.Property {
			if to, ok := d.Names.Constant(d.Kid(k, 1)); ok {
				deps[name] = to
			}
		}
	}
	params := d.roles(fn, RequireRole, ModuleRole, ExportsRole)
	for _, use := range d.usesOf(params[0]) {
		call := d.Parents[use]
		if d.Kind(call) != parse.Call || d.First(call) != use {
			continue
		}
		name, ok := d.Names.Constant(d.Next(use))
		m.Requires = append(m.Requires, Require{ID: deps[name], Specifier: name, Unknown: !ok, Dynamic: d.later(call), At: d.span(call)})
	}
	return m
}
