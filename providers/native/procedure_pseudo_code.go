package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedurePseudoCode decompiles a procedure. Where this one alone cannot be
// decompiled, the pseudocode is null and a limitation says why.
func (h *Handlers) ProcedurePseudoCode(ctx context.Context, in *tool.ProcedurePseudoCodeInput) (*tool.Finding[tool.ProcedurePseudoCodeOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Pseudocode|engine.Ranges)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ProcedurePseudoCodeOutput]{
		Result:      tool.ProcedurePseudoCodeOutput{Procedure: ref, Pseudocode: b.Pseudocode},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}, nil
}
