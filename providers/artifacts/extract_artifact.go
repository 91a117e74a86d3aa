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
	"rea/runtime/session"
)

const extractOperation = "extract_artifact"

// ExtractArtifact writes the contents of the selected entries into a directory
// of its own. On any failure the directory is removed. It fails when what was
// selected by itself cannot be given, and when there was something to write and
// nothing could be; everything else that is missing is told in the result.
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
	opt := inventory.Options{
		Bounds: inventory.Bounds{
			Depth: in.MaxDepth, Entries: in.MaxEntries, EntryBytes: in.MaxEntryBytes, TotalBytes: in.MaxTotalBytes, Ratio: in.MaxRatio,
			PathBytes: in.MaxPathBytes, Seconds: in.MaxSeconds,
		},
		Continue: in.IntegrityPolicy == model.ArtifactIntegrityPolicyRecordAndContinue,
		Select:   in.Select, Shallow: !in.Nested, Sink: dir,
	}
	res, err := h.walk(ctx, in.Path, extractOperation, in.Mount, opt)
	if err != nil {
		return nil, err
	}
	g := newGraph(res, in.Select != nil)
	wanted := inventory.Selected(in.Select)
	links := &linking{dir: dir, path: in.Path, options: opt}
	if err := links.writeLinks(ctx, res, wanted); err != nil {
		return nil, walkFailure(in.Path, extractOperation, err)
	}
	refused := refusals(g, dir, links, wanted)
	if err := unavailable(g, refused, res.Missed, in.Select); err != nil {
		return nil, err
	}
	if len(dir.Files) == 0 {
		if err := nothing(session.Printable(in.Path), res, refused); err != nil {
			return nil, err
		}
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
		Complete: len(res.Limits) == 0 && whole(res.Root.Inside) && !slices.ContainsFunc(refused, missing),
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
	for _, c := range links.contradictions {
		if !slices.ContainsFunc(out.Result.IntegrityContradictions, func(o model.ArtifactContradiction) bool {
			return o.Path == c.Path && o.Algorithm == c.Algorithm
		}) {
			out.Result.IntegrityContradictions = append(out.Result.IntegrityContradictions, c)
		}
	}
	return out, nil
}

// missing tells a file that should have been written from an entry that is none.
func missing(r model.ArtifactRefused) bool { return r.Kind != model.ArtifactRefusedKindNotRegular }

// whole reports whether everything in a container was listed.
func whole(n *inventory.Node) bool {
	if n == nil {
		return true
	}
	if n.Failed != nil || n.Cut || len(n.Gaps) > 0 {
		return false
	}
	for _, it := range n.Items {
		if !whole(it.Inside) {
			return false
		}
	}
	return true
}

// nothing is the fault of a call that wrote no file, nil when there was none to
// write.
func nothing(name string, res *inventory.Result, refused []model.ArtifactRefused) error {
	root := res.Root
	for _, r := range refused {
		if missing(r) {
			return notGiven(r.Path, r.Reason, fault.ArtifactEntryUnavailableDetailsKind(r.Kind))
		}
	}
	switch {
	case root.Inside == nil && root.Opaque:
		return notGiven(name, "there is no reader of "+root.Format, fault.ArtifactEntryUnavailableDetailsKindUnsupported)
	case root.Inside == nil:
		return notGiven(name, "its format is "+root.Format+", which holds no files", fault.ArtifactEntryUnavailableDetailsKindUnsupported)
	case root.Inside.Failed != nil:
		return notGiven(name, root.Inside.Failed.Error(), fault.ArtifactEntryUnavailableDetailsKind(kindOf(container.KindOf(root.Inside.Failed))))
	case len(res.Limits) > 0:
		l := res.Limits[0]
		return notGiven(name, fmt.Sprintf("the limit of %s (%d) was reached before any file", l.Name, l.Value), fault.ArtifactEntryUnavailableDetailsKindLimit)
	case len(root.Inside.Gaps) > 0:
		return notGiven(name, root.Inside.Gaps[0], fault.ArtifactEntryUnavailableDetailsKindCorrupt)
	}
	return nil
}

func notGiven(path, reason string, kind fault.ArtifactEntryUnavailableDetailsKind) error {
	return fault.ArtifactEntryUnavailable(fault.ArtifactEntryUnavailableDetails{Path: path, Reason: reason, Kind: kind}, nil)
}

// refusals are the entries that were asked for and not written, in the order of
// the inventory.
func refusals(g *graph, dir *extract.Directory, links *linking, wanted func(string) bool) []model.ArtifactRefused {
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
		case it.Type == container.Hardlink:
			row.Kind, row.Reason = links.refusal(it)
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
	if len(missed) > 0 {
		reason := "there is no such entry"
		if len(g.limitations) > 0 && !g.complete && len(g.limits) > 0 {
			reason = "it was not found before a limit was reached"
		}
		return notGiven(missed[0], reason, fault.ArtifactEntryUnavailableDetailsKindNotFound)
	}
	for _, r := range refused {
		if r.Kind == model.ArtifactRefusedKindAbsent || slices.Contains(selected, r.Path) {
			return notGiven(r.Path, r.Reason, fault.ArtifactEntryUnavailableDetailsKind(r.Kind))
		}
	}
	return nil
}
