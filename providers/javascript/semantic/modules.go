package semantic

import (
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
)

// exported is the name in exports.a and module.exports.
func (e *extractor) exported(target parse.Ref) (string, bool) {
	name, ok := e.PropertyOf(target)
	object := e.First(target)
	if !ok {
		return "", false
	}
	if e.Kind(object) == parse.Ident {
		role := e.roles[e.Scopes.Of[object]]
		global := e.Scopes.Of[object] == 0
		switch {
		case name == "exports" && (role == bundle.ModuleRole || global && e.NameOf(object) == "module"):
			return "*", true
		case role == bundle.ExportsRole || global && e.NameOf(object) == "exports":
			return name, true
		}
		return "", false
	}
	if inner, ok := e.exportedObject(object); ok && inner {
		return name, true
	}
	return "", false
}

func (e *extractor) exportedObject(object parse.Ref) (bool, bool) {
	if k := e.Kind(object); k != parse.Dot {
		return false, false
	}
	name, ok := e.exported(object)
	return ok && name == "*", ok
}

func (e *extractor) imports(n *parse.Node) {
	specifier := e.StringValue(n.First())
	for k := e.Next(n.First()); k != 0; k = e.Next(k) {
		local, name := e.First(k), ""
		switch e.Kind(k) {
		case parse.ImportName:
			name, _ = e.KeyOf(local, false)
			local = e.Kid(k, 1)
		case parse.ImportDef:
			name = "default"
		case parse.ImportAll:
			name = "*"
		default:
			continue
		}
		if node := e.binding(e.Scopes.Of[local]); node != none {
			e.unit.Imports = append(e.unit.Imports, Import{node, specifier, name, ByImport})
		}
	}
}

func (e *extractor) exports(r parse.Ref, n *parse.Node) {
	switch n.Kind {
	case parse.ExportNames:
		for k := e.Next(n.First()); k != 0; k = e.Next(k) {
			if e.Kind(k) != parse.ExportName {
				continue
			}
			name, _ := e.KeyOf(e.Kid(k, 1), false)
			if e.Kind(n.First()) == parse.String {
				imported, _ := e.KeyOf(e.First(k), false)
				e.unit.Reexports = append(e.unit.Reexports, Reexport{e.StringValue(n.First()), imported, name})
				continue
			}
			e.export(k, name, e.First(k))
		}
	case parse.ExportAll:
		name := "*"
		if k := e.Next(n.First()); e.Kind(k) != parse.Empty {
			name, _ = e.KeyOf(k, false)
		}
		e.unit.Reexports = append(e.unit.Reexports, Reexport{e.StringValue(n.First()), "*", name})
	case parse.ExportDef:
		e.export(r, "default", n.First())
	case parse.ExportDecl:
		d := n.First()
		switch e.Kind(d) {
		case parse.FuncDecl, parse.ClassDecl:
			e.exportBinding(e.First(d))
		case parse.VarDecl:
			for k := e.First(d); k != 0; k = e.Next(k) {
				e.exportBinding(e.First(k))
			}
		}
	}
}

func (e *extractor) exportBinding(pattern parse.Ref) {
	e.bound(pattern, func(ident parse.Ref) { e.export(ident, e.NameOf(ident), ident) }, 8)
}

// export makes the node of an exported name.
func (e *extractor) export(at parse.Ref, name string, value parse.Ref) {
	node := e.node(Slot, e.span(at), "exports.", name)
	if f := e.functionOf(value); f != none {
		e.edge(Flows, f, node)
	} else {
		e.flow(value, node, Flows, maxSteps)
	}
	e.give(node, name)
}

func (e *extractor) give(node int32, name string) {
	if node != none {
		e.unit.Exports = append(e.unit.Exports, Export{node, name})
	}
}

// giveMembers exports the members of what module.exports is.
func (e *extractor) giveMembers(value parse.Ref) {
	literal := e.Names.Literal(value)
	if e.Kind(literal) != parse.Object || e.object(literal) == none {
		return
	}
	for k := e.First(literal); k != 0; k = e.Next(k) {
		if e.Kind(k) != parse.Property {
			continue
		}
		if name, ok := e.KeyOf(e.First(k), e.At(k).Flags&parse.Computed != 0); ok {
			if slot, ok := e.slots[slotKey{object: literal, name: e.number(name)}]; ok {
				e.give(slot, name)
			}
		}
	}
}

// loading reports whether an expression loads a module whose name is known.
func (e *extractor) loading(r parse.Ref) bool {
	switch e.Kind(r) {
	case parse.Call:
		_, _, ok := e.loads(r, e.First(r))
		return ok
	case parse.ImportCall:
		_, ok := e.Constant(e.First(r))
		return ok
	}
	return false
}

// getters reads the exports that code of a bundle defines: require.d(exports,
// {a: () => b}) and Object.defineProperty(exports, "a", {get: () => b}).
func (e *extractor) getters(r, callee parse.Ref) {
	if e.Kind(callee) != parse.Dot {
		return
	}
	object, arg := e.First(callee), e.Next(callee)
	switch name := e.NameOf(e.Kid(callee, 1)); {
	case e.Kind(object) != parse.Ident || arg == 0:
	case name == "d" && e.roles[e.Scopes.Of[object]] == bundle.RequireRole:
		switch table := e.Next(arg); e.Kind(table) {
		case parse.Object:
			e.gettersIn(table)
		case parse.String:
			e.getter(table, e.StringValue(table), e.Next(table))
		}
	case name == "defineProperty" && e.NameOf(object) == "Object" && e.isExports(arg):
		key := e.Next(arg)
		value, ok := e.Names.Constant(key)
		if d := e.Next(key); ok && value != "__esModule" && e.Kind(d) == parse.Object {
			if v := e.Names.Member(d, "value"); v != 0 {
				e.export(key, value, v)
			} else if get := e.Names.Member(d, "get"); get != 0 {
				e.getter(key, value, get)
			}
		}
	}
}

func (e *extractor) gettersIn(table parse.Ref) {
	for k := e.First(table); k != 0; k = e.Next(k) {
		if e.Kind(k) != parse.Property {
			continue
		}
		if name, ok := e.KeyOf(e.First(k), e.At(k).Flags&parse.Computed != 0); ok {
			e.getter(e.First(k), name, e.Kid(k, 1))
		}
	}
}

// getter is an export that a function gives.
func (e *extractor) getter(at parse.Ref, name string, function parse.Ref) {
	if !e.Kind(function).IsFunction() {
		return
	}
	body := e.Kid(function, 2)
	if e.Kind(body) == parse.Block {
		if body = e.First(body); e.Kind(body) != parse.Return {
			return
		}
		body = e.First(body)
	}
	e.export(at, name, body)
}

// isExports reports whether an expression is the exports of a module.
func (e *extractor) isExports(r parse.Ref) bool {
	switch e.Kind(r) {
	case parse.Ident:
		b := e.Scopes.Of[r]
		return e.roles[b] == bundle.ExportsRole || b == 0 && e.NameOf(r) == "exports"
	case parse.Dot:
		name, ok := e.exported(r)
		return ok && name == "*"
	}
	return false
}
