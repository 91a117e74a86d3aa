package slice

import (
	"slices"

	"rea/providers/javascript/feature"
	"rea/providers/javascript/flow"
	"rea/providers/javascript/semantic"
)

// Find lists what a seed names: nodes of the application graph, names that code
// calls of native add-ons, and for a string the texts and functions of the code
// that have it.
func Find(p *flow.Program, kind feature.SeedKind, m feature.Matcher) []feature.Match {
	found := feature.Find(p.Application, kind, m)
	switch kind {
	case feature.ByNative:
		found = append(found, called(p, m, found)...)
	case feature.ByString:
		found = append(found, written(p, m)...)
	case feature.ByID:
		if len(found) == 0 {
			found = stated(p, m)
		}
	}
	return found
}

// called are the native add-ons of which code calls what a seed names.
func called(p *flow.Program, m feature.Matcher, found []feature.Match) []feature.Match {
	var out []feature.Match
	x := newIndex(p)
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Location == nil || !isNative(p.Graph.Nodes[e.To].Kind) {
			continue
		}
		for _, name := range x.names(i, func(int32) bool { return true }) {
			is := func(f feature.Match) bool {
				return f.Node == int(e.To) && (f.Value == name || f.Field != "names")
			}
			if m.Match(name) && !slices.ContainsFunc(found, is) && !slices.ContainsFunc(out, is) {
				out = append(out, feature.Match{Node: int(e.To), Basis: feature.Code, Field: "names", Value: name})
			}
		}
	}
	return out
}

// written are the texts and functions of a name.
func written(p *flow.Program, m feature.Matcher) []feature.Match {
	g := p.Semantic
	is := make([]bool, len(g.Strings)) // labels are shared by many nodes
	for i, label := range g.Strings {
		is[i] = m.Match(label)
	}
	var out []feature.Match
	for n := range g.Kinds {
		if g.Labels[n] < 0 || !is[g.Labels[n]] {
			continue
		}
		if k := semantic.Kind(g.Kinds[n]); k == semantic.Literal || k == semantic.Function {
			out = append(out, feature.Match{Node: p.Module(int32(n)), Basis: feature.Code, Field: k.Name(), Value: g.Strings[g.Labels[n]], Site: int32(n)})
		}
	}
	return out
}

// stated are the functions with an id.
func stated(p *flow.Program, m feature.Matcher) []feature.Match {
	e, ok := m.(*feature.Exact)
	if !ok {
		return nil
	}
	if n := p.Node(e.Value); n > 0 && p.Kind(n) != semantic.Module {
		return []feature.Match{{Node: p.Module(n), Basis: feature.NodeID, Field: "id", Value: e.Value, Site: n}}
	}
	return nil
}
