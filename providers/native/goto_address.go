package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// GotoAddress moves the cursor, once everything about the new place is known.
func (h *Handlers) GotoAddress(ctx context.Context, in *tool.GotoAddressInput) (*tool.Finding[tool.GotoAddressOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	name, err := c.Name(ctx, addr)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Containing(ctx, addr)
	if err != nil {
		return nil, err
	}
	if err := c.MoveCursor(ctx, addr); err != nil {
		return nil, err
	}
	return &tool.Finding[tool.GotoAddressOutput]{
		Result:    tool.GotoAddressOutput{Address: addr, Name: name, Procedure: p},
		Locations: query.At(addr),
	}, nil
}
