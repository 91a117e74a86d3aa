package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// CurrentAddress tells where the cursor is.
func (h *Handlers) CurrentAddress(ctx context.Context, in *tool.CurrentAddressInput) (*tool.Finding[tool.CurrentAddressOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	name, err := c.Name(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.CurrentAddressOutput]{
		Result:    tool.CurrentAddressOutput{Document: c.Document, Address: addr, Name: name},
		Locations: query.At(addr),
	}, nil
}
