package javascript

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/feature"
	"rea/providers/javascript/flow"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/semantic"
	"rea/providers/javascript/slice"
	"rea/runtime/evidence"
	"rea/runtime/evidence/claims"
	"rea/runtime/query"
)

// TraceApplicationFeature follows what a seed names through a recorded analysis.
func (h *Handlers) TraceApplicationFeature(ctx context.Context, in *tool.TraceApplicationFeatureInput) (*tool.Finding[tool.TraceApplicationFeatureOutput], error) {
	app, err := recorded.Read(in.Application, "/application")
	if err != nil {
		return nil, err
	}
	p, err := flow.Open(app)
	if err != nil {
		return nil, recorded.Unsound(app.Record, "/application/normalized_result/semantics", err.Error())
	}
	observations, err := observationsOf(app, in.NativeObservations, "/native_observations")
	if err != nil {
		return nil, err
	}
	matcher, err := seedMatcher(&in.Seed)
	if err != nil {
		return nil, err
	}
	limits := in.Limits
	if limits == nil {
		limits = &tool.TraceApplicationFeatureInputLimits{MaxDepth: 24, MaxFunctions: 500, MaxNodes: 2000, MaxEdges: 4000, MaxPaths: 100, MaxSeedMatches: 25}
	}
	matches := slice.Find(p, feature.SeedKind(in.Seed.Kind), matcher)
	total := len(matches)
	matches = matches[:min(total, int(limits.MaxSeedMatches), int(limits.MaxNodes))]
	trace, err := slice.Walk(ctx, p, matches, sidesOf(in.Direction), slice.Limits{
		Depth: int(limits.MaxDepth), Nodes: int(limits.MaxNodes), Edges: int(limits.MaxEdges), Functions: int(limits.MaxFunctions), Paths: int(limits.MaxPaths),
	})
	if err != nil {
		return nil, err
	}
	t := &tracing{app: app, program: p, trace: trace, row: map[int]int64{}}
	t.out.Application = app.Source()
	t.out.Seed = tool.TraceApplicationFeatureOutputSeed{Kind: string(in.Seed.Kind), Value: in.Seed.Value, Match: string(in.Seed.Match), CaseSensitive: in.Seed.CaseSensitive}
	t.out.Direction = tool.TraceApplicationFeatureOutputDirection(in.Direction)
	t.nodes(matches)
	t.functions()
	t.edges()
	t.paths()
	used := t.handoffs(observations)
	t.coverage(total, len(matches))
	t.out.TraceID = "jat_" + digest(t.out.AppendJSON(nil))
	return &tool.Finding[tool.TraceApplicationFeatureOutput]{
		Result: t.out, Links: append([]string{app.Record.EvidenceID}, used...), Subject: app.Record.Subject, Limitations: t.limitations(),
	}, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func seedMatcher(s *tool.TraceApplicationFeatureInputSeed) (feature.Matcher, error) {
	switch s.Match {
	case tool.TraceApplicationFeatureInputSeedMatchContains:
		return query.Literal(s.Value, s.CaseSensitive), nil
	case tool.TraceApplicationFeatureInputSeedMatchRegex:
		return query.Expression(s.Value, s.CaseSensitive)
	}
	return feature.NewExact(feature.SeedKind(s.Kind), s.Value, s.CaseSensitive), nil
}

func sidesOf(d tool.TraceApplicationFeatureInputDirection) []slice.Side {
	switch d {
	case tool.TraceApplicationFeatureInputDirectionOutgoing:
		return []slice.Side{slice.Outgoing}
	case tool.TraceApplicationFeatureInputDirectionIncoming:
		return []slice.Side{slice.Incoming}
	}
	return []slice.Side{slice.Incoming, slice.Outgoing}
}

// observationsOf are records about native add-ons, by the digest of what they are
// about. A record about something that the application does not have is refused.
func observationsOf(app *recorded.Application, records []model.EvidenceRecord, pointer string) (map[string][]*model.EvidenceRecord, error) {
	addons := map[string]bool{}
	for i := range app.Graph.Nodes {
		if n := &app.Graph.Nodes[i]; n.Kind == model.ApplicationNodeKindNativeAddon && n.Identity.SHA256 != nil {
			addons[*n.Identity.SHA256] = true
		}
	}
	out := map[string][]*model.EvidenceRecord{}
	for i := range records {
		r, pointer := &records[i], fmt.Sprintf("%s/%d", pointer, i)
		if _, err := evidence.Verify(r.AppendJSON(nil)); err != nil {
			return nil, recorded.Unsound(r, pointer, err.Error())
		}
		if e := claims.Check(r); e != nil {
			return nil, recorded.Unsound(r, pointer+e.Pointer, e.Reason)
		}
		if r.Subject == nil || !addons[r.Subject.Digest.SHA256] || r.Authority != model.EvidenceAuthorityShippedArtifact {
			return nil, fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
				EvidenceID: r.EvidenceID, Operation: r.Operation, Accepted: []string{"native tools about an add-on of the application"}, Pointer: pointer,
			}, nil)
		}
		out[r.Subject.Digest.SHA256] = append(out[r.Subject.Digest.SHA256], r)
	}
	return out, nil
}

// tracing turns a trace into the result.
type tracing struct {
	app     *recorded.Application
	program *flow.Program
	trace   *slice.Trace
	row     map[int]int64 // of a node of the graph in the result
	out     tool.TraceApplicationFeatureOutput
}

var sideNames = map[slice.Side]string{slice.Seed: "seed", slice.Outgoing: "outgoing", slice.Incoming: "incoming"}

func (t *tracing) nodes(matches []feature.Match) {
	reached := slices.Clone(t.trace.Nodes)
	slices.SortStableFunc(reached, func(a, b slice.Reached) int { return cmp.Compare(a.Depth, b.Depth) })
	t.out.Nodes = make([]tool.TraceApplicationFeatureOutputNode, len(reached))
	for i, r := range reached {
		t.row[r.Node] = int64(i)
		t.out.Nodes[i] = tool.TraceApplicationFeatureOutputNode{
			Item: t.app.Item(r.Node), Depth: int64(r.Depth), Side: tool.TraceApplicationFeatureOutputNodeSide(sideNames[r.Side]),
		}
	}
	t.out.SeedMatches = make([]tool.TraceApplicationFeatureOutputSeedMatch, len(matches))
	for i, m := range matches {
		n := &t.app.Graph.Nodes[m.Node]
		t.out.SeedMatches[i] = tool.TraceApplicationFeatureOutputSeedMatch{
			Node: t.row[m.Node], NodeID: n.ID, Kind: n.Kind, Basis: tool.TraceApplicationFeatureOutputSeedMatchBasis(m.Basis), Field: m.Field, Value: m.Value,
		}
		if m.Site > 0 {
			at := t.program.Place(m.Site)
			t.out.SeedMatches[i].Location = &at
		}
	}
}

// reachedBy names relations as those that are read forwards.
var reachedBy = map[semantic.Relation]tool.TraceApplicationFeatureOutputFunctionReachedByRelation{
	semantic.Calls:     "calls",
	semantic.Listens:   "handled-by",
	semantic.Schedules: "schedules",
	semantic.Continues: "continues-with",
	semantic.Delivers:  "delivered-to",
	semantic.Argument:  "given-to",
	semantic.Property:  "exposed-as",
}

// maxCalls bounds the calls that are listed of one function.
const maxCalls = 100

func (t *tracing) functions() {
	reached := slices.Clone(t.trace.Functions)
	slices.SortStableFunc(reached, func(a, b slice.Function) int { return cmp.Compare(a.Depth, b.Depth) })
	t.out.Functions = make([]tool.TraceApplicationFeatureOutputFunction, len(reached))
	p := t.program
	for i, f := range reached {
		row := tool.TraceApplicationFeatureOutputFunction{
			FunctionID: p.ID(f.Node), Node: t.row[p.Module(f.Node)], Location: p.Place(f.Node), Depth: int64(f.Depth),
			Side: tool.TraceApplicationFeatureOutputFunctionSide(sideNames[f.Side]), Calls: []string{},
		}
		if name := p.Semantic.Label(f.Node); name != "" {
			row.Name = &name
		}
		if relation, ok := reachedBy[f.By]; ok || f.At >= 0 {
			if !ok {
				relation = "uses"
			}
			row.ReachedBy = &tool.TraceApplicationFeatureOutputFunctionReachedBy{Relation: relation}
			if f.At >= 0 {
				at := p.Place(f.At)
				row.ReachedBy.Location = &at
				if label := p.Semantic.Label(f.At); label != "" {
					row.ReachedBy.Label = &label
				}
			}
		}
		row.Events = t.events(f.Node)
		for _, call := range p.Contents(f.Node) {
			if label := p.Semantic.Label(call); label != "" && !slices.Contains(row.Calls, label) && len(row.Calls) < maxCalls {
				row.Calls = append(row.Calls, label)
			}
		}
		t.out.Functions[i] = row
	}
}

// events name what runs a function, apart from calls.
func (t *tracing) events(f int32) []string {
	p, out := t.program, []string{}
	p.Into(f, func(e semantic.Edge) {
		switch e.Kind {
		case semantic.Listens, semantic.Schedules, semantic.Continues:
		default:
			return
		}
		label, name := p.Semantic.Label(e.From), ""
		p.Into(e.From, func(a semantic.Edge) {
			if a.Kind == semantic.Argument && p.Kind(a.From) == semantic.Literal && name == "" {
				name = " " + p.Semantic.Label(a.From)
			}
		})
		if label += name; label != "" && !slices.Contains(out, label) {
			out = append(out, label)
		}
	})
	return out
}

func (t *tracing) edges() {
	t.out.Edges = make([]tool.TraceApplicationFeatureOutputEdge, len(t.trace.Edges))
	s := &t.out.Summary
	for i, edge := range t.trace.Edges {
		row := tool.TraceApplicationFeatureOutputEdge{From: t.row[edge.From], To: t.row[edge.To], Properties: map[string]jsontext.Value{}}
		if edge.Application >= 0 {
			e := &t.app.Graph.Edges[edge.Application]
			row.EdgeID, row.Relation, row.Provenance, row.Location = t.app.EdgeID(edge.Application), e.Relation, t.app.ApplicationAnalysis.Provenance[e.Provenance], t.app.Place(e.Location)
			if e.Properties != nil {
				row.Properties = e.Properties
			}
		} else {
			t.call(edge, &row)
		}
		t.out.Edges[i] = row
		switch row.Provenance.State {
		case model.ApplicationProvenanceStateObserved:
			s.Observed++
		case model.ApplicationProvenanceStateInferred:
			s.Inferred++
		case model.ApplicationProvenanceStateUnknown:
			s.Unknown++
		case model.ApplicationProvenanceStateUnavailable:
			s.Unavailable++
		}
	}
}

// call writes a call from one module to a function of another.
func (t *tracing) call(edge slice.Edge, row *tool.TraceApplicationFeatureOutputEdge) {
	p := t.program
	at, f := edge.Call.From, edge.Call.To
	if edge.Call.Kind == semantic.Argument {
		at, f = f, at
	}
	place := p.Place(at)
	row.Relation, row.Provenance, row.Location = model.ApplicationRelationCalls, p.Known(edge.Call), &place
	for name, n := range map[string]int32{"callee": at, "function": f} {
		if label := p.Semantic.Label(n); label != "" {
			row.Properties[name] = graph.Value(label)
		}
	}
	row.EdgeID = "jse_" + digest([]byte(p.ID(at)+p.ID(f)+string(byte(edge.Call.Kind))))
}

func (t *tracing) paths() {
	t.out.Paths = make([]tool.TraceApplicationFeatureOutputPath, len(t.trace.Paths))
	for i := range t.trace.Paths {
		p := &t.trace.Paths[i]
		row := tool.TraceApplicationFeatureOutputPath{
			Side: tool.TraceApplicationFeatureOutputPathSide(sideNames[p.Side]), End: tool.TraceApplicationFeatureOutputPathEnd(p.End),
			EndKind: t.app.Graph.Nodes[p.Last].Kind,
		}
		h := sha256.New()
		for _, n := range p.Nodes {
			row.Nodes = append(row.Nodes, t.row[n])
			h.Write([]byte(t.app.Graph.Nodes[n].ID))
		}
		for _, e := range p.Edges {
			edge := &t.out.Edges[e]
			row.Edges = append(row.Edges, int64(e))
			h.Write([]byte(edge.EdgeID))
			row.Authorities = append(row.Authorities, string(edge.Provenance.Authority))
			row.ContainsInference = row.ContainsInference || edge.Provenance.State != model.ApplicationProvenanceStateObserved
		}
		slices.Sort(row.Authorities)
		row.Authorities = slices.Compact(row.Authorities)
		row.PathID = "jap_" + hex.EncodeToString(h.Sum(nil))
		t.out.Paths[i] = row
		if p.End == slice.Terminal {
			t.out.Summary.TerminalPaths++
		}
	}
}

// nativeTools are the ones with which an add-on is looked into.
var nativeTools = []string{"open_binary", "binary_overview", "search_procedures", "analyze_function", "xrefs"}

// handoffs lists the add-ons that were reached, and gives the records that are
// about them.
func (t *tracing) handoffs(observations map[string][]*model.EvidenceRecord) (used []string) {
	t.out.NativeHandoffs = []tool.TraceApplicationFeatureOutputNativeHandoff{}
	for _, r := range t.trace.Nodes {
		n := &t.app.Graph.Nodes[r.Node]
		if n.Kind != model.ApplicationNodeKindNativeAddon || n.Identity.SHA256 == nil {
			continue
		}
		h := tool.TraceApplicationFeatureOutputNativeHandoff{
			NodeID: n.ID, SHA256: *n.Identity.SHA256, Status: tool.TraceApplicationFeatureOutputNativeHandoffStatusRequiresProviderAnalysis,
			EvidenceIDs: []string{}, Providers: []model.Provider{}, RecommendedTools: nativeTools,
		}
		if p := t.app.Path(r.Node); p != "" {
			h.Path = &p
		}
		h.RequestedBy, h.RequestedNames = t.requests(r.Node)
		for _, o := range observations[h.SHA256] {
			h.Status = tool.TraceApplicationFeatureOutputNativeHandoffStatusEvidenceLinked
			if !slices.Contains(h.EvidenceIDs, o.EvidenceID) {
				h.EvidenceIDs = append(h.EvidenceIDs, o.EvidenceID)
			}
			if !slices.ContainsFunc(h.Providers, func(p model.Provider) bool { return p.ID == o.Provider.ID }) {
				h.Providers = append(h.Providers, o.Provider)
			}
		}
		slices.Sort(h.EvidenceIDs)
		used = append(used, h.EvidenceIDs...)
		t.out.NativeHandoffs = append(t.out.NativeHandoffs, h)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// requests are the nodes that ask for an add-on, themselves or by name, and the
// names that they use.
func (t *tracing) requests(addon int) (by, names []string) {
	by, names = []string{}, []string{}
	targets := []int64{int64(addon)}
	for i := range t.app.Graph.Edges { // names of add-ons stand between
		if e := &t.app.Graph.Edges[i]; e.To == int64(addon) && t.app.Graph.Nodes[e.From].Kind == model.ApplicationNodeKindNativeBinding {
			targets = append(targets, e.From)
			if label := t.app.Graph.Nodes[e.From].Label; label != nil {
				names = append(names, *label)
			}
		}
	}
	for i := range t.app.Graph.Edges {
		e := &t.app.Graph.Edges[i]
		if !slices.Contains(targets, e.To) || e.Relation == model.ApplicationRelationContains || slices.Contains(targets, e.From) {
			continue
		}
		by = append(by, t.app.Graph.Nodes[e.From].ID)
		names = append(names, recorded.List(e.Properties["names"])...)
		names = append(names, t.trace.Called(i)...)
	}
	slices.Sort(by)
	slices.Sort(names)
	return slices.Compact(by), slices.Compact(names)
}

func (t *tracing) coverage(total, kept int) {
	s := &t.out.Summary
	s.MatchedSeeds, s.Nodes, s.Edges, s.NativeHandoffs = int64(kept), int64(len(t.out.Nodes)), int64(len(t.out.Edges)), int64(len(t.out.NativeHandoffs))
	c := &t.out.Coverage
	c.ScannedNodes, c.TotalSeedMatches, c.OmittedSeedMatches = int64(len(t.app.Graph.Nodes)), int64(total), int64(total-kept)
	s.Functions, c.OmittedFunctions = int64(len(t.out.Functions)), int64(t.trace.OmittedFunctions)
	c.OmittedNodes, c.OmittedEdges, c.OmittedPaths = int64(t.trace.OmittedNodes), int64(t.trace.OmittedEdges), int64(t.trace.OmittedPaths)
	reached := []string{}
	if c.OmittedSeedMatches > 0 {
		reached = append(reached, "max_seed_matches")
	}
	if c.OmittedEdges > 0 {
		reached = append(reached, string(slice.MaxEdges))
	}
	if c.OmittedPaths > 0 {
		reached = append(reached, "max_paths")
	}
	c.Frontier = make([]tool.TraceApplicationFeatureOutputCoverageFrontierItem, len(t.trace.Frontier))
	for i, f := range t.trace.Frontier {
		if f.Reason.IsLimit() {
			reached = append(reached, string(f.Reason))
		}
		var function *string
		if f.Function >= 0 {
			id := t.program.ID(f.Function)
			function = &id
		}
		c.Frontier[i] = tool.TraceApplicationFeatureOutputCoverageFrontierItem{
			NodeID: t.app.Graph.Nodes[f.Node].ID, Label: t.app.Label(f.Node), FunctionID: function, Side: tool.TraceApplicationFeatureOutputCoverageFrontierItemSide(sideNames[f.Side]),
			Depth: int64(f.Depth), Reason: tool.TraceApplicationFeatureOutputCoverageFrontierItemReason(f.Reason),
		}
	}
	slices.Sort(reached)
	c.LimitsReached = slices.Compact(reached)
	switch {
	case total == 0:
		c.Status = tool.TraceApplicationFeatureOutputCoverageStatusNoMatch
	case len(c.LimitsReached) > 0:
		c.Status = tool.TraceApplicationFeatureOutputCoverageStatusTruncated
	case t.app.Graph.Coverage.Status == model.ApplicationCoverageStatusPartial, t.program.Opaque() > 0:
		c.Status = tool.TraceApplicationFeatureOutputCoverageStatusPartial
	default:
		c.Status = tool.TraceApplicationFeatureOutputCoverageStatusCompleteWithinSource
	}
}

func (t *tracing) limitations() []string {
	out := []string{"a trace follows what the graph has; what is only known when the program runs is not in it"}
	c := &t.out.Coverage
	if c.OmittedSeedMatches > 0 {
		out = append(out, fmt.Sprintf("%d of %d nodes that match the seed were not followed; raise max_seed_matches or name the seed more exactly", c.OmittedSeedMatches, c.TotalSeedMatches))
	}
	for _, l := range c.LimitsReached {
		if l != "max_seed_matches" {
			out = append(out, "the trace was cut by "+l)
		}
	}
	if t.app.Graph.Coverage.Status == model.ApplicationCoverageStatusPartial {
		out = append(out, "what lies in the gaps of the analysis is not in the trace")
	}
	if n := t.program.Opaque(); n > 0 {
		out = append(out, fmt.Sprintf("modules whose code is a text that is compiled at run time, and whose functions are not followed: %d", n))
	}
	return out
}
