package semantic

import (
	"slices"
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

// literal is what is kept of a text, which may be joined to others around it.
func (e *extractor) literal(r parse.Ref) string {
	var before, after []string // from the nearest on
	left, part := maxBefore, r
	for ; left > 0; part = e.Parents[part] {
		up := e.Parents[part]
		if e.Kind(up) != parse.Binary || e.At(up).Op != parse.Plus {
			break
		}
		var here, behind strings.Builder
		for k := e.First(up); k != part && k != 0 && left > 0; k = e.Next(k) {
			e.lead(k, &here, &left)
		}
		for k := e.Next(part); k != 0 && left > 0; k = e.Next(k) {
			e.lead(k, &behind, &left)
		}
		before, after = append(before, here.String()), append(after, behind.String())
	}
	slices.Reverse(before)
	front := strings.Join(before, "")
	if front == "" {
		front = e.beside(part, &left)
	}
	text, behind := e.StringValue(r), strings.Join(after, "")
	if !strings.Contains(front+text, ":") { // only credentials end behind what they begin with
		behind = ""
	}
	return address.Piece(front, text, behind)
}

// beside is what stands before a text that others are joined to when the program runs:
// an argument of a command, the name of a header, the begin of an address.
func (e *extractor) beside(r parse.Ref, left *int) string {
	var b strings.Builder
	up := e.Parents[r]
	switch e.Kind(up) {
	case parse.Array:
		for k := e.First(up); k != r && k != 0; k = e.Next(k) {
			if e.Next(k) == r && e.Kind(k) == parse.String {
				e.lead(k, &b, left)
				b.WriteByte(' ')
			}
		}
	case parse.Property:
		if key, ok := e.KeyOf(e.First(up), e.At(up).Flags&parse.Computed != 0); ok && e.Kid(up, 1) == r {
			if call := e.Parents[e.Parents[up]]; e.Kind(call) == parse.New && e.query(call) {
				return "?" + key + "="
			}
			b.WriteString(key + ": ")
		}
	case parse.Assign: // url.password = "…"
		if to := e.First(up); e.Kid(up, 1) == r && e.Kind(to) == parse.Dot {
			return e.NameOf(e.Kid(to, 1)) + ": "
		}
	case parse.New:
		if e.Kid(up, 1) == r && e.query(up) {
			return "?"
		}
	case parse.Call:
		callee := e.First(up)
		if e.Kind(callee) != parse.Dot || r == callee {
			return ""
		}
		if key := e.Next(callee); key != 0 && e.Next(key) == r { // headers.set("authorization", "…")
			name, ok := e.Names.Constant(key)
			switch {
			case e.query(e.First(callee)) && ok:
				return "?" + name + "="
			case e.query(e.First(callee)):
				return "?{}="
			case ok:
				return name + ": "
			}
			return ""
		}
		if e.NameOf(e.Kid(callee, 1)) != "concat" { // "https://h/".concat("?a=b")
			return ""
		}
		e.lead(e.First(callee), &b, left)
		for k := e.Next(callee); k != r && k != 0 && *left > 0; k = e.Next(k) {
			e.lead(k, &b, left)
		}
	}
	return b.String()
}

// query reports whether an expression makes or is an object of a class that holds a
// query: new URLSearchParams(…), one that a variable holds, url.searchParams.
func (e *extractor) query(r parse.Ref) bool {
	if e.Kind(r) == parse.Ident && e.Scopes.Of[r] != 0 {
		value, ok := e.Names.Origin(e.Scopes.Of[r])
		if !ok {
			return false
		}
		r = value
	}
	switch e.Kind(r) {
	case parse.New:
		return e.Text(e.First(r)) == "URLSearchParams"
	case parse.Dot:
		return e.NameOf(e.Kid(r, 1)) == "searchParams"
	}
	return false
}

// lead writes the text of a part, with {} for what varies.
func (e *extractor) lead(r parse.Ref, to *strings.Builder, left *int) {
	if *left--; *left < 0 {
		return
	}
	switch n := e.At(r); {
	case n.Kind == parse.String && n.End-n.Start <= maxLabel:
		to.WriteString(e.StringValue(r))
	case n.Kind == parse.Chunk && n.End-n.Start <= maxLabel:
		to.WriteString(e.ChunkValue(r))
	case n.Kind == parse.Binary && n.Op == parse.Plus, n.Kind == parse.Template:
		for k := n.First(); k != 0; k = e.Next(k) {
			e.lead(k, to, left)
		}
	default:
		to.WriteString("{}")
	}
}

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

// parameter makes the nodes of a parameter, with its default.
func (e *extractor) parameter(r parse.Ref) {
	switch e.Kind(r) {
	case parse.Ident:
		e.binding(e.Scopes.Of[r])
	case parse.AssignPattern:
		e.bind(e.First(r), e.Kid(r, 1), "", maxSteps)
	}
}

// class relates a class to its members.
func (e *extractor) class(r parse.Ref) {
	if super := e.Kid(r, 1); e.Kind(super) != parse.Empty && e.Kind(super) != parse.Member {
		s := e.node(Slot, e.span(super), extends)
		e.edge(Property, e.functionOf(r), s)
		e.flow(super, s, Flows, maxSteps)
	}
	for k := e.First(r); k != 0; k = e.Next(k) {
		if e.Kind(k) != parse.Member {
			continue
		}
		n := e.At(k)
		name, ok := e.KeyOf(n.First(), n.Flags&parse.Computed != 0)
		value := e.Next(n.First())
		if !ok || e.Kind(value) == parse.Empty {
			continue
		}
		key := slotKey{object: r, name: e.number(name)}
		s, there := e.slots[key]
		if !there {
			s = e.node(Slot, e.span(n.First()), "this.", name)
			e.slots[key] = s
		}
		e.edge(Property, e.functionOf(r), s)
		e.flow(value, s, Flows, maxSteps)
	}
}

// bind relates a value to the variables of a pattern.
func (e *extractor) bind(target, value parse.Ref, path string, steps int) {
	if steps == 0 {
		return
	}
	if e.Kind(value) == parse.Await && e.loading(e.First(value)) {
		value = e.First(value)
	}
	switch e.Kind(target) {
	case parse.Ident:
		b := e.binding(e.Scopes.Of[target])
		if path == "" {
			e.flow(value, b, Flows, maxSteps)
			return
		}
		if e.loading(value) {
			key := slotKey{object: value, name: e.number(path[1:])}
			s, ok := e.slots[key]
			if !ok {
				s = e.node(Slot, e.span(target), path)
				e.slots[key] = s
			}
			e.edge(Property, e.call(value), s)
			e.edge(Flows, s, b)
			return
		}
		if e.Kind(value) == parse.Ident && e.Scopes.Of[value] != 0 {
			key := slotKey{binding: e.Scopes.Of[value], name: e.number(path[1:])}
			s, ok := e.slots[key]
			if !ok {
				s = e.node(Slot, e.span(target), e.NameOf(value), path)
				e.slots[key] = s
			}
			e.edge(Property, e.binding(key.binding), s)
			e.edge(Flows, s, b)
			return
		}
		e.flow(value, b, Flows, maxSteps)
	case parse.AssignPattern:
		e.bind(e.First(target), value, path, steps-1)
		e.bind(e.First(target), e.Kid(target, 1), "", steps-1)
	case parse.ObjectPattern:
		for k := e.First(target); k != 0; k = e.Next(k) {
			if e.Kind(k) == parse.Rest {
				e.bind(e.First(k), value, path, steps-1)
				continue
			}
			if name, ok := e.KeyOf(e.First(k), e.At(k).Flags&parse.Computed != 0); ok {
				e.bind(e.Kid(k, 1), value, path+"."+name, steps-1)
			}
		}
	case parse.ArrayPattern:
		for k := e.First(target); k != 0; k = e.Next(k) {
			if e.Kind(k) == parse.Rest {
				k := e.First(k)
				e.bind(k, value, path, steps-1)
				continue
			}
			e.bind(k, value, path, steps-1)
		}
	}
}

func (e *extractor) assign(n *parse.Node) {
	target, value := n.First(), e.Next(n.First())
	switch e.Kind(target) {
	case parse.Dot, parse.Index:
		if name, ok := e.exported(target); ok {
			node := e.node(Slot, e.span(target), "exports.", name)
			e.flow(value, node, Flows, maxSteps)
			e.give(node, name)
			if name == "*" {
				e.giveMembers(value)
			}
			return
		}
		e.flow(value, e.slot(target), Flows, maxSteps)
		e.handler(target, value)
	default:
		e.bind(target, value, "", maxSteps)
		if e.Kind(target) == parse.Ident && e.Scopes.Of[target] == 0 { // onmessage = … of a worker
			e.handler(target, value)
		}
	}
}

// handler relates an event to the function that a property like onmessage holds.
func (e *extractor) handler(target, value parse.Ref) {
	name, ok := e.PropertyOf(target)
	if e.Kind(target) == parse.Ident {
		name, ok = e.NameOf(target), true
	}
	if !ok || len(name) < 4 || name[:2] != "on" || name[2] < 'a' || name[2] > 'z' {
		return
	}
	f := e.callback(value)
	if f == none {
		return
	}
	n := e.node(Listener, e.span(target), e.calleeLabel(target, e.Names.Path(target)))
	e.edge(Listens, n, f)
	e.receives(value, n)
	if e.Kind(target) != parse.Ident {
		e.flow(e.First(target), n, Flows, 4)
	}
}

// each relates what a loop goes over to its variable.
func (e *extractor) each(n *parse.Node) {
	head := n.First()
	object := e.Next(head)
	if e.Kind(head) == parse.VarDecl {
		e.bind(e.First(e.First(head)), object, "", maxSteps)
		return
	}
	e.bind(head, object, "", maxSteps)
}

// captures relates variables to the functions that keep them.
func (e *extractor) captures() {
	// The function of a scope, by scope.
	around := make([]parse.Ref, len(e.Scopes.Scopes))
	for i := range e.Scopes.Scopes {
		s := &e.Scopes.Scopes[i]
		if s.Kind == scope.Function {
			around[i] = s.Node
		} else if i > 0 {
			around[i] = around[s.Parent]
		}
	}
	for i := 1; i < len(e.Scopes.References); i++ {
		if i%parse.Stride == 0 && e.Stopped() {
			return
		}
		ref := &e.Scopes.References[i]
		b := ref.Binding
		if b == 0 {
			continue
		}
		v := &e.Scopes.Bindings[b]
		switch v.How {
		case scope.FunctionDecl, scope.ClassDecl, scope.ImportName, scope.FunctionSelf, scope.ClassSelf, scope.Arguments:
			continue
		}
		from, to := around[v.Scope], around[ref.Scope()]
		if from == to || to == 0 || from == 0 { // what the file declares is there for all
			continue
		}
		e.edge(Captures, e.binding(b), e.functionOf(to))
	}
}
