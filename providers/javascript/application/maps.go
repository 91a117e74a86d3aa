package application

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/sourcemap"
	"rea/providers/javascript/tree"
)

var fromMap = graph.Source{
	Extractor: extractor, Authority: model.ApplicationProvenanceAuthoritySourceMap,
	State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact,
}

var errUndecoded = fmt.Errorf("%w: what the program holds in its place cannot be decoded", sourcemap.ErrNotMap)

// drawMaps draws source maps and the files that they say programs were made of.
func (a *analysis) drawMaps() {
	sources := map[int][]int64{} // nodes of original files, by map
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		if f.Kind == tree.SourceMap {
			a.drawMapErrors(i)
			if m := a.maps[i]; m != nil {
				sources[i] = a.drawSources(i, a.fileNodes[i], m)
			}
		}
	}
	for i, u := range a.units {
		if u == nil {
			continue
		}
		if u.mapAddress == "" {
			if to, ok := a.companion(i); ok {
				source := inferred(fromMap, model.ApplicationProvenanceConfidenceHigh, "the source map has the name of the program, which does not declare it")
				a.b.Edge(a.fileNodes[i], a.fileNodes[to], model.ApplicationRelationMapsTo, a.b.From(source), nil, nil)
				a.drawOrigins(i, a.maps[to], sources[to])
			}
			continue
		}
		a.drawDeclaredMap(i, u.mapAddress, sources)
	}
}

func (a *analysis) drawMapErrors(i int) {
	if err := a.mapErrors[i]; err != nil {
		a.b.Gap("source map of "+a.tree.Files[i].Path, -1, err.Error())
	}
	if m := a.maps[i]; m != nil {
		for _, note := range m.Notes {
			a.b.Gap("source map of "+a.tree.Files[i].Path, -1, note)
		}
	}
}

// drawDeclaredMap joins a program to the map it names: one it holds, or a file.
func (a *analysis) drawDeclaredMap(i int, declared string, sources map[int][]int64) {
	from := a.fileNodes[i]
	if strings.HasPrefix(declared, "data:") {
		a.drawMapErrors(i)
		m := a.maps[i]
		if m == nil {
			return
		}
		body, _ := sourcemap.Inline(declared)
		sum := sha256.Sum256(body)
		id := graph.Path(a.tree.Files[i].Path+"#source-map", hex.EncodeToString(sum[:]))
		node := a.b.Node(model.ApplicationNodeKindSourceMap, id, a.tree.Files[i].Path, a.b.From(fromMap), nil, graph.Properties{"inline": true, "size": int64(len(body))})
		a.b.Edge(from, node, model.ApplicationRelationMapsTo, a.b.From(fromMap), nil, graph.Properties{"inline": true})
		a.drawOrigins(i, m, a.drawSources(i, node, m))
		return
	}
	if p, ok := a.mapPath(i, declared); ok {
		to := a.byPath[p]
		if a.tree.Files[to].Kind != tree.SourceMap {
			a.b.Gap("source map of "+a.tree.Files[i].Path, -1, "it names "+p+", which is not a source map")
			return
		}
		a.b.Edge(from, a.fileNodes[to], model.ApplicationRelationMapsTo, a.b.From(fromMap), nil, nil)
		if m := a.maps[to]; m != nil {
			a.drawOrigins(i, m, sources[to])
		}
		return
	}
	clean := address.Clean(declared)
	source := fromMap
	source.State, source.Confidence, source.Reason = model.ApplicationProvenanceStateUnavailable, model.ApplicationProvenanceConfidenceUnknown, "the source map is not in the application"
	node := a.b.Node(model.ApplicationNodeKindSourceMap, graph.Local("declared "+path.Join(path.Dir(a.tree.Files[i].Path), clean)), clean, a.b.From(source), nil, nil)
	a.b.Edge(from, node, model.ApplicationRelationMapsTo, a.b.From(source), nil, nil)
}

// companion is the source map beside a program that declares none: it has the name of
// the program, and names no other.
func (a *analysis) companion(i int) (int, bool) {
	name := a.tree.Files[i].Path
	to, ok := a.byPath[name+".map"]
	if !ok || a.maps[to] == nil || a.tree.Files[i].Kind != tree.JavaScript {
		return 0, false
	}
	file := a.maps[to].File
	return to, file == "" || path.Base(file) == path.Base(name)
}

// mapPath is the file that an address in a program means.
func (a *analysis) mapPath(i int, address string) (string, bool) {
	name, err := url.PathUnescape(address)
	if err != nil {
		name = address
	}
	name, _, _ = strings.Cut(name, "?")
	if name == "" || strings.Contains(name, "://") {
		return "", false
	}
	p := path.Join(path.Dir(a.tree.Files[i].Path), name)
	return p, a.Has(p)
}

// drawSources draws the original files of a map, each with how much of the
// program comes from it. It gives their nodes, -1 for those without.
func (a *analysis) drawSources(file int, node int64, m *sourcemap.Map) []int64 {
	nodes := make([]int64, len(m.Sources))
	if len(m.Notes) > 0 {
		a.b.Set(node, "notes", m.Notes)
	}
	a.b.Set(node, "names", len(m.Names))
	a.b.Set(node, "segments", len(m.Segments))
	type use struct {
		segments, runs int64
		first          *sourcemap.Run
	}
	uses := make([]use, len(m.Sources))
	runs := m.Runs()
	for i := range runs {
		u := &uses[runs[i].Source]
		u.segments += int64(runs[i].Segments)
		u.runs++
		if u.first == nil {
			u.first = &runs[i]
		}
	}
	for i := range m.Sources {
		s := &m.Sources[i]
		nodes[i] = -1
		if s.Path == "" && !s.HasContent {
			continue
		}
		p := graph.Properties{"path": s.Path, "segments": uses[i].segments, "ranges": uses[i].runs, "has_content": s.HasContent}
		if s.HasContent {
			p["size"] = len(s.Content)
		}
		if s.Ignored {
			p["ignored"] = true
		}
		if r := uses[i].first; r != nil {
			p["generated_line"], p["generated_column"] = int(r.Line)+1, int(r.Column)
		}
		id := graph.Identity{Strategy: model.ApplicationNodeIdentityStrategySourceMapOriginal, Key: s.Path, SHA256: s.SHA256()}
		to := a.b.Node(model.ApplicationNodeKindSourceModule, id, s.Path, a.b.From(fromMap), nil, p)
		a.b.Edge(node, to, model.ApplicationRelationContains, a.b.From(fromMap), nil, nil)
		nodes[i] = to
	}
	return nodes
}
