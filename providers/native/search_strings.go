package native

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/query"
)

// maxUsers is how many users of a string are named.
const maxUsers = 20

// SearchStrings finds strings and the procedures that refer to them. References
// are read for the rows of the page only.
func (h *Handlers) SearchStrings(ctx context.Context, in *tool.SearchStringsInput) (*tool.Finding[tool.SearchStringsOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	matcher, err := query.Pattern(in.Pattern, in.Mode, in.CaseSensitive)
	if err != nil {
		return nil, err
	}
	cut := 0
	page, err := query.Stream(ctx, c.Engine.Strings(ctx, query.MinString), in.Offset, in.Limit, func(s *model.StringItem) bool {
		if s.ValueTruncated {
			cut++
		}
		return matcher.Match(s.Value)
	})
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.SearchStringsOutput]{Result: tool.SearchStringsOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: []tool.SearchStringsOutputItem{},
	}}
	for _, s := range page.Items {
		users, total, err := query.Users(ctx, c.Engine, s.Address, maxUsers)
		if err != nil {
			return nil, err
		}
		if total > len(users) {
			f.Limitations = append(f.Limitations, fmt.Sprintf("users of the string at %s: %d of %d are named", s.Address, len(users), total))
		}
		f.Result.Items = append(f.Result.Items, tool.SearchStringsOutputItem{String: s, Users: users})
	}
	if cut > 0 {
		f.Limitations = append(f.Limitations, fmt.Sprintf("strings longer than what the engine keeps of one: %d; the rest of them was not searched", cut))
	}
	return f, nil
}
