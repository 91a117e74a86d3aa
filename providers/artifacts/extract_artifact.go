package artifacts

import (
	"context"
	"fmt"
	"slices"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/artifacts/extract"
	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

const extractOperation = "extract_artifact"

// ExtractArtifact writes the contents of the selected entries into a directory
// of its own. On any failure the directory is removed.
func (h *Handlers) ExtractArtifact(ctx context.Context, in *tool.ExtractArtifactInput) (_ *tool.ExtractArtifactOutput, err error) {
	dir, err := extract.New(in.Select)
	if err != nil {
		return nil, walkFailure("the temporary directory", extractOperation, err)
	}
	defer func() {
		if err == nil {
			return
		}
		if left := dir.Discard(); left != nil {
			err = fault.CleanupIncomplete(fault.CleanupIncompleteDetails{
				Reason: left.Error(), Remaining: []string{"directory " + dir.Path},
			}, err)
		}
	}()
	res, err := inventory.Walk(ctx, in.Path, inventory.Options{
		Bounds: inventory.Bounds{
			Depth: in.MaxDepth, Entries: in.MaxEntries, EntryBytes: in.MaxEntryBytes, TotalBytes: in.MaxTotalBytes, Ratio: in.MaxRatio,
			PathBytes: in.MaxPathBytes, Seconds: in.MaxSeconds,
		},
		Continue: in.IntegrityPolicy == model.ArtifactIntegrityPolicyRecordAndContinue,
		Select:   in.Select, Shallow: !in.Nested, Sink: dir,
	})
	if err != nil {
		return nil, walkFailure(in.Path, extractOperation, err)
	}
	g := newGraph(res, in.Select != nil)
	wanted := inventory.Selected(in.Select)
	refused := refusals(g, dir, wanted)
	if err := unavailable(g, refused, res.Missed, in.Select); err != nil {
		return nil, err
	}
	if err := dir.Verify(ctx); err != nil {
		return nil, walkFailure(in.Path, extractOperation, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := dir.Keep(); err != nil {
		return nil, walkFailure(in.Path, extractOperation, err)
	}
	out := &tool.ExtractArtifactOutput{Result: tool.ExtractArtifactOutputResult{
		Directory: dir.Path, Files: []model.ArtifactExtracted{}, Refused: refused, Limits: g.limits, Limitations: g.limitations,
	}}
	written := map[string]bool{}
	for _, f := range dir.Files {
		row := model.ArtifactExtracted{
			Path: f.Item.Path, File: f.Name, Size: f.Item.Size, SHA256: f.Item.SHA256, HashStatus: model.ArtifactHashStatus(f.Item.Status), Renamed: optional(f.Renamed),
		}
		if f.Item.Mode >= 0 {
			row.Mode = optional(fmt.Sprintf("%04o", f.Item.Mode))
		}
		written[f.Item.Path] = true
		out.Result.Bytes += f.Item.Size
		out.Result.Files = append(out.Result.Files, row)
	}
	for _, c := range g.contradictions {
		if written[c.Path] {
			out.Result.IntegrityContradictions = append(out.Result.IntegrityContradictions, c)
		}
	}
	return out, nil
}

// refusals are the entries that were asked for and not written, in the order of
// the inventory.
func refusals(g *graph, dir *extract.Directory, wanted func(string) bool) []model.ArtifactRefused {
	at := map[*inventory.Item]extract.Refusal{}
	for _, r := range dir.Refused {
		at[r.Item] = r
	}
	wrote := map[*inventory.Item]bool{}
	for _, f := range dir.Files {
		wrote[f.Item] = true
	}
	out := []model.ArtifactRefused{}
	for _, it := range g.items {
		row := model.ArtifactRefused{Path: it.Path, Type: model.ArtifactEntryType(it.Type)}
		r, refused := at[it]
		switch {
		case wrote[it] || it.Type == container.Directory || !wanted(it.Path):
			continue
		case refused && r.Unsafe:
			row.Kind, row.Reason = model.ArtifactRefusedKindUnsafeName, r.Reason
		case !it.Type.HasContent():
			row.Kind, row.Reason = model.ArtifactRefusedKindNotRegular, "only regular files are written, and it is a "+string(it.Type)
			if it.Link != "" {
				row.Reason += " to " + it.Link
			}
		case it.Limit != "":
			row.Kind, row.Reason = model.ArtifactRefusedKindLimit, "the limit of "+it.Limit+" was reached"
		case it.Status == inventory.Unreadable:
			row.Kind, row.Reason = kindOf(it.Why), last(it.Notes)
		case refused:
			row.Kind, row.Reason = model.ArtifactRefusedKindCorrupt, r.Reason
		default:
			continue // a stream that was expanded
		}
		out = append(out, row)
	}
	return out
}

func last(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return notes[len(notes)-1]
}

func kindOf(k container.Kind) model.ArtifactRefusedKind {
	switch k {
	case container.Absent:
		return model.ArtifactRefusedKindAbsent
	case container.Encrypted:
		return model.ArtifactRefusedKindEncrypted
	case container.Unsupported:
		return model.ArtifactRefusedKindUnsupported
	case container.Bounded:
		return model.ArtifactRefusedKindLimit
	}
	return model.ArtifactRefusedKindCorrupt
}

// unavailable fails for what was selected by itself and cannot be given, and
// for files that a container says are there and that are not.
func unavailable(g *graph, refused []model.ArtifactRefused, missed, selected []string) error {
	fail := func(path, reason string, kind fault.ArtifactEntryUnavailableDetailsKind) error {
		return fault.ArtifactEntryUnavailable(fault.ArtifactEntryUnavailableDetails{Path: path, Reason: reason, Kind: kind}, nil)
	}
	if len(missed) > 0 {
		reason := "there is no such entry"
		if len(g.limitations) > 0 && !g.complete && len(g.limits) > 0 {
			reason = "it was not found before a limit was reached"
		}
		return fail(missed[0], reason, fault.ArtifactEntryUnavailableDetailsKindNotFound)
	}
	for _, r := range refused {
		if r.Kind == model.ArtifactRefusedKindAbsent || slices.Contains(selected, r.Path) {
			return fail(r.Path, r.Reason, fault.ArtifactEntryUnavailableDetailsKind(r.Kind))
		}
	}
	return nil
}
