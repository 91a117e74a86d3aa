package embedded

import (
	"context"
	"slices"
	"sync"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/embedded/rtti"
)

// hierarchy reads the classes once; a call that is cancelled leaves it to the next.
type hierarchy struct {
	mu   sync.Mutex
	done *rtti.Hierarchy
}

func (e *Engine) classes(ctx context.Context, p *program.Program) (*rtti.Hierarchy, error) {
	e.cpp.mu.Lock()
	defer e.cpp.mu.Unlock()
	if e.cpp.done == nil {
		h, err := rtti.Read(ctx, p, e.fixed)
		if err != nil {
			return nil, err
		}
		e.cpp.done = h
	}
	return e.cpp.done, nil
}

// CppClasses lists C++ classes with run-time type information, by name.
func (e *Engine) CppClasses(ctx context.Context) ([]model.CppClass, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	h, err := e.classes(ctx, p)
	if err != nil {
		return nil, err
	}
	derived := map[uint64][]string{}
	for i := range h.Classes {
		for _, b := range h.Classes[i].Bases {
			if b.TypeInfo != 0 {
				derived[b.TypeInfo] = append(derived[b.TypeInfo], h.Classes[i].Name)
			}
		}
	}
	out := make([]model.CppClass, len(h.Classes))
	for i := range h.Classes {
		c := &h.Classes[i]
		row := model.CppClass{Name: c.Name, Mangled: c.Raw, TypeInfo: model.Address(c.TypeInfo), ABI: model.CppClassABI(c.ABI),
			Bases: []model.CppClassBase{}, Derived: nonNil(slices.Compact(derived[c.TypeInfo])), Vtables: []model.CppClassVtable{}}
		for _, b := range c.Bases {
			base := model.CppClassBase{Name: b.Name, Offset: b.Offset, Virtual: b.Virtual, Public: b.Public}
			if b.TypeInfo != 0 {
				at := model.Address(b.TypeInfo)
				base.TypeInfo = &at
			}
			row.Bases = append(row.Bases, base)
		}
		for k := range c.Tables {
			row.Vtables = append(row.Vtables, e.vtable(p, &c.Tables[k]))
		}
		out[i] = row
	}
	return out, nil
}

func (e *Engine) vtable(p *program.Program, t *rtti.Table) model.CppClassVtable {
	row := model.CppClassVtable{Address: model.Address(t.Addr), Offset: t.Offset, MethodCount: int64(len(t.Methods)), Methods: make([]model.CppClassVtableMethod, len(t.Methods))}
	for i, m := range t.Methods {
		x := model.CppClassVtableMethod{Slot: model.Address(m.Slot)}
		name := m.Import
		if m.Target != 0 {
			at := model.Address(m.Target)
			x.Implementation = &at
			name = e.nameAt(p, m.Target)
		}
		if name != "" {
			x.Name = &name
		}
		row.Methods[i] = x
	}
	return row
}
