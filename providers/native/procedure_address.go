package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// ProcedureAddress resolves a procedure.
func (h *Handlers) ProcedureAddress(ctx context.Context, in *tool.ProcedureAddressInput) (*tool.Finding[tool.ProcedureAddressOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Resolve(ctx, in.Procedure)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ProcedureAddressOutput]{
		Result:    tool.ProcedureAddressOutput{Procedure: query.Ref(&p)},
		Locations: query.At(p.Address),
	}, nil
}
