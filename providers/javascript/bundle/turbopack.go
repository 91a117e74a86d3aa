package bundle

import (
	"strings"

	"rea/providers/javascript/parse"
)

// turbopack reads TURBOPACK.push([script, {"id": (context) => …}]), and the
// flat form [script, id, (context) => …, id, …], which server chunks export.
func (d *detector) turbopack(list parse.Ref) {
	if d.Kind(list) != parse.Array || d.taken[list] {
		return
	}
	first := d.First(list)
	second := d.Next(first)
	b := Bundle{Bundler: Turbopack, Basis: "modules that are pushed to the loader", Loader: "TURBOPACK"}
	switch {
	case second == 0:
		return
	case d.Kind(d.Parents[list]) == parse.Assign: // module.exports = [id, (context) => …, …]
		if !d.turbopackChunk(list) {
			return
		}
		b.Basis, b.Loader, second = "a chunk that exports its modules", "require", first
	case !d.pushesToTurbopack(list):
		return
	}
	if d.Kind(second) == parse.Object {
		d.functions(second, func(key string, at, fn parse.Ref) {
			b.Modules = append(b.Modules, d.turbopackModule(key, at, fn))
		})
	} else {
		var ids []string
		for k := second; k != 0; k = d.Next(k) {
			if id, ok := d.Names.Constant(k); ok {
				ids = append(ids, id)
				continue
			}
			if d.Kind(k).IsFunction() {
				for _, id := range ids {
					b.Modules = append(b.Modules, d.turbopackModule(id, k, k))
				}
			}
			ids = nil
		}
	}
	if text, ok := d.Names.Constant(first); ok {
		b.Chunks = []string{text}
	}
	if last := d.Last(list); d.Kind(last) == parse.Object { // {otherChunks: […], runtimeModuleIds: […]}
		for k := d.First(last); k != 0; k = d.Next(k) {
			if key, ok := d.KeyOf(d.First(k), false); !ok || key != "runtimeModuleIds" {
				continue
			}
			for e := d.First(d.Kid(k, 1)); e != 0; e = d.Next(e) {
				if id, ok := d.Names.Constant(e); ok {
					b.Entries = append(b.Entries, id)
				}
			}
		}
	}
	d.taken[list] = true
	if len(b.Modules) == 0 && len(b.Entries) > 0 { // a runtime that starts modules of chunks
		d.found.Bundles = append(d.found.Bundles, b)
	}
	d.add(b)
}

// turbopackStart reads what loads chunks and runs modules of them:
//
//	var R = require("../[turbopack]_runtime.js")("server/app/page.js");
//	R.c("server/chunks/a.js"); R.m(12);
func (d *detector) turbopackStart(call, load parse.Ref) {
	name, ok := d.Names.Required(load)
	holder := d.First(d.Parents[call])
	if !ok || !strings.HasSuffix(name, "[turbopack]_runtime.js") || d.Kind(d.Parents[call]) != parse.Declarator || d.Kind(holder) != parse.Ident {
		return
	}
	b := Bundle{Bundler: Turbopack, Basis: "a file that runs modules of chunks", Loader: "require"}
	for _, use := range d.usesOf(d.Scopes.Of[holder]) {
		dot := d.Parents[use]
		run := d.Parents[dot]
		if d.Kind(dot) != parse.Dot || d.First(dot) != use || d.Kind(run) != parse.Call || d.First(run) != dot {
			continue
		}
		id, ok := d.Names.Constant(d.Next(dot))
		switch name := d.NameOf(d.Kid(dot, 1)); {
		case ok && name == "m":
			b.Entries = append(b.Entries, id)
		case ok && name == "c":
			b.Chunks = append(b.Chunks, id)
		}
	}
	if b.Entries = sortedOnce(b.Entries); len(b.Entries) > 0 {
		d.found.Bundles = append(d.found.Bundles, b)
	}
}

// turbopackChunk reports whether a list is ids and functions in turns, and what
// the first parameter of the functions is used for are methods of a context.
func (d *detector) turbopackChunk(list parse.Ref) bool {
	ids, methods := 0, 0
	for k := d.First(list); k != 0; k = d.Next(k) {
		switch kind := d.Kind(k); {
		case kind == parse.Number || kind == parse.String:
			ids++
		case kind.IsFunction() && ids > 0:
			ids = 0
			context := d.First(d.Kid(k, 1))
			if context == 0 {
				continue
			}
			for _, use := range d.usesOf(d.Scopes.Of[context]) {
				dot := d.Parents[use]
				if d.Kind(dot) != parse.Dot || d.First(dot) != use || d.Kind(d.Parents[dot]) != parse.Call {
					continue
				}
				switch d.NameOf(d.Kid(dot, 1)) {
				case "i", "r", "s", "v", "x", "n", "A", "j", "q":
					methods++
				}
			}
		default:
			return false
		}
	}
	return methods > 0 && ids == 0
}

func (d *detector) pushesToTurbopack(list parse.Ref) bool {
	callee := d.First(d.Parents[list])
	n := d.At(callee)
	text := d.Src[n.Start:min(n.End, n.Start+400)]
	return strings.Contains(text, "TURBOPACK")
}

func (d *detector) turbopackModule(id string, at, fn parse.Ref) Module {
	m := d.wrapped(id, at, fn)
	if p, ok := strings.CutPrefix(id, "[project]/"); ok {
		m.Path, _, _ = strings.Cut(p, " ")
	}
	params := d.roles(fn, ContextRole, ModuleRole, ExportsRole)
	for _, use := range d.usesOf(params[0]) {
		dot := d.Parents[use]
		call := d.Parents[dot]
		if d.Kind(dot) != parse.Dot || d.First(dot) != use || d.Kind(call) != parse.Call || d.First(call) != dot {
			continue
		}
		arg := d.Next(dot)
		switch d.NameOf(d.Kid(dot, 1)) {
		case "i", "r", "t":
			m.Requires = d.require(m.Requires, call, arg, false)
		case "A":
			m.Requires = d.require(m.Requires, call, arg, true)
		case "s": // exports of another module that was joined
			if also, ok := d.Names.Constant(d.Next(arg)); ok && d.Kind(d.Next(arg)) != parse.Empty && also != id {
				m.Also = append(m.Also, also)
			}
		case "v": // (load) => Promise.all(…).then(() => load(id))
			if load := d.First(d.Kid(arg, 1)); d.Kind(arg).IsFunction() && load != 0 {
				for _, u := range d.usesOf(d.Scopes.Of[load]) {
					if c := d.Parents[u]; d.Kind(c) == parse.Call && d.First(c) == u && d.Next(u) != 0 {
						if _, ok := d.Names.Constant(d.Next(u)); ok {
							m.Requires = d.require(m.Requires, c, d.Next(u), true)
						}
					}
				}
			}
		}
	}
	// ({r: require, i: import}) => …, as older versions wrote it
	pattern := d.First(d.Kid(fn, 1))
	if d.Kind(pattern) == parse.ObjectPattern {
		for k := d.First(pattern); k != 0; k = d.Next(k) {
			key, ok := d.KeyOf(d.First(k), false)
			local := d.Kid(k, 1)
			if !ok || d.Kind(local) != parse.Ident || key != "r" && key != "i" && key != "l" {
				continue
			}
			for _, use := range d.usesOf(d.Scopes.Of[local]) {
				if call := d.Parents[use]; d.Kind(call) == parse.Call && d.First(call) == use {
					m.Requires = d.require(m.Requires, call, d.Next(use), key == "l")
				}
			}
		}
	}
	return m
}
