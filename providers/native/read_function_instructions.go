package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ReadFunctionInstructions gives the instructions of a procedure as rows.
func (h *Handlers) ReadFunctionInstructions(ctx context.Context, in *tool.ReadFunctionInstructionsInput) (*tool.Finding[tool.ReadFunctionInstructionsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Instructions|engine.Ranges)
	if err != nil {
		return nil, err
	}
	page := query.Slice(b.Instructions, in.Offset, in.Limit)
	return &tool.Finding[tool.ReadFunctionInstructionsOutput]{
		Result: tool.ReadFunctionInstructionsOutput{
			Procedure: ref, Syntax: tool.ReadFunctionInstructionsOutputSyntax(syntax(c, b)),
			Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}, nil
}
