package native

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ListStrings lists strings by address.
func (h *Handlers) ListStrings(ctx context.Context, in *tool.ListStringsInput) (*tool.Finding[tool.ListStringsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	var at *model.Address
	if in.Address != nil {
		addr, err := engine.ParseAddress(*in.Address)
		if err != nil {
			return nil, err
		}
		at = &addr
	}
	shortest := int(in.MinLength)
	if at != nil {
		shortest = 1
	}
	shorter := 0
	page, err := query.Stream(ctx, c.Engine.Strings(ctx, query.MinString), in.Offset, in.Limit, func(s *model.StringItem) bool {
		if s.ByteLength < int64(shortest) {
			shorter++
			return false
		}
		return (at == nil || s.Address == *at) && (in.Encoding == nil || s.Encoding == *in.Encoding) &&
			(in.Used == nil || *in.Used == (s.Uses > 0))
	})
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.ListStringsOutput]{
		Result: tool.ListStringsOutput{
			Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
		},
	}
	if shorter > 0 {
		f.Limitations = append(f.Limitations, fmt.Sprintf("%d strings of fewer than %d bytes are left out; min_length 1 lists them", shorter, shortest))
	}
	return f, nil
}
