package embedded

import (
	"context"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// Body reads the wanted facets of one function.
func (e *Engine) Body(ctx context.Context, entry model.Address, want engine.Facet) (*engine.Body, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	i, ok := p.FunctionAt(uint64(entry))
	if !ok {
		return nil, fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{Selector: entry.String(), Nearest: e.neighbours(p, uint64(entry))}, nil)
	}
	b := &engine.Body{Procedure: e.procedure(p, i), Classification: e.classify(p, i), Syntax: e.dec.Syntax(), Missing: map[engine.Facet]engine.Gap{}}
	blocks := p.FunctionBlocks(i)
	b.BlockCount = len(blocks)
	b.Unresolved = unresolved(p, i)
	for _, g := range p.FunctionRanges(i) {
		for range p.InstructionsBetween(g.Start, g.End) {
			b.InstructionCount++
		}
		if want&engine.Ranges != 0 {
			b.Ranges = append(b.Ranges, model.AddressRange{Start: model.Address(g.Start), End: model.Address(g.End)})
		}
	}
	if want&engine.Blocks != 0 {
		b.Blocks = e.blocks(p, blocks)
	}
	if want&engine.Instructions != 0 {
		if b.Instructions, err = e.instructions(ctx, p, i); err != nil {
			return nil, err
		}
	}
	if want&engine.Callees != 0 {
		b.Callees, _ = e.callees(p, i)
	}
	if want&engine.Callers != 0 {
		if b.Callers, err = e.callers(ctx, p, i); err != nil {
			return nil, err
		}
	}
	if want&engine.Targets != 0 {
		b.Targets = e.targets(p, i)
		if err := e.followed(ctx, p, i, b.Targets); err != nil {
			return nil, err
		}
	}
	if want&engine.Incoming != 0 {
		if b.Incoming, err = e.References(ctx, entry, engine.To); err != nil {
			return nil, err
		}
	}
	if want&(engine.Outgoing|engine.UsedStrings|engine.UsedNames) != 0 {
		if err := e.uses(ctx, p, i, b, want); err != nil {
			return nil, err
		}
	}
	if want&engine.Pseudocode != 0 {
		b.Missing[engine.Pseudocode] = engine.Gap{Reason: "the embedded engine has no decompiler", Remediation: "open the target with an engine that lists the capability pseudocode; binary_session names the candidates"}
	}
	if want&(engine.Locals|engine.API) != 0 {
		if err := e.interfaceOf(ctx, p, i, b, want); err != nil {
			return nil, err
		}
	}
	b.Limitations = e.limitations(p, i, b.Targets)
	return b, nil
}

func (e *Engine) classify(p *program.Program, i int) model.Classification {
	f := &p.Functions[i]
	c := model.Classification{
		External:   f.Kind == program.KindImportStub,
		Thunk:      f.Kind == program.KindThunk || f.Kind == program.KindImportStub,
		Provenance: "its instructions and the file's import tables",
	}
	if c.Thunk && f.Target != 0 {
		ref := e.symbolRef(p, f.Target)
		c.ThunkTarget = &ref
	}
	return c
}

func (e *Engine) blocks(p *program.Program, blocks []program.Block) []model.BasicBlock {
	out := make([]model.BasicBlock, len(blocks))
	for k := range blocks {
		b := &blocks[k]
		row := model.BasicBlock{Start: model.Address(b.Start), End: model.Address(b.End), Successors: []model.Successor{}}
		for range p.InstructionsBetween(b.Start, b.End) {
			row.Instructions++
		}
		for _, edge := range p.BlockEdges(b) {
			row.Successors = append(row.Successors, model.Successor{Address: model.Address(edge.To), Kind: edgeKinds[edge.Kind]})
		}
		out[k] = row
	}
	return out
}

var edgeKinds = [...]model.EdgeKind{
	program.EdgeFall: model.EdgeKindFallthrough, program.EdgeJump: model.EdgeKindJump, program.EdgeTaken: model.EdgeKindTaken,
	program.EdgeNotTaken: model.EdgeKindNotTaken, program.EdgeTable: model.EdgeKindTable, program.EdgeLandingPad: model.EdgeKindLandingPad,
}

func (e *Engine) instructions(ctx context.Context, p *program.Program, i int) ([]model.Instruction, error) {
	out := []model.Instruction{}
	var in isa.Inst
	for _, g := range p.FunctionRanges(i) {
		for at := range p.InstructionsBetween(g.Start, g.End) {
			if len(out)%512 == 511 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out = append(out, e.instruction(p, at, &in))
		}
	}
	return out, nil
}

// uses reads outgoing references and, from them, the strings and names that are used.
func (e *Engine) uses(ctx context.Context, p *program.Program, i int, b *engine.Body, want engine.Facet) error {
	for _, g := range p.FunctionRanges(i) {
		for n, r := range p.RefsFrom(g.Start, g.End) {
			if n%1024 == 1023 && ctx.Err() != nil {
				return ctx.Err()
			}
			if want&engine.Outgoing != 0 {
				b.Outgoing = append(b.Outgoing, e.reference(p, r))
			}
			if want&engine.UsedStrings != 0 {
				if s, ok := p.StringAt(r.To); ok {
					text, _ := shorten(p, s, longestText)
					b.Strings = append(b.Strings, model.UsedValue{From: model.Address(r.From), Address: model.Address(r.To), Value: text})
				}
			}
			if want&engine.UsedNames != 0 {
				if name := e.nameAt(p, r.To); name != "" {
					b.Names = append(b.Names, model.UsedValue{From: model.Address(r.From), Address: model.Address(r.To), Value: name})
				}
			}
		}
	}
	if want&engine.Outgoing != 0 {
		for _, blk := range p.FunctionBlocks(i) {
			b.Outgoing = append(b.Outgoing, e.tableReferences(p, blk.Last)...)
		}
		sortReferences(b.Outgoing)
	}
	return nil
}

// limitations of one function: the places in it where recovery stopped short.
// limitations are what recovery left open in function i. Where the targets of
// its transfers were followed further, those that were found are left out.
func (e *Engine) limitations(p *program.Program, i int, targets []model.CallTarget) []string {
	counts := map[program.UnresolvedKind]int{}
	for _, g := range p.FunctionRanges(i) {
		for _, u := range p.UnresolvedBetween(g.Start, g.End) {
			counts[u.Kind]++
		}
	}
	for k := range targets {
		if targets[k].State == model.CallTargetStateUnresolved {
			continue
		}
		at := uint64(targets[k].Address)
		for _, u := range p.UnresolvedBetween(at, at+1) {
			if u.Kind == program.UnresolvedCall || u.Kind == program.UnresolvedJump {
				counts[u.Kind]--
			}
		}
	}
	var out []string
	for kind := program.UnresolvedCall; kind <= program.UnresolvedAltCall; kind++ {
		if n := counts[kind]; n > 0 {
			out = append(out, fmt.Sprintf("%d × %s", n, unresolvedText[kind]))
		}
	}
	return out
}

var unresolvedText = [...]string{
	program.UnresolvedCall:    "computed call without a known target",
	program.UnresolvedJump:    "computed jump without a known target",
	program.UndecodableCode:   "bytes that are reached and do not decode",
	program.OverlappingCode:   "instruction that starts inside another one",
	program.ForeignJump:       "jump into the middle of another function",
	program.UnboundedTable:    "jump table whose length no comparison gives",
	program.OpenFlow:          "place where control runs out of the code",
	program.UnresolvedAltCall: "call into the middle of a function",
}

// conventions are the platforms' usual calling conventions.
func convention(im *object.Image) string {
	switch {
	case im.GoVersion != "":
		return "Go ABIInternal"
	case im.Arch == object.ARM64 && im.Format == object.PE:
		return "Microsoft ARM64"
	case im.Arch == object.ARM64:
		return "AAPCS64"
	case im.Arch == object.X86_64 && im.Format == object.PE:
		return "Microsoft x64"
	case im.Arch == object.X86_64:
		return "System V AMD64"
	}
	return "cdecl"
}
