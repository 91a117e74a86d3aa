package query

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"rea/generated/model"
	"rea/runtime/engine"
)

// NamesAt lists the names at addr, the analyst's first, then the best known:
// functions, objects, exports, imports, labels, sections.
func NamesAt(ctx context.Context, eng engine.Engine, analyst engine.Names, addr model.Address) ([]model.NameItem, error) {
	var found []model.NameItem
	if index, ok := eng.(NameIndex); ok {
		var err error
		if found, err = index.NamesAt(ctx, addr); err != nil {
			return nil, err
		}
	} else if err := scanNames(ctx, eng, addr, &found); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b model.NameItem) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	if name, ok := analyst.NameAt(addr); ok {
		found = slices.Insert(found, 0, analystName(addr, name))
	}
	return found, nil
}

// scanNames relies on the order of the stream: by address.
func scanNames(ctx context.Context, eng engine.Engine, addr model.Address, found *[]model.NameItem) error {
	n := 0
	for item, err := range eng.Names(ctx) {
		if err != nil {
			return err
		}
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if item.Address == addr {
			*found = append(*found, item)
		}
		if item.Address > addr {
			return nil
		}
	}
	return ctx.Err()
}

func rank(k model.NameKind) int {
	return slices.Index([]model.NameKind{
		model.NameKindAnalyst, model.NameKindFunction, model.NameKindObject, model.NameKindThreadLocal,
		model.NameKindExport, model.NameKindImport, model.NameKindLabel, model.NameKindSection,
	}, k)
}

func analystName(addr model.Address, name string) model.NameItem {
	return model.NameItem{Address: addr, Name: name, Kind: model.NameKindAnalyst, Source: model.StartSourceAnalyst}
}

// NameAt is the best name at addr, nil when there is none.
func NameAt(ctx context.Context, eng engine.Engine, analyst engine.Names, addr model.Address) (*model.NameItem, error) {
	if name, ok := analyst.NameAt(addr); ok {
		item := analystName(addr, name)
		return &item, nil
	}
	names, err := NamesAt(ctx, eng, analyst, addr)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return &names[0], nil
}

// AllNames merges the names of the engine with the analyst's, by address.
func AllNames(ctx context.Context, eng engine.Engine, analyst engine.Names) iter.Seq2[model.NameItem, error] {
	return func(yield func(model.NameItem, error) bool) {
		next, stop := iter.Pull2(analyst.AllNames())
		defer stop()
		addr, name, more := next()
		for item, err := range eng.Names(ctx) {
			if err != nil {
				yield(model.NameItem{}, err)
				return
			}
			for ; more && addr <= item.Address; addr, name, more = next() {
				if !yield(analystName(addr, name), nil) {
					return
				}
			}
			if !yield(item, nil) {
				return
			}
		}
		for ; more; addr, name, more = next() {
			if !yield(analystName(addr, name), nil) {
				return
			}
		}
	}
}

// Ref is the short form of a procedure.
func Ref(p *model.Procedure) model.SymbolRef {
	name := p.Name
	return model.SymbolRef{Address: p.Address, Name: &name}
}
