package facts

import (
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// exposes reads contextBridge.exposeInMainWorld(name, api).
func exposes(e *extractor, c *call) {
	if !strings.Contains(c.path, "contextBridge.") {
		return
	}
	name, api := c.args[0], c.args[1]
	if c.name == "exposeInIsolatedWorld" {
		name, api = c.args[1], c.args[2]
	}
	fact := e.named(BridgeAPI, name, c.path, c.r)
	members, complete := e.members(api, "", 0)
	fact.Details = append(fact.Details, Value{"members", members}, Value{"members_complete", complete})
	if object := e.Names.Literal(api); object != 0 {
		api = object
	}
	if api != 0 {
		fact.Within = e.span(api)
	}
}

// maxMembers bounds the members listed of an API.
const maxMembers = 2000

// members lists the members of a value, those of objects in it by path. They are
// complete where nothing may have given it others.
func (e *extractor) members(r parse.Ref, prefix string, depth int) (names []string, complete bool) {
	m := members{extractor: e, complete: true}
	m.add(r, prefix, depth)
	if m.names == nil {
		m.names = []string{}
	}
	return m.names, m.complete
}

type members struct {
	*extractor
	names    []string
	complete bool
	steps    int
}

// maxMemberSteps bounds the values that are looked at for one API.
const maxMemberSteps = 20_000

func (m *members) name(path string) bool {
	switch {
	case slices.Contains(m.names, path):
	case len(m.names) >= maxMembers:
		m.complete = false
		return false
	default:
		m.names = append(m.names, path)
	}
	return true
}

// add adds the members of a value.
func (m *members) add(r parse.Ref, prefix string, depth int) {
	f := m.f
	if m.steps++; r == 0 || depth > 8 || m.steps > maxMemberSteps {
		m.complete = false
		return
	}
	switch k := f.Kind(r); {
	case k == parse.Object:
		m.literal(r, prefix, depth)
		return
	case k.IsFunction(), k == parse.Number, k == parse.Null, k == parse.Regex:
		return // functions have no members in the other world, and others none at all
	case k == parse.Ident && m.Scopes.Of[r] != 0:
		m.variable(r, prefix, depth)
		return
	case k == parse.Call && len(m.names) < maxMembers:
		switch m.Names.Path(f.First(r)) {
		case "Object.freeze", "Object.seal":
			m.add(f.Kid(r, 1), prefix, depth+1)
			return
		case "Object.assign":
			for arg := f.Kid(r, 1); arg != 0; arg = f.Next(arg) {
				if f.Kind(arg) == parse.Spread {
					m.complete = false
				} else {
					m.add(arg, prefix, depth+1)
				}
			}
			return
		}
	}
	if _, ok := m.Names.Constant(r); ok {
		return
	}
	if object := m.Names.Literal(r); object != 0 {
		m.literal(object, prefix, depth)
		return
	}
	m.complete = false
}

func (m *members) variable(r parse.Ref, prefix string, depth int) {
	b := m.Scopes.Of[r]
	value, ok := m.Names.Origin(b)
	if !ok {
		if v := m.Scopes.Binding(r); v.How != scope.FunctionDecl || v.Writes > 0 {
			m.complete = false
		}
		return
	}
	m.add(value, prefix, depth+1)
	grown := m.grows(b)
	m.complete = m.complete && !grown.open
	for _, target := range grown.targets {
		key, ok := m.f.PropertyOf(target)
		if !ok || !m.name(prefix+key) {
			m.complete = false
			continue
		}
		m.inner(m.f.Next(target), prefix+key+".", depth)
	}
	for _, source := range grown.assigned {
		m.add(source, prefix, depth+1)
	}
}

// inner adds the members of an object that is a member.
func (m *members) inner(value parse.Ref, prefix string, depth int) {
	if m.f.Kind(value) == parse.Object || m.f.Kind(value) == parse.Ident && m.Names.Literal(value) != 0 {
		m.add(value, prefix, depth+1)
	}
}

func (m *members) literal(object parse.Ref, prefix string, depth int) {
	f := m.f
	for k := f.First(object); k != 0; k = f.Next(k) {
		if f.Kind(k) == parse.Spread {
			m.add(f.First(k), prefix, depth+1)
			continue
		}
		computed := f.At(k).Flags&parse.Computed != 0
		key, ok := f.KeyOf(f.First(k), computed)
		if computed && !ok {
			if key, ok = m.Names.Constant(f.First(k)); !ok && strings.HasPrefix(m.Names.Path(f.First(k)), "Symbol.") {
				continue // it does not get into the other world
			}
		}
		if f.Kind(k) != parse.Property || !ok || !m.name(prefix+key) {
			m.complete = false
			continue
		}
		m.inner(f.Kid(k, 1), prefix+key+".", depth)
	}
}

// growth is what a variable's value was given after it was made.
type growth struct {
	targets  []parse.Ref // of assignments
	assigned []parse.Ref // objects of which it was given all members
	open     bool        // code that is not seen may have given it more
}

// grows tells what a variable's value was given after it was made: by api.a = …,
// by Object.assign(api, …), or by a call that is handed it and may.
func (e *extractor) grows(b scope.BindingID) growth {
	if e.grown == nil {
		e.grown = map[scope.BindingID]growth{}
		f := e.f
		for i := range f.Nodes {
			n := &f.Nodes[i]
			switch {
			case n.Kind == parse.Assign && (f.Kind(f.First(parse.Ref(i))) == parse.Dot || f.Kind(f.First(parse.Ref(i))) == parse.Index):
				target := f.First(parse.Ref(i))
				if object := f.First(target); f.Kind(object) == parse.Ident {
					g := e.grown[e.Scopes.Of[object]]
					g.targets = append(g.targets, target)
					e.grown[e.Scopes.Of[object]] = g
				} else if root := e.rootOf(object); root != 0 { // a.b.c = …
					g := e.grown[e.Scopes.Of[root]]
					g.open = true
					e.grown[e.Scopes.Of[root]] = g
				}
			case n.Kind == parse.Call:
				callee := f.First(parse.Ref(i))
				switch name, _ := f.PropertyOf(callee); name {
				case "exposeInMainWorld", "exposeInIsolatedWorld", "freeze", "keys", "entries", "values", "log", "stringify":
					continue
				}
				first := f.Next(callee)
				if f.Kind(first) == parse.Ident && f.Text(callee) == "Object.assign" {
					g := e.grown[e.Scopes.Of[first]]
					for k := f.Next(first); k != 0; k = f.Next(k) {
						g.assigned = append(g.assigned, k)
					}
					e.grown[e.Scopes.Of[first]] = g
					continue
				}
				for k := first; k != 0; k = f.Next(k) {
					if f.Kind(k) == parse.Ident {
						g := e.grown[e.Scopes.Of[k]]
						g.open = true
						e.grown[e.Scopes.Of[k]] = g
					}
				}
			}
		}
	}
	return e.grown[b]
}
