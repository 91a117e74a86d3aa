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
	specifier := e.StringValue(n.First)
	for k := e.Next(n.First); k != 0; k = e.Next(k) {
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
			e.unit.Imports = append(e.unit.Imports, Import{node, specifier, name, -1})
		}
	}
}

func (e *extractor) exports(r parse.Ref, n *parse.Node) {
	switch n.Kind {
	case parse.ExportNames:
		if e.Kind(n.First) == parse.String {
			return
		}
		for k := e.Next(n.First); k != 0; k = e.Next(k) {
			if e.Kind(k) != parse.ExportName {
				continue
			}
			if b := e.binding(e.Scopes.Of[e.First(k)]); b != none {
				name, _ := e.KeyOf(e.Kid(k, 1), false)
				e.unit.Exports = append(e.unit.Exports, Export{b, name})
			}
		}
	case parse.ExportDef:
		node := e.node(Slot, e.span(r), "exports.default")
		if f := e.functionOf(n.First); f != none {
			e.edge(Flows, f, node)
		} else {
			e.flow(n.First, node, Flows, maxSteps)
		}
		e.unit.Exports = append(e.unit.Exports, Export{node, "default"})
	case parse.ExportDecl:
		d := n.First
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

func (e *extractor) exportBinding(ident parse.Ref) {
	if e.Kind(ident) != parse.Ident {
		return
	}
	if b := e.binding(e.Scopes.Of[ident]); b != none {
		e.unit.Exports = append(e.unit.Exports, Export{b, e.NameOf(ident)})
	}
}
