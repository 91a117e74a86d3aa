package semantic

// A methods finder relates calls of methods to the functions that these are, where
// the object is known: a literal, or made by one new, perhaps in a function that
// gives nothing else.
type methods struct {
	*Join
	owner   []int32           // of a property
	returns map[int32][]int32 // what a function gives
	made    map[int32]int32   // class or literal that a node is, by node
}

// instances relates calls of methods to the methods of classes and literals.
func (j *Join) instances() {
	g := j.Graph
	m := &methods{Join: j, owner: make([]int32, len(g.Kinds)), returns: map[int32][]int32{}, made: map[int32]int32{}}
	for i := range m.owner {
		m.owner[i] = none
	}
	for i := range g.Edges {
		switch e := &g.Edges[i]; e.Kind {
		case Property:
			m.owner[e.To] = e.From
		case Returns:
			m.returns[e.To] = append(m.returns[e.To], e.From)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind != Callee || Kind(g.Kinds[e.From]) != Slot || m.owner[e.From] == none || j.Function(e.From) != none {
			continue
		}
		class := m.class(m.owner[e.From], 0)
		if class == none {
			continue
		}
		if f := m.method(class, lastStep(g.Label(e.From))); f != none && !j.related(e.To, f) {
			j.Call(e.To, f)
		}
	}
}

// maxMakers bounds the functions through which an object may have come.
const maxMakers = 6

// class is the class that a value is an instance of, or the literal that it is; or
// none.
func (m *methods) class(n int32, depth int) int32 {
	if c, ok := m.made[n]; ok {
		return c
	}
	m.made[n] = none // what comes from itself comes from nowhere
	c := m.find(n, depth)
	m.made[n] = c
	return c
}

func (m *methods) find(n int32, depth int) int32 {
	g := m.Graph
	for range maxOrigins {
		switch Kind(g.Kinds[n]) {
		case Expression:
			return n
		case Call:
			return m.maker(n, depth)
		}
		from := m.in.of(n)
		if len(from) != 1 {
			return none
		}
		n = from[0]
	}
	return none
}

// maker is the class of what a call gives, or none.
func (m *methods) maker(n int32, depth int) int32 {
	if depth > maxMakers {
		return none
	}
	f := none
	for _, e := range m.from(n) {
		if e.Kind == Calls {
			if f != none {
				return none
			}
			f = e.To
		}
	}
	if f == none {
		return none
	}
	if m.isClass(f) {
		return f
	}
	class := none
	for _, r := range m.returns[f] {
		c := m.class(r, depth+1)
		if c == none || class != none && class != c {
			return none
		}
		class = c
	}
	return class
}

// isClass reports whether a function has methods of its own.
func (m *methods) isClass(f int32) bool {
	for _, e := range m.from(f) {
		if e.Kind == Property {
			for _, from := range m.in.of(e.To) {
				if Kind(m.Graph.Kinds[from]) == Function {
					return true
				}
			}
		}
	}
	return false
}

// method of a class or literal, or none.
func (m *methods) method(class int32, name string) int32 {
	found := none
	for _, e := range m.from(class) {
		if e.Kind == Property && lastStep(m.Graph.Label(e.To)) == name {
			if found != none {
				return none
			}
			found = e.To
		}
	}
	if found == none {
		return none
	}
	return m.Function(found)
}
