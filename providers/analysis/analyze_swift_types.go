package analysis

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// AnalyzeSwiftTypes lists Swift types. The figures by kind count what matches
// the pattern, of every kind.
func (h *Handlers) AnalyzeSwiftTypes(ctx context.Context, in *tool.AnalyzeSwiftTypesInput) (*tool.Finding[tool.AnalyzeSwiftTypesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	swift, err := query.Ability[engine.Swift](c, "analyze_swift_types", "swift")
	if err != nil {
		return nil, err
	}
	types, err := swift.SwiftTypes(ctx)
	if err != nil {
		return nil, err
	}
	name := query.Literal(in.Pattern, false)
	types = query.Keep(types, func(t *model.SwiftType) bool { return name.Match(t.Name) })
	out := tool.AnalyzeSwiftTypesOutput{}
	for i := range types {
		switch types[i].Kind {
		case model.SwiftTypeKindClass:
			out.ByKind.Class++
		case model.SwiftTypeKindStruct:
			out.ByKind.Struct++
		case model.SwiftTypeKindEnum:
			out.ByKind.Enum++
		case model.SwiftTypeKindProtocol:
			out.ByKind.Protocol++
		}
	}
	if in.Kind != nil {
		types = query.Keep(types, func(t *model.SwiftType) bool { return string(t.Kind) == string(*in.Kind) })
	}
	page := query.Slice(types, in.Offset, in.Limit)
	out.Total, out.Offset, out.NextOffset, out.Items = page.Total, page.Offset, page.Next, page.Items
	return &tool.Finding[tool.AnalyzeSwiftTypesOutput]{Result: out}, nil
}
