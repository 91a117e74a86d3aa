package analysis

import (
	"context"
	"slices"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// callGraph reads edges of the call graph when they are asked for, each
// procedure once at most.
type callGraph struct {
	eng      engine.Engine
	backward bool
	gaps     int // procedures whose edges the engine could not supply
}

// edges are the procedures that p calls (or, backward, that call p), in the
// engine's order, and the number of computed calls in p without known target. A
// procedure without code of its own, such as an import, has none.
func (g *callGraph) edges(ctx context.Context, p *model.Procedure) (calls []engine.Call, unresolved int, err error) {
	want := engine.Callees
	if g.backward {
		want = engine.Callers
	}
	b, err := g.eng.Body(ctx, p.Address, want)
	switch {
	case err != nil && p.Kind == model.ProcedureKindExternal && fault.CodeOf(err) == fault.ProcedureNotFoundCode:
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	}
	if _, missing := b.Missing[want]; missing {
		g.gaps++
	}
	calls = b.Callees
	if g.backward {
		calls = b.Callers
	}
	if p.Kind == model.ProcedureKindImportStub { // its jump leads to the import that it stands for itself
		calls = slices.DeleteFunc(calls, func(c engine.Call) bool { return c.Procedure.Address == p.Address })
	}
	return calls, b.Unresolved, nil
}

// unresolved is the number of computed calls in p without known target.
func (g *callGraph) unresolved(ctx context.Context, p *model.Procedure) (int, error) {
	b, err := g.eng.Body(ctx, p.Address, 0)
	switch {
	case err != nil && p.Kind == model.ProcedureKindExternal && fault.CodeOf(err) == fault.ProcedureNotFoundCode:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return b.Unresolved, nil
}

// hidden states which edges a walk may have missed, computed being the
// unresolved calls of the procedures it read. Backward, every computed call of
// the program may be one more caller.
func (g *callGraph) hidden(ctx context.Context, computed int) ([]string, error) {
	var out []string
	where, what := "in the procedures that were read, ", "callees"
	if g.backward {
		summary, err := g.eng.Summary(ctx)
		if err != nil {
			return nil, err
		}
		computed, where, what = summary.Unresolved, "in the whole program, ", "callers"
	}
	if text := query.Unresolved(computed, what); text != "" {
		out = append(out, where+text)
	}
	if g.gaps > 0 {
		out = append(out, "the engine could not supply the edges of "+query.Count(g.gaps, "procedure"))
	}
	return out, nil
}
