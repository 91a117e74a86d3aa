package bridged

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// reference makes the rows of one use: a use that reads and writes is two. Jumps
// that lead to another procedure are tail calls.
func (e *Engine) reference(ctx context.Context, t *tables, r *facts.Reference) []model.Reference {
	row := model.Reference{From: model.Address(r.From), To: model.Address(r.To), ToName: e.describe(ctx, t, r.To)}
	from, inside := t.procedures.containing(r.From)
	if inside && r.Code {
		ref := e.ref(t.procedures, from)
		row.FromProcedure = &ref
	}
	switch r.Kind {
	case facts.RefCall:
		row.Kind = model.ReferenceKindCall
	case facts.RefJump:
		row.Kind = model.ReferenceKindJump
		if to, ok := t.procedures.byEntry[r.To]; ok && !(inside && to == from) {
			row.Kind = model.ReferenceKindTailCall
		}
	case facts.RefComputedJump:
		row.Kind = model.ReferenceKindJumpTable
	case facts.RefRead:
		row.Kind = model.ReferenceKindRead
	case facts.RefWrite:
		row.Kind = model.ReferenceKindWrite
	case facts.RefReadWrite:
		row.Kind = model.ReferenceKindRead
		written := row
		written.Kind = model.ReferenceKindWrite
		return []model.Reference{row, written}
	case facts.RefIndirection:
		row.Kind = model.ReferenceKindRead
		if e.isImport(t, r.To) {
			row.Kind = model.ReferenceKindImport
		}
	default:
		row.Kind = model.ReferenceKindPointer
		if r.Code {
			row.Kind = model.ReferenceKindAddressOf
		}
	}
	return []model.Reference{row}
}

// isImport reports whether the pointer at addr stands for an import.
func (e *Engine) isImport(t *tables, addr uint64) bool {
	return slices.ContainsFunc(t.names.at(addr), func(s facts.Symbol) bool { return s.Import })
}

// References lists uses of addr, or what the instruction or pointer at addr refers to.
func (e *Engine) References(ctx context.Context, addr model.Address, dir engine.Direction) ([]model.Reference, error) {
	t, err := e.tables(ctx)
	if err != nil {
		return nil, err
	}
	args := facts.ReferenceArgs{Address: uint64(addr), Direction: facts.To}
	if dir == engine.From {
		args.Direction = facts.From
	}
	var list []facts.Reference
	add := rows(&list)
	if err := e.ask(ctx, bridge.Question{Op: facts.References, Args: args, Rows: func(_ string, data jsontext.Value) error { return add(data) }}, nil); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b facts.Reference) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	out := []model.Reference{}
	for k := range list {
		if k%1024 == 1023 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, e.reference(ctx, &t, &list[k])...)
	}
	return out, nil
}
