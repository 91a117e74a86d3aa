package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// AddressName gives the best of the names at an address: the analyst's, then
// the symbol tables'. A name that is only made from the address is none.
func (h *Handlers) AddressName(ctx context.Context, in *tool.AddressNameInput) (*tool.Finding[tool.AddressNameOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Address(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	out := tool.AddressNameOutput{Address: addr}
	item, err := query.NameAt(ctx, c.Engine, c.Notes, addr)
	if err != nil {
		return nil, err
	}
	if item != nil {
		out.Name, out.Demangled, out.Source = &item.Name, item.Demangled, &item.Source
	}
	return &tool.Finding[tool.AddressNameOutput]{Result: out, Locations: query.At(addr)}, nil
}
