package flow

import (
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/feature"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/semantic"
)

// A Selector names nodes.
type Selector struct {
	Kind   string
	Value  string
	Match  feature.Matcher // of the value; nil for exact
	Fold   bool            // exact without regard to case
	Module string          // only in modules of this name, "" for all
}

// A Basis is what of a node a selector names.
type Basis string

// Bases.
const (
	ByID     Basis = "node-id"
	ByLabel  Basis = "label"
	ByModule Basis = "module"
	ByFact   Basis = "application-fact"
)

// A Match is a node that a selector names.
type Match struct {
	Node  int32
	Basis Basis
}

// kindsOf are the kinds of node that a kind of selector names by their labels.
var kindsOf = map[string][]semantic.Kind{
	"function": {semantic.Function},
	"binding":  {semantic.Variable, semantic.Parameter},
	"property": {semantic.Slot},
	"literal":  {semantic.Literal},
	"call": {
		semantic.Call, semantic.Promise, semantic.Timer, semantic.Event, semantic.Listener, semantic.ChildProcess, semantic.Request, semantic.Stdio,
		semantic.Signal, semantic.Resource, semantic.Parsing,
	},
	"environment": {semantic.Config},
	"export":      {semantic.Slot},
}

// facts are the kinds of selector that name facts of the application.
var facts = map[string]bool{
	"channel": true, "endpoint": true, "environment": true, "storage": true, "route": true, "api": true, "process": true, "window": true,
}

// Find lists the nodes that a selector names, in the order of the graph. unknown is
// the module that it asks for when there is none of that name.
func (p *Program) Find(s Selector) (found []Match, unknown string) {
	in, ok := p.modulesNamed(s.Module)
	if !ok {
		return nil, s.Module
	}
	switch {
	case s.Kind == "node-id":
		return p.keep(p.byID(s.Value), in), ""
	case s.Kind == "module":
		return p.keep(p.byModule(s), in), ""
	case facts[s.Kind]:
		found = p.byFact(s)
	}
	if kinds, ok := kindsOf[s.Kind]; ok || s.Kind == "string" {
		found = append(found, p.byLabel(s, kinds)...)
	}
	slices.SortStableFunc(found, func(a, b Match) int { return int(a.Node) - int(b.Node) })
	found = slices.CompactFunc(found, func(a, b Match) bool { return a.Node == b.Node })
	return p.keep(found, in), ""
}

// modulesNamed are the modules of a name; nil stands for all.
func (p *Program) modulesNamed(name string) (map[int]bool, bool) {
	if name == "" {
		return nil, true
	}
	in := map[int]bool{}
	for _, n := range p.Modules(name) {
		in[n] = true
		for i := range p.Graph.Edges { // a file has the modules that are packed in it
			if e := &p.Graph.Edges[i]; e.From == int64(n) && e.Relation == model.ApplicationRelationContains {
				in[int(e.To)] = true
			}
		}
	}
	return in, len(in) > 0
}

func (p *Program) keep(found []Match, in map[int]bool) []Match {
	if in == nil {
		return found
	}
	return slices.DeleteFunc(found, func(m Match) bool { return !in[p.Module(m.Node)] })
}

// byID takes ids of both graphs.
func (p *Program) byID(id string) []Match {
	if n := p.Node(id); n >= 0 {
		return []Match{{n, ByID}}
	}
	if n := p.Application.Node(id); n >= 0 {
		return p.standing([]int{n}, ByID)
	}
	return nil
}

func (p *Program) byModule(s Selector) []Match {
	match := s.Match
	if match == nil {
		match = feature.NewExact(feature.ByModule, s.Value, !s.Fold)
	}
	var nodes []int
	for _, m := range feature.Find(p.Application, feature.ByModule, match) {
		nodes = append(nodes, m.Node)
	}
	return p.standing(nodes, ByModule)
}

// byFact finds where facts of the application stand in the code.
func (p *Program) byFact(s Selector) []Match {
	match := s.Match
	if match == nil {
		match = feature.NewExact(feature.SeedKind(s.Kind), s.Value, !s.Fold)
	}
	var nodes []int
	var out []Match
	for _, m := range feature.Find(p.Application, feature.SeedKind(s.Kind), match) {
		if m.Field == "members" {
			out = append(out, p.member(m)...)
			continue
		}
		nodes = append(nodes, m.Node)
	}
	return append(out, p.standing(nodes, ByFact)...)
}

// member are the calls of one member of an API.
func (p *Program) member(m feature.Match) []Match {
	var out []Match
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.To == int64(m.Node) && e.Location != nil && recorded.Text(e.Properties["member"]) == m.Value {
			if n := p.at(*e.Location); n >= 0 {
				out = append(out, Match{n, ByFact})
			}
		}
	}
	return out
}

// standing are the nodes of the semantic graph that stand for nodes of the
// application graph: the modules that they are, with what these export, and the code
// at the places where they are named.
func (p *Program) standing(nodes []int, basis Basis) []Match {
	want := map[int64]bool{}
	for _, n := range nodes {
		want[int64(n)] = true
	}
	var out []Match
	add := func(n int32) {
		if n >= 0 {
			out = append(out, Match{n, basis})
		}
	}
	whole := map[int32]bool{}
	for i := range p.modules {
		if want[p.modules[i].application] {
			whole[int32(i)] = true
			add(p.modules[i].node)
		}
	}
	g := p.Semantic
	for n := range g.Kinds {
		if len(whole) > 0 && whole[p.module[n]] && semantic.Kind(g.Kinds[n]) == semantic.Slot && strings.HasPrefix(g.Label(int32(n)), "exports.") {
			add(int32(n))
		}
	}
	for _, n := range nodes {
		if at := p.Graph.Nodes[n].Location; at != nil && len(whole) == 0 {
			add(p.at(*at))
		}
	}
	for i := range p.Graph.Edges {
		e := &p.Graph.Edges[i]
		if e.Location == nil || !want[e.From] && !want[e.To] {
			continue
		}
		if code := p.Graph.Nodes[e.From].Kind; want[e.To] || code != model.ApplicationNodeKindJavascriptAsset && code != model.ApplicationNodeKindJavascriptModule && code != model.ApplicationNodeKindModuleGroup {
			add(p.at(*e.Location))
		}
	}
	slices.SortStableFunc(out, func(a, b Match) int { return int(a.Node) - int(b.Node) })
	return slices.CompactFunc(out, func(a, b Match) bool { return a.Node == b.Node })
}

// At is the node at a location, or -1.
func (p *Program) At(location int64) int32 { return p.at(location) }

// at is the node at a location: the one that has its range, or the first that lies
// in it; -1 for none.
func (p *Program) at(location int64) int32 {
	l := &p.Locations
	u := p.byFile[l.File[location]]
	if u < 0 {
		return -1
	}
	g := p.Semantic
	unit := &g.Units[u]
	start, end := uint32(l.Start[location]), uint32(l.End[location])
	i, _ := slices.BinarySearch(g.Starts[unit.First:unit.First+unit.Count], start)
	found := int32(-1)
	for n := unit.First + int64(i); n < unit.First+unit.Count && g.Starts[n] <= end; n++ {
		if g.Starts[n] == start && g.Ends[n] == end && (found < 0 || isCall(semantic.Kind(g.Kinds[n]))) {
			if isCall(semantic.Kind(g.Kinds[n])) {
				return int32(n)
			}
			found = int32(n)
		}
		if found < 0 && g.Ends[n] <= end {
			found = int32(n)
		}
	}
	return found
}

// byLabel looks at labels: exact ones and their last steps.
func (p *Program) byLabel(s Selector, kinds []semantic.Kind) []Match {
	g := p.Semantic
	is := make([]bool, len(g.Strings)) // labels are shared by many nodes
	for i, label := range g.Strings {
		is[i] = s.names(label)
	}
	var out []Match
	for n := range g.Kinds {
		if g.Labels[n] >= 0 && is[g.Labels[n]] && (kinds == nil || slices.Contains(kinds, semantic.Kind(g.Kinds[n]))) {
			out = append(out, Match{int32(n), ByLabel})
		}
	}
	return out
}

func (s *Selector) names(label string) bool {
	if s.Kind == "export" {
		name, ok := strings.CutPrefix(label, "exports.")
		if !ok {
			return false
		}
		label = name
	}
	if s.Match != nil {
		return s.Match.Match(label)
	}
	if len(label) < len(s.Value) {
		return false
	}
	if rest := len(label) - len(s.Value); rest > 0 {
		if label[rest-1] != '.' || s.Kind == "literal" || s.Kind == "function" {
			return false
		}
		label = label[rest:]
	}
	return label == s.Value || s.Fold && strings.EqualFold(label, s.Value)
}

// Label of a module in results.
func (p *Program) ModuleLabel(n int32) string {
	node := p.Module(n)
	if path := p.Path(node); path != "" {
		return path
	}
	if file := recorded.Text(p.Graph.Nodes[node].Properties["file"]); file != "" {
		return file + "#" + p.Label(node)
	}
	return p.Label(node)
}
