package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// maxCarriers bounds the addresses whose references are read: a string can
// stand in a file very often.
const maxCarriers = 1000

// FindXrefsToName finds everything that carries a name and lists who refers to
// it. Names are compared exactly; an import counts through stub and slot.
func (h *Handlers) FindXrefsToName(ctx context.Context, in *tool.FindXrefsToNameInput) (*tool.Finding[tool.FindXrefsToNameOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	found := &carriers{name: in.Name, stubs: map[model.Address]bool{}, have: map[carrier]bool{}}
	if err := found.collect(ctx, c); err != nil {
		return nil, err
	}
	f := &tool.Finding[tool.FindXrefsToNameOutput]{}
	f.Result = tool.FindXrefsToNameOutput{Name: in.Name, Offset: in.Offset, Status: tool.FindXrefsToNameOutputStatusResolved}
	if len(found.items) == 0 {
		reason := "no symbol, import, export, analyst name or string is exactly this text; search_procedures, search_strings and trace_feature find parts"
		f.Result.Status, f.Result.Reason = tool.FindXrefsToNameOutputStatusUnresolved, &reason
		return f, nil
	}
	refs, err := found.references(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found.items, func(a, b model.NameItem) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	page := query.Slice(refs, in.Offset, in.Limit)
	f.Result.Addresses = found.items
	f.Result.Total, f.Result.NextOffset, f.Result.Items = page.Total, page.Next, page.Items
	if found.more > 0 {
		f.Limitations = append(f.Limitations, fmt.Sprintf("%d more addresses carry the name; their references were not read", found.more))
	}
	for _, item := range found.items[:min(len(found.items), 64)] {
		f.Locations = append(f.Locations, query.At(item.Address)...)
	}
	return f, nil
}

// carriers are the addresses that carry one name.
type carriers struct {
	name  string
	items []model.NameItem
	stubs map[model.Address]bool
	have  map[carrier]bool
	more  int
}

type carrier struct {
	addr model.Address
	kind model.NameKind
}

func (f *carriers) is(raw string, readable *string) bool {
	return raw == f.name || readable != nil && *readable == f.name
}

func (f *carriers) add(item model.NameItem) {
	key := carrier{item.Address, item.Kind}
	if f.have[key] {
		return
	}
	if len(f.items) == maxCarriers {
		f.more++
		return
	}
	f.have[key] = true
	f.items = append(f.items, item)
}

func (f *carriers) collect(ctx context.Context, c *query.Call) error {
	err := query.Each(ctx, query.AllNames(ctx, c.Engine, c.Notes), func(n *model.NameItem) error {
		if f.is(n.Name, n.Demangled) {
			f.add(*n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = query.Each(ctx, c.Engine.Procedures(ctx), func(p *model.Procedure) error {
		if !f.is(p.Name, p.Demangled) {
			return nil
		}
		item := model.NameItem{Address: p.Address, Name: p.Name, Demangled: p.Demangled, Kind: model.NameKindFunction, Source: p.Source}
		if p.Kind == model.ProcedureKindImportStub || p.Kind == model.ProcedureKindExternal {
			item.Kind = model.NameKindImport
		}
		f.stubs[p.Address] = p.Kind == model.ProcedureKindImportStub
		f.add(item)
		return nil
	})
	if err != nil {
		return err
	}
	return query.Each(ctx, c.Engine.Strings(ctx, query.MinString), func(s *model.StringItem) error {
		if s.Value == f.name && !s.ValueTruncated {
			f.add(model.NameItem{Address: s.Address, Name: s.Value, Kind: model.NameKindLabel, Source: model.StartSourceScan})
		}
		return nil
	})
}

// references reads the uses of every carrier, each use once, by source; the
// slots behind import stubs become carriers.
func (f *carriers) references(ctx context.Context, eng engine.Engine) ([]model.Reference, error) {
	addrs := make([]model.Address, 0, len(f.items))
	for _, item := range f.items {
		addrs = append(addrs, item.Address)
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	uses, read, err := usesOf(ctx, eng, addrs, func(a model.Address) bool { return f.stubs[a] })
	if err != nil {
		return nil, err
	}
	for _, slot := range read[len(addrs):] {
		f.add(model.NameItem{Address: slot, Name: f.name, Kind: model.NameKindImport, Source: model.StartSourceImport})
	}
	return uses, nil
}
