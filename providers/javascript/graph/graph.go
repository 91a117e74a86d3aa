// Package graph builds the graph of an application: nodes for what it is made
// of and what it names, edges for how they belong together.
//
// # Compactness
//
// Locations and provenance are tables, and nodes and edges hold indices into
// them: what a thousand facts share is written once.
//
// # Identity
//
// The id of a node is a digest of its kind and its identity, and nothing else,
// so it is the same in every analysis that finds the same thing. The id of the
// graph is a digest of all that it says. Nodes are in the order in which they
// were added, which follows the files; edges are sorted.
package graph

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
)

// Identity of a node.
type Identity struct {
	Strategy model.ApplicationNodeIdentityStrategy
	Key      string
	SHA256   string
}

// Path identifies a file by where it lies and what it holds.
func Path(path, sha256 string) Identity {
	return Identity{model.ApplicationNodeIdentityStrategyCanonicalPath, path, sha256}
}

// Local identifies a thing within the application by a key.
func Local(key string) Identity {
	return Identity{model.ApplicationNodeIdentityStrategyArtifactLocalKey, key, ""}
}

// A Builder makes a graph.
type Builder struct {
	Files      []model.ApplicationFile
	Locations  model.ApplicationLocations
	Provenance []model.ApplicationProvenance
	Nodes      []model.ApplicationNode
	Edges      []model.ApplicationEdge
	Gaps       []model.ApplicationCoverageGap

	byID       map[string]int64
	places     map[place]int64
	provenance map[string]int64
	contained  map[int64]bool
}

type place struct{ file, start, end int64 }

// NewBuilder makes an empty graph over files.
func NewBuilder(files []model.ApplicationFile) *Builder {
	return &Builder{
		Files: files, byID: map[string]int64{}, places: map[place]int64{}, provenance: map[string]int64{}, contained: map[int64]bool{},
		Nodes: []model.ApplicationNode{}, Edges: []model.ApplicationEdge{}, Gaps: []model.ApplicationCoverageGap{},
	}
}

// Location is the index of a range of a file.
func (b *Builder) Location(file int, start, end uint32, line int) *int64 {
	p := place{int64(file), int64(start), int64(end)}
	i, ok := b.places[p]
	if !ok {
		i = int64(len(b.Locations.File))
		b.places[p] = i
		b.Locations.File = append(b.Locations.File, p.file)
		b.Locations.Start = append(b.Locations.Start, p.start)
		b.Locations.End = append(b.Locations.End, p.end)
		b.Locations.Line = append(b.Locations.Line, int64(line))
	}
	return &i
}

// Source is how a fact came to be known.
type Source struct {
	Extractor  string
	Authority  model.ApplicationProvenanceAuthority
	State      model.ApplicationProvenanceState
	Confidence model.ApplicationProvenanceConfidence
	Reason     string
}

// From is the index of a provenance.
func (b *Builder) From(s Source) int64 {
	key := strings.Join([]string{s.Extractor, string(s.Authority), string(s.State), string(s.Confidence), s.Reason}, "\x00")
	i, ok := b.provenance[key]
	if !ok {
		i = int64(len(b.Provenance))
		b.provenance[key] = i
		p := model.ApplicationProvenance{Extractor: s.Extractor, Authority: s.Authority, State: s.State, Confidence: s.Confidence}
		if s.Reason != "" {
			p.Reason = &s.Reason
		}
		b.Provenance = append(b.Provenance, p)
	}
	return i
}

// Properties of a node or edge.
type Properties map[string]any

func (p Properties) encode() map[string]jsontext.Value {
	out := make(map[string]jsontext.Value, len(p))
	for name, v := range p {
		out[name] = Value(v)
	}
	return out
}

// ID of a node.
func ID(kind model.ApplicationNodeKind, id Identity) string {
	h := sha256.New()
	for _, s := range []string{string(kind), string(id.Strategy), id.Key, id.SHA256} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return "jan_" + hex.EncodeToString(h.Sum(nil))
}

// Node adds a node, or gives the one that is there.
func (b *Builder) Node(kind model.ApplicationNodeKind, id Identity, label string, from int64, at *int64, p Properties) int64 {
	key := ID(kind, id)
	if i, ok := b.byID[key]; ok {
		return i
	}
	i := int64(len(b.Nodes))
	b.byID[key] = i
	n := model.ApplicationNode{ID: key, Kind: kind, Provenance: from, Location: at, Properties: p.encode()}
	n.Identity.Strategy = id.Strategy
	if label != "" {
		n.Label = &label
	}
	if id.Key != "" {
		n.Identity.Key = &id.Key
	}
	if id.SHA256 != "" {
		n.Identity.SHA256 = &id.SHA256
	}
	b.Nodes = append(b.Nodes, n)
	return i
}

// Set gives a node another property.
func (b *Builder) Set(node int64, name string, v any) { b.Nodes[node].Properties[name] = Value(v) }

// Edge adds an edge.
func (b *Builder) Edge(from, to int64, relation model.ApplicationRelation, source int64, at *int64, p Properties) {
	if relation == model.ApplicationRelationContains {
		b.contained[to] = true
	}
	e := model.ApplicationEdge{From: from, To: to, Relation: relation, Provenance: source, Location: at}
	if len(p) > 0 {
		e.Properties = p.encode()
	}
	b.Edges = append(b.Edges, e)
}

// Gap records what was not read; omitted is -1 where it is not known how much.
func (b *Builder) Gap(what string, omitted int64, reason string) {
	g := model.ApplicationCoverageGap{What: what, Reason: reason}
	if omitted >= 0 {
		g.Omitted = &omitted
	}
	b.Gaps = append(b.Gaps, g)
}

// Graph is the finished graph.
func (b *Builder) Graph() model.ApplicationGraph {
	slices.SortStableFunc(b.Edges, func(x, y model.ApplicationEdge) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Relation, y.Relation),
			cmp.Compare(index(x.Location), index(y.Location)), cmp.Compare(x.Provenance, y.Provenance))
	})
	g := model.ApplicationGraph{Nodes: b.Nodes, Edges: b.Edges, Roots: []int64{}}
	for i := range b.Nodes {
		if !b.contained[int64(i)] {
			g.Roots = append(g.Roots, int64(i))
		}
	}
	g.Coverage.Status = model.ApplicationCoverageStatusComplete
	g.Coverage.Gaps = b.Gaps
	if len(b.Gaps) > 0 {
		g.Coverage.Status = model.ApplicationCoverageStatusPartial
	}
	g.GraphID = Digest(b.Files, &b.Locations, b.Provenance, &g)
	return g
}

// Digest is the id of a graph: what its rows and the tables they point into say.
func Digest(files []model.ApplicationFile, locations *model.ApplicationLocations, provenance []model.ApplicationProvenance, g *model.ApplicationGraph) string {
	h := sha256.New()
	var row []byte
	write := func(b []byte) { h.Write(b); row = b[:0] }
	for i := range files {
		write(files[i].AppendJSON(row))
	}
	write(locations.AppendJSON(row))
	for i := range provenance {
		write(provenance[i].AppendJSON(row))
	}
	for i := range g.Nodes {
		write(g.Nodes[i].AppendJSON(row))
	}
	for i := range g.Edges {
		write(g.Edges[i].AppendJSON(row))
	}
	write(g.Coverage.AppendJSON(row))
	return "jag_" + hex.EncodeToString(h.Sum(nil))
}

func index(p *int64) int64 {
	if p == nil {
		return -1
	}
	return *p
}
