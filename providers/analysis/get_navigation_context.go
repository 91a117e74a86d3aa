package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
)

// GetNavigationContext puts document, cursor and procedure together. The cursor
// is the session's, so both modes work with every engine; the one that a call
// used is told by whether it named a document.
func (h *Handlers) GetNavigationContext(ctx context.Context, in *tool.GetNavigationContextInput) (*tool.GetNavigationContextOutput, error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := c.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	out := tool.GetNavigationContextOutputResult{
		Mode:     tool.GetNavigationContextOutputResultModeCurrentSelection,
		Document: c.Document,
		Address:  addr,
		Modes: tool.GetNavigationContextOutputResultModes{
			CurrentSelection: model.CapabilityMode{Available: true},
			ExplicitDocument: model.CapabilityMode{Available: true},
		},
	}
	if in.Document != nil {
		out.Mode = tool.GetNavigationContextOutputResultModeExplicitDocument
	}
	if c.Has(model.EngineCapabilityNames) {
		if out.Name, err = c.Name(ctx, addr); err != nil {
			return nil, err
		}
	}
	if c.Has(model.EngineCapabilityFunctions) {
		if out.Procedure, err = c.Engine.Containing(ctx, addr); err != nil {
			return nil, err
		}
	}
	return &tool.GetNavigationContextOutput{Result: out}, nil
}
