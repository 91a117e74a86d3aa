package fingerprint

import (
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// spoken are the scopes whose names code that is compiled at run time may speak of:
// those around a direct call of eval. It is nil where there are none.
func spoken(f *parse.File, t *scope.Table) []bool {
	evals := map[parse.Ref]bool{}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Kind == parse.Call && n.Flags&parse.Optional == 0 && t.Global(f, n.First(), "eval") {
			evals[n.First()] = true
		}
	}
	if len(evals) == 0 {
		return nil
	}
	list := make([]bool, len(t.Scopes))
	for i := range t.References {
		r := &t.References[i]
		if !evals[r.Node] {
			continue
		}
		for at := r.Scope(); !list[at]; at = t.Scopes[at].Parent {
			list[at] = true // the file is around itself
		}
	}
	return list
}

// sharesPrototype reports whether a property is {__proto__}, which is a property as any
// other, where {__proto__: a} says what an object inherits from.
func (w *Normalizer) sharesPrototype(n *parse.Node) bool {
	return n.Flags&parse.Shorthand != 0 && w.f.NameOf(n.First()) == "__proto__"
}

// label writes which of the labels around a statement it leaves, counted from inside.
func (w *Normalizer) label(name parse.Ref) {
	if name == 0 {
		return
	}
	text := w.f.NameOf(name)
	for i := len(w.labels) - 1; i >= 0; i-- {
		if w.labels[i] == text {
			w.put('L', uint32(len(w.labels)-i))
			return
		}
	}
	w.text('n', text)
}

// privateNames are the private names of the classes around a place, with numbers in
// order of appearance.
type privateNames struct {
	classes []map[string]int // from outside; number of a name, -1 before it appeared
	count   int
}

// enter begins a class.
func (p *privateNames) enter(f *parse.File, class parse.Ref) {
	var names map[string]int
	for k := f.First(class); k != 0; k = f.Next(k) {
		if key := f.First(k); f.Kind(k) == parse.Member && f.Kind(key) == parse.PrivateName {
			if names == nil {
				names = map[string]int{}
			}
			names[f.NameOf(key)] = -1
		}
	}
	p.classes = append(p.classes, names)
}

// leave ends the innermost class.
func (p *privateNames) leave() { p.classes = p.classes[:len(p.classes)-1] }

func (w *Normalizer) privateName(r parse.Ref) {
	name := w.f.NameOf(r)
	for i := len(w.private.classes) - 1; i >= 0; i-- {
		number, ok := w.private.classes[i][name]
		if !ok {
			continue
		}
		if number < 0 {
			number = w.private.count
			w.private.count++
			w.private.classes[i][name] = number
		}
		w.put('P', uint32(number))
		return
	}
	w.text('n', name)
}

// key writes a name of a property, however it is written.
func (w *Normalizer) key(r parse.Ref, depth int) {
	text := ""
	switch w.f.Kind(r) {
	case parse.String:
		text = w.f.StringUnits(r)
	case parse.Number:
		key, ok := w.f.NumberKey(r)
		if !ok {
			w.node(r, depth)
			return
		}
		text = key
	default:
		w.node(r, depth)
		return
	}
	w.put(byte(parse.Name), 0)
	w.text('n', text)
}

// given is the expression in a body that does nothing but return it, or 0: an arrow
// function with it is one with the expression.
func (w *Normalizer) given(block parse.Ref) parse.Ref {
	first := w.f.First(block)
	if w.f.Kind(first) != parse.Return || w.f.Next(first) != 0 {
		return 0
	}
	if value := w.f.First(first); value != 0 && w.f.Kind(value) != parse.Empty {
		return value
	}
	return 0
}
