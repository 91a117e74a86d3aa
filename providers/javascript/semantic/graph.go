package semantic

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"sort"

	"rea/generated/model"
	"rea/providers/javascript/parse"
)

// A Graph is the semantic graph of an application: the graphs of its files,
// joined. Nodes of a unit are in order of place.
type Graph struct {
	ID string
	// Application is the id of the application graph that units refer to.
	Application string
	Units       []UnitRange
	Kinds       []byte
	Starts      []uint32
	Ends        []uint32
	Labels      []int32 // index into Strings, -1 for none
	Strings     []string
	Edges       []Edge // by From, then To
	// Functions that have a fingerprint, and those.
	Functions []int32
	Prints    []string
	Coverage  []model.JavascriptSemanticsFamily
	Omitted   int64
}

// A UnitRange is the nodes of one file.
type UnitRange struct {
	File, First, Count int64
	// Modules are nodes of modules: the file first; Application are the nodes
	// of the application graph that they stand for.
	Modules, Application []int64
	// Lines are the offsets at which lines begin; the first is 0.
	Lines []uint32
}

// Line of an offset, from 1.
func (u *UnitRange) Line(at uint32) int64 {
	return int64(sort.Search(len(u.Lines), func(i int) bool { return u.Lines[i] > at }))
}

// families of relations, in their order.
var families = []string{
	"boundary", "call-flow", "child-process", "closure", "configuration", "data-flow", "event", "object-flow",
	"promise-ownership", "request", "resource-lifecycle", "timer",
}

// cover counts relations by family. None of them is complete: what depends on
// values at run time is not related.
func (g *Graph) cover() {
	counts := map[string]int64{}
	for _, e := range g.Edges {
		counts[e.Kind.Family()]++
	}
	for _, f := range families {
		g.Coverage = append(g.Coverage, model.JavascriptSemanticsFamily{Family: model.JavascriptSemanticsFamilyFamily(f), Relations: counts[f], Status: model.JavascriptSemanticsFamilyStatusPartial})
	}
}

// Encode writes the graph as columns.
func (g *Graph) Encode() model.JavascriptSemantics {
	out := model.JavascriptSemantics{Strings: g.Strings, Families: g.Coverage, OmittedNodes: g.Omitted, ApplicationGraphID: g.Application}
	out.Kinds, out.RelationKinds = string(g.Kinds), string(kindsOf(g.Edges))
	out.Starts, out.Lengths, out.Labels = make([]int64, len(g.Kinds)), make([]int64, len(g.Kinds)), make([]int64, len(g.Kinds))
	for _, u := range g.Units {
		lengths := make([]int64, 0, len(u.Lines))
		for i := 1; i < len(u.Lines); i++ {
			lengths = append(lengths, int64(u.Lines[i]-u.Lines[i-1]))
		}
		out.Units = append(out.Units, model.JavascriptSemanticsUnit{
			File: u.File, First: u.First, Count: u.Count, Modules: u.Modules, ApplicationNodes: u.Application, LineLengths: lengths,
		})
		last := uint32(0)
		for i := u.First; i < u.First+u.Count; i++ {
			out.Starts[i] = int64(g.Starts[i] - last)
			out.Lengths[i] = int64(g.Ends[i] - g.Starts[i])
			out.Labels[i] = int64(g.Labels[i])
			last = g.Starts[i]
		}
	}
	out.From, out.To = make([]int64, len(g.Edges)), make([]int64, len(g.Edges))
	last := int32(0)
	for i, e := range g.Edges {
		out.From[i], out.To[i] = int64(e.From-last), int64(e.To-e.From)
		last = e.From
	}
	out.Functions = make([]int64, len(g.Functions))
	last = 0
	for i, f := range g.Functions {
		out.Functions[i] = int64(f - last)
		last = f
	}
	out.Fingerprints = g.Prints
	out.GraphID = Digest(&out)
	return out
}

// Digest is the id of a graph: of all that it says but its id. It is made of the
// values of columns as numbers of varying length, not of how JSON writes them, and
// of how many there are in each.
func Digest(s *model.JavascriptSemantics) string {
	d := digester{h: sha256.New(), room: make([]byte, 0, digestRoom+binary.MaxVarintLen64)}
	d.text(s.ApplicationGraphID)
	d.number(int64(len(s.Units)))
	for i := range s.Units {
		u := &s.Units[i]
		d.number(u.File)
		d.number(u.First)
		d.number(u.Count)
		d.column(u.Modules)
		d.column(u.ApplicationNodes)
		d.column(u.LineLengths)
	}
	for _, letters := range []string{s.Kinds, s.RelationKinds} {
		d.text(letters)
	}
	for _, column := range [][]int64{s.Starts, s.Lengths, s.Labels, s.From, s.To, s.Functions} {
		d.column(column)
	}
	for _, texts := range [][]string{s.Strings, s.Fingerprints} {
		d.number(int64(len(texts)))
		for _, t := range texts {
			d.text(t)
		}
	}
	d.number(int64(len(s.Families)))
	for i := range s.Families {
		f := &s.Families[i]
		d.text(string(f.Family))
		d.text(string(f.Status))
		d.number(f.Relations)
	}
	d.number(s.OmittedNodes)
	d.flush()
	return "jsg_" + hex.EncodeToString(d.h.Sum(nil))
}

// A digester feeds values to a hash.
type digester struct {
	h    hash.Hash
	room []byte
}

const digestRoom = 32 << 10

func (d *digester) flush() {
	d.h.Write(d.room)
	d.room = d.room[:0]
}

func (d *digester) number(v int64) {
	if len(d.room) >= digestRoom {
		d.flush()
	}
	d.room = binary.AppendVarint(d.room, v)
}

func (d *digester) column(values []int64) {
	d.number(int64(len(values)))
	for _, v := range values {
		d.number(v)
	}
}

func (d *digester) text(t string) {
	d.number(int64(len(t)))
	for len(t) > 0 {
		n := min(len(t), cap(d.room)-len(d.room))
		d.room = append(d.room, t[:n]...)
		if t = t[n:]; len(d.room) >= digestRoom {
			d.flush()
		}
	}
}

func kindsOf(edges []Edge) []byte {
	out := make([]byte, len(edges))
	for i := range edges {
		out[i] = byte(edges[i].Kind)
	}
	return out
}

// Decode reads what Encode wrote, and refuses what contradicts itself.
func Decode(in *model.JavascriptSemantics) (*Graph, error) {
	n := len(in.Kinds)
	if len(in.Starts) != n || len(in.Lengths) != n || len(in.Labels) != n {
		return nil, fmt.Errorf("columns of nodes have different lengths")
	}
	m := len(in.RelationKinds)
	if len(in.From) != m || len(in.To) != m || len(in.Functions) != len(in.Fingerprints) {
		return nil, fmt.Errorf("columns of relations have different lengths")
	}
	if in.GraphID != Digest(in) {
		return nil, fmt.Errorf("its id is not that of its contents")
	}
	g := &Graph{
		ID: in.GraphID, Application: in.ApplicationGraphID, Kinds: []byte(in.Kinds), Strings: in.Strings, Prints: in.Fingerprints, Coverage: in.Families, Omitted: in.OmittedNodes,
		Starts: make([]uint32, n), Ends: make([]uint32, n), Labels: make([]int32, n), Edges: make([]Edge, m), Functions: make([]int32, len(in.Functions)),
	}
	next := int64(0)
	for _, u := range in.Units {
		if u.First != next || u.Count < 0 || u.Count > int64(n)-u.First || len(u.Modules) != len(u.ApplicationNodes) || len(u.Modules) == 0 {
			return nil, fmt.Errorf("units do not follow each other")
		}
		next += u.Count
		at := int64(0)
		for i := u.First; i < next; i++ {
			at += in.Starts[i]
			end := at + in.Lengths[i]
			if at < 0 || at > parse.MaxSource || end < at || end > parse.MaxSource || in.Labels[i] < -1 || in.Labels[i] >= int64(len(in.Strings)) {
				return nil, fmt.Errorf("node %d is out of range", i)
			}
			g.Starts[i], g.Ends[i], g.Labels[i] = uint32(at), uint32(end), int32(in.Labels[i])
		}
		for _, m := range u.Modules {
			if m < u.First || m >= next {
				return nil, fmt.Errorf("a module is not in its unit")
			}
		}
		lines := make([]uint32, 1, len(u.LineLengths)+1)
		line := int64(0)
		for _, n := range u.LineLengths {
			if line += n; n < 0 || line > parse.MaxSource {
				return nil, fmt.Errorf("lines are out of range")
			}
			lines = append(lines, uint32(line))
		}
		g.Units = append(g.Units, UnitRange{u.File, u.First, u.Count, u.Modules, u.ApplicationNodes, lines})
	}
	if next != int64(n) {
		return nil, fmt.Errorf("units do not hold all nodes")
	}
	from := int64(0)
	for i := range g.Edges {
		from += in.From[i]
		to := from + in.To[i]
		if from < 0 || from >= int64(n) || to < 0 || to >= int64(n) {
			return nil, fmt.Errorf("relation %d is out of range", i)
		}
		g.Edges[i] = Edge{Relation(in.RelationKinds[i]), int32(from), int32(to)}
	}
	for i := 1; i < len(g.Edges); i++ {
		if g.Edges[i].From < g.Edges[i-1].From {
			return nil, fmt.Errorf("relations are not in order")
		}
	}
	f := int64(0)
	for i := range g.Functions {
		f += in.Functions[i]
		if f < 0 || f >= int64(n) {
			return nil, fmt.Errorf("function %d is out of range", i)
		}
		g.Functions[i] = int32(f)
	}
	return g, nil
}

// UnitOf a node.
func (g *Graph) UnitOf(node int32) *UnitRange {
	i := sort.Search(len(g.Units), func(i int) bool { return g.Units[i].First+g.Units[i].Count > int64(node) })
	return &g.Units[i]
}

// Label of a node, "" for none.
func (g *Graph) Label(node int32) string {
	if g.Labels[node] < 0 {
		return ""
	}
	return g.Strings[g.Labels[node]]
}

// FunctionOf is the innermost function around a node, or that of its module.
// Nodes are in order of place, outer before inner, so it lies before the node.
func (g *Graph) FunctionOf(node int32) int32 {
	u := g.UnitOf(node)
	for i := int64(node) - 1; i >= u.First; i-- {
		if k := Kind(g.Kinds[i]); (k == Function || k == Module) && g.Ends[i] >= g.Ends[node] {
			return int32(i)
		}
	}
	return none
}
