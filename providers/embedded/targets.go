package embedded

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/rtti"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
)

// mostTargets bounds the targets of one transfer that are listed.
const mostTargets = 256

// followed improves on the targets that need the flow of values: computed calls
// through registers, tables and objects, and message sends.
func (e *Engine) followed(ctx context.Context, p *program.Program, i int, rows []model.CallTarget) error {
	wanted := false
	for k := range rows {
		wanted = wanted || rows[k].State == model.CallTargetStateUnresolved || e.sends(&rows[k])
	}
	if !wanted {
		return nil
	}
	x, reason, err := e.flowOf(ctx, p, i)
	if err != nil {
		return err
	}
	if x == nil {
		for k := range rows {
			if rows[k].State == model.CallTargetStateUnresolved {
				rows[k].Reason = &reason
			}
		}
		return nil
	}
	r := &resolver{ctx: ctx, e: e, p: p, l: e.lowered(), function: i, flow: x}
	at := map[uint64]ssa.ID{}
	for b := range x.f.Blocks {
		for _, v := range x.f.Blocks[b].Code {
			if k := x.f.Values[v].Kind; k == ssa.Call || k == ssa.Jump {
				at[x.f.Values[v].Addr] = v
			}
		}
	}
	for k := range rows {
		v, ok := at[uint64(rows[k].Address)]
		if !ok {
			continue
		}
		switch {
		case e.sends(&rows[k]):
			err = r.message(&rows[k], v)
		case rows[k].State == model.CallTargetStateUnresolved:
			if err = r.computed(&rows[k], v); err == nil && e.sends(&rows[k]) { // the function's address was kept in a register
				err = r.message(&rows[k], v)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type resolver struct {
	ctx  context.Context
	e    *Engine
	p    *program.Program
	l    *lower.Program
	flow *flow

	function  int
	receivers map[int]string // by register; nil before they were looked for
	tables    map[string][]*rtti.Table
}

// isFunction says whether an address can be called.
func (r *resolver) isFunction(a uint64) bool {
	if _, ok := r.p.FunctionAt(a); ok {
		return true
	}
	s := r.e.im.SegmentAt(a)
	return s != nil && s.Perm.Execute && r.p.IsInstruction(a)
}

// computed resolves a call through a value.
func (r *resolver) computed(row *model.CallTarget, v ssa.ID) error {
	f := r.flow.f
	target := f.Values[v].Args[0]
	block := f.Values[v].Block
	set := r.flow.at(target, block)
	if numbers, few := set.Numbers(); few {
		kept := slices.DeleteFunc(slices.Clone(numbers), func(n uint64) bool { return !r.isFunction(n) })
		if len(kept) > 0 {
			row.State, row.Method, row.Reason = model.CallTargetStateCandidates, model.CallTargetMethodValues, nil
			if r.fromTable(target) {
				row.Method = model.CallTargetMethodConstantTable
			}
			if len(kept) == 1 && len(numbers) == 1 {
				row.State = model.CallTargetStateResolved
			}
			if dropped := len(numbers) - len(kept); dropped > 0 {
				reason := fmt.Sprintf("%d other values at the places that it may be read from lead to no code of this file: it may be read from fewer", dropped)
				if !r.fromTable(target) {
					reason = fmt.Sprintf("%d other values that it may have, as far as they are bounded, lead to no code of this file", dropped)
				}
				row.Reason = &reason
			} else if row.State == model.CallTargetStateCandidates {
				reason := "these are all values that it can have; which one it has is decided when the program runs"
				row.Reason = &reason
			}
			for _, n := range kept {
				row.Targets = append(row.Targets, r.e.symbolRef(r.p, n))
			}
			return nil
		}
	}
	if done, err := r.loaded(row, target, block); done || err != nil {
		return err
	}
	reason := "the target is " + values.Expression(f, target, r.e.naming(r.p, r.l))
	row.Reason = &reason
	return nil
}

// fromTable says whether a value is read from memory that never changes.
func (r *resolver) fromTable(v ssa.ID) bool {
	f := r.flow.f
	for f.Values[v].Kind == ssa.Expr && f.Values[v].Args[0] != 0 {
		v = f.Values[v].Args[0]
	}
	return f.Values[v].Kind == ssa.Load
}

// loaded resolves a target that is read from memory: the slot of an import, a
// pointer with a known first value, a method of an object.
func (r *resolver) loaded(row *model.CallTarget, target ssa.ID, block int32) (bool, error) {
	f := r.flow.f
	x := &f.Values[target]
	if x.Kind != ssa.Load {
		return false, nil
	}
	if slot, ok := r.flow.at(x.Args[0], x.Block).One(); ok {
		return r.slot(row, slot), nil
	}
	if places, few := r.flow.at(x.Args[0], x.Block).Numbers(); few && r.initial(row, places) {
		return true, nil
	}
	leaf, offset, ok := values.Affine(f, x.Args[0])
	if !ok || f.Values[leaf].Kind != ssa.Load || offset < 0 {
		return false, nil
	}
	// [[object] + offset]: the calling sequence of virtual methods.
	h, err := r.e.classes(r.ctx, r.p)
	if err != nil {
		return false, err
	}
	class, methods, err := r.declaredMethods(h, f.Values[leaf].Args[0], uint64(offset))
	if err != nil {
		return false, err
	}
	reason := fmt.Sprintf("the object is declared as %s; these are the methods at offset 0x%x of its virtual tables and those of derived classes with type information", class, offset)
	if len(methods) == 0 {
		methods = h.Implementations(uint64(offset), uint64(r.e.im.Bits/8))
		reason = fmt.Sprintf("the class of the object is not known; these are the methods at offset 0x%x of all virtual tables with type information", offset)
	}
	if len(methods) == 0 {
		return false, nil
	}
	row.State, row.Method = model.CallTargetStateCandidates, model.CallTargetMethodVirtualSlot
	if len(methods) > mostTargets {
		reason += fmt.Sprintf(", %d of %d", mostTargets, len(methods))
		methods = methods[:mostTargets]
	}
	row.Reason = &reason
	for _, m := range methods {
		row.Targets = append(row.Targets, r.e.symbolRef(r.p, m))
	}
	return true, nil
}

// initial lists what pointers that can change begin with.
func (r *resolver) initial(row *model.CallTarget, places []uint64) bool {
	var first []uint64
	for _, at := range places {
		if to, symbol, ok := r.e.fixed.Pointer(at); ok && symbol == "" && r.isFunction(to) {
			first = append(first, to)
		}
	}
	slices.Sort(first)
	if first = slices.Compact(first); len(first) == 0 || len(first) > mostTargets {
		return false
	}
	row.State, row.Method = model.CallTargetStateCandidates, model.CallTargetMethodValues
	reason := fmt.Sprintf("the %d pointers from %s on that it may be read from begin with these values and can change", len(places), r.e.place(r.p, slices.Min(places)))
	row.Reason = &reason
	for _, to := range first {
		row.Targets = append(row.Targets, r.e.symbolRef(r.p, to))
	}
	return true
}

// declaredMethods are the methods at an offset of the virtual tables that an
// object may have by the declared type of the parameter that points to it.
func (r *resolver) declaredMethods(h *rtti.Hierarchy, object ssa.ID, offset uint64) (class string, methods []uint64, err error) {
	f := r.flow.f
	x := &f.Values[object]
	if x.Kind != ssa.Entry || int(x.Var) >= f.Registers() {
		return "", nil, nil
	}
	if r.receivers == nil {
		if r.receivers, err = r.e.receivers(r.ctx, r.p, r.function, f); err != nil {
			return "", nil, err
		}
		r.tables = map[string][]*rtti.Table{}
	}
	if class = r.receivers[int(x.Var)]; class == "" {
		return "", nil, nil
	}
	tables, ok := r.tables[class]
	if !ok {
		tables, _ = h.TablesOf(class)
		r.tables[class] = tables
	}
	return class, rtti.At(tables, offset, uint64(r.e.im.Bits/8)), nil
}

// slot resolves a call through the pointer at a known address.
func (r *resolver) slot(row *model.CallTarget, slot uint64) bool {
	for i := range r.e.im.Imports {
		im := &r.e.im.Imports[i]
		if im.Slot == slot && !im.Data {
			name := im.Name
			row.State, row.Method, row.Reason = model.CallTargetStateResolved, model.CallTargetMethodImportSlot, nil
			row.Targets = append(row.Targets, model.SymbolRef{Address: model.Address(cmp.Or(im.Slot, im.Stub)), Name: &name})
			return true
		}
	}
	first, symbol, ok := r.e.fixed.Pointer(slot)
	switch {
	case !ok:
		return false
	case symbol != "":
		row.State, row.Method, row.Reason = model.CallTargetStateResolved, model.CallTargetMethodImportSlot, nil
		row.Targets = append(row.Targets, model.SymbolRef{Address: model.Address(slot), Name: &symbol})
		return true
	case !r.isFunction(first):
		return false
	}
	row.State, row.Method = model.CallTargetStateCandidates, model.CallTargetMethodValues
	reason := "the pointer at " + r.e.place(r.p, slot) + " begins with this value and can change"
	if t, _, is := r.vtable(slot); is {
		row.Method, row.State = model.CallTargetMethodVtable, model.CallTargetStateResolved
		reason = "the virtual table of " + t
	}
	row.Reason = &reason
	row.Targets = append(row.Targets, r.e.symbolRef(r.p, first))
	return true
}

// vtable is the class whose virtual table holds a slot.
func (r *resolver) vtable(slot uint64) (class string, offset uint64, ok bool) {
	h, err := r.e.classes(r.ctx, r.p)
	if err != nil {
		return "", 0, false
	}
	for i := range h.Classes {
		for k := range h.Classes[i].Tables {
			t := &h.Classes[i].Tables[k]
			if slot >= t.Addr && slot < t.Addr+uint64(len(t.Methods)*r.e.im.Bits/8) {
				return h.Classes[i].Name, slot - t.Addr, true
			}
		}
	}
	return "", 0, false
}

// place names an address in a sentence.
func (e *Engine) place(p *program.Program, addr uint64) string {
	if n := e.nameAt(p, addr); n != "" {
		return n
	}
	return model.Address(addr).String()
}
