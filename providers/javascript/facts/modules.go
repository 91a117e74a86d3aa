package facts

import (
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// maxNames bounds the names kept of one import.
const maxNames = 200

// module reads the import and export statements.
func (e *extractor) module(r parse.Ref, n *parse.Node) {
	f := e.f
	switch n.Kind {
	case parse.Import:
		i := Import{Specifier: f.StringValue(n.First()), Kind: Static, At: e.span(r)}
		for k := f.Next(n.First()); k != 0 && len(i.Names) < maxNames; k = f.Next(k) {
			switch f.Kind(k) {
			case parse.ImportName:
				name, _ := f.KeyOf(f.First(k), false)
				i.Names = append(i.Names, name)
			case parse.ImportDef:
				i.Names = append(i.Names, "default")
			case parse.ImportAll:
				i.Names = append(i.Names, "*")
			}
		}
		e.out.Imports = append(e.out.Imports, i)
	case parse.ImportCall:
		specifier, ok := e.Names.Constant(n.First())
		e.out.Imports = append(e.out.Imports, Import{Specifier: specifier, Kind: Dynamic, Unknown: !ok, At: e.span(r)})
	case parse.ExportNames:
		e.exportNames(r, n)
	case parse.ExportAll:
		name := "*"
		if k := f.Next(n.First()); f.Kind(k) != parse.Empty {
			name, _ = f.KeyOf(k, false)
			e.export(name, r, 0)
		}
		e.handOn(name, r)
		e.out.Imports = append(e.out.Imports, Import{Specifier: f.StringValue(n.First()), Kind: Reexport, Names: []string{"*"}, At: e.span(r)})
		if name == "*" {
			e.export("*", r, 0)
		}
	case parse.ExportDef:
		e.export("default", r, n.First())
	case parse.ExportDecl:
		e.exportDeclaration(n.First())
	}
}

func (e *extractor) exportNames(r parse.Ref, n *parse.Node) {
	f := e.f
	from := f.Kind(n.First()) == parse.String
	var names []string
	for k := f.Next(n.First()); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.ExportName {
			continue
		}
		local := f.First(k)
		name, _ := f.KeyOf(f.Kid(k, 1), false)
		value := parse.Ref(0)
		if from {
			imported, _ := f.KeyOf(local, false)
			if len(names) < maxNames {
				names = append(names, imported)
			}
			e.handOn(name, r, imported)
		} else if b := e.Scopes.Binding(local); b != nil {
			value = b.Decl
		}
		e.export(name, k, value)
	}
	if from {
		e.out.Imports = append(e.out.Imports, Import{Specifier: f.StringValue(n.First()), Kind: Reexport, Names: names, At: e.span(r)})
	}
}

func (e *extractor) export(name string, at, value parse.Ref) {
	e.out.Exports = append(e.out.Exports, Export{Name: name, At: e.span(at), Value: value})
}

func (e *extractor) exportDeclaration(d parse.Ref) {
	f := e.f
	switch f.Kind(d) {
	case parse.FuncDecl, parse.ClassDecl:
		if name := f.First(d); f.Kind(name) == parse.Ident {
			e.export(f.NameOf(name), d, name)
		}
	case parse.VarDecl:
		for k := f.First(d); k != 0; k = f.Next(k) {
			e.exportPattern(f.First(k), 0)
		}
	}
}

func (e *extractor) exportPattern(r parse.Ref, depth int) {
	f := e.f
	if depth > 64 {
		return
	}
	switch f.Kind(r) {
	case parse.Ident:
		e.export(f.NameOf(r), r, r)
	case parse.AssignPattern, parse.Rest:
		e.exportPattern(f.First(r), depth+1)
	case parse.Property:
		e.exportPattern(f.Kid(r, 1), depth+1)
	case parse.ArrayPattern, parse.ObjectPattern:
		for k := f.First(r); k != 0; k = f.Next(k) {
			e.exportPattern(k, depth+1)
		}
	}
}

// requires reads calls that load modules; it reports whether r is one.
func (e *extractor) requires(r parse.Ref, n *parse.Node) bool {
	f := e.f
	callee := n.First()
	arg := f.Next(callee)
	if e.role(callee) == bundle.RequireRole {
		return true
	}
	if e.Names.IsRequire(callee) {
		if arg != 0 {
			e.require(r, arg, Require)
		}
		return true
	}
	if f.Kind(callee) != parse.Dot {
		return false
	}
	object, name := f.First(callee), f.NameOf(f.Kid(callee, 1))
	switch {
	case e.role(object) == bundle.RequireRole:
		if name == "d" && arg != 0 && e.exportsOf(arg) {
			e.getters(f.Next(arg))
		}
		return true
	case e.role(object) == bundle.ContextRole:
		switch name {
		case "s", "esm":
			e.getters(arg)
		case "v", "n", "q":
			if !f.Kind(arg).IsFunction() || name != "v" {
				e.exportObject(r, arg)
			}
		}
		return true
	case e.Names.IsRequire(object) && name == "resolve":
		if arg != 0 {
			e.require(r, arg, Resolve)
		}
		return true
	}
	return false
}

// getters reads the names that a module defines through getters: an object of
// functions, a name followed by a function, or a list of names, each followed by
// functions or by 0 and a value.
func (e *extractor) getters(r parse.Ref) {
	f := e.f
	switch f.Kind(r) {
	case parse.Object:
		for k := f.First(r); k != 0; k = f.Next(k) {
			if f.Kind(k) == parse.Property {
				if name, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
					e.export(name, k, e.Names.Returned(f.Kid(k, 1)))
				}
			}
		}
	case parse.String:
		e.export(f.StringValue(r), r, e.Names.Returned(f.Next(r)))
	case parse.Array:
		for k := f.First(r); k != 0; k = f.Next(k) {
			name, value := k, f.Next(k)
			if f.Kind(name) != parse.String {
				continue
			}
			if f.Kind(value) == parse.Number {
				k = f.Next(value)
				value = k
			} else {
				value = e.Names.Returned(value)
			}
			e.export(f.StringValue(name), name, value)
		}
	}
}

func (e *extractor) require(r, specifier parse.Ref, kind ImportKind) {
	if list := e.listed(specifier); len(list) > 0 { // each of several
		for _, element := range list {
			e.requireOne(r, element, kind)
		}
		return
	}
	e.requireOne(r, specifier, kind)
}

func (e *extractor) requireOne(r, specifier parse.Ref, kind ImportKind) {
	made := e.made(specifier)
	if e.f.Kind(made) == parse.Cond { // one of two, by the platform
		for _, choice := range []parse.Ref{e.f.Kid(made, 1), e.f.Kid(made, 2)} {
			if text, ok := e.Names.Constant(choice); ok {
				e.out.Imports = append(e.out.Imports, Import{Specifier: text, Kind: kind, At: e.span(r), Optional: true, Names: e.addonNames(r, text)})
			} else {
				e.out.Imports = append(e.out.Imports, Import{Kind: kind, Unknown: true, At: e.span(r)})
			}
		}
		return
	}
	if kind == Require && e.native(r, made) {
		return
	}
	text, ok := e.Names.Constant(specifier)
	if !ok { // require(path.join(__dirname, "a"))
		text, ok = e.Path(specifier)
	}
	i := Import{Specifier: text, Kind: kind, Unknown: !ok, At: e.span(r), Optional: e.tried(r)}
	// const {a, b} = require("c")
	parent := e.parents[r]
	if e.f.Kind(parent) == parse.Declarator && e.f.Kind(e.f.First(parent)) == parse.ObjectPattern {
		for k := e.f.First(e.f.First(parent)); k != 0 && len(i.Names) < maxNames; k = e.f.Next(k) {
			if name, ok := e.f.KeyOf(e.f.First(k), false); ok && e.f.Kind(k) == parse.Property {
				i.Names = append(i.Names, name)
			}
		}
	} else if e.f.Kind(parent) == parse.Dot {
		i.Names = append(i.Names, e.f.NameOf(e.f.Kid(parent, 1)))
	} else {
		i.Names = e.addonNames(r, text)
	}
	e.out.Imports = append(e.out.Imports, i)
}

// tried reports whether a failure of r is caught in the same function.
func (e *extractor) tried(r parse.Ref) bool {
	for up := r; up != 0; r, up = up, e.parents[up] {
		k := e.f.Kind(up)
		if k.IsFunction() {
			return false
		}
		if k == parse.Try {
			return e.f.First(up) == r && e.f.Kind(e.f.Kid(up, 1)) == parse.Catch
		}
	}
	return false
}

// exportsName reports whether a name is that of the exports object itself.
func (e *extractor) exportsName(r parse.Ref) bool {
	b := e.Scopes.Binding(r)
	return e.role(r) == bundle.ExportsRole || e.f.NameOf(r) == "exports" && (b == nil || b.How == scope.Parameter)
}

// exportsOf reports whether r is the exports object of the module around it.
func (e *extractor) exportsOf(r parse.Ref) bool {
	f := e.f
	switch f.Kind(r) {
	case parse.Ident:
		if e.exportsName(r) {
			return true
		}
		value, ok := e.Names.Origin(e.Scopes.Of[r]) // const self = exports
		if !ok || e.Scopes.Of[r] == 0 {
			return false
		}
		switch f.Kind(value) {
		case parse.Ident:
			return e.exportsName(value)
		case parse.Dot:
			return e.exportsOf(value)
		}
	case parse.Dot, parse.Index:
		name, ok := f.PropertyOf(r)
		return ok && name == "exports" && e.isModule(f.First(r))
	case parse.Assign: // exports = module.exports = {…}
		return e.exportsOf(f.First(r))
	}
	return false
}

// isModule reports whether r is the object that has the exports of the module around
// it.
func (e *extractor) isModule(r parse.Ref) bool {
	if e.f.Kind(r) != parse.Ident {
		return false
	}
	b := e.Scopes.Binding(r)
	return e.role(r) == bundle.ModuleRole || e.f.NameOf(r) == "module" && (b == nil || b.How == scope.Parameter)
}

// maxPattern bounds the patterns in patterns.
const maxPattern = 8

// maxThis bounds the functions that are called with the this of the one around them.
const maxThis = 3

// exportsThis reports whether this is the exports object, as it is at the top of a
// CommonJS module, and in functions that are called with it.
func (e *extractor) exportsThis(r parse.Ref) bool {
	f := e.f
	if f.Module {
		return false
	}
	for left := maxThis; ; {
		up := e.parents[r]
		switch k := f.Kind(up); {
		case up == 0 || up == f.Root:
			return true
		case k == parse.Class, k == parse.ClassDecl:
			return false
		case k.IsFunction() && k != parse.Arrow:
			dot := e.parents[up]
			call := e.parents[dot]
			if left--; left == 0 || f.Kind(dot) != parse.Dot || f.Kind(call) != parse.Call || f.First(call) != dot || f.Kind(f.Next(dot)) != parse.This {
				return false
			}
			if name := f.NameOf(f.Kid(dot, 1)); name != "call" && name != "apply" {
				return false
			}
			up = call
		}
		r = up
	}
}

// taken exports what a pattern is assigned to, as in {a: exports.a} = b.
func (e *extractor) taken(pattern parse.Ref, depth int) {
	f := e.f
	if depth == 0 {
		return
	}
	for k := f.First(pattern); k != 0; k = f.Next(k) {
		target := k
		if f.Kind(target) == parse.Property {
			target = f.Kid(target, 1)
		}
		for f.Kind(target) == parse.AssignPattern || f.Kind(target) == parse.Rest {
			target = f.First(target)
		}
		switch f.Kind(target) {
		case parse.ObjectPattern, parse.ArrayPattern:
			e.taken(target, depth-1)
		case parse.Dot, parse.Index:
			if !e.exportsOf(f.First(target)) {
				continue
			}
			if name, ok := f.PropertyOf(target); ok {
				e.export(name, target, 0)
			} else {
				e.computed(f.Kid(target, 1), target)
			}
		}
	}
}

// assign reads exports.a = …, module.exports = … and other assignments.
func (e *extractor) assign(r parse.Ref, n *parse.Node) {
	f := e.f
	target, value := n.First(), f.Next(n.First())
	if n.Op != parse.Equal {
		return
	}
	switch f.Kind(target) {
	case parse.ObjectPattern, parse.ArrayPattern:
		e.taken(target, maxPattern)
	case parse.Dot, parse.Index:
		if e.exportsOf(target) {
			e.exportObject(r, value)
			return
		}
		if object := f.First(target); e.exportsOf(object) || f.Kind(object) == parse.This && e.exportsThis(object) {
			if name, ok := f.PropertyOf(target); name == "__proto__" {
				e.export(others, target, value)
			} else if !ok {
				e.computed(f.Kid(target, 1), target)
			} else if f.Text(value) != "void 0" {
				e.export(name, target, value)
			}
			return
		}
		e.assigned(r, target, value)
	}
}

// exportObject reads module.exports = …
func (e *extractor) exportObject(r, value parse.Ref) {
	f := e.f
	object := e.Names.Literal(value)
	if object == 0 || f.At(object).Start < f.At(r).Start || f.At(object).End > f.At(r).End {
		if f.Kind(value) != parse.Object {
			e.export("module.exports", r, value)
			return
		}
	}
	e.exportMembers(object, func(k parse.Ref) parse.Ref { return f.Kid(k, 1) })
	if f.First(object) == 0 {
		e.export("module.exports", r, value)
	}
}
