package embedded

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/model"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/runtime/engine"
)

// callees groups the transfers of function i to other procedures and imports
// by target; unresolved counts computed ones that lead nowhere known.
func (e *Engine) callees(p *program.Program, i int) (out []engine.Call, unresolved int) {
	at := map[model.Address]int{}
	add := func(row model.Procedure, site uint64, kind model.ReferenceKind) {
		k, ok := at[row.Address]
		if !ok {
			k = len(out)
			at[row.Address] = k
			out = append(out, engine.Call{Procedure: row})
		}
		note(&out[k], site, kind)
	}
	stub := p.Functions[i].Kind == program.KindImportStub
	for _, c := range p.CallsIn(i) {
		if stub && c.To == 0 && c.Import >= 0 {
			continue // the stub stands for the import it jumps to
		}
		kind := callKind(c)
		switch {
		case c.To != 0:
			if k, ok := p.FunctionAt(c.To); ok {
				add(e.procedure(p, k), c.From, kind)
			} else if k, ok := p.FunctionContaining(c.To); ok && k != i {
				add(e.procedure(p, k), c.From, kind)
			}
		case c.Import >= 0:
			add(external(&e.im.Imports[c.Import]), c.From, kind)
		default:
			unresolved++
		}
	}
	slices.SortFunc(out, byAddress)
	return out, unresolved
}

func byAddress(a, b engine.Call) int { return cmp.Compare(a.Procedure.Address, b.Procedure.Address) }

func note(c *engine.Call, site uint64, kind model.ReferenceKind) {
	c.Sites = append(c.Sites, model.Address(site))
	if !slices.Contains(c.Kinds, kind) {
		c.Kinds = append(c.Kinds, kind)
		slices.Sort(c.Kinds)
	}
}

func callKind(c program.Call) model.ReferenceKind {
	if c.Kind == program.TailCall || c.Kind == program.IndirectJump {
		return model.ReferenceKindTailCall
	}
	return model.ReferenceKindCall
}

// callers groups the transfers into function i by the procedure they are in.
// Calls through the pointer of an import count for the stub that uses it.
func (e *Engine) callers(ctx context.Context, p *program.Program, i int) ([]engine.Call, error) {
	var out []engine.Call
	at := map[int]int{}
	n := 0
	for c := range p.CallsTo(p.Functions[i].Entry) {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		from, ok := p.FunctionContaining(c.From)
		if !ok {
			continue
		}
		k, ok := at[from]
		if !ok {
			k = len(out)
			at[from] = k
			out = append(out, engine.Call{Procedure: e.procedure(p, from)})
		}
		note(&out[k], c.From, callKind(c))
	}
	slices.SortFunc(out, byAddress)
	return out, nil
}

// targets tells of every call and computed jump of function i where it can go.
func (e *Engine) targets(p *program.Program, i int) []model.CallTarget {
	out := []model.CallTarget{}
	for _, c := range p.CallsIn(i) {
		row := model.CallTarget{Address: model.Address(c.From), Kind: targetKinds[c.Kind], Targets: []model.SymbolRef{}}
		row.Operand = e.operands(p, c.From)
		switch {
		case c.To != 0:
			row.State, row.Method = model.CallTargetStateResolved, model.CallTargetMethodDirect
			if c.Kind == program.IndirectCall || c.Kind == program.IndirectJump {
				row.Method = model.CallTargetMethodConstant
			}
			row.Targets = append(row.Targets, e.symbolRef(p, c.To))
		case c.Import >= 0:
			im := &e.im.Imports[c.Import]
			row.State, row.Method = model.CallTargetStateResolved, model.CallTargetMethodImportSlot
			name := im.Name
			row.Targets = append(row.Targets, model.SymbolRef{Address: model.Address(cmp.Or(im.Slot, im.Stub)), Name: &name})
		default:
			row.State, row.Method = model.CallTargetStateUnresolved, model.CallTargetMethodNone
			reason := "the target is computed from values that are not constant"
			if c.Slot != 0 {
				reason = "it goes through the pointer at " + model.Address(c.Slot).String() + ", whose value is set when the program runs"
			}
			row.Reason = &reason
		}
		out = append(out, row)
	}
	for _, b := range p.FunctionBlocks(i) {
		if ts := p.TablesAt(b.Last); len(ts) > 0 {
			out = append(out, e.tableTarget(p, ts))
		}
	}
	slices.SortStableFunc(out, func(a, b model.CallTarget) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

var targetKinds = [...]model.CallTargetKind{
	program.DirectCall: model.CallTargetKindCall, program.TailCall: model.CallTargetKindTailCall,
	program.IndirectCall: model.CallTargetKindIndirectCall, program.IndirectJump: model.CallTargetKindIndirectJump,
}

func (e *Engine) tableTarget(p *program.Program, tables []program.Table) model.CallTarget {
	jump := tables[0].Jump
	row := model.CallTarget{
		Address: model.Address(jump), Kind: model.CallTargetKindIndirectJump, State: model.CallTargetStateResolved,
		Method: model.CallTargetMethodJumpTable, Operand: e.operands(p, jump), Targets: []model.SymbolRef{},
	}
	if slices.ContainsFunc(tables, func(t program.Table) bool { return !t.Bounded }) {
		row.State = model.CallTargetStateCandidates
		reason := "no comparison bounds the table; it was read while its entries stayed inside the function"
		row.Reason = &reason
	}
	var targets []uint64
	for _, t := range tables {
		targets = append(targets, t.Targets...)
	}
	slices.Sort(targets)
	for _, to := range slices.Compact(targets) {
		row.Targets = append(row.Targets, e.symbolRef(p, to))
	}
	return row
}

// operands is the text of the operands of the instruction at addr.
func (e *Engine) operands(p *program.Program, addr uint64) string {
	_, ops := e.dec.Text(e.im.Bytes(addr, e.dec.MaxLen()), addr, func(a uint64) string { return e.nameAt(p, a) })
	return ops
}

// unresolved counts the computed transfers of function i without a known target.
func unresolved(p *program.Program, i int) int {
	n := 0
	for _, c := range p.CallsIn(i) {
		if c.To == 0 && c.Import < 0 {
			n++
		}
	}
	return n
}

// computed tells whether a flow goes through a register or memory.
func computed(f isa.Flow) bool { return f == isa.IndirectCall || f == isa.IndirectJump }
