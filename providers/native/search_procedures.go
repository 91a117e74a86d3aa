package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

// SearchProcedures finds procedures by raw or readable name.
func (h *Handlers) SearchProcedures(ctx context.Context, in *tool.SearchProceduresInput) (*tool.Finding[tool.SearchProceduresOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	matcher, err := query.Pattern(in.Pattern, in.Mode, in.CaseSensitive)
	if err != nil {
		return nil, err
	}
	page, err := query.Stream(ctx, c.Engine.Procedures(ctx), in.Offset, in.Limit, func(p *model.Procedure) bool {
		return matcher.Either(p.Name, p.Demangled)
	})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.SearchProceduresOutput]{Result: tool.SearchProceduresOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}
