package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ResolveNativeCallTargets tells where the transfers of a procedure go. The
// figures count all of them, the rows those of the wanted state.
func (h *Handlers) ResolveNativeCallTargets(ctx context.Context, in *tool.ResolveNativeCallTargetsInput) (*tool.Finding[tool.ResolveNativeCallTargetsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, engine.Targets|engine.Ranges)
	if err != nil {
		return nil, err
	}
	out := tool.ResolveNativeCallTargetsOutput{Procedure: ref}
	for _, t := range b.Targets {
		switch t.State {
		case model.CallTargetStateResolved:
			out.Resolved++
		case model.CallTargetStateUnresolved:
			out.Unresolved++
		}
	}
	rows := b.Targets
	if in.State != nil {
		rows = query.Keep(rows, func(t *model.CallTarget) bool { return string(t.State) == string(*in.State) })
	}
	page := query.Slice(rows, in.Offset, in.Limit)
	out.Total, out.Offset, out.NextOffset, out.Items = page.Total, page.Offset, page.Next, page.Items
	return &tool.Finding[tool.ResolveNativeCallTargetsOutput]{
		Result: out, Limitations: query.Gaps(b, 0), Locations: query.In(b.Ranges),
	}, nil
}
