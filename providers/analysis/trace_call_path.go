package analysis

import (
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// maxFrontier is how many procedures of the frontier are named.
const maxFrontier = 100

// TraceCallPath searches breadth-first, so that the path it finds is a shortest
// one; among those, the one through the lowest addresses.
func (h *Handlers) TraceCallPath(ctx context.Context, in *tool.TraceCallPathInput) (*tool.Finding[tool.TraceCallPathOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	start, err := c.Engine.Resolve(ctx, in.Start)
	if err != nil {
		return nil, err
	}
	s := &pathSearch{
		graph: callGraph{eng: c.Engine, backward: in.Direction == tool.TraceCallPathInputDirectionBackward},
		depth: in.MaxDepth, room: int(in.MaxNodes),
		met: map[model.Address]bool{start.Address: true},
	}
	out := tool.TraceCallPathOutput{
		Start: query.Ref(&start), Direction: tool.TraceCallPathOutputDirection(in.Direction),
		GoalStatus: tool.TraceCallPathOutputGoalStatusNotRequested, LimitsReached: []string{},
	}
	if in.Goal != nil {
		goal, err := c.Engine.Resolve(ctx, *in.Goal)
		if err != nil {
			return nil, err
		}
		ref := query.Ref(&goal)
		out.Goal, s.goal = &ref, &goal.Address
	}
	reached, err := s.run(ctx, start)
	if err != nil {
		return nil, err
	}
	hidden, err := s.graph.hidden(ctx, s.computed)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.TraceCallPathOutput]{Result: out, Locations: query.At(start.Address)}
	s.report(f, reached, in)
	f.Limitations = append(f.Limitations, hidden...)
	return f, nil
}

type pathSearch struct {
	graph    callGraph
	goal     *model.Address
	depth    int64
	room     int
	met      map[model.Address]bool
	steps    []step // in the order in which procedures were met
	visited  int    // steps whose edges were read
	deepest  int64
	computed int
	tooDeep  bool
	tooMany  bool
}

// A step is a procedure and how it was met.
type step struct {
	procedure model.Procedure
	depth     int64
	parent    int // index of the step that led here, -1 for the start
	site      model.Address
	kind      tool.TraceCallPathOutputPathItemKind
}

// run gives the index of the goal's step, or -1.
func (s *pathSearch) run(ctx context.Context, start model.Procedure) (int, error) {
	s.steps = []step{{procedure: start, parent: -1}}
	if s.goal != nil && *s.goal == start.Address {
		return 0, nil
	}
	for s.visited < len(s.steps) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at := s.steps[s.visited]
		if at.depth == s.depth {
			s.tooDeep = true
			break
		}
		if s.visited == s.room {
			s.tooMany = true
			break
		}
		calls, n, err := s.graph.edges(ctx, &at.procedure)
		if err != nil {
			return 0, err
		}
		s.computed += n
		s.visited++
		s.deepest = max(s.deepest, at.depth)
		for i := range calls {
			if found := s.meet(&calls[i], at.depth+1, s.visited-1); found {
				s.deepest = max(s.deepest, at.depth+1)
				return len(s.steps) - 1, nil
			}
		}
	}
	return -1, nil
}

// meet adds a procedure that was not met before and tells whether it is the goal.
func (s *pathSearch) meet(call *engine.Call, depth int64, parent int) bool {
	addr := call.Procedure.Address
	if s.met[addr] {
		return false
	}
	s.met[addr] = true
	st := step{procedure: call.Procedure, depth: depth, parent: parent, kind: tool.TraceCallPathOutputPathItemKindCall}
	if len(call.Sites) > 0 {
		st.site = call.Sites[0]
	}
	if !slices.Contains(call.Kinds, model.ReferenceKindCall) && slices.Contains(call.Kinds, model.ReferenceKindTailCall) {
		st.kind = tool.TraceCallPathOutputPathItemKindTailCall
	}
	s.steps = append(s.steps, st)
	return s.goal != nil && *s.goal == addr
}

func (s *pathSearch) report(f *tool.Finding[tool.TraceCallPathOutput], reached int, in *tool.TraceCallPathInput) {
	out := &f.Result
	out.Visited, out.Deepest, out.UnresolvedInVisited = int64(s.visited), s.deepest, int64(s.computed)
	if s.tooDeep {
		out.LimitsReached = append(out.LimitsReached, fmt.Sprintf("max_depth %d", in.MaxDepth))
	}
	if s.tooMany {
		out.LimitsReached = append(out.LimitsReached, fmt.Sprintf("max_nodes %d", in.MaxNodes))
	}
	switch {
	case s.goal == nil:
	case reached >= 0:
		out.GoalStatus = tool.TraceCallPathOutputGoalStatusReached
		out.Path = s.path(reached)
		return // what was not visited does not matter any more
	case s.tooDeep || s.tooMany:
		out.GoalStatus = tool.TraceCallPathOutputGoalStatusNotReachedWithinLimits
	default:
		out.GoalStatus = tool.TraceCallPathOutputGoalStatusNotReached
	}
	frontier := s.steps[s.visited:]
	for i := range frontier[:min(len(frontier), maxFrontier)] {
		out.Frontier = append(out.Frontier, query.Ref(&frontier[i].procedure))
	}
	if len(frontier) > maxFrontier {
		f.Limitations = append(f.Limitations, fmt.Sprintf("frontier: %d of %d procedures are named", maxFrontier, len(frontier)))
	}
	if len(frontier) > 0 {
		f.Limitations = append(f.Limitations, "the search stopped before the edges of "+query.Count(len(frontier), "procedure")+" were read")
	}
}

// path leads from the start to the step. Backward, a step is a caller of the
// one before it, and from is the callee.
func (s *pathSearch) path(to int) []tool.TraceCallPathOutputPathItem {
	out := []tool.TraceCallPathOutputPathItem{}
	for i := to; s.steps[i].parent >= 0; i = s.steps[i].parent {
		st := &s.steps[i]
		out = append(out, tool.TraceCallPathOutputPathItem{
			From: query.Ref(&s.steps[st.parent].procedure), To: query.Ref(&st.procedure), Site: st.site, Kind: st.kind,
		})
	}
	slices.Reverse(out)
	return out
}
