package analysis

import (
	"context"

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

// usesOf lists what refers to an import through its stub or one of its slots.
// The stub's own jump through the slot is the linker's and is left out.
func usesOf(ctx context.Context, eng engine.Engine, stub model.Address) ([]model.Reference, []model.Address, error) {
	refs, err := eng.References(ctx, stub, engine.To)
	if err != nil {
		return nil, nil, err
	}
	through, err := slots(ctx, eng, stub)
	if err != nil {
		return nil, nil, err
	}
	for _, slot := range through {
		more, err := eng.References(ctx, slot, engine.To)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range more {
			if r.FromProcedure == nil || r.FromProcedure.Address != stub {
				refs = append(refs, r)
			}
		}
	}
	return refs, through, nil
}
