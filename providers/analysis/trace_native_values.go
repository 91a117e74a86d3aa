package analysis

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// TraceNativeValues tells what registers can hold before an instruction.
func (h *Handlers) TraceNativeValues(ctx context.Context, in *tool.TraceNativeValuesInput) (*tool.Finding[tool.TraceNativeValuesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	flow, err := query.Ability[engine.ValueFlow](c, "trace_native_values", "value_flow")
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	register := ""
	if in.Register != nil {
		register = *in.Register
	}
	v, err := flow.Values(ctx, addr, register)
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.TraceNativeValuesOutput]{
		Result:      tool.TraceNativeValuesOutput{Address: addr, Procedure: v.Procedure, Values: v.Values, Scope: v.Scope},
		Limitations: []string{"values are followed inside one procedure only"},
		Locations:   query.At(addr),
	}, nil
}
