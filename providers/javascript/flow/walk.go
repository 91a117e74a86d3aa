package flow

import (
	"context"

	"rea/providers/javascript/semantic"
)

// A Direction of a walk.
type Direction string

// Directions.
const (
	Forward   Direction = "forward"
	Backward  Direction = "backward"
	Callers   Direction = "callers"
	Callees   Direction = "callees"
	Ownership Direction = "ownership"
)

// Limits of a walk.
type Limits struct{ Depth, Nodes, Relations, Functions, Modules, Unknowns int }

// A Reason for which a walk did not go on, named as the limits are.
type Reason string

// Reasons.
const (
	MaxDepth     Reason = "max_depth"
	MaxNodes     Reason = "max_nodes"
	MaxRelations Reason = "max_relations"
	MaxFunctions Reason = "max_functions"
	MaxModules   Reason = "max_modules"
)

// A Reached node: on a shortest way, by a step from another.
type Reached struct {
	Node  int32
	Depth int
	From  int // index of the node before, -1 for seeds
	Step  semantic.Relation
}

// A Step is a relation that the walk went along or saw between nodes it reached.
type Step struct {
	semantic.Edge
	Depth int // of its nearer end
}

// A Border is a node from which something was not followed.
type Border struct {
	Node   int32
	Depth  int
	Reason Reason
}

// A Stop is a node from which the graph does not tell what goes on.
type Stop struct {
	Node   int32
	Reason string
}

// A Trace is what a walk found.
type Trace struct {
	Nodes     []Reached
	Steps     []Step
	Frontier  []Border
	Unknowns  []Stop
	Functions int
	Modules   int

	OmittedUnknowns int
	at              map[int32]int // index of a node in Nodes
}

// At is the index of a node that was reached, or -1.
func (t *Trace) At(n int32) int {
	if i, ok := t.at[n]; ok {
		return i
	}
	return -1
}

type walk struct {
	*Program
	ctx       context.Context // of the one call of Walk that made this
	direction Direction
	families  map[string]bool // nil for all
	limits    Limits
	out       *Trace
	functions map[int32]bool
	modules   map[int32]bool
	steps     map[semantic.Edge]bool
}

// Walk follows the graph from seeds. families, when it is not nil, are the ones
// that are followed.
func (p *Program) Walk(ctx context.Context, seeds []int32, d Direction, families map[string]bool, limits Limits) (*Trace, error) {
	w := &walk{
		Program: p, ctx: ctx, direction: d, families: families, limits: limits, out: &Trace{at: map[int32]int{}},
		functions: map[int32]bool{}, modules: map[int32]bool{}, steps: map[semantic.Edge]bool{},
	}
	for _, s := range seeds {
		if _, twice := w.out.at[s]; !twice && len(w.out.Nodes) < limits.Nodes {
			w.reach(Reached{Node: s, From: -1})
		}
	}
	for i := 0; i < len(w.out.Nodes); i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.follow(i)
	}
	w.out.Functions, w.out.Modules = len(w.functions), len(w.modules)
	return w.out, ctx.Err()
}

func (w *walk) reach(r Reached) {
	w.out.at[r.Node] = len(w.out.Nodes)
	w.out.Nodes = append(w.out.Nodes, r)
	if f := w.functionOf(r.Node); f >= 0 {
		w.functions[f] = true
	}
	w.modules[w.module[r.Node]] = true
}

// functionOf counts a function as its own.
func (w *walk) functionOf(n int32) int32 {
	if semantic.Kind(w.Semantic.Kinds[n]) == semantic.Function {
		return n
	}
	return w.Function(n)
}

// follow goes on from a node.
func (w *walk) follow(i int) {
	r := w.out.Nodes[i]
	cut := Reason("")
	steps := 0
	w.next(r.Node, func(e semantic.Edge, next int32) {
		if w.families != nil && !w.families[e.Kind.Family()] && e.Kind != semantic.Within {
			return
		}
		steps++
		if _, there := w.out.at[next]; !there {
			if reason := w.stop(next, r.Depth); reason != "" {
				if cut == "" {
					cut = reason
				}
				return
			}
		}
		if !w.steps[e] {
			if len(w.out.Steps) >= w.limits.Relations {
				if cut == "" {
					cut = MaxRelations
				}
				return
			}
			w.steps[e] = true
			w.out.Steps = append(w.out.Steps, Step{e, r.Depth})
		}
		if _, there := w.out.at[next]; !there {
			w.reach(Reached{next, r.Depth + 1, i, e.Kind})
		}
	})
	if cut != "" {
		w.out.Frontier = append(w.out.Frontier, Border{r.Node, r.Depth, cut})
	}
	if reason := w.unknown(r.Node, steps); reason != "" {
		if len(w.out.Unknowns) >= w.limits.Unknowns {
			w.out.OmittedUnknowns++
			return
		}
		w.out.Unknowns = append(w.out.Unknowns, Stop{r.Node, reason})
	}
}

func (w *walk) stop(next int32, depth int) Reason {
	switch {
	case depth >= w.limits.Depth:
		return MaxDepth
	case len(w.out.Nodes) >= w.limits.Nodes:
		return MaxNodes
	}
	if f := w.functionOf(next); f >= 0 && !w.functions[f] && len(w.functions) >= w.limits.Functions {
		return MaxFunctions
	}
	if !w.modules[w.module[next]] && len(w.modules) >= w.limits.Modules {
		return MaxModules
	}
	return ""
}

// next gives the relations that a walk goes along from a node, and their other ends.
func (w *walk) next(n int32, yield func(e semantic.Edge, next int32)) {
	switch w.direction {
	case Forward:
		w.outgoing(n, forwards, func(e semantic.Edge, next int32) {
			if e.Kind != semantic.Property || !w.inLiteral(next) {
				yield(e, next)
			}
		})
		w.incomingOf(n, isProperty, func(e semantic.Edge, next int32) {
			if semantic.Kind(w.Semantic.Kinds[next]) == semantic.Expression { // an object has what its properties have
				yield(e, next)
			}
		})
	case Backward:
		w.incomingOf(n, backwards, func(e semantic.Edge, next int32) {
			if e.Kind != semantic.Property || !w.inLiteral(n) {
				yield(e, next)
			}
		})
		if semantic.Kind(w.Semantic.Kinds[n]) == semantic.Expression {
			w.outgoing(n, isProperty, yield)
		}
	case Callers:
		w.callers(n, yield)
	case Callees:
		w.callees(n, yield)
	case Ownership:
		w.owners(n, yield)
	}
}

func (w *walk) outgoing(n int32, kinds func(semantic.Relation) bool, yield func(e semantic.Edge, next int32)) {
	for _, e := range w.from(n) {
		if kinds(e.Kind) {
			yield(e, e.To)
		}
	}
}

func (w *walk) incomingOf(n int32, kinds func(semantic.Relation) bool, yield func(e semantic.Edge, next int32)) {
	for _, row := range w.incoming[w.firstIn[n]:w.firstIn[n+1]] {
		if e := w.Semantic.Edges[row]; kinds(e.Kind) {
			yield(e, e.From)
		}
	}
}

// within is the step between a node and the function or module around it.
func (w *walk) within(n int32, yield func(e semantic.Edge, next int32)) {
	if o := w.owner[n]; o >= 0 {
		yield(semantic.Edge{Kind: semantic.Within, From: o, To: n}, o)
	}
}

func isProperty(k semantic.Relation) bool { return k == semantic.Property }

// inLiteral reports whether a property is one that an object literal gives a value:
// what the object is does not come into it from elsewhere.
func (w *walk) inLiteral(slot int32) bool {
	found := false
	w.incomingOf(slot, isProperty, func(_ semantic.Edge, owner int32) {
		found = found || semantic.Kind(w.Semantic.Kinds[owner]) == semantic.Expression
	})
	return found
}

// forwards are the relations along which values go. What a call runs is not among
// them: what comes in goes through its parameters.
func forwards(k semantic.Relation) bool { return k != semantic.Calls }

// backwards are the relations from which a value is what it is.
func backwards(k semantic.Relation) bool {
	switch k {
	case semantic.Calls, semantic.Listens, semantic.Schedules, semantic.Continues, semantic.Starts:
		return false
	}
	return true
}

// runs are the relations by which something runs a function or a program.
func runs(k semantic.Relation) bool {
	switch k {
	case semantic.Calls, semantic.Listens, semantic.Schedules, semantic.Continues, semantic.Starts, semantic.Delivers:
		return true
	}
	return false
}

func (w *walk) callers(n int32, yield func(e semantic.Edge, next int32)) {
	w.incomingOf(n, runs, yield)
	switch semantic.Kind(w.Semantic.Kinds[n]) {
	case semantic.Function:
		for _, e := range w.from(n) { // a call to which the function is given may run it
			if e.Kind == semantic.Argument && !w.runsIt(e.To, n) {
				yield(e, e.To)
			}
		}
	case semantic.Module:
	default:
		w.within(n, yield)
	}
}

// runsIt reports whether a call is known to run a function.
func (w *walk) runsIt(call, f int32) bool {
	for _, e := range w.from(call) {
		if e.To == f && runs(e.Kind) {
			return true
		}
	}
	return false
}

func (w *walk) callees(n int32, yield func(e semantic.Edge, next int32)) {
	switch semantic.Kind(w.Semantic.Kinds[n]) {
	case semantic.Function, semantic.Module:
		for _, k := range w.Contents(n) {
			yield(semantic.Edge{Kind: semantic.Within, From: n, To: k}, k)
		}
	default:
		w.outgoing(n, runs, yield)
		w.incomingOf(n, func(k semantic.Relation) bool { return k == semantic.Argument }, func(e semantic.Edge, next int32) {
			if semantic.Kind(w.Semantic.Kinds[next]) == semantic.Function && !w.runsIt(n, next) {
				yield(e, next)
			}
		})
	}
}

func isCall(k semantic.Kind) bool {
	switch k {
	case semantic.Call, semantic.Promise, semantic.Timer, semantic.Event, semantic.Listener, semantic.ChildProcess, semantic.Request,
		semantic.Stdio, semantic.Signal, semantic.Resource, semantic.Parsing, semantic.Boundary:
		return true
	}
	return false
}

func (w *walk) owners(n int32, yield func(e semantic.Edge, next int32)) {
	w.within(n, yield)
	w.incomingOf(n, isProperty, yield)
	w.outgoing(n, func(k semantic.Relation) bool {
		switch k {
		case semantic.Captures, semantic.Awaits:
			return true
		case semantic.Flows: // into what holds it
			switch semantic.Kind(w.Semantic.Kinds[n]) {
			case semantic.Resource, semantic.Timer, semantic.ChildProcess, semantic.Promise, semantic.Listener, semantic.Request:
				return true
			}
		}
		return false
	}, yield)
}

// unknown is why the graph does not tell what goes on from a node, or "".
func (w *walk) unknown(n int32, steps int) string {
	kind := semantic.Kind(w.Semantic.Kinds[n])
	if kind == semantic.Unknown {
		return "it is only known when the program runs"
	}
	switch w.direction {
	case Forward, Callees:
		if kind == semantic.Call && !w.has(n, semantic.Calls) {
			return "the function that is called is not known"
		}
	case Backward:
		if kind == semantic.Parameter && steps == 0 {
			if w.called(n) {
				return "its calls give it nothing, or values that are no names, texts or results"
			}
			return "no call of its function is known"
		}
		if kind == semantic.Boundary && steps == 0 {
			return "the module is not in the application, or gives nothing by name"
		}
		if kind == semantic.Call && !w.has(n, semantic.Calls) {
			return "the function that is called is not known"
		}
	case Callers:
		if kind == semantic.Function && steps == 0 {
			return "no call of it is known"
		}
	}
	return ""
}

// called reports whether something is known to run the function of a parameter.
func (w *walk) called(parameter int32) bool {
	f, found := w.Function(parameter), false
	if f >= 0 {
		w.incomingOf(f, runs, func(semantic.Edge, int32) { found = true })
	}
	return found
}

func (w *walk) has(n int32, kind semantic.Relation) bool {
	for _, e := range w.from(n) {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// Path is the way to a node that was reached, from a seed on.
func (t *Trace) Path(i int) []Reached {
	var path []Reached
	for ; i >= 0; i = t.Nodes[i].From {
		path = append(path, t.Nodes[i])
	}
	for a, b := 0, len(path)-1; a < b; a, b = a+1, b-1 {
		path[a], path[b] = path[b], path[a]
	}
	return path
}
