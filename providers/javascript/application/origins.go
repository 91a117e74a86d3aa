package application

import (
	"cmp"
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/sourcemap"
)

const (
	// maxOrigins bounds the original files that one module is joined to.
	maxOrigins = 100
	// sole is the part of a module's places that must be from one file, in percent,
	// for the module to be that file: bundlers add code of their own.
	sole = 90
)

// drawOrigins joins the modules of a program to the original files that its source
// map names within their bounds. A module that is kept apart by its bundle and is
// nearly all from one file bears the path of that file.
func (a *analysis) drawOrigins(file int, m *sourcemap.Map, sources []int64) {
	u := a.units[file]
	if a.lowered[file] || a.documents[file] != nil {
		return
	}
	counts := make([]map[int32]int64, len(u.parts))
	at := newPositions(text(a.tree.Files[file].Data), u.lines)
	for i := range m.Segments {
		s := &m.Segments[i]
		if s.Source < 0 || sources[s.Source] < 0 {
			continue
		}
		part := 1 + u.nest.Innermost(at.offset(s.Line, s.Column))
		if counts[part] == nil {
			counts[part] = map[int32]int64{}
		}
		counts[part][s.Source]++
	}
	from := inferred(fromMap, model.ApplicationProvenanceConfidenceHigh, "places within the bounds of the module are from the file")
	for part, count := range counts {
		if len(count) == 0 || part == 0 && len(u.parts) > 1 {
			continue
		}
		total := int64(0)
		list := make([]int32, 0, len(count))
		for source, n := range count {
			list = append(list, source)
			total += n
		}
		slices.SortFunc(list, func(x, y int32) int { return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(x, y)) })
		node := a.partNodes[file][part]
		for _, source := range list[:min(len(list), maxOrigins)] {
			a.b.Edge(node, sources[source], model.ApplicationRelationMapsTo, a.b.From(from), nil, graph.Properties{"segments": count[source]})
		}
		if len(list) > maxOrigins {
			a.b.Gap("original files of a module of "+a.tree.Files[file].Path, int64(len(list)-maxOrigins), "they are very many")
		}
		if part == 0 {
			continue
		}
		p := &u.parts[part]
		mod := &u.bundles[p.bundle].Modules[p.module]
		if path := m.Sources[list[0]].Path; mod.Kind == bundle.Wrapped && mod.Path == "" && path != "" && 100*count[list[0]] >= sole*total {
			a.b.Set(node, "path", path)
			a.b.Nodes[node].Label = &path
		}
	}
}
