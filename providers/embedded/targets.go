package embedded

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/format/object"
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
	r := &resolver{ctx: ctx, e: e, p: p, l: e.lowered(), flow: x}
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
			err = r.computed(&rows[k], v)
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
				reason := fmt.Sprintf("%d other values that it can have are no code of this file", dropped)
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
	leaf, offset, ok := values.Affine(f, x.Args[0])
	if !ok || f.Values[leaf].Kind != ssa.Load || offset < 0 {
		return false, nil
	}
	// [[object] + offset]: the calling sequence of virtual methods.
	h, err := r.e.classes(r.ctx, r.p)
	if err != nil {
		return false, err
	}
	methods := h.Implementations(uint64(offset), uint64(r.e.im.Bits/8))
	if len(methods) == 0 {
		return false, nil
	}
	row.State, row.Method = model.CallTargetStateCandidates, model.CallTargetMethodVirtualSlot
	reason := fmt.Sprintf("the class of the object is not known; these are the methods at offset 0x%x of all virtual tables with type information", offset)
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

// sends says whether a row is a message send of Objective-C.
func (e *Engine) sends(row *model.CallTarget) bool {
	if e.im.Format != object.MachO || len(row.Targets) != 1 || row.Targets[0].Name == nil {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(*row.Targets[0].Name, "_"), "objc_msgSend")
}

// message finds the implementations that a message send can reach.
func (r *resolver) message(row *model.CallTarget, v ssa.ID) error {
	m, err := r.e.apple()
	if err != nil {
		return nil // the metadata cannot be read: the row stays as it is
	}
	name := strings.TrimLeft(*row.Targets[0].Name, "_")
	_, selector, stub := strings.Cut(name, "$")
	list := r.flow.f.List(v)
	if !stub {
		if len(list) < 2 {
			return nil
		}
		selector = r.selector(list[1])
	}
	if selector == "" {
		reason := "the selector is not constant"
		row.Reason = &reason
		return nil
	}
	class := ""
	if len(list) > 0 {
		class = r.classOf(list[0])
	}
	var found []uint64
	certain := false
	for k := range m.Classes {
		c := &m.Classes[k]
		for _, methods := range [2]bool{true, false} {
			ms := c.Methods
			if methods {
				ms = c.ClassMethods
			}
			for n := range ms {
				if ms[n].Selector != selector || ms[n].IMP == 0 {
					continue
				}
				if class != "" && methods && c.Name == class {
					found, certain = []uint64{ms[n].IMP}, true
				} else if !certain && (class == "" || methods) {
					found = append(found, ms[n].IMP)
				}
			}
		}
	}
	for k := range m.Categories {
		c := &m.Categories[k]
		for n := range c.Methods {
			if c.Methods[n].Selector == selector && c.Methods[n].IMP != 0 && !certain && class == "" {
				found = append(found, c.Methods[n].IMP)
			}
		}
		for n := range c.ClassMethods {
			if c.ClassMethods[n].Selector == selector && c.ClassMethods[n].IMP != 0 && !certain {
				found = append(found, c.ClassMethods[n].IMP)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	receiver := "an object whose class is not known"
	if class != "" {
		receiver = "the class " + class
	}
	reason := fmt.Sprintf("sends %s to %s", selector, receiver)
	if len(found) == 0 {
		reason += "; no class of this file implements it"
		row.Reason, row.Method = &reason, model.CallTargetMethodMessageSend
		return nil
	}
	row.State, row.Method, row.Targets = model.CallTargetStateCandidates, model.CallTargetMethodMessageSend, []model.SymbolRef{}
	if certain {
		row.State = model.CallTargetStateResolved
	} else {
		reason += "; these are the implementations in this file, others may exist"
	}
	row.Reason = &reason
	for _, at := range found[:min(len(found), mostTargets)] {
		row.Targets = append(row.Targets, r.e.symbolRef(r.p, at))
	}
	return nil
}

// selector is the message name that a value stands for: the name's address, or
// what is read from a selector reference.
func (r *resolver) selector(v ssa.ID) string {
	m, err := r.e.apple()
	if err != nil {
		return ""
	}
	x := &r.flow.f.Values[v]
	if x.Kind == ssa.Load {
		if slot, ok := r.flow.at(x.Args[0], x.Block).One(); ok {
			for k := range m.Selectors {
				if m.Selectors[k].Addr == slot {
					return m.Selectors[k].Name
				}
			}
		}
		return ""
	}
	if x.Kind == ssa.Const {
		if s, ok := r.p.StringAt(x.N); ok {
			text, _ := shorten(r.p, s, longestText)
			return text
		}
	}
	return ""
}

// classOf is the class that a receiver is, when it is read from a class reference.
func (r *resolver) classOf(v ssa.ID) string {
	m, err := r.e.apple()
	if err != nil {
		return ""
	}
	x := &r.flow.f.Values[v]
	if x.Kind != ssa.Load {
		return ""
	}
	slot, ok := r.flow.at(x.Args[0], x.Block).One()
	if !ok {
		return ""
	}
	for k := range m.ClassRefs {
		if m.ClassRefs[k].Addr == slot {
			return m.ClassRefs[k].Name
		}
	}
	return ""
}
