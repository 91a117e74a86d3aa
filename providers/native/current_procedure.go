package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// CurrentProcedure names the procedure under the cursor.
func (h *Handlers) CurrentProcedure(ctx context.Context, in *tool.CurrentProcedureInput) (*tool.Finding[tool.CurrentProcedureOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Containing(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.CurrentProcedureOutput]{
		Result:    tool.CurrentProcedureOutput{Document: c.Document, Address: addr, Procedure: p},
		Locations: query.At(addr),
	}, nil
}
