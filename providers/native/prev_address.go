package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// PrevAddress gives the item that precedes an address in the listing.
func (h *Handlers) PrevAddress(ctx context.Context, in *tool.PrevAddressInput) (*tool.Finding[tool.PrevAddressOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	from, err := c.MappedAddress(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	item, err := c.Engine.Item(ctx, from, -1)
	if err != nil {
		return nil, err
	}
	out := tool.PrevAddressOutput{From: from}
	if item != nil {
		kind := tool.PrevAddressOutputKind(item.Kind)
		out.Address, out.Kind = &item.Address, &kind
	}
	return &tool.Finding[tool.PrevAddressOutput]{Result: out, Locations: query.At(from)}, nil
}
