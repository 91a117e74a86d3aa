package analysis

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/query"
)

const dossier = engine.Ranges | engine.Blocks | engine.Callees | engine.Callers | engine.Outgoing | engine.Incoming |
	engine.UsedStrings | engine.UsedNames | engine.Targets | engine.Locals | engine.Pseudocode | engine.API

// AnalyzeFunction builds the dossier of one function: every list is a page of
// its own, cut by the same limit.
func (h *Handlers) AnalyzeFunction(ctx context.Context, in *tool.AnalyzeFunctionInput) (*tool.Finding[tool.AnalyzeFunctionOutput], error) {
	c, err := h.call(ctx, in.Document)
	if err != nil {
		return nil, err
	}
	p, err := c.Engine.Resolve(ctx, in.Procedure)
	if err != nil {
		return nil, err
	}
	want := dossier
	if in.IncludeAssembly {
		want |= engine.Instructions
	}
	b, err := c.Engine.Body(ctx, p.Address, want)
	if err != nil {
		return nil, err
	}
	var skip tool.AnalyzeFunctionInputCollectionOffset
	if in.CollectionOffset != nil {
		skip = *in.CollectionOffset
	}
	pages := pager{body: b, limit: in.Limit, limits: query.Gaps(b, engine.Pseudocode|engine.API)}
	out := tool.AnalyzeFunctionOutput{
		Procedure:          b.Procedure,
		Ranges:             b.Ranges,
		Classification:     b.Classification,
		Signature:          b.Signature,
		Locals:             b.Locals,
		Figures:            figures(b),
		NativeAPI:          nativeAPI(b),
		Callees:            pages.procedures(engine.Callees, b.Callees, skip.Callees, "callees"),
		Callers:            pages.procedures(engine.Callers, b.Callers, skip.Callers, "callers"),
		ReferencedStrings:  pages.used(engine.UsedStrings, b.Strings, skip.ReferencedStrings, "referenced_strings"),
		ReferencedNames:    pages.used(engine.UsedNames, b.Names, skip.ReferencedNames, "referenced_names"),
		UnresolvedCalls:    pages.unresolved(b.Targets, skip.UnresolvedCalls),
		Comments:           pages.comments(commentsIn(c.Notes, b.Ranges), skip.Comments),
		BasicBlocks:        pages.blocks(b.Blocks, skip.BasicBlocks),
		OutgoingReferences: pages.references(engine.Outgoing, b.Outgoing, skip.OutgoingReferences, "outgoing_references"),
		IncomingReferences: pages.references(engine.Incoming, b.Incoming, skip.IncomingReferences, "incoming_references"),
	}
	out.Pseudocode = pages.pseudocode(in.PseudocodeOffset, in.MaxPseudocodeChars)
	if b.SourcePath != "" {
		out.SourceFile = &tool.AnalyzeFunctionOutputSourceFile{Path: b.SourcePath, Line: int64(b.SourceLine)}
	}
	if in.IncludeAssembly {
		out.Assembly = pages.assembly(in.AssemblyOffset, in.MaxInstructions)
	}
	limits := pages.limits
	if text := query.Unresolved(b.Unresolved, "callees"); text != "" {
		limits = append(limits, text)
	}
	return &tool.Finding[tool.AnalyzeFunctionOutput]{Result: out, Limitations: limits, Locations: query.In(b.Ranges)}, nil
}

// figures counts the graph. Complexity is McCabe's edges − nodes + 2, taking
// the function as one component; a function without blocks has none.
func figures(b *engine.Body) tool.AnalyzeFunctionOutputFigures {
	f := tool.AnalyzeFunctionOutputFigures{
		BasicBlocks:  int64(b.BlockCount),
		Instructions: int64(b.InstructionCount),
		Callers:      int64(len(b.Callers)),
		Callees:      int64(len(b.Callees)),
	}
	for i := range b.Blocks {
		f.Edges += int64(len(b.Blocks[i].Successors))
	}
	if n := int64(len(b.Blocks)); n > 0 {
		f.CyclomaticComplexity = max(f.Edges-n+2, 1)
	}
	return f
}

func nativeAPI(b *engine.Body) model.NativeAPI {
	if b.API != nil {
		return b.API
	}
	return unavailable(b.Missing[engine.API])
}

func commentsIn(notes query.Notes, ranges []model.AddressRange) []model.CommentItem {
	var out []model.CommentItem
	for _, r := range ranges {
		out = append(out, notes.Comments(r.Start, r.End)...)
	}
	return out
}

// unavailable is the local form of a missing fact. An engine that gives no
// reason has simply nothing to say about it.
func unavailable(gap engine.Gap) *model.Unavailable {
	u := &model.Unavailable{Reason: gap.Reason, Remediation: gap.Remediation}
	if u.Reason == "" {
		u.Reason = "the bound engine does not supply it"
	}
	if u.Remediation == "" {
		u.Remediation = "Open the target with an engine that does; see binary_session analysis_provider_candidates."
	}
	return u
}

// pager cuts the lists of one body and notes what it cut.
type pager struct {
	body   *engine.Body
	limit  int64
	limits []string
}

// total is nil for a list that the engine could not supply.
func (p *pager) total(f engine.Facet, n int64) *int64 {
	if _, missing := p.body.Missing[f]; missing {
		return nil
	}
	return &n
}

// cut takes a page of rows.
func cut[T any](p *pager, rows []T, offset int64, name string) query.Page[T] {
	page := query.Slice(rows, offset, p.limit)
	if page.Next != nil {
		p.limits = append(p.limits, fmt.Sprintf("%s: %d of %d rows are given; go on with collection_offset %s %d", name, len(page.Items), page.Total, name, *page.Next))
	}
	return page
}

func (p *pager) procedures(f engine.Facet, calls []engine.Call, offset int64, name string) model.ProcedurePage {
	page := cut(p, calls, offset, name)
	items := make([]model.Procedure, len(page.Items))
	for i := range page.Items {
		items[i] = page.Items[i].Procedure
	}
	return model.ProcedurePage{Items: items, Offset: offset, Total: p.total(f, page.Total), NextOffset: page.Next}
}

func (p *pager) used(f engine.Facet, rows []model.UsedValue, offset int64, name string) model.NamedPage {
	page := cut(p, rows, offset, name)
	return model.NamedPage{Items: page.Items, Offset: offset, Total: p.total(f, page.Total), NextOffset: page.Next}
}

func (p *pager) references(f engine.Facet, rows []model.Reference, offset int64, name string) model.ReferencePage {
	page := cut(p, rows, offset, name)
	return model.ReferencePage{Items: page.Items, Offset: offset, Total: p.total(f, page.Total), NextOffset: page.Next}
}

func (p *pager) blocks(rows []model.BasicBlock, offset int64) model.BlockPage {
	page := cut(p, rows, offset, "basic_blocks")
	return model.BlockPage{Items: page.Items, Offset: offset, Total: p.total(engine.Blocks, page.Total), NextOffset: page.Next}
}

func (p *pager) comments(rows []model.CommentItem, offset int64) model.CommentPage {
	page := cut(p, rows, offset, "comments")
	return model.CommentPage{Items: page.Items, Offset: offset, Total: &page.Total, NextOffset: page.Next}
}

// unresolved keeps the computed transfers that could go anywhere.
func (p *pager) unresolved(targets []model.CallTarget, offset int64) model.UnresolvedPage {
	var rows []model.UnresolvedPageItem
	for _, t := range targets {
		if t.State != model.CallTargetStateUnresolved {
			continue
		}
		row := model.UnresolvedPageItem{Address: t.Address, Kind: model.UnresolvedPageItemKindIndirectCall, Operand: t.Operand}
		if t.Kind == model.CallTargetKindIndirectJump || t.Kind == model.CallTargetKindTailCall {
			row.Kind = model.UnresolvedPageItemKindIndirectJump
		}
		if t.Reason != nil {
			row.Reason = *t.Reason
		}
		rows = append(rows, row)
	}
	page := cut(p, rows, offset, "unresolved_calls")
	return model.UnresolvedPage{Items: page.Items, Offset: offset, Total: p.total(engine.Targets, page.Total), NextOffset: page.Next}
}

func (p *pager) assembly(offset, limit int64) *model.InstructionPage {
	page := query.Slice(p.body.Instructions, offset, limit)
	if page.Next != nil {
		p.limits = append(p.limits, fmt.Sprintf("assembly: %d of %d instructions are given; go on with assembly_offset %d", len(page.Items), page.Total, *page.Next))
	}
	return &model.InstructionPage{Items: page.Items, Offset: offset, Total: p.total(engine.Instructions, page.Total), NextOffset: page.Next}
}

func (p *pager) pseudocode(offset, limit int64) model.PseudocodeFacet {
	if p.body.Pseudocode == nil {
		return unavailable(p.body.Missing[engine.Pseudocode])
	}
	page := cutUTF16(*p.body.Pseudocode, offset, limit)
	if page.NextOffset != nil {
		p.limits = append(p.limits, fmt.Sprintf("pseudocode: cut before code unit %d of %d; go on with pseudocode_offset %[1]d", *page.NextOffset, page.TotalChars))
	}
	return page
}
