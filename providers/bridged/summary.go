package bridged

import (
	"cmp"
	"context"
	"slices"

	"rea/generated/model"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// image is the parsed form of the target, shared by everyone who asks.
func image(t *engine.Target) (*object.Image, error) {
	return engine.Memo(t, "image", func() (*object.Image, error) {
		return native.Load(t.Data, native.Options{Slice: t.Slice})
	})
}

// Summary gives the figures of the whole program: header facts of the file,
// counts of the engine.
func (e *Engine) Summary(ctx context.Context) (*engine.Summary, error) {
	p, err := e.programFacts(ctx)
	if err != nil {
		return nil, err
	}
	t, err := e.tables(ctx)
	if err != nil {
		return nil, err
	}
	transfers, err := e.transferTable(ctx)
	if err != nil {
		return nil, err
	}
	im, err := image(e.config.Target)
	if err != nil {
		return nil, err
	}
	s := &engine.Summary{
		Target:     engine.TargetFacts{OS: im.OS, BuildID: im.BuildID, Stripped: im.Strip, Compiler: slices.Clone(im.Compiler)},
		Procedures: len(t.procedures.procedures), Imports: len(im.Imports), Exports: len(im.Exports), Strings: len(t.texts.texts),
		Segments: len(im.Segments), Sections: len(im.Sections),
		BasicBlocks: max(0, p.Blocks), Instructions: max(0, p.Instructions), CodeBytes: max(0, p.CodeBytes), References: max(0, p.References),
		Mitigations: make([]model.Mitigation, len(im.Mitigations)), Libraries: make([]model.Library, len(im.Libraries)),
		EntryPoints: []model.SymbolRef{}, ExportedNames: []model.SymbolRef{},
		Notes: slices.Concat(im.Notes, p.Notes),
	}
	for i := range t.procedures.procedures {
		if e.procedure(t.procedures, i).Named {
			s.Named++
		}
	}
	for i, m := range im.Mitigations {
		s.Mitigations[i] = model.Mitigation{Name: m.Name, State: model.MitigationState(m.State), Detail: m.Detail}
	}
	for i, l := range im.Libraries {
		s.Libraries[i] = model.Library{Name: l.Name, DelayLoaded: l.Delay, Weak: l.Weak}
	}
	if im.HasEntry {
		ref := e.symbolRef(ctx, &t, im.Entry)
		s.Target.Entry = &ref
		s.EntryPoints = append(s.EntryPoints, ref)
	}
	for i := range im.Exports {
		if x := &im.Exports[i]; x.Forward == "" {
			s.ExportedNames = append(s.ExportedNames, model.SymbolRef{Address: model.Address(x.Addr), Name: &x.Name})
		}
	}
	slices.SortStableFunc(s.ExportedNames, func(a, b model.SymbolRef) int { return cmp.Compare(a.Address, b.Address) })
	s.ImportUses = importUses(t.names)
	s.CallEdges, s.Unresolved = edges(t.procedures, transfers)
	return s, nil
}

func importUses(names *nameIndex) []engine.ImportUse {
	out := []engine.ImportUse{}
	for i := range names.symbols {
		if s := &names.symbols[i]; s.Import {
			out = append(out, engine.ImportUse{Name: s.Name, Library: optional(s.Library), Address: model.Address(s.Address), Uses: max(0, s.Uses)})
		}
	}
	library := func(u *engine.ImportUse) string {
		if u.Library == nil {
			return ""
		}
		return *u.Library
	}
	slices.SortFunc(out, func(a, b engine.ImportUse) int {
		return cmp.Or(cmp.Compare(library(&a), library(&b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return slices.CompactFunc(out, func(a, b engine.ImportUse) bool { return a.Name == b.Name && library(&a) == library(&b) })
}

// edges counts pairs of caller and callee, and transfers without a target.
func edges(x *index, table *transferIndex) (pairs, unresolved int) {
	type edge struct {
		from int
		to   uint64
	}
	seen := map[edge]bool{}
	for i := range table.all {
		t := &table.all[i]
		from, ok := x.containing(t.From)
		if !ok || stub(&x.procedures[from]) {
			continue
		}
		if unknown(t) {
			unresolved++
		}
		for _, to := range t.To {
			if k, ok := x.containing(to); ok && (k != from || t.Call) {
				seen[edge{from, x.procedures[k].Entry}] = true
			}
		}
		if len(t.To) == 0 && t.Import != "" {
			seen[edge{from, t.Slot}] = true
		}
	}
	return len(seen), unresolved
}
