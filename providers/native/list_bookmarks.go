package native

import (
	"context"

	"rea/generated/tool"
)

// ListBookmarks lists the analyst's bookmarks.
func (h *Handlers) ListBookmarks(ctx context.Context, in *tool.ListBookmarksInput) (*tool.Finding[tool.ListBookmarksOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListBookmarksOutput]{Result: tool.ListBookmarksOutput{Bookmarks: c.Notes.Bookmarks()}}, nil
}
