package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ProcedureReferences lists references into or out of a procedure.
func (h *Handlers) ProcedureReferences(ctx context.Context, in *tool.ProcedureReferencesInput) (*tool.Finding[tool.ProcedureReferencesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	want := engine.Outgoing
	if in.Direction == tool.ProcedureReferencesInputDirectionIncoming {
		want = engine.Incoming
	}
	b, ref, err := body(ctx, c.Engine, in.Procedure, want|engine.Ranges)
	if err != nil {
		return nil, err
	}
	rows := b.Outgoing
	if want == engine.Incoming {
		rows = b.Incoming
	}
	page := query.Slice(ofKind(rows, in.Kind), in.Offset, in.Limit)
	f := &tool.Finding[tool.ProcedureReferencesOutput]{
		Result: tool.ProcedureReferencesOutput{
			Procedure: ref, Direction: tool.ProcedureReferencesOutputDirection(in.Direction),
			Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
		},
		Limitations: query.Gaps(b, 0),
		Locations:   query.In(b.Ranges),
	}
	if want == engine.Outgoing {
		if text := query.Unresolved(b.Unresolved, "outgoing references"); text != "" {
			f.Limitations = append(f.Limitations, text)
		}
	}
	return f, nil
}

// ofKind keeps references of one kind, or all when kind is nil.
func ofKind(rows []model.Reference, kind *model.ReferenceKind) []model.Reference {
	if kind == nil {
		return rows
	}
	return query.Keep(rows, func(r *model.Reference) bool { return r.Kind == *kind })
}
