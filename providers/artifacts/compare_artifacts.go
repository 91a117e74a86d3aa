package artifacts

import (
	"context"
	"fmt"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/query"
)

const inspectOperation = "inspect_artifact"

// CompareArtifacts compares two inventories by logical path. Content that
// contradicts its declared digest is a contradiction, never unchanged; what a
// record does not list may still be there.
func (h *Handlers) CompareArtifacts(ctx context.Context, in *tool.CompareArtifactsInput) (*tool.Finding[tool.CompareArtifactsOutput], error) {
	left, err := readInventory(in.Left, "/left")
	if err != nil {
		return nil, err
	}
	right, err := readInventory(in.Right, "/right")
	if err != nil {
		return nil, err
	}
	rows, err := compareOccurrences(ctx, left, right)
	if err != nil {
		return nil, err
	}
	out := tool.CompareArtifactsOutput{
		Left: tool.CompareArtifactsOutputLeft{
			EvidenceID: left.record.EvidenceID, SHA256: left.result.Root.SHA256, Format: left.result.Root.Format, InventorySHA256: left.result.InventorySHA256,
			Occurrences: left.result.Counts.Occurrences, Listed: int64(len(left.result.Occurrences.Items)), Complete: left.complete(),
		},
		Right: tool.CompareArtifactsOutputRight{
			EvidenceID: right.record.EvidenceID, SHA256: right.result.Root.SHA256, Format: right.result.Root.Format, InventorySHA256: right.result.InventorySHA256,
			Occurrences: right.result.Counts.Occurrences, Listed: int64(len(right.result.Occurrences.Items)), Complete: right.complete(),
		},
	}
	listed := rows[:0:0]
	for i := range rows {
		count(&out.Counts, rows[i].Status)
		if in.IncludeUnchanged || rows[i].Status != model.ArtifactChangeStatusUnchanged {
			listed = append(listed, rows[i])
		}
	}
	out.Status = overall(&out.Counts, left, right)
	page := query.Slice(listed, in.Offset, in.Limit)
	out.Total, out.Offset, out.NextOffset, out.Changes = page.Total, page.Offset, page.Next, page.Items
	f := &tool.Finding[tool.CompareArtifactsOutput]{Result: out, Links: []string{left.record.EvidenceID, right.record.EvidenceID}}
	f.Limitations = append(left.limitations("left"), right.limitations("right")...)
	if out.NextOffset != nil {
		f.Limitations = append(f.Limitations, fmt.Sprintf("changes: %d of %d rows are given; go on with offset %d", len(out.Changes), out.Total, *out.NextOffset))
	}
	return f, nil
}

// recorded is a record of inspect_artifact and what it says.
type recorded struct {
	record *model.EvidenceRecord
	result tool.InspectArtifactOutput
}

// complete reports whether the record lists every occurrence and all were read.
func (r *recorded) complete() bool {
	return r.result.Complete && r.result.Occurrences.Offset == 0 && int64(len(r.result.Occurrences.Items)) == r.result.Occurrences.Total
}

func (r *recorded) limitations(side string) []string {
	if r.complete() {
		return nil
	}
	out := []string{}
	if n, total := int64(len(r.result.Occurrences.Items)), r.result.Occurrences.Total; n < total {
		out = append(out, fmt.Sprintf("%s: the record lists %d of %d occurrences; repeat inspect_artifact with a limit of at least %d", side, n, total, total))
	}
	if !r.result.Complete {
		out = append(out, side+": the inventory was limited, selected or hindered by damage; what it does not list may be there")
	}
	return out
}

func readInventory(in model.EvidenceInput, pointer string) (*recorded, error) {
	record, ok := in.(*model.EvidenceRecord)
	if !ok {
		id := ""
		if ref, ok := in.(*model.EvidenceReference); ok {
			id = ref.EvidenceID
		}
		return nil, fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: id}, nil)
	}
	if record.Operation != inspectOperation {
		return nil, fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
			EvidenceID: record.EvidenceID, Operation: record.Operation, Accepted: []string{inspectOperation}, Pointer: pointer,
		}, nil)
	}
	r := &recorded{record: record}
	if err := wire.Decode(record.NormalizedResult, wire.RecordDepth, &r.result, (*tool.InspectArtifactOutput).DecodeJSON); err != nil {
		return nil, fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{
			Pointer: pointer + "/normalized_result", Reason: "it is not what inspect_artifact gives: " + err.Error(), EvidenceID: &record.EvidenceID,
		}, err)
	}
	if root, s := r.result.Root.SHA256, record.Subject; root != nil && (s == nil || s.Digest.SHA256 != *root) || root == nil && s != nil {
		return nil, fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{
			Pointer: pointer + "/subject", Reason: "it is not the artifact that the inventory is of", EvidenceID: &record.EvidenceID,
		}, nil)
	}
	return r, nil
}

func count(c *tool.CompareArtifactsOutputCounts, s model.ArtifactChangeStatus) {
	switch s {
	case model.ArtifactChangeStatusAdded:
		c.Added++
	case model.ArtifactChangeStatusRemoved:
		c.Removed++
	case model.ArtifactChangeStatusChanged:
		c.Changed++
	case model.ArtifactChangeStatusMoved:
		c.Moved++
	case model.ArtifactChangeStatusUnchanged:
		c.Unchanged++
	case model.ArtifactChangeStatusContradiction:
		c.Contradiction++
	case model.ArtifactChangeStatusUnknown:
		c.Unknown++
	}
}

// overall is the status of the whole. Two inventories that were made complete
// and have one digest are equal whatever their records list.
func overall(c *tool.CompareArtifactsOutputCounts, left, right *recorded) tool.CompareArtifactsOutputStatus {
	whole := left.result.Complete && right.result.Complete
	switch {
	case c.Contradiction > 0:
		return tool.CompareArtifactsOutputStatusContradiction
	case c.Added+c.Removed+c.Changed+c.Moved > 0:
		return tool.CompareArtifactsOutputStatusChanged
	case whole && left.result.InventorySHA256 != right.result.InventorySHA256 && (!left.complete() || !right.complete()):
		return tool.CompareArtifactsOutputStatusChanged
	case whole && left.result.InventorySHA256 == right.result.InventorySHA256:
		return tool.CompareArtifactsOutputStatusUnchanged
	case c.Unknown > 0 || !left.complete() || !right.complete():
		return tool.CompareArtifactsOutputStatusUnknown
	}
	return tool.CompareArtifactsOutputStatusUnchanged
}
