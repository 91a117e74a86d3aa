package native

import (
	"context"

	"rea/generated/tool"
)

// ListSegments lists what the loader maps, and sections that it does not.
func (h *Handlers) ListSegments(ctx context.Context, in *tool.ListSegmentsInput) (*tool.Finding[tool.ListSegmentsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	segments, unmapped, err := c.Engine.Segments(ctx)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListSegmentsOutput]{
		Result: tool.ListSegmentsOutput{Segments: segments, UnmappedSections: unmapped},
	}, nil
}
