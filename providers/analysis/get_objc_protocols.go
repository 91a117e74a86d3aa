package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// GetObjCProtocols lists Objective-C protocols.
func (h *Handlers) GetObjCProtocols(ctx context.Context, in *tool.GetObjCProtocolsInput) (*tool.Finding[tool.GetObjCProtocolsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	objc, err := query.Ability[engine.ObjectiveC](c, "get_objc_protocols", "objective_c")
	if err != nil {
		return nil, err
	}
	protocols, err := objc.ObjCProtocols(ctx)
	if err != nil {
		return nil, err
	}
	name := query.Literal(in.Pattern, false)
	page := query.Slice(query.Keep(protocols, func(p *model.ObjCProtocol) bool { return name.Match(p.Name) }), in.Offset, in.Limit)
	return &tool.Finding[tool.GetObjCProtocolsOutput]{Result: tool.GetObjCProtocolsOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}
