package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

// ListProcedures lists procedures by address.
func (h *Handlers) ListProcedures(ctx context.Context, in *tool.ListProceduresInput) (*tool.Finding[tool.ListProceduresOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	page, err := query.Stream(ctx, c.Engine.Procedures(ctx), in.Offset, in.Limit, func(p *model.Procedure) bool {
		return (in.Kind == nil || p.Kind == *in.Kind) && (in.Named == nil || p.Named == *in.Named)
	})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListProceduresOutput]{Result: tool.ListProceduresOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}
