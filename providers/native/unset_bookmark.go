package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// UnsetBookmark removes the bookmark at an address, if there is one.
func (h *Handlers) UnsetBookmark(ctx context.Context, in *tool.UnsetBookmarkInput) (*tool.Finding[tool.UnsetBookmarkOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := engine.ParseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	previous, err := c.Notes.Apply([]query.Change{{Address: addr, Kind: query.BookmarkNote}})
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.UnsetBookmarkOutput]{
		Result:    tool.UnsetBookmarkOutput{Address: addr, Removed: previous[0] != nil, Previous: previous[0]},
		Locations: query.At(addr),
	}, nil
}
