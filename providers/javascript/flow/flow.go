// Package flow follows values and calls through the semantic graph of a recorded
// application.
//
// # Directions
//
// Relations of the graph point the way that values and control go. Forward follows
// values that way, and goes from events, timers and messages to what they run;
// backward follows values against it. Callers and callees follow control alone,
// from functions to the calls in them and from calls to the functions that run, or
// back. Ownership goes outwards: to the function and module around a place, the
// object that has a property, the functions that keep a variable, the variable that
// holds a timer or a resource.
//
// # Bounds
//
// A walk is breadth first, so every node is reached on a shortest way. What was
// seen and not followed is the frontier; where the graph does not tell what goes on
// is an unknown.
package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/semantic"
)

// A Program is the semantic graph of a recorded application.
type Program struct {
	*recorded.Application
	Semantic *semantic.Graph

	first    []int32 // edges from a node are those from first[n] on
	firstIn  []int32 // and edges to it the rows in incoming from firstIn[n] on
	incoming []int32
	owner    []int32 // function or module around a node, -1 for modules of files
	module   []int32 // of a node, as number among all modules
	modules  []module
	units    map[string]int // by key
	byFile   []int          // unit of a file, -1 for none
	inside   [][]int32      // calls in each function, made when they are needed
}

type module struct {
	node        int32
	application int64
}

// Open reads the semantic graph of an application; the error says what of it
// contradicts itself or the application.
func Open(app *recorded.Application) (*Program, error) {
	g, err := semantic.Decode(&app.Semantics)
	if err != nil {
		return nil, err
	}
	p := &Program{Application: app, Semantic: g, units: map[string]int{}}
	if err := p.bind(); err != nil {
		return nil, err
	}
	p.index()
	p.own()
	return p, nil
}

// bind holds the graph to the application that it belongs to.
func (p *Program) bind() error {
	g, a := p.Semantic, p.Application
	if g.Application != a.Graph.GraphID {
		return fmt.Errorf("it belongs to another application graph")
	}
	file := int64(-1)
	for i := range g.Units {
		u := &g.Units[i]
		if u.File <= file || u.File >= int64(len(a.Files)) {
			return fmt.Errorf("unit %d is of no file, or of one that has a unit", i)
		}
		file = u.File
		for k, n := range u.Application {
			if n < 0 || n >= int64(len(a.Graph.Nodes)) {
				return fmt.Errorf("a module of unit %d is not in the application graph", i)
			}
			switch a.Graph.Nodes[n].Kind {
			case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup, model.ApplicationNodeKindHTMLDocument:
			default:
				return fmt.Errorf("a module of unit %d is a %s", i, a.Graph.Nodes[n].Kind)
			}
			if k == 0 && u.Modules[0] != u.First {
				return fmt.Errorf("the file of unit %d is not its first node", i)
			}
		}
		for n := u.First; n < u.First+u.Count; n++ {
			if int64(g.Ends[n]) > a.Files[file].Size {
				return fmt.Errorf("node %d lies outside of its file", n)
			}
		}
		p.units[p.key(i)] = i
	}
	p.byFile = slices.Repeat([]int{-1}, len(a.Files))
	for i := range g.Units {
		p.byFile[g.Units[i].File] = i
	}
	return nil
}

// key of a unit in ids of nodes: of the path and the bytes of its file.
func (p *Program) key(unit int) string {
	return strings.TrimPrefix(p.Graph.Nodes[p.Semantic.Units[unit].Application[0]].ID, "jan_")[:16]
}

func (p *Program) index() {
	g := p.Semantic
	p.first, p.firstIn = make([]int32, len(g.Kinds)+1), make([]int32, len(g.Kinds)+1)
	for i := range g.Edges {
		p.first[g.Edges[i].From+1]++
		p.firstIn[g.Edges[i].To+1]++
	}
	for i := 1; i < len(p.first); i++ {
		p.first[i] += p.first[i-1]
		p.firstIn[i] += p.firstIn[i-1]
	}
	p.incoming = make([]int32, len(g.Edges))
	fill := slices.Clone(p.firstIn)
	for i := range g.Edges {
		to := g.Edges[i].To
		p.incoming[fill[to]] = int32(i)
		fill[to]++
	}
}

// own finds what is around each node. Nodes are in order of place, outer before
// inner.
func (p *Program) own() {
	g := p.Semantic
	p.owner, p.module = make([]int32, len(g.Kinds)), make([]int32, len(g.Kinds))
	number := map[int32]int32{}
	for i := range g.Units {
		u := &g.Units[i]
		for k, n := range u.Modules {
			number[int32(n)] = int32(len(p.modules))
			p.modules = append(p.modules, module{int32(n), u.Application[k]})
		}
		var around []int32
		for n := int32(u.First); n < int32(u.First+u.Count); n++ {
			for len(around) > 0 && g.Ends[around[len(around)-1]] < g.Ends[n] || len(around) > 1 && g.Ends[around[len(around)-1]] <= g.Starts[n] && g.Starts[n] < g.Ends[n] {
				around = around[:len(around)-1]
			}
			p.owner[n] = -1
			if len(around) > 0 {
				p.owner[n] = around[len(around)-1]
			}
			switch semantic.Kind(g.Kinds[n]) {
			case semantic.Module:
				if m, ok := number[n]; ok {
					p.module[n] = m
					around = append(around, n)
					continue
				}
			case semantic.Function:
				around = append(around, n)
			}
			if p.owner[n] >= 0 {
				p.module[n] = p.module[p.owner[n]]
			} else {
				p.module[n] = number[int32(u.Modules[0])]
			}
		}
	}
}

// from are the relations that begin at a node.
func (p *Program) from(n int32) []semantic.Edge {
	return p.Semantic.Edges[p.first[n]:p.first[n+1]]
}

// Function is the function around a node, or -1 at the top of a module.
func (p *Program) Function(n int32) int32 {
	if o := p.owner[n]; o >= 0 && semantic.Kind(p.Semantic.Kinds[o]) == semantic.Function {
		return o
	}
	return -1
}

// IsOpaque reports whether the semantic graph does not look into a module of the
// application graph: its code is a text that is compiled at run time.
func (p *Program) IsOpaque(module int) bool {
	return string(p.Graph.Nodes[module].Properties["compiled_at_run_time"]) == "true"
}

// Opaque counts the modules that the semantic graph does not look into.
func (p *Program) Opaque() int {
	n := 0
	for i := range p.Graph.Nodes {
		if p.IsOpaque(i) {
			n++
		}
	}
	return n
}

// From are the relations that begin at a node.
func (p *Program) From(n int32) []semantic.Edge { return p.from(n) }

// Into gives the relations that end at a node.
func (p *Program) Into(n int32, yield func(semantic.Edge)) {
	for _, row := range p.incoming[p.firstIn[n]:p.firstIn[n+1]] {
		yield(p.Semantic.Edges[row])
	}
}

// Kind of a node.
func (p *Program) Kind(n int32) semantic.Kind { return semantic.Kind(p.Semantic.Kinds[n]) }

// Around is the function or module around a node, or -1 for modules of files.
func (p *Program) Around(n int32) int32 { return p.owner[n] }

// ModuleNode is the node of the module that a node lies in.
func (p *Program) ModuleNode(n int32) int32 { return p.modules[p.module[n]].node }

// Contents are the calls that stand in a function or module, and not in a function
// inside of it.
func (p *Program) Contents(n int32) []int32 {
	if p.inside == nil {
		p.inside = make([][]int32, len(p.owner))
		for k, o := range p.owner {
			if o >= 0 && isCall(semantic.Kind(p.Semantic.Kinds[k])) {
				p.inside[o] = append(p.inside[o], int32(k))
			}
		}
	}
	return p.inside[n]
}

// Within gives the nodes that lie in a location.
func (p *Program) Within(location int64, yield func(n int32)) {
	l, g := &p.Locations, p.Semantic
	u := p.byFile[l.File[location]]
	if u < 0 {
		return
	}
	unit := &g.Units[u]
	end := uint32(l.End[location])
	i, _ := slices.BinarySearch(g.Starts[unit.First:unit.First+unit.Count], uint32(l.Start[location]))
	for n := unit.First + int64(i); n < unit.First+unit.Count && g.Starts[n] < end; n++ {
		if g.Ends[n] <= end {
			yield(int32(n))
		}
	}
}

// IsCall reports whether a node stands for something that is called.
func (p *Program) IsCall(n int32) bool { return isCall(p.Kind(n)) }

// maxOrigins bounds the steps from a value back to the function that it is.
const maxOrigins = 12

// Origin is the function that a value is, as far as is known: the only value that
// flows into it. Or -1.
func (p *Program) Origin(n int32) int32 {
	for range maxOrigins {
		if p.Kind(n) == semantic.Function {
			return n
		}
		from, several := int32(-1), false
		p.Into(n, func(e semantic.Edge) {
			if e.Kind == semantic.Flows || e.Kind == semantic.Crosses {
				several = several || from >= 0 && from != e.From
				from = e.From
			}
		})
		if from < 0 || several {
			return -1
		}
		n = from
	}
	return -1
}

// Module is the node of the application graph that a node lies in.
func (p *Program) Module(n int32) int { return int(p.modules[p.module[n]].application) }

// Place of a node.
func (p *Program) Place(n int32) model.ApplicationPlace {
	g := p.Semantic
	u := g.UnitOf(n)
	return model.ApplicationPlace{Path: p.Files[u.File].Path, Start: int64(g.Starts[n]), End: int64(g.Ends[n]), Line: u.Line(g.Starts[n])}
}

// ID of a node: of its file, its kind and its range, and of its number where several
// nodes have these.
func (p *Program) ID(n int32) string {
	g := p.Semantic
	u, _ := slices.BinarySearchFunc(g.Units, int64(n), func(u semantic.UnitRange, n int64) int {
		if n < u.First {
			return 1
		}
		if n >= u.First+u.Count {
			return -1
		}
		return 0
	})
	id := fmt.Sprintf("jsn_%s_%c%x_%x", p.key(u), g.Kinds[n], g.Starts[n], g.Ends[n])
	again := 0
	for k := n - 1; k >= int32(g.Units[u].First) && p.alike(k, n); k-- {
		again++
	}
	if again > 0 {
		id += "_" + strconv.Itoa(again)
	}
	return id
}

func (p *Program) alike(a, b int32) bool {
	g := p.Semantic
	return g.Kinds[a] == g.Kinds[b] && g.Starts[a] == g.Starts[b] && g.Ends[a] == g.Ends[b]
}

// Node is the node with an id, or -1.
func (p *Program) Node(id string) int32 {
	parts := strings.Split(id, "_")
	if len(parts) < 4 || len(parts) > 5 || parts[0] != "jsn" || len(parts[2]) < 2 {
		return -1
	}
	u, ok := p.units[parts[1]]
	if !ok {
		return -1
	}
	at, err := strconv.ParseUint(parts[2][1:], 16, 32)
	if err != nil {
		return -1
	}
	unit := &p.Semantic.Units[u]
	starts := p.Semantic.Starts[unit.First : unit.First+unit.Count]
	i, _ := slices.BinarySearch(starts, uint32(at))
	for ; i < len(starts) && starts[i] == uint32(at); i++ {
		if n := int32(unit.First) + int32(i); p.Semantic.Kinds[n] == parts[2][0] && p.ID(n) == id {
			return n
		}
	}
	return -1
}

// A Provenance is how a relation came to be known.
type Provenance = model.ApplicationProvenance

func provenance(authority model.ApplicationProvenanceAuthority, state model.ApplicationProvenanceState, confidence model.ApplicationProvenanceConfidence, reason string) Provenance {
	out := Provenance{Extractor: "rea.javascript.semantic/1", Authority: authority, State: state, Confidence: confidence}
	if reason != "" {
		out.Reason = &reason
	}
	return out
}

const (
	syntax     = model.ApplicationProvenanceAuthoritySyntaxTree
	correlated = model.ApplicationProvenanceAuthorityCorrelation
	observed   = model.ApplicationProvenanceStateObserved
	inferred   = model.ApplicationProvenanceStateInferred
	uncertain  = model.ApplicationProvenanceStateUnknown
	exact      = model.ApplicationProvenanceConfidenceExact
	high       = model.ApplicationProvenanceConfidenceHigh
	medium     = model.ApplicationProvenanceConfidenceMedium
	low        = model.ApplicationProvenanceConfidenceLow
)

// Known is how a relation came to be known.
func (p *Program) Known(e semantic.Edge) Provenance {
	g := p.Semantic
	here := p.owner[e.From] >= 0 && g.UnitOf(e.From) == g.UnitOf(e.To)
	switch e.Kind {
	case semantic.Crosses:
		if semantic.Kind(g.Kinds[e.From]) == semantic.Module {
			return provenance(correlated, inferred, medium, "the module is loaded; which of its values it is was not found")
		}
		return provenance(correlated, inferred, high, "an export and an import of one name, of modules that resolve")
	case semantic.Delivers, semantic.Answers:
		if p.deliveries(e) > 1 {
			return provenance(correlated, uncertain, low, "several listen on the channel")
		}
		return provenance(correlated, inferred, high, "the only ones of a literal channel")
	case semantic.Starts:
		return provenance(correlated, inferred, high, "a path that names a file of the application")
	case semantic.Calls, semantic.Results, semantic.Callee:
		if !here {
			return provenance(correlated, inferred, high, "the only value that an import or an exposed member has")
		}
		return provenance(syntax, observed, exact, "")
	case semantic.Passes:
		switch semantic.Kind(g.Kinds[e.From]) {
		case semantic.Call, semantic.Promise, semantic.Timer, semantic.Event, semantic.Listener, semantic.Signal:
			return provenance(syntax, inferred, medium, "which of what is given becomes which parameter is not told apart")
		}
		return provenance(syntax, observed, exact, "")
	case semantic.Listens, semantic.Schedules, semantic.Continues, semantic.Spawns, semantic.Asks, semantic.Uses, semantic.Parses:
		call := e.From
		if e.Kind != semantic.Listens && e.Kind != semantic.Schedules && e.Kind != semantic.Continues {
			call = e.To
		}
		if label := g.Label(call); strings.HasPrefix(label, "?.") || label == "" {
			return provenance(syntax, inferred, medium, "by the name of the method alone")
		}
		return provenance(syntax, inferred, high, "by the name of what is called")
	case semantic.Property, semantic.Flows:
		k := semantic.Kind(g.Kinds[e.To])
		if k == semantic.Slot || semantic.Kind(g.Kinds[e.From]) == semantic.Slot {
			return provenance(syntax, observed, high, "properties are followed by name, and not by time")
		}
	}
	return provenance(syntax, observed, exact, "")
}

// deliveries counts where the message of a sender may go.
func (p *Program) deliveries(e semantic.Edge) int {
	sender := e.From
	if e.Kind == semantic.Answers {
		sender = e.To
	}
	n := 0
	for _, d := range p.from(sender) {
		if d.Kind == semantic.Delivers {
			n++
		}
	}
	return n
}
