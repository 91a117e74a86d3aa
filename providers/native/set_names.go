package native

import (
	"context"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// SetNames names addresses. Everything is checked before anything is applied.
func (h *Handlers) SetNames(ctx context.Context, in *tool.SetNamesInput) (*tool.Finding[tool.SetNamesOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	mapping, err := query.MappingOf(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	changes := make([]query.Change, len(in.Names))
	first := map[model.Address]int{}
	for i, n := range in.Names {
		addr, err := engine.ParseAddress(n.Address)
		if err != nil {
			return nil, err
		}
		if err := mapping.Check(addr); err != nil {
			return nil, err
		}
		if j, twice := first[addr]; twice {
			return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
				Pointer:  fmt.Sprintf("/names/%d/address", i),
				Keyword:  "uniqueItems",
				Expected: fmt.Sprintf("an address that the list has not named before: %s is also that of /names/%d", addr, j),
				Received: &in.Names[i].Address,
			}, nil)
		}
		first[addr] = i
		changes[i] = query.Change{Address: addr, Kind: query.NameNote, Value: optional(n.Name)}
	}
	previous, err := c.Notes.Apply(changes)
	if err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.SetNamesOutput]{}
	for i, change := range changes {
		f.Result.Names = append(f.Result.Names, tool.SetNamesOutputName{
			Address: change.Address, Name: change.Value, Previous: previous[i],
		})
		f.Locations = append(f.Locations, query.At(change.Address)...)
	}
	return f, nil
}
