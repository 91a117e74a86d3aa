// Package symbol says, without running anything, what an expression names and
// what constant it is.
//
// A path is how the program would reach the value from what it did not make
// itself: "localStorage.getItem" for a global, "electron.ipcMain.handle" for
// what a module gives, whether it was required, imported, destructured or kept
// in variables on the way. Where a path begins with a value that is not known,
// as the parameter of a function or a module of a bundle, it begins with "?".
// Names of properties survive minification, so "?.ipcMain.handle" still tells.
package symbol

import (
	"maps"
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

const (
	// maxHops bounds how many variables are followed for one answer.
	maxHops = 24
	// maxPath bounds a path in bytes.
	maxPath = 400
	// maxConstant bounds a constant in bytes.
	maxConstant = 1 << 16
)

// Unknown begins the path of a value whose origin is not known.
const Unknown = "?"

// A Namer answers for one file.
type Namer struct {
	f *parse.File
	t *scope.Table
	// origins are where bindings get their only value, by BindingID.
	origins []origin
	// members of large object literals, by name.
	members map[parse.Ref]map[string]parse.Ref
	interop []parse.Ref // names of helpers, nil until they were looked for
	growth  growth
	classes map[parse.Ref]parse.Ref // declarations, by name

	asking int // calls of IsRequire that are under way

	// Loads, when it is set, knows the calls with which code of a bundle loads.
	Loads Loader
}

// A Loader knows the calls with which code of a bundle loads modules.
type Loader interface {
	// External is the specifier of the module outside of the bundle that a call
	// gives.
	External(call parse.Ref) (string, bool)
	// Default is the module of which a call makes a function that gives its default,
	// or 0.
	Default(call parse.Ref) parse.Ref
}

// origin of a binding: the value of one expression, or a property of it.
type origin struct {
	value  parse.Ref // expression, or the module name of an import
	path   string    // properties of it, "" or beginning with a dot
	module bool      // value is a module name
}

// New makes the namer of a file.
func New(f *parse.File, t *scope.Table) *Namer {
	n := &Namer{f: f, t: t, origins: make([]origin, len(t.Bindings)), members: map[parse.Ref]map[string]parse.Ref{}}
	n.collect()
	return n
}

// Fork makes a namer of the same file, which may be asked while the first is.
func (n *Namer) Fork() *Namer {
	n.helpers()
	fork := *n
	fork.members, fork.growth.definers, fork.growth.tables = maps.Clone(n.members), maps.Clone(n.growth.definers), maps.Clone(n.growth.tables)
	return &fork
}

// collect finds where bindings that are written once get their value.
func (n *Namer) collect() {
	f := n.f
	for i := range f.Nodes {
		if i%parse.Stride == 0 && f.Stopped() {
			return
		}
		node := &f.Nodes[i]
		switch node.Kind {
		case parse.Declarator:
			value := f.Next(node.First())
			if value != 0 && f.Kind(value) != parse.Empty {
				n.bind(node.First(), value, "", 0)
			}
		case parse.Assign:
			if node.Op == parse.Equal {
				n.bind(node.First(), f.Next(node.First()), "", 0)
			}
			n.grows(node.First())
		case parse.Call:
			n.fills(parse.Ref(i), node)
		case parse.ClassDecl:
			if f.Kind(node.First()) == parse.Ident {
				if n.classes == nil {
					n.classes = map[parse.Ref]parse.Ref{}
				}
				n.classes[node.First()] = parse.Ref(i)
			}
		case parse.Import:
			for k := f.Next(node.First()); k != 0; k = f.Next(k) {
				n.imported(k, node.First())
			}
		}
	}
	n.growth.sort()
}

func (n *Namer) imported(k, source parse.Ref) {
	f := n.f
	switch f.Kind(k) {
	case parse.ImportName:
		name, _ := f.KeyOf(f.First(k), false)
		n.set(f.Kid(k, 1), origin{source, "." + name, true})
	case parse.ImportDef:
		n.set(f.First(k), origin{source, ".default", true})
	case parse.ImportAll:
		n.set(f.First(k), origin{source, "", true})
	}
}

func (n *Namer) set(ident parse.Ref, o origin) {
	b := n.t.Of[ident]
	if b == 0 || n.t.Bindings[b].Writes > 1 || n.t.Bindings[b].Decls > 1 {
		return
	}
	switch n.t.Bindings[b].How {
	case scope.Parameter, scope.CatchParameter, scope.Arguments:
		return
	}
	n.origins[b] = o
}

// bind follows a pattern down to the names in it.
func (n *Namer) bind(target, value parse.Ref, path string, depth int) {
	f := n.f
	if depth > 32 || len(path) > maxPath {
		return
	}
	switch f.Kind(target) {
	case parse.Ident:
		n.set(target, origin{value, path, false})
	case parse.AssignPattern:
		n.bind(f.First(target), value, path, depth+1)
	case parse.ObjectPattern:
		for k := f.First(target); k != 0; k = f.Next(k) {
			if f.Kind(k) != parse.Property {
				continue
			}
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
				n.bind(f.Kid(k, 1), value, path+"."+key, depth+1)
			}
		}
	}
}

// From is what gives a binding its only value: an expression, or the name of a
// module that is imported, and the properties of it that are taken, with dots
// before them.
func (n *Namer) From(b scope.BindingID) (value parse.Ref, path string, module bool) {
	o := n.origins[b]
	return o.value, o.path, o.module
}

// Origin is the expression that gives a binding its only value, when that is
// known and the binding is not a property of it.
func (n *Namer) Origin(b scope.BindingID) (value parse.Ref, ok bool) {
	o := n.origins[b]
	return o.value, o.value != 0 && o.path == "" && !o.module
}

// Path is the path of an expression, "" when it names nothing.
func (n *Namer) Path(r parse.Ref) string {
	p := n.path(r, maxHops)
	if len(p) > maxPath {
		return ""
	}
	return p
}

func (n *Namer) path(r parse.Ref, hops int) string {
	f := n.f
	if hops == 0 || r == 0 {
		return Unknown
	}
	node := f.At(r)
	switch node.Kind {
	case parse.Ident:
		return n.variable(r, hops)
	case parse.This:
		return "this"
	case parse.Dot, parse.Index:
		name, ok := n.key(r, hops-1)
		if !ok {
			return ""
		}
		object := n.path(node.First(), hops-1)
		if !strings.HasPrefix(object, Unknown) {
			return n.member(object, name)
		}
		if value := n.property(node.First(), name, hops-1); value != 0 { // of {a: b}
			if held := n.path(value, hops-1); held != "" && !strings.HasPrefix(held, Unknown) {
				return held
			}
		}
		return n.member(object, name)
	case parse.Call:
		if module, ok := n.required(r); ok {
			return module
		}
		if bound := n.bound(r); bound != 0 {
			return n.path(bound, hops-1)
		}
		if handed := n.Handed(r); handed != 0 {
			return n.path(handed, hops-1)
		}
		return Unknown
	case parse.Await:
		return n.path(node.First(), hops-1)
	case parse.ImportCall:
		if s, ok := f.Constant(node.First()); ok {
			return Module(s)
		}
		return Unknown
	case parse.ImportMeta:
		return "import.meta"
	case parse.Sequence: // (0, a.b)(…)
		return n.path(f.Last(r), hops-1)
	case parse.Logical, parse.Assign: // a || (a = …)
		return n.path(f.Last(r), hops-1)
	case parse.New:
		return Unknown
	}
	return Unknown
}

// Handed is the expression whose value a call hands on, or 0: that of a helper of
// a bundler, as __toESM(require("a")), and the module whose default a function was
// made to give, as in n = require.n(module); n().
func (n *Namer) Handed(r parse.Ref) parse.Ref {
	f := n.f
	callee := f.First(r)
	arg := f.Next(callee)
	switch {
	case arg == 0:
		if n.Loads == nil {
			return 0
		}
		if f.Kind(callee) == parse.Ident && n.t.Of[callee] != 0 {
			value, ok := n.Origin(n.t.Of[callee])
			if !ok {
				return 0
			}
			callee = value
		}
		return n.Loads.Default(callee)
	case f.Kind(arg) == parse.Call:
		if _, ok := n.required(arg); ok && f.Next(arg) == 0 || n.handsOn(callee) {
			return arg
		}
	case f.Kind(arg) == parse.Ident && n.handsOn(callee):
		return arg
	}
	return 0
}

// maxHelper bounds the text of a function that may be a helper.
const maxHelper = 1500

// handsOn reports whether a callee is a function of this file that makes a module
// of one kind look like one of another: it asks for the default of its argument.
func (n *Namer) handsOn(callee parse.Ref) bool {
	f := n.f
	b := n.t.Binding(callee)
	if f.Kind(callee) != parse.Ident || b == nil || b.Writes > 1 || b.Decls > 1 {
		return false
	}
	at, _ := slices.BinarySearch(n.helpers(), b.Decl)
	return at < len(n.helpers()) && n.helpers()[at] == b.Decl
}

// helpers are the names of such functions, in order.
func (n *Namer) helpers() []parse.Ref {
	if n.interop != nil {
		return n.interop
	}
	n.interop = []parse.Ref{}
	f := n.f
	for i := range f.Nodes {
		node := &f.Nodes[i]
		if node.End-node.Start > maxHelper {
			continue
		}
		switch node.Kind {
		case parse.FuncDecl:
		case parse.Declarator:
			if value := f.Next(node.First()); !f.Kind(value).IsFunction() || f.Kind(node.First()) != parse.Ident {
				continue
			}
		default:
			continue
		}
		if text := f.Src[node.Start:node.End]; strings.Contains(text, "default") && (strings.Contains(text, "__esModule") || strings.Contains(text, "Symbol.toStringTag")) {
			n.interop = append(n.interop, node.First())
		}
	}
	slices.Sort(n.interop)
	return n.interop
}

func (n *Namer) variable(r parse.Ref, hops int) string {
	b := n.t.Of[r]
	if b == 0 {
		return n.f.NameOf(r)
	}
	o := n.origins[b]
	switch {
	case o.value == 0:
		return Unknown
	case o.module:
		return n.member(Module(n.f.StringValue(o.value)), strings.TrimPrefix(o.path, "."))
	}
	return n.member(n.path(o.value, hops-1), strings.TrimPrefix(o.path, "."))
}

// member joins a path and a property. Steps that lead to the same value are left
// out: the default of a module, and the global object.
func (n *Namer) member(object, name string) string {
	switch object {
	case "":
		object = Unknown
	case "window", "globalThis", "self", "global":
		if name != "" {
			return name
		}
	}
	if name == "" || name == "default" {
		return object
	}
	if len(object)+len(name) > maxPath {
		return Unknown + "." + name[:min(len(name), maxPath-2)]
	}
	return object + "." + name
}

// Key is the name of the property that a member expression asks for.
func (n *Namer) Key(r parse.Ref) (string, bool) { return n.key(r, maxHops) }

func (n *Namer) key(r parse.Ref, hops int) (string, bool) {
	if name, ok := n.f.PropertyOf(r); ok || n.f.Kind(r) != parse.Index {
		return name, ok
	}
	switch k := n.f.Kid(r, 1); n.f.Kind(k) {
	case parse.Binary, parse.Template, parse.Ident, parse.Dot: // a["b" + "c"]
		return n.constant(k, hops)
	}
	return "", false
}

// bound is the function in a.bind(b), or 0.
func (n *Namer) bound(call parse.Ref) parse.Ref {
	callee := n.f.First(call)
	if n.f.Kind(callee) != parse.Dot || n.f.NameOf(n.f.Kid(callee, 1)) != "bind" || n.f.Kids(call) != 2 {
		return 0
	}
	return n.f.First(callee)
}

// Module is the path of a module by its specifier.
func Module(specifier string) string {
	return strings.TrimPrefix(specifier, "node:")
}

// required is the module that a call require("a") gives.
func (n *Namer) required(r parse.Ref) (string, bool) {
	if s, ok := n.Required(r); ok {
		return Module(s), true
	}
	return "", false
}

// Required is the specifier of a call require("a"), or of one that loads a module
// of a bundle which is nothing but such a call.
func (n *Namer) Required(r parse.Ref) (string, bool) {
	f := n.f
	callee := f.First(r)
	if f.Kind(r) != parse.Call {
		return "", false
	}
	if !n.IsRequire(callee) {
		if n.Loads != nil {
			return n.Loads.External(r)
		}
		return "", false
	}
	arg := f.Next(callee)
	if arg == 0 {
		return "", false
	}
	return f.Constant(arg)
}

// Constant is the text that an expression always has. Variables that are
// written once are followed, and members of objects that such variables hold.
func (n *Namer) Constant(r parse.Ref) (string, bool) {
	return n.constant(r, maxHops)
}

func (n *Namer) constant(r parse.Ref, hops int) (string, bool) {
	f := n.f
	if hops == 0 || r == 0 {
		return "", false
	}
	switch f.Kind(r) {
	case parse.String:
		if f.At(r).End-f.At(r).Start > maxConstant {
			return "", false
		}
		return f.StringValue(r), true
	case parse.Number:
		return f.NumberKey(r)
	case parse.True:
		return "true", true
	case parse.False:
		return "false", true
	case parse.Ident:
		if value, ok := n.Origin(n.t.Of[r]); ok && n.t.Of[r] != 0 {
			return n.constant(value, hops-1)
		}
	case parse.Dot, parse.Index:
		return n.memberConstant(r, hops)
	case parse.Binary, parse.Template:
		return n.joined(r, hops)
	case parse.Unary:
		switch f.At(r).Op { // !0 and !1
		case parse.Not:
			switch f.Text(f.First(r)) {
			case "0":
				return "true", true
			case "1":
				return "false", true
			}
		}
	}
	return "", false
}

func (n *Namer) joined(r parse.Ref, hops int) (string, bool) {
	f := n.f
	if f.Kind(r) == parse.Binary && f.At(r).Op != parse.Plus {
		return "", false
	}
	var b strings.Builder
	for k := f.First(r); k != 0; k = f.Next(k) {
		part, ok := "", true
		if f.Kind(k) == parse.Chunk {
			part = f.ChunkValue(k)
		} else if part, ok = n.constant(k, hops-1); !ok {
			return "", false
		}
		if b.Len()+len(part) > maxConstant {
			return "", false
		}
		b.WriteString(part)
	}
	return b.String(), true
}

func (n *Namer) memberConstant(r parse.Ref, hops int) (string, bool) {
	f := n.f
	name, ok := f.PropertyOf(r)
	if !ok {
		return "", false
	}
	value := n.property(f.First(r), name, hops-1)
	if value == 0 {
		return "", false
	}
	return n.constant(value, hops-1)
}

// Object is the object literal that an expression is, or 0. Calls that hand
// their argument on, as Object.freeze, are seen through.
func (n *Namer) Object(r parse.Ref, hops int) parse.Ref {
	f := n.f
	if hops <= 0 || r == 0 {
		return 0
	}
	switch f.Kind(r) {
	case parse.Object:
		return r
	case parse.Ident:
		if value, ok := n.Origin(n.t.Of[r]); ok && n.t.Of[r] != 0 {
			return n.Object(value, hops-1)
		}
	case parse.Dot, parse.Index:
		if name, ok := f.PropertyOf(r); ok {
			return n.Object(n.property(f.First(r), name, hops-1), hops-1)
		}
	case parse.Call:
		if n.freezes(r, hops) {
			return n.Object(f.Kid(r, 1), hops-1)
		}
	}
	return 0
}

// Literal is the object literal that an expression is, or 0.
func (n *Namer) Literal(r parse.Ref) parse.Ref { return n.Object(r, maxHops) }

// few is how many properties are looked through without a table.
const few = 12

// Member is the value of a property in an object literal, or 0. A literal that
// spreads another behind the property has no known value for it.
func (n *Namer) Member(object parse.Ref, name string) parse.Ref {
	table, ok := n.members[object]
	if !ok {
		if n.f.Kids(object) <= few {
			found := parse.Ref(0)
			n.each(object, func(key string, value parse.Ref) {
				if key == name || key == "" && value == 0 {
					found = value
				}
			})
			return found
		}
		table = map[string]parse.Ref{}
		n.each(object, func(key string, value parse.Ref) {
			if key == "" && value == 0 {
				clear(table)
				return
			}
			table[key] = value
		})
		n.members[object] = table
	}
	return table[name]
}

// each goes over the properties of an object literal; a spread is no name and no
// value.
func (n *Namer) each(object parse.Ref, yield func(key string, value parse.Ref)) {
	f := n.f
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) != parse.Property {
			yield("", 0)
			continue
		}
		key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0)
		if !ok {
			continue
		}
		value := f.Kid(k, 1)
		if f.At(k).Flags&(parse.Getter|parse.Setter) != 0 {
			value = 0
		}
		yield(key, value)
	}
}

// Ends reports whether a path ends with steps, as "a.b", whatever it begins with.
func Ends(path, steps string) bool {
	rest, ok := strings.CutSuffix(path, steps)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}
