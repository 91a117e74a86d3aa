package native

import (
	"context"

	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// InspectNativeDataType describes a type, lists names of types, or both; with
// neither name nor pattern it lists all names, with a name only that one.
func (h *Handlers) InspectNativeDataType(ctx context.Context, in *tool.InspectNativeDataTypeInput) (*tool.Finding[tool.InspectNativeDataTypeOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	types, err := query.Ability[engine.DataTypes](c, "inspect_native_data_type", "data_types")
	if err != nil {
		return nil, err
	}
	out := tool.InspectNativeDataTypeOutput{Names: []string{}, Offset: in.Offset}
	if in.Name != nil {
		if out.Type, err = types.DataType(ctx, *in.Name); err != nil {
			return nil, err
		}
		out.Total, out.Names = 1, []string{out.Type.Name}
	}
	if in.Pattern != nil || in.Name == nil {
		pattern := ""
		if in.Pattern != nil {
			pattern = *in.Pattern
		}
		names, err := types.DataTypeNames(ctx, pattern)
		if err != nil {
			return nil, err
		}
		page := query.Slice(names, in.Offset, in.Limit)
		out.Total, out.NextOffset, out.Names = page.Total, page.Next, page.Items
	}
	return &tool.Finding[tool.InspectNativeDataTypeOutput]{Result: out}, nil
}
