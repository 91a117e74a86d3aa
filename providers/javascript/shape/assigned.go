package shape

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/providers/javascript/graph"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// An assignment gives a variable's value a member after it was made: a.b = c, or
// a.prototype.b = c; or it may, where the value is given to a call.
type assignment struct {
	name      string // "" where it is computed
	value     parse.Ref
	prototype bool
	sure      bool // it stands where the variable does, and not in a function
}

// assignments finds them, by variable, in order of place.
func (r *Reader) assignments() map[scope.BindingID][]assignment {
	if r.assigned != nil {
		return r.assigned
	}
	r.assigned = map[scope.BindingID][]assignment{}
	f := r.File
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind == parse.Call || n.Kind == parse.New {
			r.given(n)
			continue
		}
		if n.Kind != parse.Assign || n.Op != parse.Equal || f.Kind(n.First()) != parse.Dot && f.Kind(n.First()) != parse.Index {
			continue
		}
		a := assignment{value: f.Next(n.First())}
		a.name, _ = f.PropertyOf(n.First())
		object := f.First(n.First())
		if f.Kind(object) == parse.Dot && f.NameOf(f.Kid(object, 1)) == "prototype" {
			a.prototype = true
			object = f.First(object)
		}
		if f.Kind(object) != parse.Ident || f.Scopes.Of[object] == 0 {
			continue
		}
		b := r.same(f.Scopes.Of[object])
		a.sure = r.level(parse.Ref(i)) == r.level(f.Scopes.Bindings[b].Decl)
		r.assigned[b] = append(r.assigned[b], a)
	}
	return r.assigned
}

// maxAliases bounds the variables that stand for another.
const maxAliases = 8

// same is the variable that another stands for: a of const b = a.
func (r *Reader) same(b scope.BindingID) scope.BindingID {
	f := r.File
	for range maxAliases {
		value, ok := f.Names.Origin(b)
		if !ok || f.Kind(value) != parse.Ident || f.Scopes.Of[value] == 0 {
			return b
		}
		b = f.Scopes.Of[value]
	}
	return b
}

// given notes the variables whose value a call may give members: its arguments, and
// those whose prototype is one. Calls that only read are left out.
func (r *Reader) given(n *parse.Node) {
	f := r.File
	path := ""
	switch f.Kind(n.First()) {
	case parse.Ident, parse.Dot:
		path = f.Names.Path(n.First())
	}
	switch path {
	case "Object.assign", "Object.defineProperty", "Object.defineProperties", "Object.setPrototypeOf", "Reflect.set", "Reflect.defineProperty", "Reflect.setPrototypeOf":
	default:
		for _, reads := range []string{"Object.", "Reflect.", "console.", "JSON.", "Promise.", "Array.", "setTimeout", "setInterval"} {
			if strings.HasPrefix(path, reads) {
				return
			}
		}
	}
	for k := f.Next(n.First()); k != 0; k = f.Next(k) {
		object, prototype := k, false
		if f.Kind(object) == parse.Dot && f.NameOf(f.Kid(object, 1)) == "prototype" {
			object, prototype = f.First(object), true
		}
		if f.Kind(object) != parse.Ident || f.Scopes.Of[object] == 0 {
			continue
		}
		b := r.same(f.Scopes.Of[object])
		r.assigned[b] = append(r.assigned[b], assignment{prototype: prototype})
	}
}

// deep reports whether a member is given to what is exported under a name, where it
// is exported: exports.a.b = c.
func (r *Reader) deep() map[string]bool {
	if r.deeper != nil {
		return r.deeper
	}
	r.deeper = map[string]bool{}
	f := r.File
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Kind != parse.Assign {
			continue
		}
		object := f.First(n.First())
		if k := f.Kind(n.First()); k != parse.Dot && k != parse.Index {
			continue
		}
		if k := f.Kind(object); k != parse.Dot && k != parse.Index {
			continue
		}
		if name, ok := f.PropertyOf(object); ok {
			if k := f.Kind(f.First(object)); k == parse.Ident || k == parse.Dot || k == parse.Index {
				r.deeper[name] = true
			}
		}
	}
	return r.deeper
}

// Exported is the shape of a value that is exported under a name.
func (r *Reader) Exported(name string, v parse.Ref) jsontext.Value {
	o := r.Of(v)
	if k := r.File.Kind(v); k != parse.Object || !r.deep()[name] {
		return o
	}
	var fields map[string]jsontext.Value
	if json.Unmarshal(o, &fields) != nil || string(fields["kind"]) != `"object"` {
		return o
	}
	out := object{"open": true}
	for field, value := range fields {
		out[field] = value
	}
	return graph.Object(out)
}

// level is the function around a place, with the choices that decide whether it is
// come to: 0 at the top of a file.
func (r *Reader) level(at parse.Ref) parse.Ref {
	f := r.File
	for up := f.Parents[at]; up != 0; up = f.Parents[up] {
		switch k := f.Kind(up); {
		case k.IsFunction() && k != parse.FuncDecl, k == parse.If, k == parse.Cond, k == parse.Logical, k == parse.Try, k == parse.Switch,
			k == parse.For, k == parse.ForIn, k == parse.ForOf, k == parse.While, k == parse.DoWhile:
			return up
		case k == parse.FuncDecl && f.First(up) != at:
			return up
		}
	}
	return 0
}

// extended is the shape of a variable's value with the members that are assigned to
// it: those of the value, or of the class that a function with a prototype is. A
// member of which it is not sure that it is given leaves the shape open.
func (r *Reader) extended(o object, b scope.BindingID, depth int) object {
	list := r.assignments()[b]
	kind := o["kind"]
	if len(list) == 0 || kind != "object" && kind != "function" && kind != "class" {
		return o
	}
	out := object{}
	for name, v := range o {
		out[name] = v
	}
	own, static := membersOf(out["members"]), membersOf(out["static"])
	for i := range list {
		a := &list[i]
		into := static
		if kind == "object" || a.prototype {
			into = own
		}
		if kind == "object" && a.prototype {
			continue
		}
		switch {
		case a.name == "" || len(into) >= maxMembers:
			out["open"] = true
			continue
		case a.name == "prototype":
			out["open"] = true
			continue
		case !a.sure:
			if _, there := into[valid(a.name)]; !there {
				out["open"] = true
			}
			continue
		}
		into[valid(a.name)] = graph.Object(r.value(a.value, depth-1))
	}
	if len(own) > 0 || kind != "function" {
		out["members"] = graph.Object(own)
	}
	if len(static) > 0 {
		out["static"] = graph.Object(static)
	}
	return out
}

// membersOf are the members that a shape has.
func membersOf(v any) object {
	out := object{}
	text, ok := v.(jsontext.Value)
	if !ok {
		return out
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(text, &members) == nil {
		for name, m := range members {
			out[name] = m
		}
	}
	return out
}
