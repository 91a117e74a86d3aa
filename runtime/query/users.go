package query

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/model"
	"rea/runtime/engine"
)

// Users lists the procedures that refer to addr, by address, at most limit of
// them, and how many there are in all.
func Users(ctx context.Context, eng engine.Engine, addr model.Address, limit int) (users []model.SymbolRef, total int, err error) {
	refs, err := eng.References(ctx, addr, engine.To)
	if err != nil {
		return nil, 0, err
	}
	users = []model.SymbolRef{}
	for _, r := range refs {
		if r.FromProcedure != nil {
			users = append(users, *r.FromProcedure)
		}
	}
	slices.SortFunc(users, func(a, b model.SymbolRef) int { return cmp.Compare(a.Address, b.Address) })
	users = slices.CompactFunc(users, func(a, b model.SymbolRef) bool { return a.Address == b.Address })
	total = len(users)
	return users[:min(total, limit)], total, nil
}
