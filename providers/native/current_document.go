package native

import (
	"context"

	"rea/generated/tool"
)

// CurrentDocument names the document that the cursor is in.
func (h *Handlers) CurrentDocument(ctx context.Context, _ *tool.CurrentDocumentInput) (*tool.Finding[tool.CurrentDocumentOutput], error) {
	c, err := h.call(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.CurrentDocumentOutput]{Result: tool.CurrentDocumentOutput{Document: c.Document}}, nil
}
