package embedded

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/model"
	"rea/providers/format/objc"
)

// ObjCClasses lists Objective-C classes with their own and their categories'
// methods, by name. Categories on classes of other images appear under the
// name of that class, with the address of the category.
func (e *Engine) ObjCClasses(context.Context) ([]model.ObjCClass, error) {
	m, err := e.apple()
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	out := make([]model.ObjCClass, 0, len(m.Classes))
	for i := range m.Classes {
		c := &m.Classes[i]
		row := model.ObjCClass{Name: c.Name, Address: model.Address(c.Addr), Protocols: nonNil(c.Protocols), Categories: []string{}, Methods: []model.ObjCClassMethod{}}
		if c.Super != "" {
			row.Superclass = &c.Super
		}
		addMethods(&row, c.Methods, false, nil)
		addMethods(&row, c.ClassMethods, true, nil)
		byName[c.Name] = len(out)
		out = append(out, row)
	}
	for i := range m.Categories {
		c := &m.Categories[i]
		k, ok := byName[c.Class]
		if !ok {
			k = len(out)
			byName[c.Class] = k
			out = append(out, model.ObjCClass{Name: c.Class, Address: model.Address(c.Addr), Protocols: []string{}, Categories: []string{}, Methods: []model.ObjCClassMethod{}})
		}
		out[k].Categories = append(out[k].Categories, c.Name)
		out[k].Protocols = append(out[k].Protocols, c.Protocols...)
		addMethods(&out[k], c.Methods, false, &c.Name)
		addMethods(&out[k], c.ClassMethods, true, &c.Name)
	}
	slices.SortStableFunc(out, func(a, b model.ObjCClass) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return out, nil
}

func addMethods(c *model.ObjCClass, methods []objc.Method, class bool, category *string) {
	for i := range methods {
		m := &methods[i]
		row := model.ObjCClassMethod{Selector: m.Selector, ClassMethod: class, Category: category}
		if m.Types != "" {
			row.Types = &m.Types
		}
		if m.IMP != 0 {
			at := model.Address(m.IMP)
			row.Implementation = &at
		}
		c.Methods = append(c.Methods, row)
	}
	c.MethodCount += int64(len(methods))
}

// ObjCProtocols lists declared protocols by name.
func (e *Engine) ObjCProtocols(context.Context) ([]model.ObjCProtocol, error) {
	m, err := e.apple()
	if err != nil {
		return nil, err
	}
	out := make([]model.ObjCProtocol, 0, len(m.Protocols))
	for i := range m.Protocols {
		p := &m.Protocols[i]
		row := model.ObjCProtocol{Name: p.Name, Address: model.Address(p.Addr), Protocols: nonNil(p.Protocols), Methods: []model.ObjCProtocolMethod{}}
		for _, list := range []struct {
			methods []objc.Method
			class   bool
		}{{p.Methods, false}, {p.ClassMethods, true}} {
			for k := range list.methods {
				x := &list.methods[k]
				method := model.ObjCProtocolMethod{Selector: x.Selector, ClassMethod: list.class, Required: !x.Optional}
				if x.Types != "" {
					method.Types = &x.Types
				}
				row.Methods = append(row.Methods, method)
			}
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b model.ObjCProtocol) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return out, nil
}

// SwiftTypes lists nominal types and protocols of the Swift metadata by name.
func (e *Engine) SwiftTypes(context.Context) ([]model.SwiftType, error) {
	m, err := e.apple()
	if err != nil {
		return nil, err
	}
	conformances := map[string][]string{}
	for _, c := range m.Conformances {
		conformances[c.Type] = append(conformances[c.Type], c.Protocol)
	}
	out := make([]model.SwiftType, 0, len(m.Types)+len(m.SwiftProtos))
	for i := range m.Types {
		t := &m.Types[i]
		row := model.SwiftType{Name: t.Name, Kind: model.SwiftTypeKind(t.Kind), Address: model.Address(t.Addr), Fields: []model.SwiftTypeField{}, Conformances: nonNil(conformances[t.Name])}
		slices.Sort(row.Conformances)
		for k := range t.Fields {
			f := &t.Fields[k]
			field := model.SwiftTypeField{Name: f.Name}
			if s := cmp.Or(f.Type, f.Mangled); s != "" {
				field.Type = &s
			}
			row.Fields = append(row.Fields, field)
		}
		out = append(out, row)
	}
	for i := range m.SwiftProtos {
		p := &m.SwiftProtos[i]
		out = append(out, model.SwiftType{Name: p.Name, Kind: model.SwiftTypeKindProtocol, Address: model.Address(p.Addr), Fields: []model.SwiftTypeField{}, Conformances: []string{}})
	}
	slices.SortStableFunc(out, func(a, b model.SwiftType) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return out, nil
}

func nonNil(s []string) []string { return append([]string{}, s...) }
