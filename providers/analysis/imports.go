package analysis

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/model"
	"rea/runtime/engine"
)

// slots are the pointers that the import stub at addr jumps through. Code that
// calls an import without its stub refers to these.
func slots(ctx context.Context, eng engine.Engine, stub model.Address) ([]model.Address, error) {
	b, err := eng.Body(ctx, stub, engine.Outgoing)
	if err != nil {
		return nil, err
	}
	var out []model.Address
	for _, r := range b.Outgoing {
		switch r.Kind {
		case model.ReferenceKindRead, model.ReferenceKindImport:
			out = append(out, r.To)
		}
	}
	return out, nil
}

// usesOf lists what refers to any of the addresses that carry an import: its
// stubs, the slots behind them, and slots that have names of their own. A
// stub's own jump through its slot is the linker's and is left out. read are
// all the addresses whose uses were read, in order.
func usesOf(ctx context.Context, eng engine.Engine, addrs []model.Address, isStub func(model.Address) bool) (uses []model.Reference, read []model.Address, err error) {
	read = slices.Clone(addrs)
	for _, addr := range addrs {
		if !isStub(addr) {
			continue
		}
		through, err := slots(ctx, eng, addr)
		if err != nil {
			return nil, nil, err
		}
		for _, slot := range through {
			if !slices.Contains(read, slot) {
				read = append(read, slot)
			}
		}
	}
	for _, addr := range read {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		refs, err := eng.References(ctx, addr, engine.To)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range refs {
			if r.FromProcedure == nil || !isStub(r.FromProcedure.Address) {
				uses = append(uses, r)
			}
		}
	}
	slices.SortFunc(uses, compareReferences)
	return slices.CompactFunc(uses, func(a, b model.Reference) bool { return compareReferences(a, b) == 0 }), read, nil
}

func compareReferences(a, b model.Reference) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}
