package evidence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/tool"
	store "rea/runtime/evidence"
	"rea/runtime/session"
)

// member of a bundle, without its result unless a pair asks for it.
type bundled struct {
	id        string
	operation string
	result    jsontext.Value // of records in pairs
	digest    string         // SHA-256 of the canonical result
	bound     string         // what kind of statement it is, about what
}

// CompareBundles tells which records two bundles have, and how observations
// that the caller paired differ. A record that is only on one side says nothing
// about the other side's target: it may not have been asked for.
func (h *Handlers) CompareBundles(ctx context.Context, in *tool.CompareBundlesInput) (*tool.Finding[tool.CompareBundlesOutput], error) {
	wanted := map[string]bool{}
	for _, p := range in.Pairs {
		wanted[p.LeftEvidenceID], wanted[p.RightEvidenceID] = true, true
	}
	left, leftInfo, err := readBundle(ctx, in.Left, wanted)
	if err != nil {
		return nil, err
	}
	right, rightInfo, err := readBundle(ctx, in.Right, wanted)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	items, err := pairs(in, left, right)
	if err != nil {
		return nil, err
	}
	items = append(items, membership(in.Pairs, left, right)...)
	out := tool.CompareBundlesOutput{
		Left:    tool.CompareBundlesOutputLeft{SHA256: leftInfo.SHA256, Records: int64(leftInfo.Records)},
		Right:   tool.CompareBundlesOutputRight{SHA256: rightInfo.SHA256, Records: int64(rightInfo.Records)},
		Summary: count(items),
		Total:   int64(len(items)),
		Offset:  min(in.Offset, int64(len(items))),
	}
	out.Status = status(out.Summary)
	end := out.Offset + min(in.Limit, out.Total-out.Offset)
	if end < out.Total {
		out.NextOffset = &end
	}
	out.Items = items[out.Offset:end]
	var links []string
	for _, p := range in.Pairs {
		links = append(links, p.LeftEvidenceID, p.RightEvidenceID)
	}
	return &tool.Finding[tool.CompareBundlesOutput]{
		Result:      out,
		Links:       links,
		Limitations: []string{"Membership compares what was recorded: a record that is absent from a bundle is no statement about its target."},
	}, nil
}

func readBundle(ctx context.Context, path string, wanted map[string]bool) (map[string]bundled, store.BundleInfo, error) {
	file, err := openBundle(path)
	if err != nil {
		return nil, store.BundleInfo{}, err
	}
	defer file.Close()
	records := map[string]bundled{}
	info, err := store.ReadBundle(ctx, file, store.DefaultImportLimits, func(r *store.Record) error {
		result := r.Member("normalized_result")
		sum := sha256.Sum256(result)
		b := bundled{
			id: r.ID().String(), operation: r.Operation(), digest: hex.EncodeToString(sum[:]),
			bound: string(r.Member("predicate_type")) + string(r.Member("parameters")) + string(r.Member("analysis_profile")),
		}
		if wanted[b.id] {
			b.result = slices.Clone(result)
		}
		records[b.id] = b
		return nil
	})
	if err != nil {
		return nil, info, readError(path, err)
	}
	return records, info, nil
}

// pairs compares the observations that the caller paired.
func pairs(in *tool.CompareBundlesInput, left, right map[string]bundled) ([]tool.CompareBundlesOutputItem, error) {
	var items []tool.CompareBundlesOutputItem
	for i, p := range in.Pairs {
		l, ok := left[p.LeftEvidenceID]
		if !ok {
			return nil, notInBundle(p.LeftEvidenceID, fault.EvidenceNotFoundDetailsSideLeft, in.Left, i, right)
		}
		r, ok := right[p.RightEvidenceID]
		if !ok {
			return nil, notInBundle(p.RightEvidenceID, fault.EvidenceNotFoundDetailsSideRight, in.Right, i, left)
		}
		item := tool.CompareBundlesOutputItem{
			Operation: l.operation, LeftEvidenceID: &l.id, RightEvidenceID: &r.id,
			LeftDigest: &l.digest, RightDigest: &r.digest, Differences: []string{}, Limitations: []string{},
		}
		switch {
		case l.operation != r.operation:
			item.Classification = tool.CompareBundlesOutputItemClassificationUnknown
			item.Limitations = append(item.Limitations, "the right record was made by "+r.operation)
		case l.digest == r.digest:
			item.Classification = tool.CompareBundlesOutputItemClassificationUnchanged
		default:
			item.Classification = tool.CompareBundlesOutputItemClassificationChanged
			differences, more, err := differ(l.result, r.result)
			if err != nil {
				return nil, err
			}
			item.Differences = differences
			if more {
				item.Limitations = append(item.Limitations, "there are more differences than are listed")
			}
		}
		if l.operation == r.operation && l.bound != r.bound {
			item.Limitations = append(item.Limitations, "the records differ in parameters or analysis profile, which can explain differences")
		}
		items = append(items, item)
	}
	return items, nil
}

// notInBundle is the fault for a pair with a record that is not in the bundle
// of its side.
func notInBundle(id string, side fault.EvidenceNotFoundDetailsSide, path string, pair int, other map[string]bundled) error {
	path = session.Printable(path)
	pointer := fmt.Sprintf("/pairs/%d/%s_evidence_id", pair, side)
	err := fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: id, Side: &side, Bundle: &path, Pointer: &pointer}, nil)
	action := "Give an id of that bundle; compare_bundles without pairs lists the ids of both."
	if _, ok := other[id]; ok {
		action = "The other bundle holds it: exchange the two ids of the pair, or the two bundles."
	}
	if f := new(fault.Error); errors.As(err, &f) {
		f.Message = fmt.Sprintf("the %s bundle %q holds no record %s, which %s names", side, path, id, pointer)
	}
	return fault.Advise(err, action)
}

// membership lists records that are on one side or on both, but for those in
// pairs, by id.
func membership(pairs []tool.CompareBundlesInputPair, left, right map[string]bundled) []tool.CompareBundlesOutputItem {
	inPair := map[string]bool{}
	for _, p := range pairs {
		inPair["l"+p.LeftEvidenceID], inPair["r"+p.RightEvidenceID] = true, true
	}
	var items []tool.CompareBundlesOutputItem
	for id, l := range left {
		if inPair["l"+id] {
			continue
		}
		item := tool.CompareBundlesOutputItem{
			Classification: tool.CompareBundlesOutputItemClassificationRemoved,
			Operation:      l.operation, LeftEvidenceID: &l.id, LeftDigest: &l.digest,
			Differences: []string{}, Limitations: []string{},
		}
		if r, ok := right[id]; ok && !inPair["r"+id] {
			item.Classification = tool.CompareBundlesOutputItemClassificationUnchanged
			item.RightEvidenceID, item.RightDigest = &r.id, &r.digest
		}
		items = append(items, item)
	}
	for id, r := range right {
		if _, both := left[id]; inPair["r"+id] || both && !inPair["l"+id] {
			continue
		}
		items = append(items, tool.CompareBundlesOutputItem{
			Classification: tool.CompareBundlesOutputItemClassificationAdded,
			Operation:      r.operation, RightEvidenceID: &r.id, RightDigest: &r.digest,
			Differences: []string{}, Limitations: []string{},
		})
	}
	slices.SortFunc(items, func(a, b tool.CompareBundlesOutputItem) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(idOf(a), idOf(b)))
	})
	return items
}

// order puts what differs first.
func order(i tool.CompareBundlesOutputItem) int {
	switch i.Classification {
	case tool.CompareBundlesOutputItemClassificationRemoved:
		return 0
	case tool.CompareBundlesOutputItemClassificationAdded:
		return 1
	}
	return 2
}

func idOf(i tool.CompareBundlesOutputItem) string {
	if i.LeftEvidenceID != nil {
		return *i.LeftEvidenceID
	}
	return *i.RightEvidenceID
}

func count(items []tool.CompareBundlesOutputItem) tool.CompareBundlesOutputSummary {
	var s tool.CompareBundlesOutputSummary
	for _, i := range items {
		switch i.Classification {
		case tool.CompareBundlesOutputItemClassificationAdded:
			s.Added++
		case tool.CompareBundlesOutputItemClassificationRemoved:
			s.Removed++
		case tool.CompareBundlesOutputItemClassificationChanged:
			s.Changed++
		case tool.CompareBundlesOutputItemClassificationUnchanged:
			s.Unchanged++
		default:
			s.Unresolved++
		}
	}
	return s
}

// status is changed only where observations were compared and differ;
// membership alone leaves it unknown.
func status(s tool.CompareBundlesOutputSummary) tool.CompareBundlesOutputStatus {
	switch {
	case s.Changed > 0:
		return tool.CompareBundlesOutputStatusChanged
	case s.Added+s.Removed+s.Unresolved > 0:
		return tool.CompareBundlesOutputStatusUnknown
	}
	return tool.CompareBundlesOutputStatusUnchanged
}
