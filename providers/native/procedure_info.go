package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedureInfo describes a procedure without its instructions.
func (h *Handlers) ProcedureInfo(ctx context.Context, in *tool.ProcedureInfoInput) (*tool.Finding[tool.ProcedureInfoOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, _, err := body(ctx, c.Engine, in.Procedure, engine.Ranges|engine.Callees|engine.Callers|engine.Locals)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.ProcedureInfoOutput]{
		Result: tool.ProcedureInfoOutput{
			Procedure:           b.Procedure,
			Ranges:              b.Ranges,
			Classification:      b.Classification,
			BasicBlocks:         int64(b.BlockCount),
			Instructions:        int64(b.InstructionCount),
			Callers:             int64(len(b.Callers)),
			Callees:             int64(len(b.Callees)),
			Signature:           b.Signature,
			Locals:              b.Locals,
			UnresolvedTransfers: int64(b.Unresolved),
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}
	if b.SourcePath != "" {
		f.Result.SourceFile = &tool.ProcedureInfoOutputSourceFile{Path: b.SourcePath, Line: int64(b.SourceLine)}
	}
	if text := query.Unresolved(b.Unresolved, "callees"); text != "" {
		f.Limitations = append(f.Limitations, text)
	}
	return f, nil
}
