package javascript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/versions"
	"rea/runtime/query"
)

// CompareApplicationVersions says what became of one analysed application in
// another.
func (h *Handlers) CompareApplicationVersions(ctx context.Context, in *tool.CompareApplicationVersionsInput) (*tool.Finding[tool.CompareApplicationVersionsOutput], error) {
	left, err := recorded.Read(in.Left, "/left")
	if err != nil {
		return nil, err
	}
	right, err := recorded.Read(in.Right, "/right")
	if err != nil {
		return nil, err
	}
	v := &comparing{left: left, right: right, in: in, byKind: map[string]*model.ApplicationChangeCounts{}}
	if v.leftNative, err = observationsOf(left, in.LeftNativeObservations, "/left_native_observations"); err != nil {
		return nil, err
	}
	if v.rightNative, err = observationsOf(right, in.RightNativeObservations, "/right_native_observations"); err != nil {
		return nil, err
	}
	c, err := versions.Compare(ctx, left, right)
	if err != nil {
		return nil, err
	}
	v.out.Left, v.out.Right = left.Source(), right.Source()
	v.items(c)
	v.coverage(c)
	links := []string{left.Record.EvidenceID, right.Record.EvidenceID}
	links = append(links, v.used...)
	slices.Sort(links[2:])
	return &tool.Finding[tool.CompareApplicationVersionsOutput]{Result: v.out, Links: slices.Compact(links), Limitations: v.limitations()}, nil
}

// comparing turns a comparison into the result.
type comparing struct {
	left, right             *recorded.Application
	leftNative, rightNative map[string][]*model.EvidenceRecord
	in                      *tool.CompareApplicationVersionsInput
	byKind                  map[string]*model.ApplicationChangeCounts
	out                     tool.CompareApplicationVersionsOutput
	used                    []string
}

func (v *comparing) kind(it *versions.Item) model.ApplicationNodeKind {
	if it.Left >= 0 {
		return v.left.Graph.Nodes[it.Left].Kind
	}
	return v.right.Graph.Nodes[it.Right].Kind
}

func (v *comparing) items(c *versions.Comparison) {
	v.out.Matching = map[string]int64{}
	h := sha256.New()
	var listed []*versions.Item
	for i := range c.Items {
		it := &c.Items[i]
		kind := v.kind(it)
		if v.byKind[string(kind)] == nil {
			v.byKind[string(kind)] = &model.ApplicationChangeCounts{}
		}
		countChange(&v.out.Summary, it.Status)
		countChange(v.byKind[string(kind)], it.Status)
		switch kind {
		case model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup, model.ApplicationNodeKindJavascriptAsset:
			countChange(&v.out.Modules, it.Status)
		}
		v.out.Matching[string(it.Basis)]++
		fmt.Fprintf(h, "%s %s %s %s\n", v.id(it), it.Status, it.Basis, it.Reason)
		if v.wanted(it, kind) {
			listed = append(listed, it)
		}
	}
	v.out.ComparisonID = "jvc_" + hex.EncodeToString(h.Sum(nil))
	v.out.ByKind = map[string]model.ApplicationChangeCounts{}
	for kind, counts := range v.byKind {
		v.out.ByKind[kind] = *counts
	}
	page := query.Slice(listed, v.in.Offset, v.in.Limit)
	v.out.Total, v.out.Offset, v.out.NextOffset = page.Total, page.Offset, page.Next
	v.out.Items = make([]model.ApplicationChange, len(page.Items))
	for i, it := range page.Items {
		v.out.Items[i] = v.item(it)
	}
}

func (v *comparing) wanted(it *versions.Item, kind model.ApplicationNodeKind) bool {
	if len(v.in.Kinds) > 0 && !slices.Contains(v.in.Kinds, kind) {
		return false
	}
	if len(v.in.Statuses) > 0 {
		return slices.ContainsFunc(v.in.Statuses, func(s tool.CompareApplicationVersionsInputStatuse) bool { return string(s) == string(it.Status) })
	}
	return v.in.IncludeUnchanged || it.Status != versions.Unchanged
}

// id of an item: of what it joins.
func (v *comparing) id(it *versions.Item) string {
	h := sha256.New()
	h.Write([]byte(v.out.Left.GraphID + v.out.Right.GraphID))
	if it.Left >= 0 {
		h.Write([]byte("l" + v.left.Graph.Nodes[it.Left].ID))
	}
	if it.Right >= 0 {
		h.Write([]byte("r" + v.right.Graph.Nodes[it.Right].ID))
	}
	return "jvi_" + hex.EncodeToString(h.Sum(nil))
}

func (v *comparing) item(it *versions.Item) model.ApplicationChange {
	row := model.ApplicationChange{
		ItemID: v.id(it), Kind: v.kind(it), Status: model.ApplicationChangeStatus(it.Status), Rewritten: it.Rewritten,
		Dimensions: []model.ApplicationChangeDimension{}, Changes: []model.ApplicationChangeChange{}, EvidenceIDs: []string{},
	}
	other := v.right
	if it.Left >= 0 {
		row.Left = changeSide(v.left, it.Left)
		row.EvidenceIDs = append(row.EvidenceIDs, v.observed(row.Left, v.leftNative)...)
	} else {
		other = v.left
	}
	if it.Right >= 0 {
		row.Right = changeSide(v.right, it.Right)
		row.EvidenceIDs = append(row.EvidenceIDs, v.observed(row.Right, v.rightNative)...)
	}
	row.Match = model.ApplicationChangeMatch{
		Status: model.ApplicationChangeMatchStatusUnmatched, Basis: model.ApplicationChangeMatchBasis(it.Basis),
		Confidence: model.ApplicationChangeMatchConfidence(it.Basis.Confidence()), Candidates: []string{},
	}
	switch {
	case it.Left >= 0 && it.Right >= 0:
		row.Match.Status = model.ApplicationChangeMatchStatusMatched
	case it.Status == versions.Ambiguous:
		row.Match.Status = model.ApplicationChangeMatchStatusAmbiguous
	}
	row.Match.OmittedCandidates = int64(it.Omitted)
	for i, c := range it.Candidates {
		if i == int(v.in.MaxCandidates) {
			row.Match.OmittedCandidates += int64(len(it.Candidates) - i)
			break
		}
		row.Match.Candidates = append(row.Match.Candidates, other.Graph.Nodes[c].ID)
	}
	for _, d := range it.Dimensions {
		row.Dimensions = append(row.Dimensions, model.ApplicationChangeDimension(d))
	}
	for _, c := range it.Changes {
		row.Changes = append(row.Changes, model.ApplicationChangeChange{Dimension: string(c.Dimension), Name: c.Name, Left: orNull(c.Left), Right: orNull(c.Right)})
	}
	if it.Reason != "" {
		row.Reason = &it.Reason
	}
	return row
}

func orNull(v []byte) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

// observed are the records about an add-on.
func (v *comparing) observed(s *model.ApplicationChangeSide, native map[string][]*model.EvidenceRecord) []string {
	if s.SHA256 == nil {
		return nil
	}
	var out []string
	for _, r := range native[*s.SHA256] {
		out = append(out, r.EvidenceID)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	v.used = append(v.used, out...)
	return out
}

func changeSide(a *recorded.Application, node int) *model.ApplicationChangeSide {
	item := a.Item(node)
	return &model.ApplicationChangeSide{NodeID: item.NodeID, Label: item.Label, Path: item.Path, SHA256: item.SHA256, Location: item.Location}
}

func countChange(c *model.ApplicationChangeCounts, s versions.Status) {
	switch s {
	case versions.Added:
		c.Added++
	case versions.Removed:
		c.Removed++
	case versions.Changed:
		c.Changed++
	case versions.Moved:
		c.Moved++
	case versions.Unchanged:
		c.Unchanged++
	case versions.Ambiguous:
		c.Ambiguous++
	case versions.Contradiction:
		c.Contradiction++
	case versions.Unknown:
		c.Unknown++
	}
}

func (v *comparing) coverage(c *versions.Comparison) {
	out := &v.out.Coverage
	out.Left, out.Right = sideCoverage(v.left, c.Left), sideCoverage(v.right, c.Right)
	out.Status = tool.CompareApplicationVersionsOutputCoverageStatusCompleteWithinInputs
	if out.Left.Status == model.ApplicationSideCoverageStatusPartial || out.Right.Status == model.ApplicationSideCoverageStatusPartial {
		out.Status = tool.CompareApplicationVersionsOutputCoverageStatusPartial
	}
	s := &v.out.Summary
	switch {
	case s.Contradiction > 0 || len(v.left.IntegrityContradictions)+len(v.right.IntegrityContradictions) > 0:
		v.out.Status = tool.CompareApplicationVersionsOutputStatusContradiction
	case s.Added+s.Removed+s.Changed+s.Moved > 0:
		v.out.Status = tool.CompareApplicationVersionsOutputStatusChanged
	case s.Unknown+s.Ambiguous > 0 || out.Status == tool.CompareApplicationVersionsOutputCoverageStatusPartial:
		v.out.Status = tool.CompareApplicationVersionsOutputStatusUnknown
	default:
		v.out.Status = tool.CompareApplicationVersionsOutputStatusUnchanged
	}
}

// maxReasons bounds those of one side.
const maxReasons = 50

func sideCoverage(a *recorded.Application, c versions.Coverage) model.ApplicationSideCoverage {
	out := model.ApplicationSideCoverage{
		Status: model.ApplicationSideCoverageStatus(a.Graph.Coverage.Status), FilesComplete: !c.Files, CodeComplete: !c.Code, Reasons: []string{},
	}
	for i, r := range c.Reasons {
		if i == maxReasons {
			out.Reasons = append(out.Reasons, fmt.Sprintf("and %d more", len(c.Reasons)-i))
			break
		}
		out.Reasons = append(out.Reasons, r)
	}
	return out
}

func (v *comparing) limitations() []string {
	out := []string{"code is compared by its syntax; what it does when it runs was not observed"}
	for _, s := range []struct {
		name     string
		coverage *model.ApplicationSideCoverage
	}{{"left", &v.out.Coverage.Left}, {"right", &v.out.Coverage.Right}} {
		if !s.coverage.FilesComplete || !s.coverage.CodeComplete {
			out = append(out, s.name+": not everything was read; what is not seen there is unknown, not absent")
		}
	}
	if v.out.Summary.Ambiguous > 0 {
		out = append(out, fmt.Sprintf("%d items could be several of the other side", v.out.Summary.Ambiguous))
	}
	if v.out.NextOffset != nil {
		out = append(out, fmt.Sprintf("items: %d of %d rows are given; go on with offset %d", len(v.out.Items), v.out.Total, *v.out.NextOffset))
	}
	return out
}
