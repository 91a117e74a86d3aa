package semantic

// A methods finder relates calls of methods to the functions that these are, where
// the object is known: a literal, or made by one new, perhaps in a function that
// gives nothing else.
type methods struct {
	*Join
	owner   []int32           // of a property
	returns map[int32][]int32 // what a function gives
	made    map[int32]int32   // class or literal that a node is, by node
	members map[int32]*members
}

// members of a class or literal.
type members struct {
	slots   map[string]int32 // by name, none where there are several
	super   int32            // what it extends, or none
	isClass bool
}

// instances relates calls of methods to the methods of classes and literals.
func (j *Join) instances() {
	g := j.Graph
	m := &methods{Join: j, owner: j.owners(), returns: map[int32][]int32{}, made: map[int32]int32{}, members: map[int32]*members{}}
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Kind == Returns {
			m.returns[e.To] = append(m.returns[e.To], e.From)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind == Calls && m.of(e.To).isClass {
			if f := m.method(e.To, "constructor", 0); f != none && !j.related(e.From, f) {
				j.Add(Calls, e.From, f)
				j.Receive(e.From, f)
			}
			continue
		}
		if e.Kind != Callee || Kind(g.Kinds[e.From]) != Slot || m.owner[e.From] == none || j.Function(e.From) != none {
			continue
		}
		name := lastStep(g.Label(e.From))
		if name == "call" || name == "apply" {
			if f := j.Function(m.owner[e.From]); f != none && !j.related(e.To, f) {
				j.Call(e.To, f)
				continue
			}
		}
		class := m.class(m.owner[e.From], 0)
		if class == none {
			continue
		}
		if f := m.method(class, name, 0); f != none && !j.related(e.To, f) {
			j.Call(e.To, f)
		}
	}
}

// owners are what has each property, by property.
func (j *Join) owners() []int32 {
	g := j.Graph
	owner := make([]int32, len(g.Kinds))
	for i := range owner {
		owner[i] = none
	}
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Kind == Property {
			owner[e.To] = e.From
		}
	}
	return owner
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
		case Function: // a class itself, of which a static method is called
			if m.of(n).isClass {
				return n
			}
			return none
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
	f, class := none, none
	for _, e := range m.from(n) {
		switch {
		case e.Kind != Calls:
		case m.of(e.To).isClass:
			if class != none {
				return none
			}
			class = e.To
		default: // of a class, its constructor
			if f != none && class == none {
				return none
			}
			f = e.To
		}
	}
	if class != none {
		return class
	}
	if f == none {
		return none
	}
	for _, r := range m.returns[f] {
		c := m.class(r, depth+1)
		if c == none || class != none && class != c {
			return none
		}
		class = c
	}
	return class
}

// of are the members of a class or literal. It is a class when it has methods of its
// own, or a class that it extends.
func (m *methods) of(class int32) *members {
	if found, ok := m.members[class]; ok {
		return found
	}
	out := &members{slots: map[string]int32{}, super: none}
	m.slots(class, func(slot int32) {
		label := m.Graph.Label(slot)
		for _, from := range m.in.of(slot) {
			out.isClass = out.isClass || Kind(m.Graph.Kinds[from]) == Function || label == extends
		}
		if label == extends {
			out.super = slot
			return
		}
		name := lastStep(label)
		if _, several := out.slots[name]; several {
			slot = none
		}
		out.slots[name] = slot
	})
	m.members[class] = out
	return out
}

// slots gives the properties of a class, and those of the prototype of a function.
func (m *methods) slots(f int32, yield func(slot int32)) {
	g := m.Graph
	for _, e := range m.from(f) {
		switch {
		case e.Kind == Property:
			yield(e.To)
		case e.Kind == Flows && Kind(g.Kinds[e.To]) == Variable:
			for _, p := range m.from(e.To) {
				if p.Kind != Property || lastStep(g.Label(p.To)) != "prototype" {
					continue
				}
				for _, q := range m.from(p.To) {
					if q.Kind == Property {
						yield(q.To)
					}
				}
			}
		}
	}
}

// extends is the label of what a class extends.
const extends = "extends"

// method of a class or literal, or of what it extends; or none.
func (m *methods) method(class int32, name string, depth int) int32 {
	of := m.of(class)
	if slot, ok := of.slots[name]; ok {
		if slot == none {
			return none
		}
		return m.Function(slot)
	}
	if of.super != none && depth < maxMakers {
		if f := m.Function(of.super); f != none {
			return m.method(f, name, depth+1)
		}
	}
	return none
}
