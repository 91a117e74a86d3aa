package application

import (
	"cmp"
	"slices"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/semantic"
)

// joinSemantics joins the semantic graphs of the files along their imports.
func (a *analysis) joinSemantics() error {
	var parts []semantic.Part
	index := make([]int, len(a.units)) // of the part of a file, -1 for none
	for i, u := range a.units {
		index[i] = -1
		if u == nil || u.graph == nil {
			continue
		}
		u.linkBundles()
		index[i] = len(parts)
		parts = append(parts, semantic.Part{File: int64(i), Unit: u.graph, Application: a.partNodes[i]})
	}
	exports := make([]map[string]int32, len(parts))
	for i := range parts {
		exports[i] = map[string]int32{}
		for _, e := range parts[i].Unit.Exports {
			if _, twice := exports[i][e.Name]; !twice {
				exports[i][e.Name] = e.Node
			}
		}
	}
	var links []semantic.Link
	for i := range parts {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		for _, m := range parts[i].Unit.Imports {
			if m.Bundle >= 0 {
				continue
			}
			r := a.resolver.Resolve(a.tree.Files[parts[i].File].Path, m.Specifier, resolve.How{})
			if r.Path == "" {
				continue
			}
			to := index[a.byPath[r.Path]]
			if to < 0 {
				continue
			}
			node, ok := exports[to][m.Name]
			if !ok {
				node = parts[to].Unit.Modules[0]
			}
			links = append(links, semantic.Link{FromPart: to, ToPart: i, From: node, To: m.Node})
		}
	}
	g := semantic.Join(parts, links)
	for _, u := range a.units { // all that is needed of them is in the graph
		if u != nil {
			u.graph = nil
		}
	}
	parts = nil
	a.semantics = g.Encode()
	return a.ctx.Err()
}

// linkBundles joins what modules of a bundle load to those modules.
func (u *unit) linkBundles() {
	byID := make([]map[string]int, len(u.bundles))
	for i := 1; i < len(u.parts); i++ {
		p := &u.parts[i]
		if byID[p.bundle] == nil {
			byID[p.bundle] = map[string]int{}
		}
		id := u.bundles[p.bundle].Modules[p.module].ID
		if _, twice := byID[p.bundle][id]; !twice {
			byID[p.bundle][id] = i
		}
	}
	for _, m := range u.graph.Imports {
		if m.Bundle < 0 {
			continue
		}
		part := u.nest.Innermost(u.graph.Nodes[m.Node].At.Start)
		if part < 0 {
			continue
		}
		id := m.Specifier
		b := u.parts[1+part].bundle
		for _, q := range requiresAt(&u.bundles[b].Modules[u.parts[1+part].module], u.graph.Nodes[m.Node].At.Start) {
			id = q.ID // what the specifier means by the table of the module
		}
		if target, ok := byID[b][id]; ok {
			u.graph.Edges = append(u.graph.Edges, semantic.Edge{Kind: semantic.Crosses, From: u.graph.Modules[target], To: m.Node})
		}
	}
	u.graph.Edges = semantic.SortEdges(u.graph.Edges)
}

func requiresAt(m *bundle.Module, start uint32) []bundle.Require {
	i, ok := slices.BinarySearchFunc(m.Requires, start, func(q bundle.Require, at uint32) int { return cmp.Compare(q.At.Start, at) })
	if !ok || m.Requires[i].Unknown {
		return nil
	}
	return m.Requires[i : i+1]
}
