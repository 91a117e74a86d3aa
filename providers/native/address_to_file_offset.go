package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// AddressToFileOffset tells where in the file a mapped address is stored.
func (h *Handlers) AddressToFileOffset(ctx context.Context, in *tool.AddressToFileOffsetInput) (*tool.Finding[tool.AddressToFileOffsetOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	at, err := c.Engine.Locate(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.AddressToFileOffsetOutput]{
		Result: tool.AddressToFileOffsetOutput{
			Address: addr, FileOffset: at.FileOffset,
			Segment: optional(at.Segment), Section: optional(at.Section), Reason: optional(at.Reason),
		},
		Locations: query.At(addr),
	}, nil
}

// optional is nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
