package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// GetCppClasses lists C++ classes that have run-time type information.
func (h *Handlers) GetCppClasses(ctx context.Context, in *tool.GetCppClassesInput) (*tool.Finding[tool.GetCppClassesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	cpp, err := query.Ability[engine.CPlusPlus](c, "get_cpp_classes", "cpp_classes")
	if err != nil {
		return nil, err
	}
	classes, err := cpp.CppClasses(ctx)
	if err != nil {
		return nil, err
	}
	name := query.Literal(in.Pattern, false)
	page := query.Slice(query.Keep(classes, func(c *model.CppClass) bool { return name.Match(c.Name) }), in.Offset, in.Limit)
	if !in.IncludeMethods {
		for i := range page.Items {
			for k := range page.Items[i].Vtables {
				page.Items[i].Vtables[k].Methods = []model.CppClassVtableMethod{}
			}
		}
	}
	return &tool.Finding[tool.GetCppClassesOutput]{
		Result:      tool.GetCppClassesOutput{Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items},
		Limitations: []string{"classes without run-time type information, such as those compiled with -fno-rtti or /GR-, are not listed"},
	}, nil
}
