package native

import (
	"context"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// ResolveContainingProcedure finds the procedure around an address.
func (h *Handlers) ResolveContainingProcedure(ctx context.Context, in *tool.ResolveContainingProcedureInput) (*tool.Finding[tool.ResolveContainingProcedureOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	addr, err := query.Mapped(ctx, c.Engine, in.Address)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Containing(ctx, addr)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.ResolveContainingProcedureOutput]{
		Result:    tool.ResolveContainingProcedureOutput{Address: addr, Procedure: p},
		Locations: query.At(addr),
	}
	if p == nil {
		reason, err := whyNoProcedure(ctx, c.Engine, addr)
		if err != nil {
			return nil, err
		}
		f.Result.Reason = &reason
		return f, nil
	}
	b, err := c.Engine.Body(ctx, p.Address, engine.Ranges)
	if err != nil {
		return nil, err
	}
	f.Locations = query.In(b.Ranges)
	f.Result.Offset = fromEntry(b.Ranges, p.Address, addr)
	return f, nil
}

// fromEntry counts bytes from the entry where one range holds both addresses;
// between the parts of a split procedure a distance says nothing.
func fromEntry(ranges []model.AddressRange, entry, addr model.Address) *int64 {
	for _, r := range ranges {
		if r.Start <= entry && entry < r.End && entry <= addr && addr < r.End {
			n := int64(addr - entry)
			return &n
		}
	}
	return nil
}

func whyNoProcedure(ctx context.Context, eng engine.Engine, addr model.Address) (string, error) {
	segments, _, err := eng.Segments(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(segments, func(s model.Segment) bool { return s.Start <= addr && addr < s.End })
	if i >= 0 && !segments[i].Executable {
		return "it lies in segment " + query.Visible(segments[i].Name) + ", which is not executable", nil
	}
	return "analysis found no code that reaches it: it may be padding, data between functions, or code used in a way that was not seen", nil
}
