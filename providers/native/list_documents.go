package native

import (
	"context"

	"rea/generated/tool"
)

// ListDocuments lists what the engine has open.
func (h *Handlers) ListDocuments(ctx context.Context, _ *tool.ListDocumentsInput) (*tool.Finding[tool.ListDocumentsOutput], error) {
	c, err := h.call(ctx, nil)
	if err != nil {
		return nil, err
	}
	documents, err := c.Engine.Documents(ctx)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListDocumentsOutput]{Result: tool.ListDocumentsOutput{Documents: documents}}, nil
}
