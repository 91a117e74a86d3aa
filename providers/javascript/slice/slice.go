// Package slice cuts out of an application what implements a feature: from what a
// seed names to the functions in which it stands, what these do, and what runs
// them.
//
// # Grain
//
// The application graph knows in which module a fact stands, the semantic graph in
// which function. A walk goes from facts to the functions around them and back, so
// that a module with a hundred messages does not join them all.
//
// # Sides
//
// Outgoing is what a seed leads to: a message its handler, a function what it does
// and calls, an API the functions behind it, a process its program. Incoming is
// what leads to a seed: the functions that use it, what runs those, up to events,
// messages and exposed APIs and through these into other processes.
//
// A walk turns from incoming to outgoing in one kind of place: in a function in
// which the seed stands, or which sends the message or calls the API through which
// the walk came from another process. What such a function does is one with the
// seed. It does not turn at the top of a module, which is run for everything in it,
// nor in functions that set up handlers and windows.
//
// # Bounds
//
// A walk is breadth first, so what is reached is reached on a shortest way, and a
// bound cuts what is far away. Where it did not go on is the border, with a reason.
package slice

import (
	"context"
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/feature"
	"rea/providers/javascript/flow"
	"rea/providers/javascript/semantic"
)

// Limits of a slice.
type Limits struct{ Depth, Nodes, Edges, Functions, Paths int }

// A Side of a slice.
type Side uint8

// Sides.
const (
	Seed Side = iota
	Outgoing
	Incoming
)

// A Reached node of the application graph.
type Reached struct {
	Node, Depth int
	Side        Side // on which it was reached first
}

// A Function that was reached, with what it was reached by.
type Function struct {
	Node   int32 // of the semantic graph
	Depth  int
	Side   Side
	Before int32             // function before it, -1 for none
	By     semantic.Relation // 0 where a fact in it was what led there
	At     int32             // call or event by which it was reached, -1 for none
}

// A Reason for which a slice does not go on somewhere.
type Reason string

// Reasons. Those that are limits are named as these are.
const (
	MaxDepth     Reason = "max_depth"
	MaxNodes     Reason = "max_nodes"
	MaxEdges     Reason = "max_edges"
	MaxFunctions Reason = "max_functions"
	Shared       Reason = "shared"     // set-up, or the top of a module: more than the seed is in it
	Importers    Reason = "importers"  // what imports a module
	Program      Reason = "program"    // what another process runs
	Unresolved   Reason = "unresolved" // what is called, or what calls, is not known
)

// IsLimit reports whether a reason is one that the caller can move.
func (r Reason) IsLimit() bool {
	return r == MaxDepth || r == MaxNodes || r == MaxEdges || r == MaxFunctions
}

// A Border is a place from which something was not followed.
type Border struct {
	Node     int   // of the application graph
	Function int32 // of the semantic graph, -1 for none
	Depth    int
	Side     Side
	Reason   Reason
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
	Nodes, Edges []int // rows of the application graph, and of Trace.Edges
	End          End
	Last         int // node at the end that is not the seed
}

// An Edge of a slice: one of the application graph, or a call between modules that
// the semantic graph has.
type Edge struct {
	Application int // row, or -1
	From, To    int // nodes of the application graph
	Call        semantic.Edge
}

// A Trace is what a seed leads to, and what leads to it.
type Trace struct {
	Nodes     []Reached
	Functions []Function
	Edges     []Edge
	Paths     []Path
	Frontier  []Border

	OmittedNodes, OmittedEdges, OmittedPaths, OmittedFunctions int

	index *index
	is    map[int32]bool // functions that were reached
	nodes map[int]bool   // nodes likewise
}

// Called are the names that functions of the trace, and the tops of its modules,
// call of what an edge imports.
func (t *Trace) Called(edge int) []string {
	return t.index.names(edge, func(region int32) bool {
		if t.index.p.Kind(region) == semantic.Function && !t.index.isTop(region) {
			return t.is[region]
		}
		return t.nodes[t.index.p.Module(region)]
	})
}

// Walk cuts from seeds; sides are the ones to walk.
func Walk(ctx context.Context, p *flow.Program, seeds []feature.Match, sides []Side, limits Limits) (*Trace, error) {
	w := &walk{
		index: newIndex(p), limits: limits, out: &Trace{},
		seen: map[int]bool{}, functions: map[int32]bool{}, edges: map[Edge]int{}, at: map[state]int{},
		omitted: map[int]bool{}, cut: map[int32]bool{}, borders: map[Border]bool{},
		both: len(sides) > 1,
	}
	w.out.index, w.out.is, w.out.nodes = w.index, w.functions, w.seen
	for _, s := range seeds {
		if !w.seen[s.Node] && len(w.out.Nodes) < limits.Nodes {
			w.seen[s.Node] = true
			w.out.Nodes = append(w.out.Nodes, Reached{s.Node, 0, Seed})
		}
	}
	for _, side := range sides {
		for _, s := range seeds {
			if w.seen[s.Node] {
				w.seed(s, side)
			}
		}
	}
	for i := 0; i < len(w.steps); i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.expand(i)
	}
	w.out.OmittedNodes, w.out.OmittedFunctions = len(w.omitted), len(w.cut)
	w.paths()
	return w.out, ctx.Err()
}

// A mode of a state says how much of a node is gone on from.
type mode uint8

const (
	leaf    mode = iota // nothing
	single              // the node
	module              // all that is in a module
	program             // a module with all that it imports
)

// A state of the walk: a node of the application graph, of which perhaps only a
// member is meant, or a function.
type state struct {
	side     Side
	mode     mode
	node     int   // of the application graph, -1 for functions
	function int32 // of the semantic graph, -1 for nodes
	member   string
}

// step is how a state was reached.
type step struct {
	state
	depth int
	from  int // step before, -1 for seeds
	edge  int // index into Trace.Edges, -1 for none
	leads bool
	more  bool // something goes on from it
	cut   bool // and was not followed
}

type walk struct {
	*index
	limits    Limits
	both      bool
	out       *Trace
	steps     []step
	at        map[state]int
	seen      map[int]bool   // nodes, on any side
	functions map[int32]bool // likewise
	edges     map[Edge]int
	omitted   map[int]bool
	cut       map[int32]bool
	borders   map[Border]bool
}

// none is what stands for no node, function or edge.
const none = -1

// noEdge joins steps that no edge joins.
var noEdge = Edge{Application: none, From: none}

func onNode(side Side, m mode, node int) state {
	return state{side: side, mode: m, node: node, function: none}
}

func onFunction(side Side, f int32) state {
	return state{side: side, mode: single, node: none, function: f}
}

// place of a state in the application graph.
func (w *walk) place(s state) int {
	if s.function >= 0 {
		return w.p.Module(s.function)
	}
	return s.node
}

func (w *walk) start(s state) {
	if _, twice := w.at[s]; twice {
		return
	}
	w.at[s] = len(w.steps)
	w.steps = append(w.steps, step{state: s, from: none, edge: none})
	if s.function >= 0 {
		w.enter(Function{Node: s.function, Side: Seed, Before: none, At: none})
	}
}

func (w *walk) enter(f Function) {
	if f.Node >= 0 && !w.functions[f.Node] && !w.isTop(f.Node) {
		w.functions[f.Node] = true
		w.out.Functions = append(w.out.Functions, f)
	}
}

// to goes from step i to a state, along an edge; by and at tell how a function was
// reached. It gives the index of the new step, or none.
func (w *walk) to(i int, e Edge, s state, by semantic.Relation, at int32) int {
	from := &w.steps[i]
	if from.node >= 0 && from.node == s.node && from.member == s.member {
		return none
	}
	from.more = true
	if s.side == Outgoing && s.mode == single && s.node >= 0 && w.cameFrom(s) {
		s.mode = leaf
	}
	if _, there := w.reached(s); there {
		w.edge(e)
		return none
	}
	place := w.place(s)
	if reason := w.stop(s, place, e, from.depth); reason != "" {
		if !w.seen[place] {
			w.omitted[place] = true
		}
		if s.function >= 0 && !w.functions[s.function] {
			w.cut[s.function] = true
		}
		from.cut = true
		w.border(i, reason)
		return none
	}
	edge := w.edge(e)
	if !w.seen[place] {
		w.seen[place] = true
		delete(w.omitted, place)
		w.out.Nodes = append(w.out.Nodes, Reached{place, from.depth + 1, s.side})
	}
	if s.function >= 0 {
		delete(w.cut, s.function)
		w.enter(Function{Node: s.function, Depth: from.depth + 1, Side: s.side, Before: from.function, By: by, At: at})
	}
	from.leads = true
	w.at[s] = len(w.steps)
	w.steps = append(w.steps, step{state: s, depth: from.depth + 1, from: i, edge: edge})
	return len(w.steps) - 1
}

// cameFrom reports whether the incoming walk has passed a message or an API: a sender
// at which it turned does not lead to what it came from.
func (w *walk) cameFrom(s state) bool {
	s.side = Incoming
	i, there := w.at[s]
	return there && w.steps[i].from != none
}

// reached finds the step of a state. A leaf is reached when anything of its node is.
func (w *walk) reached(s state) (int, bool) {
	if s.mode == leaf {
		for m := leaf; m <= program; m++ {
			k := s
			k.mode, k.member = m, ""
			if i, there := w.at[k]; there {
				return i, true
			}
		}
	}
	i, there := w.at[s]
	return i, there
}

// stop is why a state is not gone to, or "".
func (w *walk) stop(s state, place int, e Edge, depth int) Reason {
	switch {
	case depth >= w.limits.Depth:
		return MaxDepth
	case !w.seen[place] && len(w.out.Nodes) >= w.limits.Nodes:
		return MaxNodes
	case s.function >= 0 && !w.functions[s.function] && len(w.out.Functions) >= w.limits.Functions:
		return MaxFunctions
	}
	if _, there := w.edges[e]; !there && e != noEdge && len(w.out.Edges) >= w.limits.Edges {
		return MaxEdges
	}
	return ""
}

// edge keeps an edge between nodes that were reached.
func (w *walk) edge(e Edge) int {
	if e == noEdge {
		return none
	}
	if i, there := w.edges[e]; there {
		return i
	}
	if len(w.out.Edges) >= w.limits.Edges {
		w.out.OmittedEdges++
		return none
	}
	w.edges[e] = len(w.out.Edges)
	w.out.Edges = append(w.out.Edges, e)
	return len(w.out.Edges) - 1
}

// border notes that a step was not gone on from.
func (w *walk) border(i int, reason Reason) {
	s := &w.steps[i]
	b := Border{Node: w.place(s.state), Function: none, Depth: s.depth, Side: s.side, Reason: reason}
	if s.function >= 0 && w.p.Kind(s.function) == semantic.Function {
		b.Function = s.function
	}
	key := b
	key.Depth = 0
	if !w.borders[key] {
		w.borders[key] = true
		w.out.Frontier = append(w.out.Frontier, b)
	}
}

// paths keeps the paths to the ends: those at which nothing goes on first.
func (w *walk) paths() {
	for _, want := range []End{Terminal, Met, Limit} {
		for i := range w.steps {
			s := &w.steps[i]
			if s.from < 0 || s.leads || s.end() != want {
				continue
			}
			if len(w.out.Paths) == w.limits.Paths {
				w.out.OmittedPaths++
				continue
			}
			w.out.Paths = append(w.out.Paths, w.path(i))
		}
	}
}

func (s *step) end() End {
	switch {
	case s.cut:
		return Limit
	case s.more:
		return Met
	}
	return Terminal
}

func (w *walk) path(i int) Path {
	s := &w.steps[i]
	out := Path{Side: s.side, End: s.end(), Last: w.place(s.state)}
	for ; i >= 0; i = w.steps[i].from {
		node := w.place(w.steps[i].state)
		if n := len(out.Nodes); n == 0 || out.Nodes[n-1] != node { // functions of one module follow each other
			out.Nodes = append(out.Nodes, node)
		}
		if e := w.steps[i].edge; e >= 0 {
			out.Edges = append(out.Edges, e)
		}
	}
	if out.Side == Outgoing { // collected from the end, which is where incoming paths begin
		slices.Reverse(out.Nodes)
		slices.Reverse(out.Edges)
	}
	return out
}

// isCode reports whether nodes of a kind are code.
func isCode(k model.ApplicationNodeKind) bool {
	switch k {
	case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
		return true
	}
	return false
}
