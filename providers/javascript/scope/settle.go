package scope

import "rea/providers/javascript/parse"

// A settler tells which binding each use of a name means.
type settler struct {
	f       *parse.File
	t       *Table
	visible []BindingID // innermost binding of a name, by atom
	hidden  []BindingID // what a binding hides, by binding
	path    []ID        // scopes around, from the file on
	with    []ID        // those of them that are of a with
	// heads are functions around whose body was not reached: what only their bodies
	// declare is not visible yet.
	heads []head
}

type head struct {
	function ID
	body     uint32 // where it begins
}

func settle(f *parse.File, t *Table, visible []BindingID) {
	s := &settler{f: f, t: t, visible: visible, hidden: make([]BindingID, len(t.Bindings))}
	s.enter(0)
	var down []ID
	for i := range t.References[1:] {
		if i%parse.Stride == 0 && f.Stopped() {
			return
		}
		ref := &t.References[1+i]
		at := f.At(ref.Node)
		scope := ref.Scope()
		// The path to a scope leads through the nearest scope around it that is entered.
		down = down[:0]
		for id := scope; !s.entered(id); id = t.Scopes[id].Parent {
			down = append(down, id)
		}
		around := scope
		if len(down) > 0 {
			around = t.Scopes[down[len(down)-1]].Parent
		}
		for s.path[len(s.path)-1] != around {
			s.leave()
		}
		for len(down) > 0 {
			id := down[len(down)-1]
			down = down[:len(down)-1]
			s.reach(f.At(t.Scopes[id].Node).Start)
			s.enter(id)
		}
		s.reach(at.Start)
		s.resolve(ref, at)
	}
}

// entered reports whether a scope is on the path.
func (s *settler) entered(id ID) bool {
	d := s.t.Scopes[id].depth
	return int(d) < len(s.path) && s.path[d] == id
}

func (s *settler) enter(id ID) {
	scope := &s.t.Scopes[id]
	s.path = append(s.path, id)
	switch scope.Kind {
	case WithScope:
		s.with = append(s.with, id)
	case Function:
		if body := s.f.At(s.f.Kid(scope.Node, 2)).Start; body != 0 {
			s.heads = append(s.heads, head{id, body})
			s.show(scope, func(b *Binding) bool { return !s.inBody(b, body) })
			return
		}
	}
	s.show(scope, func(*Binding) bool { return true })
}

// reach makes visible what the body of the innermost function declares, if that is
// where reading is.
func (s *settler) reach(at uint32) {
	last := len(s.heads) - 1
	if last < 0 || s.heads[last].function != s.path[len(s.path)-1] || at < s.heads[last].body {
		return
	}
	h := s.heads[last]
	s.heads = s.heads[:last]
	s.show(&s.t.Scopes[h.function], func(b *Binding) bool { return s.inBody(b, h.body) })
}

// inBody reports whether a binding of a function is declared in its body alone, so
// that default values do not see it.
func (s *settler) inBody(b *Binding, body uint32) bool {
	return b.How != Arguments && b.Decl != 0 && s.f.At(b.Decl).Start >= body
}

// show makes bindings of a scope visible.
func (s *settler) show(scope *Scope, which func(*Binding) bool) {
	for b := scope.First; b < scope.First+BindingID(scope.Count); b++ {
		if v := &s.t.Bindings[b]; which(v) {
			s.hidden[b], s.visible[v.Atom] = s.visible[v.Atom], b
		}
	}
}

// leave leaves the innermost scope.
func (s *settler) leave() {
	id := s.path[len(s.path)-1]
	s.path = s.path[:len(s.path)-1]
	scope := &s.t.Scopes[id]
	for b := scope.First; b < scope.First+BindingID(scope.Count); b++ {
		if v := &s.t.Bindings[b]; s.visible[v.Atom] == b {
			s.visible[v.Atom] = s.hidden[b]
		}
	}
	if n := len(s.with); n > 0 && s.with[n-1] == id {
		s.with = s.with[:n-1]
	}
	if n := len(s.heads); n > 0 && s.heads[n-1].function == id {
		s.heads = s.heads[:n-1]
	}
}

func (s *settler) resolve(ref *Reference, at *parse.Node) {
	b := s.visible[at.Atom()]
	if b == 0 {
		return
	}
	binding := &s.t.Bindings[b]
	if n := len(s.with); n > 0 && binding.Scope < s.with[n-1] {
		return // whether the object has the name can't be known
	}
	ref.Binding = b
	s.t.Of[ref.Node] = b
	if ref.Use()&Read != 0 {
		binding.Reads++
	}
	if ref.Use()&Write != 0 {
		binding.Writes++
	}
}
