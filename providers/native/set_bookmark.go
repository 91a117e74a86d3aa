package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/query"
)

// SetBookmark bookmarks an address, in place of the bookmark it may have.
func (h *Handlers) SetBookmark(ctx context.Context, in *tool.SetBookmarkInput) (*tool.Finding[tool.SetBookmarkOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	previous, err := c.Notes.Apply([]query.Change{{Address: addr, Kind: query.BookmarkNote, Value: &in.Name}})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.SetBookmarkOutput]{
		Result:    tool.SetBookmarkOutput{Address: addr, Name: in.Name, Previous: previous[0]},
		Locations: query.At(addr),
	}, nil
}
