package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// InlineComment reads the analyst's inline comment at an address.
func (h *Handlers) InlineComment(ctx context.Context, in *tool.InlineCommentInput) (*tool.Finding[tool.InlineCommentOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Address(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	out := tool.InlineCommentOutput{Address: addr}
	if text, ok := c.Notes.InlineComment(addr); ok {
		out.Comment = &text
	}
	return &tool.Finding[tool.InlineCommentOutput]{Result: out, Locations: query.At(addr)}, nil
}
