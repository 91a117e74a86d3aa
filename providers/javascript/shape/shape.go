// Package shape says what an exported value looks like from outside: the
// parameters of functions and what they return, the members of classes and
// objects, the values of constants. It reads syntax and runs nothing, so what is
// made by a call or comes from elsewhere is unknown.
//
// A shape is JSON. Every shape has a kind; names of parameters and variables are
// no part of it, since minification changes them.
//
//	{"kind":"function","async":true,"params":[P…],"params_open":true,"returns":[shape…],"returns_open":true}
//	{"kind":"class","extends":true,"constructor":[P…],"members":{"name":shape},"static":{"name":shape}}
//	{"kind":"object","members":{"name":shape},"open":true}
//	{"kind":"array","elements":[shape…],"open":true}
//	{"kind":"string","value":"a"}   also number, boolean, null, undefined, regexp
//	{"kind":"import","of":"path"}
//	{"kind":"unknown"}
//
// An open object, class or array may have more than is listed, and so may the
// returns of a function with returns_open; one with params_open reads others of its
// arguments. Absent flags are false.
//
// where P is {"pattern":"name|object|array|rest","default":true,"keys":[…]}.
package shape

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/providers/javascript/address"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// Bounds of one value.
const (
	maxDepth   = 6
	maxMembers = 200
	maxReturns = 16
	maxNodes   = 20000 // of syntax that are looked at for returns
	maxText    = 200
)

// A Reader reads the shapes of one program. Budget bounds the members and
// parameters that it writes in all.
type Reader struct {
	File   *bundle.File
	Budget int
	// Cut: the budget was spent, and shapes are unknown where it was.
	Cut   bool
	steps int

	assigned  map[scope.BindingID][]assignment // nil until it was looked for them
	deeper    map[string]bool                  // likewise
	arguments map[parse.Ref]bool               // functions that read their arguments; likewise
	within    []scope.BindingID                // variables whose members are being read
}

var (
	unknown   = object{"kind": "unknown"}
	undefined = object{"kind": "undefined"}
)

// object is a shape while it is built.
type object = graph.Properties

// Of is the shape of an expression or declaration.
func (r *Reader) Of(value parse.Ref) jsontext.Value {
	r.steps = 0
	return graph.Object(r.value(value, maxDepth))
}

func (r *Reader) value(v parse.Ref, depth int) object {
	if v == 0 || depth == 0 {
		return unknown
	}
	if r.Budget--; r.Budget < 0 {
		r.Cut = true
		return unknown
	}
	f := r.File
	n := f.At(v)
	switch n.Kind {
	case parse.Func, parse.FuncDecl, parse.Arrow:
		return r.function(v, depth)
	case parse.Class, parse.ClassDecl:
		return r.class(v, depth)
	case parse.Object:
		return r.object(v, depth)
	case parse.Array:
		return r.array(v, depth)
	case parse.Ident:
		return r.variable(v, depth)
	case parse.Assign: // exports = module.exports = …
		return r.value(f.Kid(v, 1), depth)
	case parse.Sequence:
		return r.value(f.Last(v), depth)
	case parse.Await:
		return r.value(n.First(), depth-1)
	case parse.Cond:
		return object{"kind": "one-of", "variants": r.list([]object{r.value(f.Kid(v, 1), depth-1), r.value(f.Kid(v, 2), depth-1)})}
	case parse.Call:
		if _, ok := f.Names.Required(v); ok {
			return object{"kind": "import"}
		}
		return unknown
	case parse.Dot, parse.Index:
		if p := f.Names.Path(v); p != "" && p != symbol.Unknown {
			return object{"kind": "import", "of": p}
		}
		return unknown
	}
	return r.constant(v)
}

// constant is the shape of a literal.
func (r *Reader) constant(v parse.Ref) object {
	f := r.File
	switch n := f.At(v); n.Kind {
	case parse.String, parse.Template, parse.Binary:
		if s, ok := f.Constant(v); ok {
			return object{"kind": "string", "value": cut(address.Text(s))}
		}
		if n.Kind == parse.Template {
			return object{"kind": "string"}
		}
	case parse.Number:
		s, ok := f.NumberKey(v)
		if !ok {
			s = f.Text(v)
		}
		return object{"kind": "number", "value": s}
	case parse.Regex:
		return object{"kind": "regexp", "value": cut(f.Text(v))}
	case parse.Null:
		return object{"kind": "null"}
	case parse.True, parse.False:
		return object{"kind": "boolean", "value": strconv.FormatBool(n.Kind == parse.True)}
	case parse.Unary:
		return r.unary(v, n)
	}
	return unknown
}

func (r *Reader) unary(v parse.Ref, n *parse.Node) object {
	f := r.File
	switch f.Text(v) {
	case "!0":
		return object{"kind": "boolean", "value": "true"}
	case "!1":
		return object{"kind": "boolean", "value": "false"}
	case "void 0":
		return undefined
	}
	if f.Kind(n.First()) == parse.Number && n.Op == parse.Minus {
		return object{"kind": "number", "value": "-" + f.Text(n.First())}
	}
	return unknown
}

// valid is a name as JSON can write it.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

func cut(s string) string {
	if len(s) > maxText {
		return s[:maxText]
	}
	return s
}

// list writes shapes as one value.
func (r *Reader) list(items []object) jsontext.Value {
	out := []byte{'['}
	for i, o := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, graph.Object(o)...)
	}
	return append(out, ']')
}

// variable follows a name to its only value, with what is assigned to it.
func (r *Reader) variable(v parse.Ref, depth int) object {
	b := r.File.Scopes.Of[v]
	o := r.only(v, b, depth)
	if b == 0 || slices.Contains(r.within, b) {
		return o
	}
	r.within = append(r.within, b)
	o = r.extended(o, b, depth)
	r.within = r.within[:len(r.within)-1]
	return o
}

// only is the only value of a variable.
func (r *Reader) only(v parse.Ref, b scope.BindingID, depth int) object {
	f := r.File
	if b == 0 {
		if f.NameOf(v) == "undefined" {
			return undefined
		}
		return unknown
	}
	decl := f.Scopes.Bindings[b].Decl
	if decl == 0 {
		return unknown
	}
	switch parent := f.Parents[decl]; f.Kind(parent) {
	case parse.FuncDecl, parse.ClassDecl:
		if f.First(parent) == decl {
			return r.value(parent, depth)
		}
	case parse.ImportName, parse.ImportDef, parse.ImportAll:
		return object{"kind": "import"}
	}
	if value, ok := f.Names.Origin(b); ok && value != v {
		return r.value(value, depth-1)
	}
	return unknown
}

func (r *Reader) function(v parse.Ref, depth int) object {
	f := r.File
	out := object{"kind": "function", "params": r.params(f.Kid(v, 1))}
	flags := f.At(v).Flags
	if flags&parse.Async != 0 {
		out["async"] = true
	}
	if flags&parse.Generator != 0 {
		out["generator"] = true
	}
	returns, all := r.returns(v, depth-1)
	if len(returns) > 0 {
		out["returns"] = r.list(returns)
	}
	if !all {
		out["returns_open"] = true
	}
	if r.takesMore(v) {
		out["params_open"] = true
	}
	return out
}

// takesMore reports whether a function reads its arguments other than by its
// parameters.
func (r *Reader) takesMore(v parse.Ref) bool {
	if r.File.Kind(v) == parse.Arrow {
		return false
	}
	if r.arguments == nil {
		f := r.File
		r.arguments = map[parse.Ref]bool{}
		for i := 1; i < len(f.Scopes.References); i++ {
			ref := &f.Scopes.References[i]
			if b := &f.Scopes.Bindings[ref.Binding]; ref.Binding != 0 && b.How == scope.Arguments {
				r.arguments[f.Scopes.Scopes[b.Scope].Node] = true
			}
		}
	}
	return r.arguments[v]
}

func (r *Reader) params(list parse.Ref) jsontext.Value {
	f := r.File
	var out []object
	for k := f.First(list); k != 0 && len(out) < maxMembers; k = f.Next(k) {
		p := object{"pattern": "name"}
		target := k
		if f.Kind(k) == parse.AssignPattern {
			p["default"] = true
			target = f.First(k)
		}
		switch f.Kind(target) {
		case parse.Rest:
			p["pattern"] = "rest"
		case parse.ArrayPattern:
			p["pattern"] = "array"
		case parse.ObjectPattern:
			p["pattern"], p["keys"] = "object", r.keys(target)
		}
		r.Budget--
		out = append(out, p)
	}
	return r.list(out)
}

func (r *Reader) keys(pattern parse.Ref) []string {
	f := r.File
	keys := []string{}
	for k := f.First(pattern); k != 0 && len(keys) < maxMembers; k = f.Next(k) {
		if f.Kind(k) == parse.Property {
			if name, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
				keys = append(keys, name)
			}
		}
	}
	slices.Sort(keys)
	r.Budget -= len(keys)
	return keys
}

// returns are the shapes of what a function gives, each once, in order of place.
// What is unknown is left out, and all is false where something was.
func (r *Reader) returns(fn parse.Ref, depth int) (out []object, all bool) {
	f := r.File
	body := f.Kid(fn, 2)
	all = true
	seen := map[string]bool{}
	take := func(v parse.Ref) {
		if v == 0 || f.Kind(v) == parse.Empty {
			return
		}
		if len(out) == maxReturns {
			all = false
			return
		}
		o := r.value(v, depth)
		all = all && o["kind"] != "unknown"
		if key := string(graph.Object(o)); o["kind"] != "unknown" && !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
	}
	if f.Kind(body) != parse.Block {
		take(body)
		return out, all
	}
	queue := []parse.Ref{f.First(body)}
	for len(queue) > 0 && r.steps < maxNodes {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if k == 0 {
			continue
		}
		r.steps++
		queue = append(queue, f.Next(k))
		switch n := f.At(k); {
		case n.Kind == parse.Return:
			take(n.First())
		case n.Kind.IsFunction(), n.Kind == parse.Class, n.Kind == parse.ClassDecl:
		default:
			queue = append(queue, n.First())
		}
	}
	return out, all && len(queue) == 0
}

func (r *Reader) object(v parse.Ref, depth int) object {
	f := r.File
	members := object{}
	out := object{"kind": "object"}
	for k := f.First(v); k != 0; k = f.Next(k) {
		name, ok := "", false
		if f.Kind(k) == parse.Property {
			name, ok = f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0)
		}
		if !ok || len(members) == maxMembers {
			out["open"] = true
			continue
		}
		members[valid(name)] = graph.Object(r.member(k, f.Kid(k, 1), depth-1))
	}
	out["members"] = graph.Object(members)
	return out
}

// made adds the members that a constructor gives to what it makes. Those that it may
// give leave the class open.
func (r *Reader) made(constructor parse.Ref, own, class object, depth int) {
	f := r.File
	for k := f.First(f.Kid(constructor, 2)); k != 0; k = f.Next(k) {
		r.steps++
		assign := f.First(k)
		if f.Kind(k) != parse.ExprStmt || f.Kind(assign) != parse.Assign {
			continue
		}
		target := f.First(assign)
		if f.Kind(target) != parse.Dot && f.Kind(target) != parse.Index || f.Kind(f.First(target)) != parse.This {
			continue
		}
		name, ok := f.PropertyOf(target)
		switch _, there := own[valid(name)]; {
		case !ok || len(own) == maxMembers:
			class["open"] = true
		case !there && f.Kind(target) == parse.Dot && f.Kind(f.Kid(target, 1)) != parse.PrivateName:
			own[valid(name)] = graph.Object(r.value(f.Next(target), depth-1))
		}
	}
}

// member is the shape of a member of an object or class.
func (r *Reader) member(k, value parse.Ref, depth int) object {
	switch flags := r.File.At(k).Flags; {
	case flags&parse.Getter != 0:
		return object{"kind": "getter"}
	case flags&parse.Setter != 0:
		return object{"kind": "setter"}
	}
	if r.File.Kind(value) == parse.Empty {
		return undefined
	}
	return r.value(value, depth)
}

func (r *Reader) array(v parse.Ref, depth int) object {
	f := r.File
	var items []object
	out := object{"kind": "array", "length": f.Kids(v)}
	for k := f.First(v); k != 0 && len(items) < maxReturns; k = f.Next(k) {
		if f.Kind(k) == parse.Spread {
			out["open"] = true
			break // where the others stand is not known
		}
		items = append(items, r.value(k, depth-1))
	}
	if f.Kids(v) > maxReturns {
		out["open"] = true
	}
	out["elements"] = r.list(items)
	return out
}

func (r *Reader) class(v parse.Ref, depth int) object {
	f := r.File
	own, static := object{}, object{}
	out := object{"kind": "class"}
	if f.Kind(f.Kid(v, 1)) != parse.Empty {
		out["extends"] = true
	}
	for k := f.Next(f.Kid(v, 1)); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Member || f.Kind(f.First(k)) == parse.PrivateName {
			continue
		}
		flags := f.At(k).Flags
		name, ok := f.KeyOf(f.First(k), flags&parse.Computed != 0)
		value := f.Kid(k, 1)
		switch {
		case !ok:
			out["open"] = true
		case name == "constructor" && flags&parse.Static == 0 && f.Kind(value).IsFunction():
			out["constructor"] = r.params(f.Kid(value, 1))
			r.made(value, own, out, depth)
		case len(own)+len(static) == maxMembers:
			out["open"] = true
		case flags&parse.Static != 0:
			static[valid(name)] = graph.Object(r.member(k, value, depth-1))
		default:
			own[valid(name)] = graph.Object(r.member(k, value, depth-1))
		}
	}
	out["members"] = graph.Object(own)
	if len(static) > 0 {
		out["static"] = graph.Object(static)
	}
	return out
}
