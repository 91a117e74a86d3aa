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
	limits := query.Gaps(b, 0)
	if b.Pseudocode == nil && len(limits) == 0 {
		limits = []string{"the engine gave no pseudocode and no reason"}
	}
	return &tool.Finding[tool.ProcedurePseudoCodeOutput]{
		Result:      tool.ProcedurePseudoCodeOutput{Procedure: ref, Pseudocode: b.Pseudocode},
		Limitations: limits,
		Locations:   query.In(b.Ranges),
	}, nil
}
