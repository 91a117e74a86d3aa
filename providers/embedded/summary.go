package embedded

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// summaryFacts are the figures that take a pass over the program.
type summaryFacts struct {
	named, callEdges, unresolved int
	uses                         map[string]int // references by import
}

func (e *Engine) count() summaryFacts {
	p := e.run.done
	f := summaryFacts{uses: map[string]int{}}
	workers := runtime.GOMAXPROCS(0)
	parts, callees := make([]summaryFacts, workers), make([][]uint64, workers)
	e.startup()
	_ = p.EachFunction(context.Background(), workers, func(w, i int) {
		f, to := &parts[w], callees[w][:0]
		if e.nameOf(p, i) != "" {
			f.named++
		}
		for _, c := range p.CallsIn(i) {
			switch {
			case c.To != 0:
				to = append(to, c.To)
			case c.Import >= 0:
				to = append(to, e.im.Imports[c.Import].Slot)
			default:
				f.unresolved++
			}
		}
		slices.Sort(to)
		f.callEdges += len(slices.Compact(to))
		callees[w] = to
	})
	for _, x := range parts {
		f.named, f.callEdges, f.unresolved = f.named+x.named, f.callEdges+x.callEdges, f.unresolved+x.unresolved
	}
	uses := make([]int, len(e.im.Imports))
	_ = program.Each(context.Background(), workers, len(uses), func(_, i int) {
		im := &e.im.Imports[i]
		for _, at := range []uint64{im.Slot, im.Stub} {
			if at == 0 {
				continue
			}
			for r := range p.RefsTo(at, at+1) {
				if from, ok := p.FunctionContaining(r.From); ok && p.Functions[from].Kind == program.KindImportStub {
					continue // the stub's own use of its pointer
				}
				if r.Kind != program.RefPointer {
					uses[i]++
				}
			}
		}
	})
	for i, n := range uses {
		if n > 0 {
			f.uses[e.im.Imports[i].Name] += n
		}
	}
	return f
}

// Summary gives the figures of the whole program.
func (e *Engine) Summary(ctx context.Context) (*engine.Summary, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	f := e.summary()
	changing, err := e.modifying(ctx, p)
	if err != nil {
		return nil, err
	}
	im := e.im
	s := &engine.Summary{
		Target:     engine.TargetFacts{OS: im.OS, BuildID: im.BuildID, Stripped: im.Strip, Compiler: slices.Clone(im.Compiler)},
		Procedures: len(p.Functions), Named: f.named, Imports: len(im.Imports), Exports: len(im.Exports), Strings: len(p.Strings),
		Segments: len(im.Segments), Sections: len(im.Sections), BasicBlocks: len(p.Blocks), Instructions: p.Instructions,
		CodeBytes: int64(p.CodeBytes), CallEdges: f.callEdges, Unresolved: f.unresolved, References: len(p.Refs),
		Mitigations: Mitigations(im), Libraries: Libraries(im),
		EntryPoints: e.entryPoints(p), ImportUses: e.importUses(f.uses), ExportedNames: exported(im),
		Notes: slices.Concat(p.Image.Notes, p.Notes, gapNotes(p), e.packing(), garbled(p), changing),
	}
	if im.HasEntry {
		ref := e.symbolRef(p, im.Entry)
		s.Target.Entry = &ref
	}
	return s, nil
}

// Mitigations are the hardening properties read from the file.
func Mitigations(im *object.Image) []model.Mitigation {
	out := make([]model.Mitigation, len(im.Mitigations))
	for i, m := range im.Mitigations {
		out[i] = model.Mitigation{Name: m.Name, State: model.MitigationState(m.State), Detail: m.Detail}
	}
	return out
}

// Libraries are the dependencies, in load order.
func Libraries(im *object.Image) []model.Library {
	out := make([]model.Library, len(im.Libraries))
	for i, l := range im.Libraries {
		out[i] = model.Library{Name: l.Name, DelayLoaded: l.Delay, Weak: l.Weak}
	}
	return out
}

func (e *Engine) entryPoints(p *program.Program) []model.SymbolRef {
	var at []uint64
	if e.im.HasEntry {
		at = append(at, e.im.Entry)
	}
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Evidence == program.ByInit || f.Evidence == program.ByEntry || f.Name == "main" || f.Name == "_main" || f.Name == "main.main" || e.startup()[f.Entry] != "" {
			at = append(at, f.Entry)
		}
	}
	out := []model.SymbolRef{}
	slices.Sort(at)
	for _, a := range slices.Compact(at) {
		out = append(out, e.symbolRef(p, a))
	}
	return out
}

func (e *Engine) importUses(uses map[string]int) []engine.ImportUse {
	out := make([]engine.ImportUse, 0, len(e.im.Imports))
	for i := range e.im.Imports {
		im := &e.im.Imports[i]
		u := engine.ImportUse{Name: im.Name, Address: model.Address(cmp.Or(im.Stub, im.Slot)), Uses: uses[im.Name]}
		if im.Library != "" {
			lib := im.Library
			u.Library = &lib
		}
		out = append(out, u)
	}
	library := func(u engine.ImportUse) string {
		if u.Library == nil {
			return ""
		}
		return *u.Library
	}
	slices.SortFunc(out, func(a, b engine.ImportUse) int {
		return cmp.Or(cmp.Compare(library(a), library(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return slices.CompactFunc(out, func(a, b engine.ImportUse) bool { return a.Name == b.Name && library(a) == library(b) })
}

func exported(im *object.Image) []model.SymbolRef {
	out := []model.SymbolRef{}
	for i := range im.Exports {
		x := &im.Exports[i]
		if x.Forward == "" {
			name := x.Name
			out = append(out, model.SymbolRef{Address: model.Address(x.Addr), Name: &name})
		}
	}
	slices.SortStableFunc(out, func(a, b model.SymbolRef) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

// gapNotes say what part of the code belongs to no function.
func gapNotes(p *program.Program) []string {
	var unknown, n uint64
	for _, g := range p.Gaps {
		if g.Kind == program.GapUnknown {
			unknown += g.End - g.Start
			n++
		}
	}
	var out []string
	if n > 0 {
		out = append(out, fmt.Sprintf("%d bytes of code in %d places belong to no function that anything leads to", unknown, n))
	}
	var counts [program.UnresolvedAltCall + 1]int
	for _, u := range p.Unresolved {
		if int(u.Kind) < len(counts) {
			counts[u.Kind]++
		}
	}
	for kind, c := range counts {
		if c > 0 {
			out = append(out, fmt.Sprintf("%d × %s", c, unresolvedText[kind]))
		}
	}
	return out
}

func sortReferences(refs []model.Reference) {
	slices.SortStableFunc(refs, func(a, b model.Reference) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
}
