package javascript

import (
	"context"
	"fmt"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/mapping"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/versions"
	"rea/runtime/query"
)

// maxUnmapped bounds the nodes that are listed beside the rows.
const maxUnmapped = 1000

// CompareSourceToBundle finds the files of a historical source tree in an analysed
// application.
func (h *Handlers) CompareSourceToBundle(ctx context.Context, in *tool.CompareSourceToBundleInput) (*tool.Finding[tool.CompareSourceToBundleOutput], error) {
	app, err := recorded.Read(in.Application, "/application")
	if err != nil {
		return nil, err
	}
	ref, err := recorded.ReadReference(in.Reference, "/reference")
	if err != nil {
		return nil, err
	}
	coverage := versions.CoverageOf(app)
	result, err := mapping.Compare(ctx, app, ref.HistoricalSource, !coverage.Files && !coverage.Code && mapping.Complete(app))
	if err != nil {
		return nil, err
	}
	out := tool.CompareSourceToBundleOutput{Application: app.Source(), UnmappedTotal: int64(len(result.Unmapped)), UnmappedNodeIDs: []string{}}
	out.Reference = tool.CompareSourceToBundleOutputReference{
		EvidenceID: ref.Record.EvidenceID, RootSHA256: ref.RootSHA256, InventoryState: tool.CompareSourceToBundleOutputReferenceInventoryState(ref.InventoryState), Files: ref.Files,
	}
	out.Scoring.Algorithm, out.Scoring.MinimumScore, out.Scoring.Weights = mapping.Algorithm, mapping.MinimumScore, map[string]int64{}
	for kind, weight := range mapping.Weights {
		out.Scoring.Weights[string(kind)] = weight
	}
	var listed []*mapping.Item
	var all []byte
	for i := range result.Items {
		it := &result.Items[i]
		countMapping(&out.Summary, it.Status)
		all = fmt.Appendf(all, "%d %s %d\n", it.Entry, it.Status, len(it.Candidates))
		if len(in.Statuses) == 0 || slices.ContainsFunc(in.Statuses, func(s tool.CompareSourceToBundleInputStatuse) bool { return string(s) == string(it.Status) }) {
			listed = append(listed, it)
		}
	}
	out.ComparisonID = "jsb_" + digest(append(all, out.Application.GraphID+out.Reference.RootSHA256...))
	out.Coverage.Application = sideCoverage(app, coverage)
	out.Coverage.CandidateEvaluations = result.Evaluations
	out.Coverage.Status = tool.CompareSourceToBundleOutputCoverageStatusCompleteWithinInputs
	if coverage.Files || coverage.Code || out.Reference.InventoryState != "complete" {
		out.Coverage.Status = tool.CompareSourceToBundleOutputCoverageStatusPartial
	}
	page := query.Slice(listed, in.Offset, in.Limit)
	out.Total, out.Offset, out.NextOffset = page.Total, page.Offset, page.Next
	out.Items = make([]model.SourceMapping, len(page.Items))
	for i, it := range page.Items {
		out.Items[i] = sourceMapping(app, ref, it, int(in.MaxCandidates))
	}
	for _, n := range result.Unmapped[:min(len(result.Unmapped), maxUnmapped)] {
		out.UnmappedNodeIDs = append(out.UnmappedNodeIDs, app.Graph.Nodes[n].ID)
	}
	return &tool.Finding[tool.CompareSourceToBundleOutput]{
		Result: out, Links: []string{app.Record.EvidenceID, ref.Record.EvidenceID}, Subject: app.Record.Subject, Limitations: mappingLimitations(app, &out),
	}, nil
}

func countMapping(c *tool.CompareSourceToBundleOutputSummary, s mapping.Status) {
	switch s {
	case mapping.Unchanged:
		c.Unchanged++
	case mapping.Modified:
		c.Modified++
	case mapping.Removed:
		c.Removed++
	case mapping.Split:
		c.Split++
	case mapping.Merged:
		c.Merged++
	case mapping.Duplicated:
		c.Duplicated++
	case mapping.Unknown:
		c.Unknown++
	}
}

func sourceMapping(app *recorded.Application, ref *recorded.Reference, it *mapping.Item, most int) model.SourceMapping {
	e := &ref.Entries[it.Entry]
	row := model.SourceMapping{
		MappingID: "jsm_" + digest([]byte(app.Graph.GraphID+ref.RootSHA256+e.Path)), SourcePath: e.Path, SourceSHA256: e.SHA256, SourceLanguage: e.Language,
		Status: model.SourceMappingStatus(it.Status), Confidence: model.SourceMappingConfidenceUnknown, Candidates: []model.SourceMappingCandidate{},
	}
	if it.Reason != "" {
		row.Reason = &it.Reason
	}
	if len(it.Candidates) > 0 {
		row.Confidence = model.SourceMappingConfidence(it.Candidates[0].Confidence())
	}
	for i := range it.Candidates {
		if i == most {
			row.OmittedCandidates = int64(len(it.Candidates) - i)
			break
		}
		c := &it.Candidates[i]
		item := app.Item(c.Node)
		to := model.SourceMappingCandidate{
			NodeID: item.NodeID, Kind: item.Kind, Label: item.Label, Path: item.Path, SHA256: item.SHA256, Location: item.Location,
			Score: c.Score, Confidence: model.SourceMappingCandidateConfidence(c.Confidence()),
		}
		for _, s := range c.Signals {
			to.Signals = append(to.Signals, model.SourceMappingCandidateSignal{
				Kind: model.SourceMappingCandidateSignalKind(s.Kind), Weight: mapping.Weights[s.Kind], SourceValue: s.Source, CurrentValue: s.Current,
			})
		}
		row.Candidates = append(row.Candidates, to)
	}
	return row
}

func mappingLimitations(app *recorded.Application, out *tool.CompareSourceToBundleOutput) []string {
	l := []string{"a historical tree is no proof of what the application was made of; equal bytes are"}
	if out.Coverage.Status == tool.CompareSourceToBundleOutputCoverageStatusPartial {
		l = append(l, "not everything was read on both sides; what is not seen is unknown, not removed")
	}
	if !mapping.Complete(app) {
		l = append(l, "modules are joined into groups without boundaries; files that may be in one are not called removed")
	}
	if n := len(out.UnmappedNodeIDs); int64(n) < out.UnmappedTotal {
		l = append(l, fmt.Sprintf("%d of %d unmapped nodes are listed", n, out.UnmappedTotal))
	}
	if out.NextOffset != nil {
		l = append(l, fmt.Sprintf("items: %d of %d rows are given; go on with offset %d", len(out.Items), out.Total, *out.NextOffset))
	}
	return l
}
