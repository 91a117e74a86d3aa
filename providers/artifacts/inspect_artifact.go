package artifacts

import (
	"context"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/artifacts/inventory"
	"rea/runtime/query"
)

// InspectArtifact lists what an artifact holds. The pages are of one inventory
// that is made whole, so that its digest and counts do not depend on the page.
func (h *Handlers) InspectArtifact(ctx context.Context, in *tool.InspectArtifactInput) (*tool.Finding[tool.InspectArtifactOutput], error) {
	res, err := h.walk(ctx, in.Path, "inspect_artifact", in.Mount, inventory.Options{
		Bounds: inventory.Bounds{
			Depth: in.MaxDepth, Entries: in.MaxEntries, EntryBytes: in.MaxEntryBytes, TotalBytes: in.MaxTotalBytes, Ratio: in.MaxRatio,
			PathBytes: in.MaxPathBytes, Seconds: in.MaxSeconds,
		},
		Continue: in.IntegrityPolicy == model.ArtifactIntegrityPolicyRecordAndContinue,
		Select:   in.Select,
	})
	if err != nil {
		return nil, err
	}
	g := newGraph(res, in.Select != nil)
	out := tool.InspectArtifactOutput{
		Root: g.root, Counts: g.counts, InventorySHA256: g.digest, Complete: g.complete,
		Claims: g.claims, IntegrityContradictions: g.contradictions, Limits: g.limits,
	}
	f := &tool.Finding[tool.InspectArtifactOutput]{Limitations: g.limitations, Subject: subject(in.Path, g)}
	occurrences := page(g.items, in.Offset, in.Limit)
	out.Occurrences = tool.InspectArtifactOutputOccurrences{Total: occurrences.Total, Offset: occurrences.Offset, NextOffset: occurrences.Next, Items: []model.ArtifactOccurrence{}}
	for _, it := range occurrences.Items {
		out.Occurrences.Items = append(out.Occurrences.Items, occurrence(it))
	}
	artifacts := page(g.artifacts, in.ArtifactOffset, in.ArtifactLimit)
	out.Artifacts = tool.InspectArtifactOutputArtifacts{Total: artifacts.Total, Offset: artifacts.Offset, NextOffset: artifacts.Next, Items: []model.ArtifactNode{}}
	for _, a := range artifacts.Items {
		out.Artifacts.Items = append(out.Artifacts.Items, *a)
	}
	edges := page(g.edges, in.EdgeOffset, in.EdgeLimit)
	out.Edges = tool.InspectArtifactOutputEdges{Total: edges.Total, Offset: edges.Offset, NextOffset: edges.Next, Items: edges.Items}
	for _, p := range []struct {
		what         string
		given, total int64
		parameter    string
	}{
		{"occurrences", int64(len(out.Occurrences.Items)), occurrences.Total, ""},
		{"artifacts", int64(len(out.Artifacts.Items)), artifacts.Total, "artifact_"},
		{"edges", int64(len(out.Edges.Items)), edges.Total, "edge_"},
	} {
		if p.given < p.total {
			f.Limitations = append(f.Limitations, fmt.Sprintf("%s: %d of %d are given; page with %soffset and %slimit", p.what, p.given, p.total, p.parameter, p.parameter))
		}
	}
	f.Result = out
	return f, nil
}

// page allows a limit of 0, for a caller who wants the figures only; its next
// page begins where it does.
func page[T any](rows []T, offset, limit int64) query.Page[T] {
	p := query.Slice(rows, offset, limit)
	if limit == 0 && offset < p.Total {
		p.Next = &offset
	}
	return p
}
