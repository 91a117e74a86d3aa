// Package feature follows a feature through the graph of an application: from
// the nodes that a seed names, along what happens, forwards to what they lead to
// and backwards to what leads to them.
//
// # Direction
//
// Edges are followed in the order of what happens, which is the order in which
// the graph has them, with three exceptions. A message comes to its handler from
// its channel, and goes on into the module in which the handler stands; the graph
// says "handles" from handler to channel and "contains" from module to handler. A
// call of an API that a preload script exposes goes into that script; the graph
// says "exposes" from script to API.
//
// The two sides are walked on their own. A walk that turned around would reach
// everything, since all is contained in the application.
//
// # Bounds
//
// A walk is breadth first, so a node is reached on a shortest path, and a bound
// cuts what is far away. What was seen and not followed is the frontier.
package feature

import (
	"context"
	"slices"

	"rea/generated/model"
)

// Limits of a trace.
type Limits struct{ Depth, Nodes, Edges, Paths int }

// A Side of a trace.
type Side uint8

// Sides.
const (
	Seed Side = iota
	Outgoing
	Incoming
)

// A Reached node.
type Reached struct {
	Node, Depth int
	Side        Side // on which it was reached first
}

// A Reason for which a walk did not go on.
type Reason string

// Reasons, named as the limits are.
const (
	MaxDepth Reason = "max_depth"
	MaxNodes Reason = "max_nodes"
	MaxEdges Reason = "max_edges"
)

// A Border is a node from which something was not followed.
type Border struct {
	Node, Depth int
	Side        Side
	Reason      Reason
}

// An End says why a path ends.
type End string

// Ends.
const (
	Terminal End = "terminal" // nothing goes on
	Met      End = "met"      // what goes on was reached on a shorter path
	Limit    End = "limit"
)

// A Path leads from a seed to the end of a walk, in the order of what happens.
type Path struct {
	Side         Side
	Nodes, Edges []int // rows of the graph
	End          End
	Last         int // node at the end that is not the seed
}

// A Trace is what a seed leads to.
type Trace struct {
	Nodes    []Reached
	Edges    []int // rows of the graph, in order
	Paths    []Path
	Frontier []Border

	OmittedNodes, OmittedEdges, OmittedPaths int
}

// Walk traces from seeds; sides are the ones to walk.
func Walk(ctx context.Context, g *model.ApplicationGraph, seeds []int, sides []Side, limits Limits) (*Trace, error) {
	w := &walk{g: g, limits: limits, seen: make([]bool, len(g.Nodes)), edges: map[int]bool{}, out: &Trace{}}
	for _, s := range seeds {
		if !w.seen[s] && len(w.out.Nodes) < limits.Nodes {
			w.seen[s] = true
			w.out.Nodes = append(w.out.Nodes, Reached{s, 0, Seed})
		}
	}
	starts := slices.Clone(w.out.Nodes)
	omitted := map[int]bool{}
	var ends []path
	for _, side := range sides {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ends = append(ends, w.side(starts, side, newFlow(g, side), omitted)...)
	}
	w.out.OmittedNodes = len(omitted)
	for e := range w.edges {
		w.out.Edges = append(w.out.Edges, e)
	}
	slices.Sort(w.out.Edges)
	w.paths(ends)
	return w.out, ctx.Err()
}

type walk struct {
	g      *model.ApplicationGraph
	limits Limits
	seen   []bool // on any side
	edges  map[int]bool
	out    *Trace
}

// A flow lists the edges of nodes in the direction of a side.
type flow struct {
	first []int32
	edges []int32
}

// backwards reports whether an edge is followed against its direction.
func backwards(g *model.ApplicationGraph, e *model.ApplicationEdge) bool {
	switch e.Relation {
	case model.ApplicationRelationHandles:
		return g.Nodes[e.To].Kind == model.ApplicationNodeKindIpcChannel
	case model.ApplicationRelationExposes:
		return true
	case model.ApplicationRelationContains:
		return g.Nodes[e.To].Kind == model.ApplicationNodeKindIpcHandler
	}
	return false
}

// ends are the nodes of an edge in the order of what happens.
func ends(g *model.ApplicationGraph, e *model.ApplicationEdge) (from, to int64) {
	if backwards(g, e) {
		return e.To, e.From
	}
	return e.From, e.To
}

func newFlow(g *model.ApplicationGraph, side Side) *flow {
	f := &flow{first: make([]int32, len(g.Nodes)+1), edges: make([]int32, len(g.Edges))}
	start := func(e *model.ApplicationEdge) int64 {
		from, to := ends(g, e)
		if side == Incoming {
			return to
		}
		return from
	}
	for i := range g.Edges {
		f.first[start(&g.Edges[i])+1]++
	}
	for i := 1; i < len(f.first); i++ {
		f.first[i] += f.first[i-1]
	}
	fill := slices.Clone(f.first)
	for i := range g.Edges {
		n := start(&g.Edges[i])
		f.edges[fill[n]] = int32(i)
		fill[n]++
	}
	return f
}

func (f *flow) of(node int) []int32 { return f.edges[f.first[node]:f.first[node+1]] }

// step is how a node was reached on one side.
type step struct {
	node, depth int
	from        int // index of the step before, -1 for seeds
	edge        int
	leads       bool // to a node that was reached from here
	more        bool // something goes on from it
	cut         bool // and was not followed
}

// path is the end of a walk.
type path struct {
	steps []step
	last  int
	side  Side
}

func (w *walk) side(starts []Reached, side Side, f *flow, omitted map[int]bool) []path {
	at := map[int]bool{}
	steps := make([]step, 0, len(starts))
	for _, s := range starts {
		at[s.Node] = true
		steps = append(steps, step{node: s.Node, from: -1, edge: -1})
	}
	for i := 0; i < len(steps); i++ {
		for _, edge := range f.of(steps[i].node) {
			from, to := ends(w.g, &w.g.Edges[edge])
			next := int(to)
			if side == Incoming {
				next = int(from)
			}
			if next == steps[i].node {
				continue
			}
			steps[i].more = true
			if at[next] {
				w.edge(int(edge))
				continue
			}
			if reason := w.stop(next, int(edge), steps[i].depth); reason != "" {
				if !w.seen[next] {
					omitted[next] = true
				}
				if !steps[i].cut {
					w.out.Frontier = append(w.out.Frontier, Border{steps[i].node, steps[i].depth, side, reason})
				}
				steps[i].cut = true
				continue
			}
			w.edge(int(edge))
			at[next] = true
			if !w.seen[next] {
				w.seen[next] = true
				delete(omitted, next)
				w.out.Nodes = append(w.out.Nodes, Reached{next, steps[i].depth + 1, side})
			}
			steps[i].leads = true
			steps = append(steps, step{node: next, depth: steps[i].depth + 1, from: i, edge: int(edge)})
		}
	}
	var out []path
	for i := range steps {
		if s := &steps[i]; s.from >= 0 && !s.leads {
			out = append(out, path{steps, i, side})
		}
	}
	return out
}

// stop is why a node is not walked to, or "".
func (w *walk) stop(next, edge, depth int) Reason {
	switch {
	case depth >= w.limits.Depth:
		return MaxDepth
	case !w.seen[next] && len(w.out.Nodes) >= w.limits.Nodes:
		return MaxNodes
	case !w.edges[edge] && len(w.edges) >= w.limits.Edges:
		return MaxEdges
	}
	return ""
}

// edge keeps an edge between nodes that were reached.
func (w *walk) edge(e int) {
	switch {
	case w.edges[e]:
	case len(w.edges) >= w.limits.Edges:
		w.out.OmittedEdges++
	default:
		w.edges[e] = true
	}
}

func (p *path) end() End {
	switch s := &p.steps[p.last]; {
	case s.cut:
		return Limit
	case s.more:
		return Met
	}
	return Terminal
}

// paths keeps the paths to the ends: those at which nothing goes on first.
func (w *walk) paths(ends []path) {
	for _, want := range []End{Terminal, Met, Limit} {
		for i := range ends {
			if ends[i].end() != want {
				continue
			}
			if len(w.out.Paths) == w.limits.Paths {
				w.out.OmittedPaths++
				continue
			}
			w.out.Paths = append(w.out.Paths, ends[i].path())
		}
	}
}

func (p *path) path() Path {
	out := Path{Side: p.side, End: p.end(), Last: p.steps[p.last].node}
	for i := p.last; i >= 0; i = p.steps[i].from {
		out.Nodes = append(out.Nodes, p.steps[i].node)
		if p.steps[i].edge >= 0 {
			out.Edges = append(out.Edges, p.steps[i].edge)
		}
	}
	if p.side == Outgoing { // collected from the end, which is where incoming paths begin
		slices.Reverse(out.Nodes)
		slices.Reverse(out.Edges)
	}
	return out
}
