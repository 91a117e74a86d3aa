package native

import (
	"context"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ListNames lists names of the target and of the analyst, by address.
func (h *Handlers) ListNames(ctx context.Context, in *tool.ListNamesInput) (*tool.Finding[tool.ListNamesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	var page query.Page[model.NameItem]
	ofKind := func(n *model.NameItem) bool { return in.Kind == nil || n.Kind == *in.Kind }
	if in.Address == nil {
		page, err = query.Stream(ctx, query.AllNames(ctx, c.Engine, c.Notes), in.Offset, in.Limit, ofKind)
	} else {
		page, err = h.namesAt(ctx, c, *in.Address, in.Offset, in.Limit, ofKind)
	}
	if err != nil {
		return nil, err
	}
	return &tool.Finding[tool.ListNamesOutput]{Result: tool.ListNamesOutput{
		Total: page.Total, Offset: page.Offset, NextOffset: page.Next, Items: page.Items,
	}}, nil
}

func (h *Handlers) namesAt(ctx context.Context, c *query.Call, written string, offset, limit int64, keep func(*model.NameItem) bool) (query.Page[model.NameItem], error) {
	addr, err := engine.ParseAddress(written)
	if err != nil {
		return query.Page[model.NameItem]{}, err
	}
	names, err := query.NamesAt(ctx, c.Engine, c.Notes, addr)
	if err != nil {
		return query.Page[model.NameItem]{}, err
	}
	return query.Slice(query.Keep(names, keep), offset, limit), nil
}
