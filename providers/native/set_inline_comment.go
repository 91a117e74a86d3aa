package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// SetInlineComment sets the inline comment at an address; an empty text removes it.
func (h *Handlers) SetInlineComment(ctx context.Context, in *tool.SetInlineCommentInput) (*tool.Finding[tool.SetInlineCommentOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	text := optional(in.Comment)
	previous, err := c.Notes.Apply([]query.Change{{Address: addr, Kind: query.InlineNote, Value: text}})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.SetInlineCommentOutput]{
		Result:    tool.SetInlineCommentOutput{Address: addr, Comment: text, Previous: previous[0]},
		Locations: query.At(addr),
	}, nil
}
