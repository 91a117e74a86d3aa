package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// GetObjCClasses lists Objective-C classes.
func (h *Handlers) GetObjCClasses(ctx context.Context, in *tool.GetObjCClassesInput) (*tool.Finding[tool.GetObjCClassesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	objc, err := query.Ability[engine.ObjectiveC](c, "get_objc_classes", "objective_c")
	if err != nil {
		return nil, err
	}
	classes, err := objc.ObjCClasses(ctx)
	if err != nil {
		return nil, err
	}
	name := query.Literal(in.Pattern, false)
	page := query.Slice(query.Keep(classes, func(c *model.ObjCClass) bool { return name.Match(c.Name) }), in.Offset, in.Limit)
	if !in.IncludeMethods {
		for i := range page.Items {
			page.Items[i].Methods = []model.ObjCClassMethod{}
		}
	}
	return &tool.Finding[tool.GetObjCClassesOutput]{Result: tool.GetObjCClassesOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}
