package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// Xrefs lists references to or from an address.
func (h *Handlers) Xrefs(ctx context.Context, in *tool.XrefsInput) (*tool.Finding[tool.XrefsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.MappedAddress(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	direction := engine.To
	if in.Direction == tool.XrefsInputDirectionFrom {
		direction = engine.From
	}
	refs, err := c.Engine.References(ctx, addr, direction)
	if err != nil {
		return nil, err
	}
	name, err := c.Name(ctx, addr)
	if err != nil {
		return nil, err
	}
	page := query.Slice(ofKind(refs, in.Kind), in.Offset, in.Limit)
	return &tool.Finding[tool.XrefsOutput]{
		Result: tool.XrefsOutput{
			Address: addr, Name: name, Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
		},
		Locations: query.At(addr),
	}, nil
}
