package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// NextAddress gives the item that follows an address in the listing.
func (h *Handlers) NextAddress(ctx context.Context, in *tool.NextAddressInput) (*tool.Finding[tool.NextAddressOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	from, err := c.MappedAddress(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	item, err := c.Engine.Item(ctx, from, 1)
	if err != nil {
		return nil, err
	}
	out := tool.NextAddressOutput{From: from}
	if item != nil {
		kind := tool.NextAddressOutputKind(item.Kind)
		out.Address, out.Kind = &item.Address, &kind
	}
	return &tool.Finding[tool.NextAddressOutput]{Result: out, Locations: query.At(from)}, nil
}
