package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedureCallers lists what calls a procedure. Any computed call of the program
// whose target is unknown may be one more caller.
func (h *Handlers) ProcedureCallers(ctx context.Context, in *tool.ProcedureCallersInput) (*tool.Finding[tool.ProcedureCallersOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Callers|engine.Ranges)
	if err != nil {
		return nil, err
	}
	page := query.Slice(b.Callers, in.Offset, in.Limit)
	f := &tool.Finding[tool.ProcedureCallersOutput]{
		Result: tool.ProcedureCallersOutput{
			Procedure: ref, Total: page.Total, Offset: page.Offset, NextOffset: page.Next,
			Items: make([]tool.ProcedureCallersOutputItem, 0, len(page.Items)),
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}
	for _, call := range page.Items {
		f.Result.Items = append(f.Result.Items, tool.ProcedureCallersOutputItem{
			Procedure: call.Procedure, Sites: int64(len(call.Sites)), Kinds: call.Kinds,
		})
	}
	summary, err := c.Engine.Summary(ctx)
	if err != nil {
		return nil, err
	}
	f.Result.Unresolved = int64(summary.Unresolved)
	if text := query.Unresolved(summary.Unresolved, "callers"); text != "" {
		f.Limitations = append(f.Limitations, "in the whole program, "+text)
	}
	return f, nil
}
