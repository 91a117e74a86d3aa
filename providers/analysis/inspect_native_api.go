package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// InspectNativeAPI describes how a procedure is called, and what stays unknown
// about it.
func (h *Handlers) InspectNativeAPI(ctx context.Context, in *tool.InspectNativeAPIInput) (*tool.Finding[tool.InspectNativeAPIOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Resolve(ctx, in.Procedure)
	if err != nil {
		return nil, err
	}
	b, err := c.Engine.Body(ctx, p.Address, engine.API|engine.Ranges)
	if err != nil {
		return nil, err
	}
	out := tool.InspectNativeAPIOutput{Procedure: query.Ref(&p), Boundary: nativeAPI(b), ResidualUnknowns: []string{}}
	switch api := out.Boundary.(type) {
	case *model.Unavailable:
		out.ResidualUnknowns = append(out.ResidualUnknowns, "the whole calling interface: "+api.Reason)
	case *model.NativeAPIAvailable:
		if api.Signature == nil {
			out.ResidualUnknowns = append(out.ResidualUnknowns, "the declared signature")
		}
		if api.ReturnType == nil {
			out.ResidualUnknowns = append(out.ResidualUnknowns, "the return type")
		}
		for _, v := range api.Parameters {
			if v.Type == nil {
				out.ResidualUnknowns = append(out.ResidualUnknowns, "the type of parameter "+query.Visible(v.Name))
			}
		}
		out.ResidualUnknowns = append(out.ResidualUnknowns, api.Limitations...)
	}
	return &tool.Finding[tool.InspectNativeAPIOutput]{
		Result: out, Limitations: query.Gaps(b, engine.API), Locations: query.In(b.Ranges),
	}, nil
}
