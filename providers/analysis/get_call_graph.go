package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

// maxCounted bounds the procedures that are visited only to be counted.
const maxCounted = 20_000

// GetCallGraph walks breadth-first, callees in address order, so that a smaller
// graph is the beginning of a larger one. Behind the last node that fits, the
// walk goes on for a while to count what is left out.
func (h *Handlers) GetCallGraph(ctx context.Context, in *tool.GetCallGraphInput) (*tool.Finding[tool.GetCallGraphOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	root, err := c.Engine.Resolve(ctx, in.Procedure)
	if err != nil {
		return nil, err
	}
	w := &graphWalk{
		graph: callGraph{eng: c.Engine, backward: in.Direction == tool.GetCallGraphInputDirectionBackward},
		depth: in.Depth, room: int(in.MaxNodes),
		seen: map[model.Address]int64{root.Address: 0},
	}
	if err := w.run(ctx, root); err != nil {
		return nil, err
	}
	slices.SortFunc(w.edges, func(a, b tool.GetCallGraphOutputEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	limits, err := w.graph.hidden(ctx, w.computed)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.GetCallGraphOutput]{
		Result: tool.GetCallGraphOutput{
			Root: query.Ref(&root), Direction: tool.GetCallGraphOutputDirection(in.Direction), Depth: in.Depth,
			Truncated: w.omitted > 0, Nodes: w.nodes, Edges: w.edges,
		},
		Limitations: append(w.limitations(), limits...),
		Locations:   query.At(root.Address),
	}
	if !w.uncounted {
		f.Result.OmittedNodes = &w.omitted
	}
	return f, nil
}

type graphWalk struct {
	graph     callGraph
	depth     int64
	room      int
	nodes     []tool.GetCallGraphOutputNode
	edges     []tool.GetCallGraphOutputEdge
	seen      map[model.Address]int64 // depth of every procedure that was met
	omitted   int64
	uncounted bool // the count of omitted ones is not complete
	leaves    int  // nodes whose own edges lie beyond the depth
	computed  int  // unresolved calls of all nodes
}

type visit struct {
	procedure model.Procedure
	depth     int64
	kept      bool // is a node of the result
}

func (w *graphWalk) run(ctx context.Context, root model.Procedure) error {
	queue := []visit{{root, 0, true}}
	counted := 0
	for i := 0; i < len(queue); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := queue[i]
		queue[i] = visit{} // let what was visited go
		if !v.kept {
			if v.depth == w.depth {
				continue
			}
			if counted++; counted > maxCounted {
				w.uncounted = true
				return nil
			}
		}
		found, err := w.visit(ctx, &v)
		if err != nil {
			return err
		}
		queue = append(queue, found...)
	}
	return nil
}

// visit reads the edges of one procedure, records them if both ends are nodes,
// and gives the procedures that were met for the first time.
func (w *graphWalk) visit(ctx context.Context, v *visit) (found []visit, err error) {
	node := tool.GetCallGraphOutputNode{Procedure: query.Ref(&v.procedure), Kind: v.procedure.Kind, Depth: v.depth}
	if v.depth == w.depth {
		n, err := w.graph.unresolved(ctx, &v.procedure)
		if err != nil {
			return nil, err
		}
		node.Unresolved = int64(n)
		w.keep(node)
		if w.graph.backward || v.procedure.Kind == model.ProcedureKindFunction || v.procedure.Kind == model.ProcedureKindThunk {
			w.leaves++
		}
		return nil, nil
	}
	calls, n, err := w.graph.edges(ctx, &v.procedure)
	if err != nil {
		return nil, err
	}
	node.Expanded, node.Unresolved = true, int64(n)
	if v.kept {
		w.keep(node)
	}
	for i := range calls {
		to := &calls[i].Procedure
		_, met := w.seen[to.Address]
		if !met {
			w.seen[to.Address] = v.depth + 1
			kept := len(w.seen) <= w.room
			if !kept {
				w.seen[to.Address] = -1
				w.omitted++
			}
			found = append(found, visit{*to, v.depth + 1, kept})
		}
		if v.kept && w.seen[to.Address] >= 0 {
			w.connect(v.procedure.Address, to.Address, calls[i].Kinds, len(calls[i].Sites))
		}
	}
	return found, nil
}

func (w *graphWalk) keep(n tool.GetCallGraphOutputNode) {
	w.nodes = append(w.nodes, n)
	w.computed += int(n.Unresolved)
}

// connect adds an edge. Where both calls and tail calls join two procedures,
// the engine counts their sites together, and the edge is a call.
func (w *graphWalk) connect(from, to model.Address, kinds []model.ReferenceKind, sites int) {
	if w.graph.backward {
		from, to = to, from
	}
	kind := tool.GetCallGraphOutputEdgeKindCall
	if !slices.Contains(kinds, model.ReferenceKindCall) && slices.Contains(kinds, model.ReferenceKindTailCall) {
		kind = tool.GetCallGraphOutputEdgeKindTailCall
	}
	w.edges = append(w.edges, tool.GetCallGraphOutputEdge{From: from, To: to, Kind: kind, Sites: int64(sites)})
}

func (w *graphWalk) limitations() []string {
	var out []string
	if w.leaves > 0 {
		out = append(out, fmt.Sprintf("depth: the edges of %s at depth %d were not followed", query.Count(w.leaves, "procedure"), w.depth))
	}
	switch {
	case w.uncounted:
		out = append(out, fmt.Sprintf("max_nodes: at least %s left out; counting stopped there", query.Count(w.omitted, "reachable procedure")))
	case w.omitted > 0:
		out = append(out, fmt.Sprintf("max_nodes: %s left out", query.Count(w.omitted, "reachable procedure")))
	}
	return out
}
