package analysis

import (
	"context"
	"errors"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/progress"
	"rea/runtime/query"
)

// BatchDecompile decompiles procedures one after the other; each fails on its
// own. Only the end of the call itself ends them all.
func (h *Handlers) BatchDecompile(ctx context.Context, in *tool.BatchDecompileInput) (*tool.Finding[tool.BatchDecompileOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.BatchDecompileOutput]{}
	for i, selector := range in.Procedures {
		progress.Reportf(ctx, "decompiling %d of %d", i+1, len(in.Procedures))
		item, b, err := decompile(ctx, c.Engine, selector)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			f.Result.Failed++
			f.Result.Items = append(f.Result.Items, failure(selector, err))
			continue
		}
		f.Result.Succeeded++
		f.Result.Items = append(f.Result.Items, item)
		f.Locations = append(f.Locations, query.In(b.Ranges)...)
		for _, text := range query.Gaps(b, 0) {
			f.Limitations = append(f.Limitations, fmt.Sprintf("%s: %s", b.Procedure.Address, text))
		}
	}
	return f, nil
}

func decompile(ctx context.Context, eng engine.Engine, selector string) (*tool.BatchDecompileOutputItemOk, *engine.Body, error) {
	p, err := eng.Resolve(ctx, selector)
	if err != nil {
		return nil, nil, err
	}
	b, err := eng.Body(ctx, p.Address, engine.Pseudocode|engine.Ranges)
	if err != nil {
		return nil, nil, err
	}
	if b.Pseudocode == nil {
		return nil, nil, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: "batch_decompile", Reason: unavailable(b.Missing[engine.Pseudocode]).Reason,
			Missing: []string{string(model.EngineCapabilityPseudocode)}, Providers: []string{},
		}, nil)
	}
	return &tool.BatchDecompileOutputItemOk{Procedure: query.Ref(&p), Pseudocode: *b.Pseudocode}, b, nil
}

func failure(selector string, err error) *tool.BatchDecompileOutputItemError {
	item := &tool.BatchDecompileOutputItemError{Selector: selector, Code: string(fault.ExecutionFailureCode), Message: err.Error()}
	var e *fault.Error
	if errors.As(err, &e) {
		item.Code, item.Message = string(e.Code), e.Message
	}
	return item
}
