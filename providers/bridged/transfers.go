package bridged

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"rea/generated/model"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// transferIndex are the calls and jumps between procedures.
type transferIndex struct {
	all  []facts.Transfer // by address
	into map[uint64][]int // by target address
}

func (e *Engine) transferTable(ctx context.Context) (*transferIndex, error) {
	return keep(ctx, e, &e.transfers, func(ctx context.Context) (*transferIndex, error) {
		list, err := list[facts.Transfer](ctx, e, facts.Transfers)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(list, func(a, b facts.Transfer) int { return cmp.Compare(a.From, b.From) })
		x := &transferIndex{all: list, into: map[uint64][]int{}}
		for i := range list {
			for _, to := range list[i].To {
				x.into[to] = append(x.into[to], i)
			}
		}
		return x, nil
	})
}

// within are the transfers of one procedure, by address.
func (x *transferIndex) within(p *facts.Procedure) []*facts.Transfer {
	var out []*facts.Transfer
	for k := 0; k+1 < len(p.Ranges); k += 2 {
		i := sort.Search(len(x.all), func(i int) bool { return x.all[i].From >= p.Ranges[k] })
		for ; i < len(x.all) && x.all[i].From < p.Ranges[k+1]; i++ {
			out = append(out, &x.all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *facts.Transfer) int { return cmp.Compare(a.From, b.From) })
	return out
}

// unknown reports whether nothing tells where a transfer goes.
func unknown(t *facts.Transfer) bool { return len(t.To) == 0 && t.Import == "" }

func callKind(t *facts.Transfer) model.ReferenceKind {
	if t.Call {
		return model.ReferenceKindCall
	}
	return model.ReferenceKindTailCall
}

// external is the procedure of an import that is reached through its slot.
func external(t *facts.Transfer) model.Procedure {
	return model.Procedure{
		Address: model.Address(t.Slot), Name: t.Import, Named: true, Kind: model.ProcedureKindExternal,
		Source: model.StartSourceImport, Returns: true,
	}
}

// stub reports whether a procedure only stands for an import.
func stub(p *facts.Procedure) bool { return p.ThunkExternal }

// callees groups the transfers of procedure i to other procedures and imports.
func (e *Engine) callees(x *index, transfers []*facts.Transfer, i int) []engine.Call {
	var out []engine.Call
	at := map[model.Address]int{}
	add := func(row model.Procedure, t *facts.Transfer) {
		k, ok := at[row.Address]
		if !ok {
			k = len(out)
			at[row.Address] = k
			out = append(out, engine.Call{Procedure: row})
		}
		note(&out[k], t)
	}
	for _, t := range transfers {
		for _, to := range t.To {
			k, ok := x.byEntry[to]
			if !ok {
				if k, ok = x.containing(to); ok && k == i {
					continue // a jump inside the procedure
				}
			} else if k == i && !t.Call && t.Computed {
				continue // a jump table that leads back to the start
			}
			if ok {
				add(e.procedure(x, k), t)
			}
		}
		if len(t.To) == 0 && t.Import != "" && !stub(&x.procedures[i]) {
			add(external(t), t)
		}
	}
	slices.SortFunc(out, byAddress)
	return out
}

func byAddress(a, b engine.Call) int { return cmp.Compare(a.Procedure.Address, b.Procedure.Address) }

func note(c *engine.Call, t *facts.Transfer) {
	site := model.Address(t.From)
	if !slices.Contains(c.Sites, site) {
		c.Sites = append(c.Sites, site)
	}
	if kind := callKind(t); !slices.Contains(c.Kinds, kind) {
		c.Kinds = append(c.Kinds, kind)
		slices.Sort(c.Kinds)
	}
}

// callers groups the transfers to the entry of procedure i by where they are.
func (e *Engine) callers(x *index, table *transferIndex, i int) []engine.Call {
	var out []engine.Call
	at := map[int]int{}
	for _, n := range table.into[x.procedures[i].Entry] {
		t := &table.all[n]
		from, ok := x.containing(t.From)
		if !ok || from == i && !t.Call && t.Computed {
			continue
		}
		k, ok := at[from]
		if !ok {
			k = len(out)
			at[from] = k
			out = append(out, engine.Call{Procedure: e.procedure(x, from)})
		}
		note(&out[k], t)
	}
	slices.SortFunc(out, byAddress)
	return out
}

// CallerCount counts the procedures that call the one at entry.
func (e *Engine) CallerCount(ctx context.Context, entry model.Address) (int, error) {
	x, err := e.procedureIndex(ctx)
	if err != nil {
		return 0, err
	}
	i, err := e.at(x, entry)
	if err != nil {
		return 0, nil // nobody calls what does not start there
	}
	table, err := e.transferTable(ctx)
	if err != nil {
		return 0, err
	}
	return len(e.callers(x, table, i)), nil
}

// targets tells of every call and computed jump where it can go.
func (e *Engine) targets(ctx context.Context, t *tables, transfers []*facts.Transfer, i int) []model.CallTarget {
	out := []model.CallTarget{}
	for _, tr := range transfers {
		row := model.CallTarget{Address: model.Address(tr.From), Kind: targetKind(tr), Targets: []model.SymbolRef{}, Operand: tr.Operand}
		for _, to := range tr.To {
			row.Targets = append(row.Targets, e.symbolRef(ctx, t, to))
		}
		row.State, row.Method = model.CallTargetStateResolved, model.CallTargetMethodDirect
		switch {
		case len(tr.To) == 0 && tr.Import != "":
			name := tr.Import
			row.Method = model.CallTargetMethodImportSlot
			row.Targets = append(row.Targets, model.SymbolRef{Address: model.Address(tr.Slot), Name: &name})
		case unknown(tr):
			row.State, row.Method = model.CallTargetStateUnresolved, model.CallTargetMethodNone
			reason := "the engine gives no target"
			row.Reason = &reason
		case tr.Computed && !tr.Call && e.inside(t.procedures, i, tr.To):
			row.Method = model.CallTargetMethodJumpTable
		case tr.Computed && len(tr.To) > 1:
			row.State, row.Method = model.CallTargetStateCandidates, model.CallTargetMethodConstantTable
			reason := "the engine gives several targets"
			row.Reason = &reason
		case tr.Computed:
			row.Method = model.CallTargetMethodConstant
		}
		if row.Operand == "" && len(row.Targets) > 0 {
			row.Operand = row.Targets[0].Address.String()
			if name := row.Targets[0].Name; name != nil {
				row.Operand = *name
			}
		}
		out = append(out, row)
	}
	return out
}

func (e *Engine) inside(x *index, i int, to []uint64) bool {
	for _, addr := range to {
		if k, ok := x.containing(addr); !ok || k != i {
			return false
		}
	}
	return true
}

func targetKind(t *facts.Transfer) model.CallTargetKind {
	switch {
	case t.Computed && t.Call:
		return model.CallTargetKindIndirectCall
	case t.Computed:
		return model.CallTargetKindIndirectJump
	case t.Call:
		return model.CallTargetKindCall
	}
	return model.CallTargetKindTailCall
}
