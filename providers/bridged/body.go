package bridged

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// Body reads the wanted facets of one procedure.
func (e *Engine) Body(ctx context.Context, entry model.Address, want engine.Facet) (*engine.Body, error) {
	t, err := e.tables(ctx)
	if err != nil {
		return nil, err
	}
	x := t.procedures
	i, err := e.at(x, entry)
	if err != nil {
		return nil, err
	}
	transfers, err := e.transferTable(ctx)
	if err != nil {
		return nil, err
	}
	p := &x.procedures[i]
	b := &engine.Body{Procedure: e.procedure(x, i), Classification: e.classify(ctx, &t, p), Missing: map[engine.Facet]engine.Gap{}}
	if b.Syntax, err = e.syntax(ctx); err != nil {
		return nil, err
	}
	own := transfers.within(p)
	if !stub(p) {
		for _, tr := range own {
			if unknown(tr) {
				b.Unresolved++
			}
		}
	}
	if want&engine.Ranges != 0 {
		for k := 0; k+1 < len(p.Ranges); k += 2 {
			b.Ranges = append(b.Ranges, model.AddressRange{Start: model.Address(p.Ranges[k]), End: model.Address(p.Ranges[k+1])})
		}
	}
	if err := e.code(ctx, &t, p, b, want); err != nil {
		return nil, err
	}
	if want&engine.Callees != 0 {
		b.Callees = e.callees(x, own, i)
	}
	if want&engine.Callers != 0 {
		b.Callers = e.callers(x, transfers, i)
	}
	if want&engine.Targets != 0 {
		b.Targets = e.targets(ctx, &t, own, i)
	}
	if want&engine.Incoming != 0 {
		if b.Incoming, err = e.References(ctx, entry, engine.To); err != nil {
			return nil, err
		}
	}
	if want&(engine.Pseudocode|engine.Locals|engine.API) != 0 {
		if err := e.decompiled(ctx, p, b, want); err != nil {
			return nil, err
		}
	}
	if b.Unresolved > 0 {
		b.Limitations = append(b.Limitations, fmt.Sprintf("%d × computed transfer without a known target", b.Unresolved))
	}
	return b, nil
}

func (e *Engine) classify(ctx context.Context, t *tables, p *facts.Procedure) model.Classification {
	c := model.Classification{
		External: p.External || p.ThunkExternal, Thunk: p.Thunk != nil || p.ThunkExternal,
		Provenance: "the analysis of " + e.config.Profile.Provider.Name,
	}
	if p.Thunk != nil {
		ref := e.symbolRef(ctx, t, *p.Thunk)
		c.ThunkTarget = &ref
	}
	return c
}

// syntax is how instructions are written.
func (e *Engine) syntax(ctx context.Context) (string, error) {
	p, err := e.programFacts(ctx)
	if err != nil || p.Syntax != "" {
		return p.Syntax, err
	}
	switch e.config.Target.Architecture {
	case model.ArchitectureX86, model.ArchitectureX86_64:
		return "intel", nil
	}
	return "arm", nil
}

// code asks for blocks, instructions and references in one question.
func (e *Engine) code(ctx context.Context, t *tables, p *facts.Procedure, b *engine.Body, want engine.Facet) error {
	args := facts.BodyArgs{Entry: p.Entry, Want: []string{}}
	var blocks []facts.Block
	var lines []facts.Line
	var outgoing []facts.Reference
	parts := map[string]func(jsontext.Value) error{}
	if want&engine.Blocks != 0 {
		args.Want = append(args.Want, facts.Blocks)
		parts[facts.Blocks] = rows(&blocks)
	}
	if want&engine.Instructions != 0 {
		args.Want = append(args.Want, facts.Instructions)
		parts[facts.Instructions] = rows(&lines)
	}
	if want&(engine.Outgoing|engine.UsedStrings|engine.UsedNames) != 0 {
		args.Want = append(args.Want, facts.Outgoing)
		parts[facts.Outgoing] = rows(&outgoing)
	}
	var counts facts.BodyFacts
	if err := e.ask(ctx, bridge.Question{Op: facts.Body, Args: args, Rows: func(part string, data jsontext.Value) error {
		if add := parts[part]; add != nil {
			return add(data)
		}
		return nil
	}}, &counts); err != nil {
		return err
	}
	b.BlockCount, b.InstructionCount = max(0, counts.Blocks), max(0, counts.Instructions)
	if want&engine.Blocks != 0 {
		b.Blocks = basicBlocks(blocks)
	}
	if want&engine.Instructions != 0 {
		slices.SortStableFunc(lines, func(a, b facts.Line) int { return cmp.Compare(a.Address, b.Address) })
		b.Instructions = make([]model.Instruction, 0, len(lines))
		for k := range lines {
			if k%1024 == 1023 && ctx.Err() != nil {
				return ctx.Err()
			}
			b.Instructions = append(b.Instructions, e.line(ctx, t, &lines[k]))
		}
	}
	return e.uses(ctx, t, outgoing, b, want)
}

func basicBlocks(blocks []facts.Block) []model.BasicBlock {
	slices.SortStableFunc(blocks, func(a, b facts.Block) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]model.BasicBlock, len(blocks))
	for i, blk := range blocks {
		row := model.BasicBlock{
			Start: model.Address(blk.Start), End: model.Address(blk.End), Instructions: count(blk.Instructions), Successors: []model.Successor{},
		}
		for _, next := range blk.Next {
			if next.Kind == "" {
				next.Kind = string(edgeKind(&blk, next.To))
			}
			row.Successors = append(row.Successors, model.Successor{Address: model.Address(next.To), Kind: edgeWord(next.Kind)})
		}
		out[i] = row
	}
	return out
}

// edgeKind tells from the shape of a block why control goes to one of its
// successors, for engines that do not say.
func edgeKind(b *facts.Block, to uint64) model.EdgeKind {
	switch {
	case len(b.Next) > 2:
		return model.EdgeKindTable
	case len(b.Next) == 2 && to == b.End:
		return model.EdgeKindNotTaken
	case len(b.Next) == 2:
		return model.EdgeKindTaken
	case to == b.End:
		return model.EdgeKindFallthrough
	}
	return model.EdgeKindJump
}

// line is the row of an instruction; its bytes are those of the file.
func (e *Engine) line(ctx context.Context, t *tables, l *facts.Line) model.Instruction {
	row := model.Instruction{Address: model.Address(l.Address), Mnemonic: l.Mnemonic, Operands: l.Operands, Flow: flowWord(l.Flow)}
	if data, err := e.config.File.Bytes(ctx, row.Address, max(0, min(l.Length, 16))); err == nil {
		row.Bytes = hex.EncodeToString(data)
	}
	if l.Target != nil {
		ref := e.symbolRef(ctx, t, *l.Target)
		row.Target = &ref
	}
	return row
}

// uses fills in outgoing references and, from them, strings and names that are used.
func (e *Engine) uses(ctx context.Context, t *tables, outgoing []facts.Reference, b *engine.Body, want engine.Facet) error {
	slices.SortStableFunc(outgoing, func(a, b facts.Reference) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for k := range outgoing {
		if k%1024 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := &outgoing[k]
		if want&engine.Outgoing != 0 {
			b.Outgoing = append(b.Outgoing, e.reference(ctx, t, r)...)
		}
		if r.Kind == facts.RefComputedJump {
			continue // a step of the function's own flow
		}
		if want&engine.UsedStrings != 0 {
			if s := t.texts.containing(r.To); s != nil {
				text, _ := e.text(ctx, s, longestText)
				b.Strings = append(b.Strings, model.UsedValue{From: model.Address(r.From), Address: model.Address(r.To), Value: text})
			}
		}
		if want&engine.UsedNames != 0 {
			if name := e.nameOf(t, r.To); name != "" {
				b.Names = append(b.Names, model.UsedValue{From: model.Address(r.From), Address: model.Address(r.To), Value: name})
			}
		}
	}
	return nil
}
