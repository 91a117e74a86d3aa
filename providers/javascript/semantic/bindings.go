package semantic

import (
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

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
