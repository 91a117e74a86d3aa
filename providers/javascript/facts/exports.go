package facts

import (
	"strings"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
)

// others is the export that stands for names that are not seen: those of another
// module, or that are made when the program runs.
const others = "*"

// maxSpread bounds the literals that one spreads.
const maxSpread = 100

// exportMembers exports the members of an object literal, each with what value
// says of it, and those of literals that are spread into it.
func (e *extractor) exportMembers(object parse.Ref, value func(property parse.Ref) parse.Ref) {
	e.exportSpread(object, value, map[parse.Ref]bool{})
}

func (e *extractor) exportSpread(object parse.Ref, value func(property parse.Ref) parse.Ref, seen map[parse.Ref]bool) {
	f := e.f
	seen[object] = true
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Property {
			switch inner := e.Names.Literal(f.First(k)); {
			case inner == 0 || len(seen) == maxSpread:
				e.export(others, k, f.First(k))
			case !seen[inner]:
				e.exportSpread(inner, value, seen)
			}
			continue
		}
		if name, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
			e.export(name, k, value(k))
		} else {
			e.export(others, k, 0)
		}
	}
}

// defines reads calls that give the exports object members, as
// Object.defineProperty(exports, "a", …), and notes those that may.
func (e *extractor) defines(r parse.Ref, n *parse.Node) {
	f := e.f
	callee := n.First()
	first := f.Next(callee)
	if e.writesText(callee, first) {
		e.export(others, r, 0)
		return
	}
	at := -1 // the argument that is the exports object
	for i, k := 0, first; k != 0; i, k = i+1, f.Next(k) {
		if kind := f.Kind(k); (kind == parse.Ident || kind == parse.Dot || kind == parse.Index || kind == parse.Assign) && (e.exportsOf(k) || e.isModule(k)) {
			at = i
			break
		}
	}
	if at < 0 || e.role(callee) == bundle.RequireRole || f.Kind(callee) == parse.Dot && e.role(f.First(callee)) == bundle.RequireRole {
		return
	}
	path := e.Names.Path(callee)
	switch {
	case path == "Object.defineProperty" && at == 0:
		name, ok := e.Names.Constant(f.Next(first))
		if !ok {
			e.computed(f.Next(first), r)
		} else if name != "__esModule" {
			e.export(name, r, e.described(f.Kid(r, 3)))
		}
	case path == "Object.defineProperties" && at == 0:
		if list := e.Names.Literal(f.Next(first)); list != 0 {
			e.exportMembers(list, func(k parse.Ref) parse.Ref { return e.described(f.Kid(k, 1)) })
		} else {
			e.export(others, r, 0)
		}
	case path == "Object.assign" && at == 0:
		for k := f.Next(first); k != 0; k = f.Next(k) {
			if list := e.Names.Literal(k); list != 0 {
				e.exportMembers(list, func(k parse.Ref) parse.Ref { return f.Kid(k, 1) })
			} else {
				e.export(others, k, k)
			}
		}
	case path == "Reflect.defineProperty", path == "Reflect.set", strings.HasSuffix(path, "ect.setPrototypeOf"):
		e.export(others, r, 0)
	case strings.HasPrefix(path, "Object."), strings.HasPrefix(path, "Reflect."), strings.HasPrefix(path, "console."),
		strings.HasSuffix(path, "hasOwnProperty.call"), strings.HasSuffix(path, "propertyIsEnumerable.call"):
		// They only read it.
	case at == 1: // __exportStar(require("a"), exports)
		e.export(others, r, first)
	default:
		e.export(others, r, 0)
	}
}

// writesText reports whether a call compiles a text that speaks of the exports.
func (e *extractor) writesText(callee, text parse.Ref) bool {
	f := e.f
	if f.Kind(callee) != parse.Ident || f.NameOf(callee) != "eval" || e.Scopes.Of[callee] != 0 {
		return false
	}
	code, ok := e.Names.Constant(text)
	return ok && strings.Contains(code, "exports")
}

// computed notes an export whose name is not known, where it is one: symbols are no
// names.
func (e *extractor) computed(name, at parse.Ref) {
	if p := e.Names.Path(name); !strings.HasPrefix(p, "Symbol.") {
		e.export(others, at, 0)
	}
}

// described is the value of a property by its descriptor, or 0.
func (e *extractor) described(descriptor parse.Ref) parse.Ref {
	if e.f.Kind(descriptor) != parse.Object {
		return 0
	}
	if value := e.Names.Member(descriptor, "value"); value != 0 {
		return value
	}
	return e.Names.Returned(e.Names.Member(descriptor, "get"))
}

// exportedValues yields what is exported by name, with the members of the module that
// lead to it: none where it is the module.
func (e *extractor) exportedValues(yield func(path []string, value parse.Ref) bool) {
	for i := range e.out.Exports {
		x := &e.out.Exports[i]
		if x.Value == 0 || x.Name == others {
			continue
		}
		path := []string{x.Name}
		if x.Name == "module.exports" {
			path = []string{}
		}
		if !yield(path, x.Value) {
			return
		}
	}
}
