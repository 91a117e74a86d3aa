package symbol

import (
	"cmp"
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A grown member is one that a variable's value was given after it was made, as
// in a.b = 1.
type grown struct {
	binding scope.BindingID
	target  parse.Ref // of the assignment, or the property whose value is a getter
}

// growth are the members that values of variables were given, and the parameters
// of functions that are called at once to fill them, as compilers of TypeScript
// write enumerations:
//
//	(function (A) { A["b"] = "c" })(A || (A = {}))
type growth struct {
	list     []grown // by binding, then by place
	filled   map[scope.BindingID][]scope.BindingID
	filling  map[parse.Ref]scope.BindingID // the parameter, by call
	definers map[parse.Ref]bool            // by declaration
	tables   map[scope.BindingID]map[string]parse.Ref
}

// grows notes an assignment to a member of a variable's value.
func (n *Namer) grows(target parse.Ref) {
	f := n.f
	if k := f.Kind(target); k != parse.Dot && k != parse.Index {
		return
	}
	object := f.First(target)
	if f.Kind(object) == parse.Assign { // (a = {}).b = 1
		object = f.First(object)
	}
	if f.Kind(object) == parse.Ident && n.t.Of[object] != 0 {
		n.growth.list = append(n.growth.list, grown{n.t.Of[object], target})
	}
}

// fills notes a call that may fill an enumeration.
func (n *Namer) fills(r parse.Ref, node *parse.Node) {
	f := n.f
	if first := f.Next(node.First()); f.Kind(node.First()) == parse.Ident && f.Kind(first) == parse.Ident && f.Kind(f.Next(first)) == parse.Object {
		n.filledBy(first, node.First())
		return
	}
	if !f.Kind(node.First()).IsFunction() {
		return
	}
	parameter, arg := f.First(f.Kid(node.First(), 1)), f.Next(node.First())
	if f.Kind(parameter) != parse.Ident || arg == 0 || f.Next(arg) != 0 || n.t.Of[parameter] == 0 {
		return
	}
	p := n.t.Of[parameter]
	if f.Kind(arg) == parse.Assign { // A = exports.A || (exports.A = {})
		if f.Kind(f.First(arg)) == parse.Ident && f.Kind(f.Kid(arg, 1)) == parse.Logical {
			n.growth.fill(n.t.Of[f.First(arg)], p)
		}
		return
	}
	switch f.Kind(arg) {
	case parse.Logical:
		for k := f.First(arg); k != 0; k = f.Next(k) {
			if f.Kind(k) == parse.Ident {
				n.growth.fill(n.t.Of[k], p)
				break
			}
		}
	case parse.Object:
		if f.First(arg) != 0 {
			return
		}
	default:
		return
	}
	if n.growth.filling == nil {
		n.growth.filling = map[parse.Ref]scope.BindingID{}
	}
	n.growth.filling[r] = p
}

// filledBy notes a call that gives a variable's value getters, as bundlers do for
// the object of a module: __export(a, {b: () => c}).
func (n *Namer) filledBy(object, helper parse.Ref) {
	if n.t.Of[object] == 0 || !n.defines(helper) {
		return
	}
	for k := n.f.First(n.f.Next(object)); k != 0; k = n.f.Next(k) {
		if n.f.Kind(k) == parse.Property {
			n.growth.list = append(n.growth.list, grown{n.t.Of[object], k})
		}
	}
}

// maxDefiner bounds the text of a function that defines members.
const maxDefiner = 500

// defines reports whether a variable is a function of this file that defines
// getters on an object.
func (n *Namer) defines(r parse.Ref) bool {
	f := n.f
	b := n.t.Binding(r)
	if b == nil || b.Decl == 0 || b.Writes > 1 {
		return false
	}
	known, ok := n.growth.definers[b.Decl]
	if ok {
		return known
	}
	text := ""
	if value, ok := n.Origin(n.t.Of[r]); ok && f.Kind(value).IsFunction() && f.At(value).End-f.At(value).Start < maxDefiner {
		text = f.Text(value)
	} else if at := f.At(b.Decl).Start; b.How == scope.FunctionDecl {
		text = f.Src[at:min(uint32(len(f.Src)), at+maxDefiner)]
	}
	known = strings.Contains(text, "enumerable") && strings.Contains(text, "get:")
	if n.growth.definers == nil {
		n.growth.definers = map[parse.Ref]bool{}
	}
	n.growth.definers[b.Decl] = known
	return known
}

func (n *Namer) keyGiven(target parse.Ref) (string, bool) {
	if n.f.Kind(target) == parse.Property {
		return n.f.KeyOf(n.f.First(target), n.f.At(target).Flags&parse.Computed != 0)
	}
	return n.f.PropertyOf(target)
}

func (n *Namer) valueGiven(target parse.Ref) parse.Ref {
	if n.f.Kind(target) == parse.Property {
		return n.Returned(n.f.Kid(target, 1))
	}
	return n.f.Next(target)
}

// Returned is the expression that a getter gives, or 0.
func (n *Namer) Returned(r parse.Ref) parse.Ref {
	f := n.f
	if !f.Kind(r).IsFunction() {
		return 0
	}
	body := f.Kid(r, 2)
	if f.Kind(body) != parse.Block {
		return body
	}
	if first := f.First(body); f.Kind(first) == parse.Return {
		return f.First(first)
	}
	return 0
}

func (g *growth) fill(b, parameter scope.BindingID) {
	if b == 0 {
		return
	}
	if g.filled == nil {
		g.filled = map[scope.BindingID][]scope.BindingID{}
	}
	g.filled[b] = append(g.filled[b], parameter)
}

func (g *growth) sort() {
	slices.SortStableFunc(g.list, func(x, y grown) int { return cmp.Compare(x.binding, y.binding) })
}

// several stands for a member that is given more than one value.
const several parse.Ref = -1

// memberGiven is the value that a member of a variable's value was given, 0 for none and
// several for more than one.
func (n *Namer) memberGiven(b scope.BindingID, name string) parse.Ref {
	g := &n.growth
	at, _ := slices.BinarySearchFunc(g.list, b, func(e grown, b scope.BindingID) int { return cmp.Compare(e.binding, b) })
	end := at
	for end < len(g.list) && end < at+few && g.list[end].binding == b {
		end++
	}
	if end < at+few {
		found := parse.Ref(0)
		for _, e := range g.list[at:end] {
			if key, ok := n.keyGiven(e.target); ok && key == name {
				if found != 0 {
					return several
				}
				found = n.valueGiven(e.target)
			}
		}
		return found
	}
	table, ok := g.tables[b]
	if !ok {
		table = map[string]parse.Ref{}
		for ; at < len(g.list) && g.list[at].binding == b; at++ {
			key, known := n.keyGiven(g.list[at].target)
			if !known {
				continue
			}
			if table[key] != 0 {
				table[key] = several
			} else {
				table[key] = n.valueGiven(g.list[at].target)
			}
		}
		if g.tables == nil {
			g.tables = map[scope.BindingID]map[string]parse.Ref{}
		}
		g.tables[b] = table
	}
	return table[name]
}

// Property is the value of a property of what an expression is, or 0 where that
// is not known: of object literals and what variables that hold them are given
// later, of enumerations, and of classes.
func (n *Namer) Property(r parse.Ref, name string) parse.Ref { return n.property(r, name, maxHops) }

func (n *Namer) property(r parse.Ref, name string, hops int) parse.Ref {
	f := n.f
	if hops <= 0 || r <= 0 {
		return 0
	}
	switch f.Kind(r) {
	case parse.Object:
		return n.Member(r, name)
	case parse.Ident:
		return n.propertyOf(n.t.Of[r], name, hops)
	case parse.Dot, parse.Index:
		if inner, ok := f.PropertyOf(r); ok {
			return n.property(n.property(f.First(r), inner, hops-1), name, hops-1)
		}
	case parse.Assign, parse.Sequence:
		return n.property(f.Last(r), name, hops-1)
	case parse.Call:
		if p, ok := n.growth.filling[r]; ok {
			return max(n.memberGiven(p, name), 0)
		}
		if n.freezes(r, hops) {
			return n.property(f.Kid(r, 1), name, hops-1)
		}
		if arg := f.Kid(r, 1); f.Kind(arg) == parse.Object && f.Kind(f.First(r)) == parse.Ident && n.defines(f.First(r)) { // a = __export({b: () => c})
			return n.Returned(n.Member(arg, name))
		}
	case parse.Class, parse.ClassDecl:
		for k := f.First(r); k != 0; k = f.Next(k) {
			if f.Kind(k) != parse.Member || f.At(k).Flags&parse.Static == 0 || f.At(k).Flags&(parse.Getter|parse.Setter|parse.IsMethod) != 0 {
				continue
			}
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok && key == name {
				return f.Kid(k, 1)
			}
		}
	}
	return 0
}

// propertyOf is the value of a property of a variable's value, when it has one
// alone.
func (n *Namer) propertyOf(b scope.BindingID, name string, hops int) parse.Ref {
	if b == 0 {
		return 0
	}
	found := n.memberGiven(b, name)
	for _, p := range n.growth.filled[b] {
		if v := n.memberGiven(p, name); v != 0 {
			if found != 0 && found != v {
				return 0
			}
			found = v
		}
	}
	binding := &n.t.Bindings[b]
	base := parse.Ref(0)
	if value, ok := n.Origin(b); ok {
		if _, filled := n.growth.filling[value]; !filled || len(n.growth.filled[b]) == 0 {
			base = n.property(value, name, hops-1)
		}
	} else if binding.Writes == 0 && binding.Decls == 1 {
		base = n.property(n.classes[n.t.Bindings[b].Decl], name, hops-1)
	}
	if base != 0 && found != 0 {
		return 0
	}
	return max(base, found, 0)
}

// freezes reports whether a call gives the object that it is handed.
func (n *Namer) freezes(r parse.Ref, hops int) bool {
	switch n.path(n.f.First(r), hops-1) {
	case "Object.freeze", "Object.seal", "Object.preventExtensions", "Object.defineProperty":
		return true
	}
	return false
}

// Properties goes over what Property knows of an expression, each name once, in
// order of place.
func (n *Namer) Properties(r parse.Ref, yield func(name string, value parse.Ref)) {
	seen := map[string]bool{}
	n.names(r, maxHops, func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if value := n.Property(r, name); value != 0 {
			yield(name, value)
		}
	})
}

// names goes over the names that an expression may have as properties.
func (n *Namer) names(r parse.Ref, hops int, yield func(name string)) {
	f := n.f
	if hops <= 0 || r <= 0 {
		return
	}
	switch f.Kind(r) {
	case parse.Object, parse.Class, parse.ClassDecl:
		for k := f.First(r); k != 0; k = f.Next(k) {
			if kind := f.Kind(k); kind != parse.Property && kind != parse.Member {
				continue
			}
			if key, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok {
				yield(key)
			}
		}
	case parse.Ident:
		b := n.t.Of[r]
		if b == 0 {
			return
		}
		if value, ok := n.Origin(b); ok {
			n.names(value, hops-1, yield)
		} else {
			n.names(n.classes[n.t.Bindings[b].Decl], hops-1, yield)
		}
		n.namesGiven(b, yield)
		for _, p := range n.growth.filled[b] {
			n.namesGiven(p, yield)
		}
	case parse.Dot, parse.Index:
		if inner, ok := f.PropertyOf(r); ok {
			n.names(n.property(f.First(r), inner, hops-1), hops-1, yield)
		}
	case parse.Assign, parse.Sequence:
		n.names(f.Last(r), hops-1, yield)
	case parse.Call:
		if p, ok := n.growth.filling[r]; ok {
			n.namesGiven(p, yield)
		} else if n.freezes(r, hops) {
			n.names(f.Kid(r, 1), hops-1, yield)
		}
	}
}

func (n *Namer) namesGiven(b scope.BindingID, yield func(name string)) {
	g := &n.growth
	at, _ := slices.BinarySearchFunc(g.list, b, func(e grown, b scope.BindingID) int { return cmp.Compare(e.binding, b) })
	for ; at < len(g.list) && g.list[at].binding == b; at++ {
		if key, ok := n.keyGiven(g.list[at].target); ok {
			yield(key)
		}
	}
}
