package javascript

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/flow"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/semantic"
	"rea/runtime/query"
)

// Bounds of a result that no input changes.
const (
	maxGoals    = 20
	maxFrontier = 1000
)

// TraceJavascriptSemantics follows values and calls through a recorded analysis.
func (h *Handlers) TraceJavascriptSemantics(ctx context.Context, in *tool.TraceJavascriptSemanticsInput) (*tool.Finding[tool.TraceJavascriptSemanticsOutput], error) {
	app, err := recorded.Read(in.Application, "/application")
	if err != nil {
		return nil, err
	}
	p, err := flow.Open(app)
	if err != nil {
		return nil, recorded.Unsound(app.Record, "/application/normalized_result/semantics", err.Error())
	}
	t := &semanticTrace{program: p, in: in, limits: in.Limits}
	if t.limits == nil {
		t.limits = &tool.TraceJavascriptSemanticsInputLimits{
			MaxDepth: 12, MaxNodes: 2000, MaxRelations: 4000, MaxFunctions: 500, MaxModules: 500, MaxSeedMatches: 25, MaxUnknowns: 1000,
		}
	}
	seeds, err := t.find(&in.Seed, "/seed")
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	total := len(seeds)
	seeds = seeds[:min(total, int(t.limits.MaxSeedMatches))]
	nodes := make([]int32, len(seeds))
	for i := range seeds {
		nodes[i] = seeds[i].Node
	}
	t.trace, err = p.Walk(ctx, nodes, flow.Direction(in.Direction), t.families(), flow.Limits{
		Depth: int(t.limits.MaxDepth), Nodes: int(t.limits.MaxNodes), Relations: int(t.limits.MaxRelations),
		Functions: int(t.limits.MaxFunctions), Modules: int(t.limits.MaxModules), Unknowns: int(t.limits.MaxUnknowns),
	})
	if err != nil {
		return nil, err
	}
	t.question()
	offset, err := t.offset()
	if err != nil {
		return nil, err
	}
	t.matches(seeds)
	if err := t.goals(); err != nil {
		return nil, err
	}
	t.page(offset)
	t.unknowns()
	t.coverage(total, len(seeds))
	return &tool.Finding[tool.TraceJavascriptSemanticsOutput]{
		Result: t.out, Links: []string{app.Record.EvidenceID}, Subject: app.Record.Subject, Limitations: t.limitations(),
	}, nil
}

// semanticTrace turns a walk into the result.
type semanticTrace struct {
	program *flow.Program
	in      *tool.TraceJavascriptSemanticsInput
	limits  *tool.TraceJavascriptSemanticsInputLimits
	trace   *flow.Trace
	reached []int // goals, as indices of nodes
	out     tool.TraceJavascriptSemanticsOutput
}

// find lists the nodes that a selector names.
func (t *semanticTrace) find(s *tool.TraceJavascriptSemanticsSelector, pointer string) ([]flow.Match, error) {
	selector := flow.Selector{Kind: string(s.Kind), Value: s.Value, Fold: !s.CaseSensitive}
	if s.Module != nil {
		selector.Module = *s.Module
	}
	switch s.Match {
	case tool.TraceJavascriptSemanticsSelectorMatchContains:
		selector.Match = query.Literal(s.Value, s.CaseSensitive)
	case tool.TraceJavascriptSemanticsSelectorMatchRegex:
		m, err := query.Expression(s.Value, s.CaseSensitive)
		if err != nil {
			return nil, err
		}
		selector.Match = m
	}
	found, unknown := t.program.Find(selector)
	if unknown != "" {
		return nil, fault.NameNotFound(fault.NameNotFoundDetails{Name: unknown, Nearest: t.nearest(unknown)}, nil)
	}
	return found, nil
}

// nearest are modules whose labels contain the last part of a name.
func (t *semanticTrace) nearest(name string) []string {
	part := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	out := []string{}
	for i := range t.program.Graph.Nodes {
		switch t.program.Graph.Nodes[i].Kind {
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule:
			if label := t.program.Label(i); strings.Contains(strings.ToLower(label), part) && !slices.Contains(out, label) && len(out) < 5 {
				out = append(out, label)
			}
		}
	}
	return out
}

func (t *semanticTrace) families() map[string]bool {
	if len(t.in.Families) == 0 {
		return nil
	}
	set := map[string]bool{}
	for _, f := range t.in.Families {
		set[string(f)] = true
	}
	return set
}

// question writes what was asked, and its digest.
func (t *semanticTrace) question() {
	t.out.Application = t.program.Source()
	t.out.SemanticGraphID = t.program.Semantic.ID
	t.out.Seed = t.in.Seed
	t.out.Direction = string(t.in.Direction)
	t.out.Families = []string{}
	for _, f := range t.in.Families {
		t.out.Families = append(t.out.Families, string(f))
	}
	slices.Sort(t.out.Families)
	if len(t.out.Families) == 0 {
		for _, c := range t.program.Semantic.Coverage {
			t.out.Families = append(t.out.Families, string(c.Family))
		}
	}
	l := t.limits
	t.out.Limits = map[string]int64{
		"max_depth": l.MaxDepth, "max_nodes": l.MaxNodes, "max_relations": l.MaxRelations, "max_functions": l.MaxFunctions,
		"max_modules": l.MaxModules, "max_seed_matches": l.MaxSeedMatches, "max_unknowns": l.MaxUnknowns, "page_size": t.in.PageSize,
	}
	asked := fmt.Appendf(nil, "%s %s %s %s %q ", t.out.Application.EvidenceID, t.out.Application.GraphID, t.out.SemanticGraphID, t.out.Direction, t.out.Families)
	for _, name := range []string{"max_depth", "max_nodes", "max_relations", "max_functions", "max_modules", "max_seed_matches", "max_unknowns", "page_size"} {
		asked = fmt.Appendf(asked, "%d ", t.out.Limits[name])
	}
	asked = t.in.Seed.AppendJSON(asked)
	if t.in.Goal != nil {
		asked = t.in.Goal.AppendJSON(asked)
	}
	t.out.QueryID = "jsq_" + digest(asked)
}

// cursor of a position: it tells the question and what it was asked about.
func (t *semanticTrace) cursor(offset int) string {
	return fmt.Sprintf("jsc_%d_%s", offset, digest(fmt.Appendf(nil, "%s %d", t.out.QueryID, offset)))
}

// offset is the position of the cursor that was given.
func (t *semanticTrace) offset() (int, error) {
	if t.in.Cursor == nil {
		return 0, nil
	}
	_, rest, _ := strings.Cut(*t.in.Cursor, "_")
	number, _, _ := strings.Cut(rest, "_")
	offset, err := strconv.Atoi(number)
	if err != nil || offset >= len(t.trace.Steps) || t.cursor(offset) != *t.in.Cursor {
		return 0, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/cursor", Keyword: "cursor", Received: t.in.Cursor,
			Expected: "a next_cursor that this question gave about this evidence; another seed, direction, limit, page size or analysis makes it another question. Without a cursor the first page comes",
		}, nil)
	}
	return offset, nil
}

func (t *semanticTrace) place(n int32) tool.TraceJavascriptSemanticsPlace {
	p := t.program
	out := tool.TraceJavascriptSemanticsPlace{NodeID: p.ID(n), Kind: semantic.Kind(p.Semantic.Kinds[n]).Name(), Module: p.ModuleLabel(n), Location: p.Place(n)}
	if label := p.Semantic.Label(n); label != "" {
		out.Label = &label
	}
	return out
}

func (t *semanticTrace) matches(seeds []flow.Match) {
	t.out.SeedMatches = make([]tool.TraceJavascriptSemanticsOutputSeedMatch, len(seeds))
	for i, s := range seeds {
		t.out.SeedMatches[i] = tool.TraceJavascriptSemanticsOutputSeedMatch{Place: t.place(s.Node), Basis: tool.TraceJavascriptSemanticsOutputSeedMatchBasis(s.Basis)}
	}
}

// goals are the nodes that the goal names and the walk reached.
func (t *semanticTrace) goals() error {
	t.out.Goals = []tool.TraceJavascriptSemanticsOutputGoal{}
	if t.in.Goal == nil {
		return nil
	}
	found, err := t.find(t.in.Goal, "/goal")
	if err != nil {
		return err
	}
	for _, m := range found {
		if i := t.trace.At(m.Node); i >= 0 {
			t.reached = append(t.reached, i)
		}
	}
	slices.Sort(t.reached) // nodes were reached in order of depth
	for _, i := range t.reached[:min(len(t.reached), maxGoals)] {
		goal := tool.TraceJavascriptSemanticsOutputGoal{Place: t.place(t.trace.Nodes[i].Node), Depth: int64(t.trace.Nodes[i].Depth)}
		for _, r := range t.trace.Path(i) {
			step := tool.TraceJavascriptSemanticsOutputGoalPathItem{Place: t.place(r.Node)}
			if r.From >= 0 {
				name := r.Step.Name()
				step.Relation = &name
			}
			goal.Path = append(goal.Path, step)
		}
		t.out.Goals = append(t.out.Goals, goal)
	}
	return nil
}

// page writes the relations of a page, and the nodes that they join.
func (t *semanticTrace) page(offset int) {
	steps := t.trace.Steps
	end := min(offset+int(t.in.PageSize), len(steps))
	var shown []int // nodes, as indices of the walk
	row := map[int32]int64{}
	show := func(n int32) {
		if _, there := row[n]; !there {
			row[n] = 0
			shown = append(shown, t.trace.At(n))
		}
	}
	if offset == 0 {
		for i := range t.trace.Nodes {
			if t.trace.Nodes[i].From < 0 {
				show(t.trace.Nodes[i].Node)
			}
		}
	}
	for _, s := range steps[offset:end] {
		show(s.From)
		show(s.To)
	}
	slices.Sort(shown)
	t.out.Nodes = make([]tool.TraceJavascriptSemanticsOutputNode, len(shown))
	for k, i := range shown {
		r := t.trace.Nodes[i]
		row[r.Node] = int64(k)
		node := tool.TraceJavascriptSemanticsOutputNode{Place: t.place(r.Node), Depth: int64(r.Depth)}
		if f := t.program.Function(r.Node); f >= 0 {
			id := t.program.ID(f)
			node.Function = &id
		}
		if r.From >= 0 {
			id := t.program.ID(t.trace.Nodes[r.From].Node)
			node.ReachedFrom = &id
		}
		t.out.Nodes[k] = node
	}
	t.out.Relations = make([]tool.TraceJavascriptSemanticsOutputRelation, 0, end-offset)
	known := map[string]int64{}
	t.out.Provenance = []model.ApplicationProvenance{}
	for _, s := range steps[offset:end] {
		how := t.program.Known(s.Edge)
		key := string(how.AppendJSON(nil))
		at, there := known[key]
		if !there {
			at = int64(len(t.out.Provenance))
			known[key] = at
			t.out.Provenance = append(t.out.Provenance, how)
		}
		t.out.Relations = append(t.out.Relations, tool.TraceJavascriptSemanticsOutputRelation{
			From: row[s.From], To: row[s.To], Relation: s.Kind.Name(), Family: s.Kind.Family(), Depth: int64(s.Depth), At: row[standsAt(s.Edge)], Provenance: at,
		})
	}
	t.out.Page = tool.TraceJavascriptSemanticsOutputPage{Offset: int64(offset), Size: int64(end - offset), Total: int64(len(steps))}
	if end < len(steps) {
		next := t.cursor(end)
		t.out.Page.NextCursor = &next
	}
}

// standsAt is the node at whose place a relation stands in the code.
func standsAt(e semantic.Edge) int32 {
	switch e.Kind {
	case semantic.Calls, semantic.Listens, semantic.Schedules, semantic.Continues, semantic.Delivers, semantic.Starts:
		return e.From
	}
	return e.To
}

func (t *semanticTrace) unknowns() {
	t.out.Unknowns = make([]tool.TraceJavascriptSemanticsOutputUnknown, len(t.trace.Unknowns))
	for i, u := range t.trace.Unknowns {
		t.out.Unknowns[i] = tool.TraceJavascriptSemanticsOutputUnknown{Place: t.place(u.Node), Reason: u.Reason}
	}
}

func (t *semanticTrace) coverage(total, kept int) {
	s := &t.out.Summary
	s.SeedMatches, s.Nodes, s.Relations = int64(total), int64(len(t.trace.Nodes)), int64(len(t.trace.Steps))
	s.Functions, s.Modules = int64(t.trace.Functions), int64(t.trace.Modules)
	s.Unknowns, s.Goals = int64(len(t.trace.Unknowns)+t.trace.OmittedUnknowns), int64(len(t.reached))
	for _, step := range t.trace.Steps {
		switch t.program.Known(step.Edge).State {
		case model.ApplicationProvenanceStateObserved:
			s.Observed++
		case model.ApplicationProvenanceStateInferred:
			s.Inferred++
		default:
			s.Unknown++
		}
	}
	c := &t.out.Coverage
	c.OmittedSeedMatches, c.OmittedUnknowns = int64(total-kept), int64(t.trace.OmittedUnknowns)
	c.LimitsReached = []string{}
	if total > kept {
		c.LimitsReached = append(c.LimitsReached, "max_seed_matches")
	}
	c.Frontier = []tool.TraceJavascriptSemanticsOutputCoverageFrontierItem{}
	for _, f := range t.trace.Frontier {
		c.LimitsReached = append(c.LimitsReached, string(f.Reason))
		if len(c.Frontier) == maxFrontier {
			c.OmittedFrontier++
			continue
		}
		c.Frontier = append(c.Frontier, tool.TraceJavascriptSemanticsOutputCoverageFrontierItem{
			NodeID: t.program.ID(f.Node), Depth: int64(f.Depth), Reason: tool.TraceJavascriptSemanticsOutputCoverageFrontierItemReason(f.Reason),
		})
	}
	slices.Sort(c.LimitsReached)
	c.LimitsReached = slices.Compact(c.LimitsReached)
	c.Families = []tool.TraceJavascriptSemanticsOutputCoverageFamily{}
	for _, f := range t.program.Semantic.Coverage {
		c.Families = append(c.Families, tool.TraceJavascriptSemanticsOutputCoverageFamily{Family: string(f.Family), Status: string(f.Status), Relations: f.Relations})
	}
	slices.SortFunc(c.Families, func(a, b tool.TraceJavascriptSemanticsOutputCoverageFamily) int {
		return cmp.Compare(a.Family, b.Family)
	})
	partial := s.Unknowns > 0 || t.program.Opaque() > 0 || t.program.Graph.Coverage.Status == model.ApplicationCoverageStatusPartial || t.program.Semantic.Omitted > 0
	switch {
	case total == 0:
		c.Status, t.out.Status = tool.TraceJavascriptSemanticsOutputCoverageStatusNoMatch, tool.TraceJavascriptSemanticsOutputStatusNoMatch
	case len(c.LimitsReached) > 0:
		c.Status, t.out.Status = tool.TraceJavascriptSemanticsOutputCoverageStatusTruncated, tool.TraceJavascriptSemanticsOutputStatusTruncated
	case partial:
		c.Status, t.out.Status = tool.TraceJavascriptSemanticsOutputCoverageStatusPartial, tool.TraceJavascriptSemanticsOutputStatusPartial
	default:
		c.Status, t.out.Status = tool.TraceJavascriptSemanticsOutputCoverageStatusCompleteWithinSource, tool.TraceJavascriptSemanticsOutputStatusFound
	}
	if total > 1 && total == kept && t.asksForOne() && len(c.LimitsReached) == 0 {
		t.out.Status = tool.TraceJavascriptSemanticsOutputStatusAmbiguous
	}
}

// asksForOne reports whether the seed is such that it should name one thing.
func (t *semanticTrace) asksForOne() bool {
	switch t.in.Seed.Kind {
	case tool.TraceJavascriptSemanticsSelectorKindFunction, tool.TraceJavascriptSemanticsSelectorKindExport, tool.TraceJavascriptSemanticsSelectorKindBinding:
		return t.in.Seed.Match == tool.TraceJavascriptSemanticsSelectorMatchExact
	}
	return false
}

func (t *semanticTrace) limitations() []string {
	out := []string{"what depends on values at run time is not related: computed properties and callees, the order of events, and the order of assignments: what a variable held before still counts"}
	c := &t.out.Coverage
	if len(c.LimitsReached) > 0 {
		out = append(out, "the walk was bounded by "+strings.Join(c.LimitsReached, ", ")+"; the frontier says where")
	}
	if c.OmittedUnknowns > 0 {
		out = append(out, fmt.Sprintf("%d unknowns are not listed", c.OmittedUnknowns))
	}
	if n := int(t.out.Summary.Goals) - len(t.out.Goals); n > 0 {
		out = append(out, fmt.Sprintf("%d goals are not shown", n))
	}
	if t.program.Graph.Coverage.Status == model.ApplicationCoverageStatusPartial {
		out = append(out, "the analysis of the application is partial")
	}
	if n := t.program.Opaque(); n > 0 {
		out = append(out, fmt.Sprintf("modules whose code is a text that is compiled at run time, and whose functions are not followed: %d", n))
	}
	return out
}
