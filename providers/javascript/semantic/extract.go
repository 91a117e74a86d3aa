package semantic

import (
	"strings"

	"rea/providers/javascript/address"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

const (
	maxLabel = 200
	// maxSteps bounds how deep an expression is followed for one flow.
	maxSteps = 64
)

// A slotKey is a property of a variable, of an object literal or of this.
type slotKey struct {
	binding scope.BindingID
	object  parse.Ref
	name    int32 // as number gives it
}

type extractor struct {
	*bundle.File
	roles    map[scope.BindingID]bundle.Role
	unit     Unit
	edges    []uint64         // packed
	labels   map[string]int32 // also those as they were before they were cleaned
	label    []byte           // that is being put together
	names    map[string]int32 // of properties
	bindings []int32          // nodes by BindingID
	rows     rows             // nodes of functions, calls and objects
	configs  map[parse.Ref]int32
	slots    map[slotKey]int32
	classes  map[parse.Ref]map[string]parse.Ref // methods

	function parse.Ref                     // innermost, 0 in the file itself
	owner    parse.Ref                     // class or function that this means
	static   bool                          // this is the class itself
	implicit map[parse.Ref]scope.BindingID // arguments of functions that use them
	used     map[scope.BindingID]parse.Ref // where these are first used

	steps   int
	stopped bool
}

// none is the node of what has none.
const none int32 = -1

// node makes a node; its label is what parts are together.
func (e *extractor) node(k Kind, at parse.Span, parts ...string) int32 {
	if len(e.unit.Nodes) >= MaxNodes {
		e.unit.Omitted++
		return none
	}
	e.unit.Nodes = parse.Append(e.unit.Nodes, Node{at, e.labelOf(parts), k})
	return int32(len(e.unit.Nodes) - 1)
}

func (e *extractor) labelOf(parts []string) int32 {
	e.label = e.label[:0]
	for _, p := range parts {
		e.label = append(e.label, p...)
	}
	if i, ok := e.labels[string(e.label)]; ok {
		return i
	}
	raw := string(e.label)
	label := address.Text(raw)
	if len(label) > maxLabel {
		label = strings.ToValidUTF8(label[:maxLabel], "")
	}
	i, ok := e.labels[label]
	if !ok {
		i = int32(len(e.unit.Labels))
		e.labels[label] = i
		e.unit.Labels = append(e.unit.Labels, label)
	}
	if label != raw && len(raw) <= maxLabel {
		e.labels[raw] = i
	}
	return i
}

// number of a name of a property.
func (e *extractor) number(name string) int32 {
	i, ok := e.names[name]
	if !ok {
		i = int32(len(e.names))
		e.names[name] = i
	}
	return i
}

func (e *extractor) edge(k Relation, from, to int32) {
	if from == none || to == none || from == to {
		return
	}
	e.edges = parse.Append(e.edges, Edge{k, from, to}.pack())
}

func (e *extractor) span(r parse.Ref) parse.Span {
	n := e.At(r)
	return parse.Span{Start: n.Start, End: n.End}
}

// declareFunctions makes the nodes of functions and classes, so that calls find
// them wherever they stand.
func (e *extractor) declareFunctions() {
	for i := range e.Nodes {
		if i%parse.Stride == 0 && e.Stopped() {
			return
		}
		r := parse.Ref(i)
		switch n := &e.Nodes[i]; {
		case n.Kind.IsFunction():
			e.rows.give(r, e.node(Function, e.span(r), e.functionName(r)))
		case n.Kind == parse.Class || n.Kind == parse.ClassDecl:
			e.rows.give(r, e.node(Function, e.span(r), e.functionName(r)))
		}
	}
}

// functionName is the name of a function: its own, or that of what it is given to.
func (e *extractor) functionName(r parse.Ref) string {
	if name := e.First(r); e.Kind(name) == parse.Ident {
		return e.NameOf(name)
	}
	up := e.Parents[r]
	switch e.Kind(up) {
	case parse.Declarator, parse.Assign:
		switch target := e.First(up); e.Kind(target) {
		case parse.Ident:
			return e.NameOf(target)
		case parse.Dot, parse.Index:
			name, _ := e.PropertyOf(target)
			return name
		}
	case parse.Property, parse.Member:
		name, _ := e.KeyOf(e.First(up), e.At(up).Flags&parse.Computed != 0)
		return name
	}
	return ""
}

// binding is the node of a variable.
func (e *extractor) binding(b scope.BindingID) int32 {
	if b == 0 {
		return none
	}
	if e.bindings[b] != none {
		return e.bindings[b]
	}
	v := &e.Scopes.Bindings[b]
	if v.Decl == 0 {
		if at := e.used[b]; at != 0 {
			e.bindings[b] = e.node(Parameter, e.span(at), "arguments")
		}
		return e.bindings[b]
	}
	kind := Variable
	if v.How == scope.Parameter {
		kind = Parameter
	}
	e.bindings[b] = e.node(kind, e.span(v.Decl), e.NameOf(v.Decl))
	if v.How == scope.FunctionDecl || v.How == scope.ClassDecl || v.How == scope.FunctionSelf || v.How == scope.ClassSelf {
		e.edge(Flows, e.functionOf(e.Parents[v.Decl]), e.bindings[b])
	}
	return e.bindings[b]
}

// findArguments finds the functions that use all of their arguments together.
func (e *extractor) findArguments() {
	e.implicit, e.used = map[parse.Ref]scope.BindingID{}, map[scope.BindingID]parse.Ref{}
	for i := range e.Scopes.References {
		ref := &e.Scopes.References[i]
		b := &e.Scopes.Bindings[ref.Binding]
		if ref.Binding == 0 || b.How != scope.Arguments {
			continue
		}
		if at := e.used[ref.Binding]; at == 0 || ref.Node < at {
			e.used[ref.Binding] = ref.Node
		}
		e.implicit[e.Scopes.Scopes[b.Scope].Node] = ref.Binding
	}
}

// allOf is the node of all arguments of a function, none where it does not use them.
func (e *extractor) allOf(function parse.Ref) int32 {
	if function == 0 {
		return none
	}
	return e.binding(e.implicit[function])
}

func (e *extractor) functionOf(r parse.Ref) int32 {
	if k := e.Kind(r); !k.IsFunction() && k != parse.Class && k != parse.ClassDecl {
		return none
	}
	n, _ := e.rows.of(r)
	return n
}

// slot is the node of a property that an expression reads or writes, none when
// the object is not known.
func (e *extractor) slot(r parse.Ref) int32 {
	name, ok := e.PropertyOf(r)
	if !ok {
		return none
	}
	object := e.First(r)
	var key slotKey
	owner, base, path := none, "", name
	switch e.Kind(object) {
	case parse.Ident:
		b := e.Scopes.Of[object]
		if b == 0 {
			return none
		}
		if literal := e.Names.Literal(object); literal != 0 && e.Kind(literal) == parse.Object {
			key.object = literal
		} else {
			key.binding = b
		}
		owner, base = e.binding(b), e.NameOf(object)
	case parse.This:
		key.object = e.owner
		owner, base = e.functionOf(e.owner), "this"
	case parse.Dot, parse.Index: // a.b.c is a property of a, named b.c
		root := object
		for steps := 0; e.Kind(root) == parse.Dot || e.Kind(root) == parse.Index; steps++ {
			step, ok := e.PropertyOf(root)
			if !ok || steps > 6 {
				return none
			}
			path = step + "." + path
			root = e.First(root)
		}
		switch e.Kind(root) {
		case parse.Ident:
			key.binding = e.Scopes.Of[root]
			if key.binding == 0 {
				return none
			}
			base = e.NameOf(root)
		case parse.This:
			key.object, base = e.owner, "this"
		default:
			return none
		}
		owner = e.slot(object)
	case parse.Call, parse.ImportCall: // require("a").b
		if !e.loading(object) {
			return none
		}
		key.object = object
		owner = e.call(object)
	default:
		return none
	}
	key.name = e.number(path)
	n, ok := e.slots[key]
	if !ok {
		n = e.node(Slot, e.span(r), base, ".", path)
		e.slots[key] = n
	}
	e.edge(Property, owner, n)
	return n
}

// flow relates where the value of an expression comes from to what takes it.
func (e *extractor) flow(r parse.Ref, to int32, how Relation, steps int) {
	if r == 0 || to == none || steps == 0 {
		return
	}
	switch n := e.At(r); n.Kind {
	case parse.Ident:
		e.edge(how, e.binding(e.Scopes.Of[r]), to)
	case parse.Dot, parse.Index:
		if config := e.config(r); config != none {
			e.edge(Configures, config, to)
			return
		}
		if s := e.slot(r); s != none {
			e.edge(how, s, to)
			return
		}
		e.flow(n.First(), to, how, steps-1)
	case parse.Call, parse.New, parse.Tagged, parse.ImportCall:
		e.edge(how, e.call(r), to)
	case parse.Await:
		e.flow(n.First(), to, Awaits, steps-1)
	case parse.Func, parse.Arrow, parse.Class:
		e.edge(how, e.functionOf(r), to)
	case parse.String:
		if n.End-n.Start <= maxLabel && (how == Argument || how == Asks || how == Spawns || how == Uses) {
			e.edge(how, e.node(Literal, e.span(r), e.literal(r)), to)
		}
	case parse.Template, parse.Logical, parse.Array:
		for k := n.First(); k != 0; k = e.Next(k) {
			e.flow(k, to, how, steps-1)
		}
	case parse.Binary:
		if n.Op == parse.Plus {
			for k := n.First(); k != 0; k = e.Next(k) {
				e.flow(k, to, how, steps-1)
			}
		}
	case parse.Cond:
		e.flow(e.Kid(r, 1), to, how, steps-1)
		e.flow(e.Kid(r, 2), to, how, steps-1)
	case parse.Sequence:
		e.flow(e.Last(r), to, how, steps-1)
	case parse.Assign:
		e.flow(e.Kid(r, 1), to, how, steps-1)
	case parse.Spread, parse.Yield:
		e.flow(n.First(), to, how, steps-1)
	case parse.Object:
		e.edge(how, e.object(r), to)
	}
}

// maxBefore bounds the parts that are looked at in front of one that is joined.
const maxBefore = 64

// object is the node of an object literal with its properties.
func (e *extractor) object(r parse.Ref) int32 {
	if n, ok := e.rows.of(r); ok {
		return n
	}
	n := e.node(Expression, e.span(r), "")
	e.rows.give(r, n)
	for k := e.First(r); k != 0; k = e.Next(k) {
		if e.Kind(k) != parse.Property {
			e.flow(e.First(k), n, Flows, maxSteps)
			continue
		}
		name, ok := e.KeyOf(e.First(k), e.At(k).Flags&parse.Computed != 0)
		if !ok {
			e.flow(e.Kid(k, 1), n, Flows, maxSteps)
			continue
		}
		key := slotKey{object: r, name: e.number(name)}
		s, there := e.slots[key]
		if !there {
			s = e.node(Slot, e.span(e.First(k)), name)
			e.slots[key] = s
		}
		e.edge(Property, n, s)
		e.flow(e.Kid(k, 1), s, Flows, maxSteps)
	}
	return n
}

// config is the node of a value that the environment gives.
func (e *extractor) config(r parse.Ref) int32 {
	object := e.First(r)
	if e.Kind(object) != parse.Dot || e.NameOf(e.Kid(object, 1)) != "env" {
		return none
	}
	path := e.Names.Path(object)
	if path != "process.env" && path != "import.meta.env" {
		return none
	}
	if n, ok := e.configs[r]; ok {
		return n
	}
	name, _ := e.PropertyOf(r)
	n := e.node(Config, e.span(r), path, ".", name)
	e.configs[r] = n
	return n
}

func (e *extractor) kids(r parse.Ref) {
	for k := e.First(r); k != 0; k = e.Next(k) {
		e.visit(k)
	}
}

func (e *extractor) visit(r parse.Ref) {
	if e.steps++; e.steps%parse.Stride == 0 {
		e.stopped = e.stopped || e.Stopped()
	}
	if e.stopped {
		return
	}
	n := e.At(r)
	switch n.Kind {
	case parse.Func, parse.FuncDecl, parse.Arrow:
		e.enter(r, n)
		return
	case parse.Class, parse.ClassDecl:
		was := e.owner
		e.owner = r
		e.class(r)
		e.kids(r)
		e.owner = was
		return
	case parse.Declarator:
		if value := e.Next(n.First()); e.Kind(value) != parse.Empty {
			e.bind(n.First(), value, "", maxSteps)
		}
	case parse.Assign:
		e.assign(n)
	case parse.Call, parse.New, parse.Tagged, parse.ImportCall:
		if n.Kind == parse.Call {
			e.getters(r, n.First())
		}
		e.call(r)
	case parse.Return:
		if e.Kind(n.First()) != parse.Empty && e.function != 0 {
			site := e.node(Return, e.span(r), "")
			e.flow(n.First(), site, Flows, maxSteps)
			e.edge(Returns, site, e.functionOf(e.function))
		}
	case parse.Yield:
		e.flow(n.First(), e.functionOf(e.function), Returns, maxSteps)
	case parse.Import:
		e.imports(n)
	case parse.ForIn, parse.ForOf:
		e.each(n)
	case parse.ExportNames, parse.ExportDef, parse.ExportDecl:
		e.exports(r, n)
	}
	e.kids(r)
}

// enter visits a function.
func (e *extractor) enter(r parse.Ref, n *parse.Node) {
	function, owner, static := e.function, e.owner, e.static
	e.function = r
	if n.Kind != parse.Arrow {
		up := e.Parents[r]
		e.static = e.Kind(up) == parse.Member && e.At(up).Flags&parse.Static != 0
		if e.Kind(up) != parse.Member {
			e.owner = r
			if e.Kind(up) == parse.Property { // this in a method is its object
				e.owner = e.Parents[up]
			}
		}
	}
	for k := e.First(e.Kid(r, 1)); k != 0; k = e.Next(k) {
		e.parameter(k)
	}
	if body := e.Kid(r, 2); n.Flags&parse.ExprBody != 0 {
		e.flow(body, e.functionOf(r), Returns, maxSteps)
	}
	e.kids(r)
	e.function, e.owner, e.static = function, owner, static
}
