package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ListProcedures lists procedures by address.
func (h *Handlers) ListProcedures(ctx context.Context, in *tool.ListProceduresInput) (*tool.Finding[tool.ListProceduresOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	page, err := procedures(ctx, c.Engine, in)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListProceduresOutput]{Result: tool.ListProceduresOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}

func procedures(ctx context.Context, eng engine.Engine, in *tool.ListProceduresInput) (query.Page[model.Procedure], error) {
	if index, ok := eng.(query.RowIndex); ok && in.Kind == nil && in.Named == nil {
		rows, total, err := index.ProceduresFrom(ctx, int(in.Offset))
		if err != nil {
			return query.Page[model.Procedure]{}, err
		}
		page, _, err := query.Rest(ctx, rows, in.Offset, in.Limit, int64(total), nil)
		return page, err
	}
	return query.Stream(ctx, eng.Procedures(ctx), in.Offset, in.Limit, func(p *model.Procedure) bool {
		return (in.Kind == nil || p.Kind == *in.Kind) && (in.Named == nil || p.Named == *in.Named)
	})
}
