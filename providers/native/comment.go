package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// Comment reads the analyst's comment at an address.
func (h *Handlers) Comment(ctx context.Context, in *tool.CommentInput) (*tool.Finding[tool.CommentOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Address(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	out := tool.CommentOutput{Address: addr}
	if text, ok := c.Notes.Comment(addr); ok {
		out.Comment = &text
	}
	return &tool.Finding[tool.CommentOutput]{Result: out, Locations: query.At(addr)}, nil
}
