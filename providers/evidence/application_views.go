package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
)

// A program is what views read of an analysis of an application: its graph and
// the tables that the graph points into.
type program struct {
	files      []model.ApplicationFile
	locations  model.ApplicationLocations
	provenance []model.ApplicationProvenance
	graph      model.ApplicationGraph
	modules    []int // rows of nodes that are modules
}

// moduleKinds are the nodes that a view of modules shows.
var moduleKinds = []model.ApplicationNodeKind{
	model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup, model.ApplicationNodeKindSourceModule,
}

func readProgram(result map[string]jsontext.Value) (*program, error) {
	p := &program{}
	for _, err := range []error{
		wire.Decode(result["files"], wire.RecordDepth, &p.files, sliceOf((*model.ApplicationFile).DecodeJSON)),
		wire.Decode(result["locations"], wire.RecordDepth, &p.locations, (*model.ApplicationLocations).DecodeJSON),
		wire.Decode(result["provenance"], wire.RecordDepth, &p.provenance, sliceOf((*model.ApplicationProvenance).DecodeJSON)),
		wire.Decode(result["graph"], wire.RecordDepth, &p.graph, (*model.ApplicationGraph).DecodeJSON),
	} {
		if err != nil {
			return nil, damaged("it is not what analyze_javascript_application gives: " + err.Error())
		}
	}
	if !p.sound() {
		return nil, damaged("rows of its graph point to rows that are not there")
	}
	for i := range p.graph.Nodes {
		if slices.Contains(moduleKinds, p.graph.Nodes[i].Kind) {
			p.modules = append(p.modules, i)
		}
	}
	return p, nil
}

func sliceOf[T any](item func(*T, *wire.Decoder) error) func(*[]T, *wire.Decoder) error {
	return func(v *[]T, d *wire.Decoder) error { return wire.Slice(d, v, 0, wire.Unbounded, item) }
}

func damaged(reason string) error {
	return fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{Pointer: "/analysis/normalized_result", Reason: reason}, nil)
}

// sound reports whether all rows point to rows.
func (p *program) sound() bool {
	l := &p.locations
	if n := len(l.File); len(l.Start) != n || len(l.End) != n || len(l.Line) != n {
		return false
	}
	within := func(i int64, n int) bool { return i >= 0 && i < int64(n) }
	located := func(at *int64) bool { return at == nil || within(*at, len(l.File)) }
	for _, f := range l.File {
		if !within(f, len(p.files)) {
			return false
		}
	}
	for i := range p.graph.Nodes {
		if n := &p.graph.Nodes[i]; !within(n.Provenance, len(p.provenance)) || !located(n.Location) {
			return false
		}
	}
	for i := range p.graph.Edges {
		e := &p.graph.Edges[i]
		if !within(e.From, len(p.graph.Nodes)) || !within(e.To, len(p.graph.Nodes)) || !within(e.Provenance, len(p.provenance)) || !located(e.Location) {
			return false
		}
	}
	return true
}

func (p *program) place(location *int64) *model.ApplicationPlace {
	if location == nil {
		return nil
	}
	l, i := &p.locations, *location
	return &model.ApplicationPlace{Path: p.files[l.File[i]].Path, Start: l.Start[i], End: l.End[i], Line: l.Line[i]}
}

func (p *program) path(node int) string {
	n := &p.graph.Nodes[node]
	if path := n.Properties["path"]; path.Kind() == '"' {
		return text(path)
	}
	switch n.Identity.Strategy {
	case model.ApplicationNodeIdentityStrategyCanonicalPath, model.ApplicationNodeIdentityStrategySourceMapOriginal:
		if n.Identity.Key != nil {
			return *n.Identity.Key
		}
	}
	return ""
}

func (p *program) item(node int) *model.ApplicationItem {
	n := &p.graph.Nodes[node]
	item := &model.ApplicationItem{
		NodeID: n.ID, Kind: n.Kind, Label: n.Label, SHA256: n.Identity.SHA256, Location: p.place(n.Location),
		Provenance: p.provenance[n.Provenance], Properties: n.Properties,
	}
	if path := p.path(node); path != "" {
		item.Path = &path
	}
	return item
}

// applicationModules is the view of modules by pages: files of code, modules of
// bundles, groups of them, and original sources.
type applicationModules struct{}

func (applicationModules) takes() selectors { return selectors{offset: true} }

func (applicationModules) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	p, err := readProgram(result)
	if err != nil {
		return nil, err
	}
	return pageOf(len(p.modules), in, "", func(b []byte, i int) []byte { return p.item(p.modules[i]).AppendJSON(b) }), nil
}

// pageOf are the rows that an input asks for, after what stands before the list.
func pageOf(n int, in *tool.InspectAnalysisViewInput, before string, row func(b []byte, i int) []byte) *facts {
	total := int64(n)
	start := min(in.Offset, total)
	end := start + min(in.Limit, total-start)
	out := append([]byte(before), '[')
	for i := start; i < end; i++ {
		if i > start {
			out = append(out, ',')
		}
		out = row(out, int(i))
	}
	f := &facts{value: append(out, ']'), unit: model.AnalysisViewResultUnitRows, total: &total, offset: start, returned: end - start, complete: true}
	if end < total {
		f.next = &end
	}
	return f
}

// applicationModule is the view of one module: what it is, and by pages how it
// is joined to what is around it.
type applicationModule struct{}

func (applicationModule) takes() selectors { return selectors{name: true, node: true, offset: true} }

func (applicationModule) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	p, err := readProgram(result)
	if err != nil {
		return nil, err
	}
	node, err := p.find(in)
	if err != nil {
		return nil, err
	}
	var edges []int
	for i := range p.graph.Edges {
		if e := &p.graph.Edges[i]; e.From == int64(node) || e.To == int64(node) {
			edges = append(edges, i)
		}
	}
	before := append([]byte(`{"module":`), p.item(node).AppendJSON(nil)...)
	f := pageOf(len(edges), in, string(before)+`,"relations":`, func(b []byte, i int) []byte { return p.relation(b, node, edges[i]) })
	f.value = append(f.value, '}')
	return f, nil
}

// relation writes an edge as one of its nodes sees it.
func (p *program) relation(b []byte, node, edge int) []byte {
	e := &p.graph.Edges[edge]
	direction, other := "outgoing", e.To
	if e.To == int64(node) && e.From != e.To {
		direction, other = "incoming", e.From
	}
	o := &p.graph.Nodes[other]
	b = append(b, `{"relation":`...)
	b = wire.AppendString(b, e.Relation)
	b = append(b, `,"direction":`...)
	b = wire.AppendString(b, direction)
	b = append(b, `,"node_id":`...)
	b = wire.AppendString(b, o.ID)
	b = append(b, `,"kind":`...)
	b = wire.AppendString(b, o.Kind)
	b = append(b, `,"label":`...)
	b = wire.AppendNullable(b, o.Label, func(v *string, b []byte) []byte { return wire.AppendString(b, *v) })
	b = append(b, `,"location":`...)
	b = wire.AppendNullable(b, p.place(e.Location), (*model.ApplicationPlace).AppendJSON)
	b = append(b, `,"provenance":`...)
	b = p.provenance[e.Provenance].AppendJSON(b)
	b = append(b, `,"properties":`...)
	b = wire.AppendMap(b, e.Properties, func(v *jsontext.Value, b []byte) []byte { return append(b, *v...) })
	return append(b, '}')
}

const listModules = "View modules lists their paths and node ids, by pages with offset and limit."

// maxCandidates bounds those that a fault names.
const maxCandidates = 20

// find is the module that an input selects: by id, or by a path, label or id in
// its bundle that only it has.
func (p *program) find(in *tool.InspectAnalysisViewInput) (int, error) {
	if in.NodeID != nil {
		for _, i := range p.modules {
			if p.graph.Nodes[i].ID != *in.NodeID {
				continue
			}
			if names := p.names(i); in.Name != nil && !slices.Contains(names, *in.Name) && !slices.ContainsFunc(names, endsWith(*in.Name)) {
				return 0, fault.InvalidRequest(fault.InvalidRequestDetails{
					Pointer: "/name", Keyword: "not", Expected: fmt.Sprintf("a name of the module that node_id selects, such as %s, or no name", quote(p.shown(i))),
				}, nil)
			}
			return i, nil
		}
		return 0, fault.Advise(fault.NameNotFound(fault.NameNotFoundDetails{Name: *in.NodeID, Nearest: []string{}}, nil), listModules)
	}
	if in.Name == nil {
		return 0, fault.InvalidRequest(fault.InvalidRequestDetails{Pointer: "/name", Keyword: "required", Expected: "the path of the module that the view selects, or its node_id"}, nil)
	}
	found := p.named(func(s string) bool { return s == *in.Name })
	if len(found) == 0 {
		found = p.named(endsWith(*in.Name))
	}
	switch len(found) {
	case 0:
		return 0, fault.Advise(fault.NameNotFound(fault.NameNotFoundDetails{Name: *in.Name, Nearest: p.nearest(*in.Name)}, nil), listModules)
	case 1:
		return found[0], nil
	}
	var candidates []string
	for i, node := range found {
		if i == maxCandidates {
			candidates = append(candidates, "and "+strconv.Itoa(len(found)-i)+" more")
			break
		}
		n := &p.graph.Nodes[node]
		candidates = append(candidates, fmt.Sprintf("%s (%s)", n.ID, n.Kind))
	}
	return 0, fault.InvalidRequest(fault.InvalidRequestDetails{
		Pointer: "/node_id", Keyword: "required", Expected: fmt.Sprintf("one of the %d modules named %q: %s", len(found), *in.Name, strings.Join(candidates, ", ")),
	}, nil)
}

// endsWith reports of a path whether its last parts are a name.
func endsWith(name string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, "/"+name) }
}

// shown is a name of a module for texts.
func (p *program) shown(node int) string {
	for _, name := range p.names(node) {
		if name != "" {
			return name
		}
	}
	return p.graph.Nodes[node].ID
}

// names of a module.
func (p *program) names(node int) []string {
	n := &p.graph.Nodes[node]
	out := []string{p.path(node), text(n.Properties["module_id"])}
	if n.Label != nil {
		out = append(out, *n.Label)
	}
	if n.Identity.Key != nil {
		out = append(out, *n.Identity.Key)
	}
	return out
}

func (p *program) named(is func(string) bool) []int {
	var out []int
	for _, i := range p.modules {
		if slices.ContainsFunc(p.names(i), is) {
			out = append(out, i)
		}
	}
	return out
}

// nearest are names that contain the last part of a name.
func (p *program) nearest(name string) []string {
	part := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	out := []string{}
	for _, i := range p.modules {
		if len(out) == 5 {
			break
		}
		if path := p.path(i); strings.Contains(strings.ToLower(path), part) && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// applicationSummary is the view of an application as a whole: what it is, how
// much of everything there is, and what was not read.
type applicationSummary struct{}

func (applicationSummary) takes() selectors { return selectors{} }

// maxGaps bounds those that a summary shows.
const maxGaps = 100

func (applicationSummary) read(result map[string]jsontext.Value, _ *tool.InspectAnalysisViewInput) (*facts, error) {
	p, err := readProgram(result)
	if err != nil {
		return nil, err
	}
	out := []byte(`{"application":`)
	out = append(out, orNull(result["application"])...)
	out = append(out, `,"statistics":`...)
	out = append(out, orNull(result["statistics"])...)
	out = append(out, `,"graph_id":`...)
	out = wire.AppendString(out, p.graph.GraphID)
	out = fmt.Appendf(out, `,"totals":{"files":%d,"nodes":%d,"edges":%d,"modules":%d}`, len(p.files), len(p.graph.Nodes), len(p.graph.Edges), len(p.modules))
	gaps := p.graph.Coverage.Gaps
	out = append(out, `,"coverage":{"application":{"status":`...)
	out = wire.AppendString(out, p.graph.Coverage.Status)
	out = fmt.Appendf(out, `,"total_gaps":%d,"gaps":`, len(gaps))
	out = wire.AppendSlice(out, gaps[:min(len(gaps), maxGaps)], (*model.ApplicationCoverageGap).AppendJSON)
	out = append(out, `},"semantic":`...)
	if out, err = semanticCoverage(out, result["semantics"]); err != nil {
		return nil, err
	}
	out = append(out, `},"integrity_contradictions":`...)
	out = append(out, orNull(result["integrity_contradictions"])...)
	f := &facts{value: append(out, '}'), unit: model.AnalysisViewResultUnitValue, returned: 1, complete: len(gaps) <= maxGaps}
	if !f.complete {
		f.limitation = fmt.Sprintf("%d of %d gaps are shown", maxGaps, len(gaps))
	}
	return f, nil
}

// semanticCoverage writes what of the semantic graph says how complete it is.
func semanticCoverage(out []byte, semantics jsontext.Value) ([]byte, error) {
	if semantics.Kind() != '{' {
		return append(out, null...), nil
	}
	members, err := object(semantics)
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"graph_id", "families", "omitted_nodes"} {
		out = append(out, "{,,"[i])
		out, _ = jsontext.AppendQuote(out, name)
		out = append(append(out, ':'), orNull(members[name])...)
	}
	return append(out, '}'), nil
}

func orNull(v jsontext.Value) jsontext.Value {
	if v == nil {
		return null
	}
	return v
}
