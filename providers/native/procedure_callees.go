package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedureCallees lists what a procedure calls, imports included.
func (h *Handlers) ProcedureCallees(ctx context.Context, in *tool.ProcedureCalleesInput) (*tool.Finding[tool.ProcedureCalleesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Callees|engine.Ranges)
	if err != nil {
		return nil, err
	}
	page := query.Slice(b.Callees, in.Offset, in.Limit)
	f := &tool.Finding[tool.ProcedureCalleesOutput]{
		Result: tool.ProcedureCalleesOutput{
			Procedure: ref, Total: page.Total, Offset: page.Offset, NextOffset: page.Next,
			Items: make([]tool.ProcedureCalleesOutputItem, 0, len(page.Items)),
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}
	for _, call := range page.Items {
		f.Result.Items = append(f.Result.Items, tool.ProcedureCalleesOutputItem{
			Procedure: call.Procedure, Sites: int64(len(call.Sites)), Kinds: call.Kinds,
		})
	}
	f.Result.Unresolved = int64(b.Unresolved)
	if text := query.Unresolved(b.Unresolved, "callees"); text != "" {
		f.Limitations = append(f.Limitations, text)
	}
	return f, nil
}
