package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// SetComment sets the comment at an address; an empty text removes it.
func (h *Handlers) SetComment(ctx context.Context, in *tool.SetCommentInput) (*tool.Finding[tool.SetCommentOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	text := optional(in.Comment)
	previous, err := c.Notes.Apply([]query.Change{{Address: addr, Kind: query.CommentNote, Value: text}})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.SetCommentOutput]{
		Result:    tool.SetCommentOutput{Address: addr, Comment: text, Previous: previous[0]},
		Locations: query.At(addr),
	}, nil
}
