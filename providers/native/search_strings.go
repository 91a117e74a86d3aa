package native

import (
	"context"
	"fmt"
	"sync/atomic"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
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
	page, cut, err := matches(ctx, c, matcher, in)
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

// stringCursor is where the last page of matching strings ended, so that the
// next one goes on from there: the pages of a search take no longer together
// than the search does.
type stringCursor struct {
	eng   engine.Engine
	what  stringSearch
	next  int64 // offset of the next page
	skip  int   // strings that the pages before it passed
	total int64 // that match
	cut   int   // that were cut, of all
}

// stringSearch is what tells the strings of a search.
type stringSearch struct {
	pattern       string
	mode          tool.SearchStringsInputMode
	caseSensitive bool
}

// matches is a page of the strings that match; cut is how many strings were too
// long to be searched whole.
func matches(ctx context.Context, c *query.Call, m *query.Matcher, in *tool.SearchStringsInput) (page query.Page[model.StringItem], cut int, err error) {
	last, err := engine.Memo(c.Target, "search_strings", func() (*atomic.Pointer[stringCursor], error) { return &atomic.Pointer[stringCursor]{}, nil })
	if err != nil {
		return page, 0, err
	}
	what := stringSearch{in.Pattern, in.Mode, in.CaseSensitive}
	match := func(s *model.StringItem) bool { return m.Match(s.Value) }
	index, ok := c.Engine.(query.RowIndex)
	if at := last.Load(); ok && at != nil && at.eng == c.Engine && at.what == what && at.next == in.Offset {
		page, read, err := query.Rest(ctx, index.StringsFrom(ctx, query.MinString, at.skip), in.Offset, in.Limit, at.total, match)
		if err == nil && page.Next != nil {
			last.Store(&stringCursor{at.eng, what, *page.Next, at.skip + read, at.total, at.cut})
		}
		return page, at.cut, err
	}
	read, skip, matched := 0, 0, int64(0)
	page, err = query.Stream(ctx, c.Engine.Strings(ctx, query.MinString), in.Offset, in.Limit, func(s *model.StringItem) bool {
		read++
		if s.ValueTruncated {
			cut++
		}
		if !match(s) {
			return false
		}
		if matched++; matched == in.Offset+in.Limit {
			skip = read
		}
		return true
	})
	if ok && err == nil && page.Next != nil {
		last.Store(&stringCursor{c.Engine, what, *page.Next, skip, page.Total, cut})
	}
	return page, cut, err
}
