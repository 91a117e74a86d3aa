package slice

import (
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/flow"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/semantic"
)

// An index finds the facts of functions, and the functions of facts.
type index struct {
	p *flow.Program
	g *model.ApplicationGraph

	// facts are the edges that have a place, by the function or module around that
	// place; bare are those of modules whose code has no semantic graph, by module.
	facts map[int32][]int
	bare  map[int][]int
	// leaving and entering are the edges of each node.
	leaving, entering [][]int32
	modules           map[int]int32 // semantic node of a module
	members           map[int][]member
	behind            map[int32]api   // functions of exposed APIs
	sent              map[int32]bool  // calls that send a message or call an API
	handler           map[int32][]int // listeners that stand for facts: edges of handlers and routes
	used              map[int][]use
	usedIn            map[int]map[int32][]int // imports that are used in a function, by module
}

// A member of an exposed API.
type member struct {
	name     string
	function int32
}

// An api of which a function is a member.
type api struct {
	edge int // that exposes it
	name string
}

// A use of what an import gives.
type use struct {
	region int32
	name   string // of the member that is called, "" for the whole
	call   int32  // the call, which may only be given it
	callee bool   // it is what is called
}

func newIndex(p *flow.Program) *index {
	g := &p.Graph
	x := &index{
		p: p, g: g, facts: map[int32][]int{}, bare: map[int][]int{}, leaving: make([][]int32, len(g.Nodes)), entering: make([][]int32, len(g.Nodes)),
		modules: map[int]int32{}, members: map[int][]member{}, behind: map[int32]api{}, sent: map[int32]bool{}, handler: map[int32][]int{},
		used: map[int][]use{}, usedIn: map[int]map[int32][]int{},
	}
	for i := range p.Semantic.Units {
		u := &p.Semantic.Units[i]
		for k, n := range u.Modules {
			if a := int(u.Application[k]); !p.IsOpaque(a) {
				x.modules[a] = int32(n)
			}
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		x.leaving[e.From] = append(x.leaving[e.From], int32(i))
		x.entering[e.To] = append(x.entering[e.To], int32(i))
		if e.Location == nil || !isCode(g.Nodes[e.From].Kind) && g.Nodes[e.From].Kind != model.ApplicationNodeKindHTMLDocument {
			continue
		}
		at, region := x.region(i)
		if region < 0 {
			x.bare[int(e.From)] = append(x.bare[int(e.From)], i)
			continue
		}
		x.facts[region] = append(x.facts[region], i)
		switch to := g.Nodes[e.To].Kind; {
		case e.Relation == model.ApplicationRelationHandles, e.Relation == model.ApplicationRelationContains && to == model.ApplicationNodeKindIpcHandler:
			x.handler[at] = append(x.handler[at], i)
		case to == model.ApplicationNodeKindIpcChannel, to == model.ApplicationNodeKindContextBridgeAPI && e.Relation == model.ApplicationRelationInvokes:
			x.sent[at] = true
		case e.Relation == model.ApplicationRelationExposes:
			x.expose(i, at)
		}
	}
	return x
}

// region is the node at the place of an edge, and the function or module around it.
func (x *index) region(edge int) (at, region int32) {
	e := &x.g.Edges[edge]
	top, known := x.modules[int(e.From)]
	if !known {
		return none, none
	}
	at = x.p.At(*e.Location)
	switch {
	case at < 0:
		return none, top
	case x.p.Kind(at) == semantic.Module:
		return at, at
	}
	return at, x.p.Around(at)
}

// expose finds the functions that an API has.
func (x *index) expose(edge int, call int32) {
	var list []member
	x.p.Into(call, func(e semantic.Edge) {
		if e.Kind == semantic.Argument {
			list = x.collect(e.From, "", list, 0)
		}
	})
	to := int(x.g.Edges[edge].To)
	for _, m := range list {
		x.members[to] = append(x.members[to], m)
		x.behind[m.function] = api{edge, m.name}
	}
}

const (
	maxDeep    = 6
	maxMembers = 1000
)

// collect adds the functions that an object has as members, in any depth.
func (x *index) collect(n int32, path string, list []member, depth int) []member {
	if depth > maxDeep || len(list) > maxMembers {
		return list
	}
	if f := x.p.Origin(n); f >= 0 {
		return append(list, member{path, f})
	}
	x.objects(n, func(o int32) {
		for _, e := range x.p.From(o) {
			if e.Kind != semantic.Property {
				continue
			}
			name := lastStep(x.p.Semantic.Label(e.To))
			if path != "" {
				name = path + "." + name
			}
			list = x.collect(e.To, name, list, depth+1)
		}
	})
	return list
}

// objects gives a node and what flows into it.
func (x *index) objects(n int32, yield func(int32)) {
	for range maxDeep {
		yield(n)
		from := int32(none)
		x.p.Into(n, func(e semantic.Edge) {
			if e.Kind == semantic.Flows || e.Kind == semantic.Crosses {
				from = e.From
			}
		})
		if from < 0 {
			return
		}
		n = from
	}
}

func lastStep(label string) string { return label[strings.LastIndexByte(label, '.')+1:] }

// isTop reports whether a function is run once, when its module is: it is the
// module, a function that is called where it stands, or the one that a bundler put
// around a module.
func (x *index) isTop(f int32) bool {
	for range maxDeep {
		if x.p.Kind(f) == semantic.Module || x.isWrapper(f) {
			return true
		}
		at := int32(none)
		x.p.Into(f, func(e semantic.Edge) {
			g := x.p.Semantic
			if e.Kind == semantic.Calls && g.UnitOf(e.From) == g.UnitOf(f) && g.Starts[e.From] <= g.Starts[f] && g.Ends[f] <= g.Ends[e.From] {
				at = e.From
			}
		})
		if at < 0 {
			return false
		}
		f = x.p.Around(at)
	}
	return false
}

// maxKey bounds what stands in front of the function around a module of a bundle:
// its id.
const maxKey = 200

func (x *index) isWrapper(f int32) bool {
	g, m := x.p.Semantic, x.p.Around(f)
	if m < 0 || x.p.Kind(m) != semantic.Module || x.p.Around(m) < 0 || g.Ends[f] != g.Ends[m] || g.Starts[f]-g.Starts[m] > maxKey {
		return false
	}
	for _, e := range x.p.From(f) {
		if e.Kind == semantic.Flows && x.p.Kind(e.To) == semantic.Variable {
			return false
		}
	}
	return true
}

// isSetup reports whether a function registers what answers messages or makes
// windows: what it does belongs to more than one feature.
func (x *index) isSetup(f int32) bool {
	return slices.ContainsFunc(x.facts[f], func(i int) bool {
		e := &x.g.Edges[i]
		switch x.g.Nodes[e.To].Kind {
		case model.ApplicationNodeKindIpcHandler:
			return e.Relation == model.ApplicationRelationContains
		case model.ApplicationNodeKindBrowserWindow, model.ApplicationNodeKindElectronRenderer, model.ApplicationNodeKindElectronPreload:
			return true
		case model.ApplicationNodeKindRoute:
			return e.Relation == model.ApplicationRelationHandles
		case model.ApplicationNodeKindContextBridgeAPI:
			return e.Relation == model.ApplicationRelationExposes
		}
		return false
	})
}

const maxUses = 4096

// uses are the places where what an import gives is called, or given to a call.
func (x *index) uses(edge int) []use {
	if list, ok := x.used[edge]; ok {
		return list
	}
	var list []use
	e := &x.g.Edges[edge]
	if e.Location != nil {
		type held struct {
			node int32
			name string
		}
		seen := map[held]bool{}
		var queue []held
		add := func(n int32, name string) {
			if h := (held{n, name}); !seen[h] && len(queue) < maxUses {
				seen[h] = true
				queue = append(queue, h)
			}
		}
		x.p.Within(*e.Location, func(n int32) { add(n, "") })
		for i := 0; i < len(queue); i++ {
			h := queue[i]
			for _, s := range x.p.From(h.node) {
				switch s.Kind {
				case semantic.Flows, semantic.Awaits:
					if k := x.p.Kind(s.To); k == semantic.Variable || k == semantic.Slot || k == semantic.Parameter || k == semantic.Boundary || k == semantic.Return {
						add(s.To, h.name)
					}
				case semantic.Crosses:
					add(s.To, h.name)
				case semantic.Property:
					name := lastStep(x.p.Semantic.Label(s.To))
					if h.name != "" {
						name = h.name + "." + name
					}
					add(s.To, name)
				case semantic.Callee, semantic.Argument, semantic.Uses, semantic.Spawns, semantic.Asks:
					list = append(list, use{x.p.Around(s.To), h.name, s.To, s.Kind == semantic.Callee})
				}
			}
		}
	}
	x.used[edge] = list
	return list
}

// imports are the imports of a module that a function of it uses.
func (x *index) imports(module int, region int32) []int {
	by, ok := x.usedIn[module]
	if !ok {
		by = map[int32][]int{}
		for _, i := range x.leaving[module] {
			if !x.isImport(int(i)) {
				continue
			}
			for _, u := range x.uses(int(i)) {
				if x.p.Module(u.call) == module && !slices.Contains(by[u.region], int(i)) {
					by[u.region] = append(by[u.region], int(i))
				}
			}
		}
		x.usedIn[module] = by
	}
	return by[region]
}

// isImport reports whether an edge gives a module something from outside of it.
func (x *index) isImport(edge int) bool {
	e := &x.g.Edges[edge]
	return e.Relation == model.ApplicationRelationImports || e.Location != nil && isNative(x.g.Nodes[e.To].Kind)
}

// isNative reports whether nodes of a kind are native add-ons, or ask for one by
// name.
func isNative(k model.ApplicationNodeKind) bool {
	return k == model.ApplicationNodeKindNativeAddon || k == model.ApplicationNodeKindNativeBinding
}

// forwards is the edge by which a module of a bundle hands on one from outside of
// it, or none.
func (x *index) forwards(module int) int {
	found := none
	for _, i := range x.leaving[module] {
		switch e := &x.g.Edges[i]; {
		case e.Relation == model.ApplicationRelationMapsTo:
		case e.Relation == model.ApplicationRelationImports && found == none && x.g.Nodes[e.From].Kind == model.ApplicationNodeKindJavascriptModule:
			found = int(i)
		default:
			return none
		}
	}
	if m, ok := x.modules[module]; !ok || len(x.p.Contents(m)) > 1 {
		return none
	}
	return found
}

// names are those that functions call of what an edge imports.
func (x *index) names(edge int, in func(region int32) bool) []string {
	var out []string
	for _, u := range x.uses(edge) {
		if u.callee && u.name != "" && in(u.region) {
			out = append(out, u.name)
		}
	}
	return out
}

// exported are the properties of a module that it exports under a name.
func (x *index) exported(module int, name string) []int32 {
	m, ok := x.modules[module]
	if !ok {
		return nil
	}
	var out []int32
	x.each(m, func(n int32) {
		if x.p.Kind(n) == semantic.Slot && x.p.Semantic.Label(n) == "exports."+name {
			out = append(out, n)
		}
	})
	return out
}

// exportedFunctions are those that a module exports under a name. Where the semantic
// graph does not say which, as where a bundle hands names on, it is the only one of
// that name at the top of a module of the file.
func (x *index) exportedFunctions(module int, name string) []int32 {
	var out []int32
	for _, slot := range x.exported(module, name) {
		if f := x.p.Origin(slot); f >= 0 {
			out = append(out, f)
		}
	}
	m, ok := x.modules[module]
	if len(out) > 0 || !ok {
		return out
	}
	u := x.p.Semantic.UnitOf(m)
	for n := int32(u.First); n < int32(u.First+u.Count); n++ {
		if x.p.Kind(n) == semantic.Function && x.p.Semantic.Label(n) == name && x.isKept(n) && x.isTop(x.p.Around(n)) {
			if out = append(out, n); len(out) > 1 {
				return nil
			}
		}
	}
	return out
}

// isKept reports whether a variable is a function.
func (x *index) isKept(f int32) bool {
	return slices.ContainsFunc(x.p.From(f), func(e semantic.Edge) bool { return e.Kind == semantic.Flows && x.p.Kind(e.To) == semantic.Variable })
}

// each gives the nodes of a module. Nodes are in order of place.
func (x *index) each(module int32, yield func(n int32)) {
	g := x.p.Semantic
	u := g.UnitOf(module)
	for n := module; n < int32(u.First+u.Count) && g.Starts[n] <= g.Ends[module]; n++ {
		if x.p.ModuleNode(n) == module {
			yield(n)
		}
	}
}

// property of an edge.
func property(e *model.ApplicationEdge, name string) string { return recorded.Text(e.Properties[name]) }
