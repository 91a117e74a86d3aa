package semantic

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"rea/generated/wire"
	"rea/providers/javascript/parse"
)

// A Part is a unit with where it lies in the application.
type Part struct {
	File        int64
	Unit        *Unit
	Application []int64  // nodes of the application graph, by module of the unit
	Lines       []uint32 // offsets at which lines begin
	// ModuleAt is the index of the module at an offset.
	ModuleAt func(at uint32) int
}

// A Target is a module of a part.
type Target struct{ Part, Module int }

// A Resolver tells which module code at an offset of a part means by a specifier,
// in is as in Import.
type Resolver func(part int, at uint32, specifier string, in int) (Target, bool)

// A Join puts units together and relates what one has from another.
type Join struct {
	Graph *Graph

	parts   []Part
	resolve Resolver
	exports []map[string]int32 // by module of all parts
	first   []int              // module of a part among all
	more    []Edge
	starts  []int32 // edges of a node are those from starts[n] on
	in      inflow
	found   map[wanted]int32 // names that were looked for through other modules
	// searched is how many modules were looked through for all of them.
	searched int
	params   map[int32][]int32
	args     inflow // nil until it was asked for
	passed   inflow // likewise, of parameters
}

// NewJoin makes one graph of parts, unless ctx ends before it is done: exports are
// related to what imports them, and calls of imported functions to those.
func NewJoin(ctx context.Context, parts []Part, resolve Resolver) *Join {
	j := &Join{Graph: &Graph{}, parts: parts, resolve: resolve, found: map[wanted]int32{}, params: map[int32][]int32{}}
	for _, step := range []func(){j.collect, j.names, j.imports, j.settle, j.calls, j.settle, j.instances, j.settle} {
		if ctx.Err() != nil {
			break
		}
		step()
	}
	return j
}

// Finish ends the work with a join.
func (j *Join) Finish() *Graph {
	if len(j.more) > 0 {
		j.Graph.Edges = mergeEdges(j.Graph.Edges, SortEdges(j.more))
	}
	j.Graph.cover()
	return j.Graph
}

// collect puts the nodes and relations of all parts one behind the other.
func (j *Join) collect() {
	g := j.Graph
	nodes, edges, functions := make([]int, len(j.parts)+1), make([]int, len(j.parts)+1), 0
	for i := range j.parts {
		p := &j.parts[i]
		nodes[i+1], edges[i+1] = nodes[i]+len(p.Unit.Nodes), edges[i]+len(p.Unit.Edges)
		functions += len(p.Unit.Functions)
		first := int32(nodes[i])
		r := UnitRange{File: p.File, First: int64(first), Count: int64(len(p.Unit.Nodes)), Application: p.Application, Lines: p.Lines}
		for _, m := range p.Unit.Modules {
			r.Modules = append(r.Modules, int64(first+m))
		}
		g.Units = append(g.Units, r)
		g.Omitted += int64(p.Unit.Omitted)
	}
	all, related := nodes[len(j.parts)], edges[len(j.parts)]
	var work sync.WaitGroup
	work.Go(func() {
		g.Kinds, g.Starts, g.Ends, g.Labels = make([]byte, all), make([]uint32, all), make([]uint32, all), make([]int32, all)
		labels := j.strings()
		for i := range j.parts {
			at := nodes[i]
			for k := range j.parts[i].Unit.Nodes {
				n := &j.parts[i].Unit.Nodes[k]
				g.Kinds[at], g.Starts[at], g.Ends[at], g.Labels[at] = byte(n.Kind), n.At.Start, n.At.End, labels[i][n.Label]
				at++
			}
		}
	})
	work.Go(func() {
		g.Edges = make([]Edge, related, related+related/16)
		for i := range j.parts {
			at, first := edges[i], int32(nodes[i])
			for _, e := range j.parts[i].Unit.Edges {
				g.Edges[at] = Edge{e.Kind, e.From + first, e.To + first}
				at++
			}
		}
		j.index(all)
		g.Functions = make([]int32, 0, functions)
		var digits []byte
		for i := range j.parts {
			for k, f := range j.parts[i].Unit.Functions {
				g.Functions = append(g.Functions, f+int32(nodes[i]))
				digits = hex.AppendEncode(digits, j.parts[i].Unit.Prints[k][:])
			}
		}
		g.Prints = make([]string, functions)
		if functions > 0 {
			text, n := string(digits), len(digits)/functions
			for i := range g.Prints {
				g.Prints[i] = text[i*n : (i+1)*n]
			}
		}
	})
	work.Wait()
}

// strings makes the table of labels, frequent ones first so that their numbers are
// short, and gives the numbers of those of each part. What is used as often as
// another comes in the order in which they appear.
func (j *Join) strings() (numbers [][]int32) {
	numbers = make([][]int32, len(j.parts))
	index := map[string]int32{}
	var texts []string
	var uses []uint32
	for i := range j.parts {
		u := j.parts[i].Unit
		numbers[i] = make([]int32, len(u.Labels))
		numbers[i][0] = -1
		for k, text := range u.Labels[1:] {
			n, ok := index[text]
			if !ok {
				n = int32(len(texts))
				index[text] = n
				texts, uses = append(texts, text), append(uses, 0)
			}
			numbers[i][k+1] = n
		}
		for k := range u.Nodes {
			if l := u.Nodes[k].Label; l != 0 {
				uses[numbers[i][l]]++
			}
		}
	}
	order := make([]uint64, len(texts))
	for i, n := range uses {
		order[i] = uint64(^n)<<32 | uint64(i)
	}
	slices.Sort(order)
	rank := make([]int32, len(texts))
	j.Graph.Strings = make([]string, len(texts))
	for i, o := range order {
		rank[uint32(o)] = int32(i)
		j.Graph.Strings[i] = texts[uint32(o)]
	}
	for i := range numbers {
		for k, n := range numbers[i][1:] {
			numbers[i][k+1] = rank[n]
		}
	}
	return numbers
}

// names finds the exports of modules. Of a name that is exported again, the last
// counts: compilers declare exports as undefined first.
func (j *Join) names() {
	for i := range j.parts {
		p := &j.parts[i]
		at := len(j.exports)
		j.first = append(j.first, at)
		j.exports = append(j.exports, make([]map[string]int32, len(p.Unit.Modules))...)
		base := int32(j.Graph.Units[i].First)
		for _, e := range p.Unit.Exports {
			m := at + p.ModuleAt(p.Unit.Nodes[e.Node].At.Start)
			if j.exports[m] == nil {
				j.exports[m] = map[string]int32{}
			}
			j.exports[m][e.Name] = base + e.Node
		}
	}
}

// A wanted name of a module.
type wanted struct {
	Target
	name string
}

// export is the node of an exported name, or none.
func (j *Join) export(t Target, name string) int32 {
	if n, ok := j.exports[j.first[t.Part]+t.Module][name]; ok {
		return n
	}
	if len(j.parts[t.Part].Unit.Reexports) == 0 {
		return none
	}
	w := wanted{t, name}
	n, ok := j.found[w]
	if !ok {
		n = j.search(w)
		j.found[w] = n
	}
	return n
}

const (
	// maxReexports bounds how many modules are looked through for one name.
	maxReexports = 1000
	// maxSearched bounds how often modules are looked through before names that were
	// not found by way of many count as missing from all of them.
	maxSearched = 200_000
)

// search looks for a name through the modules that hand it on, each once.
func (j *Join) search(w wanted) int32 {
	seen := map[wanted]bool{w: true}
	queue := []wanted{w}
	defer func() { j.searched += len(seen) }()
	for len(queue) > 0 && len(seen) <= maxReexports {
		w := queue[0]
		queue = queue[1:]
		if n, ok := j.exports[j.first[w.Part]+w.Module][w.name]; ok {
			return n
		}
		if n, ok := j.found[w]; ok { // by way of it
			if n != none {
				return n
			}
			continue
		}
		if w.Module != 0 { // what modules of bundles hand on has nodes
			continue
		}
		for _, r := range j.parts[w.Part].Unit.Reexports {
			if r.Name != w.name && (r.Name != "*" || w.name == "default") {
				continue
			}
			from, ok := j.resolve(w.Part, 0, r.Specifier, ByImport)
			if !ok {
				continue
			}
			next := wanted{from, w.name}
			if r.Name == w.name && r.Imported != "*" {
				next.name = r.Imported
			}
			if !seen[next] && len(seen) <= maxReexports {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	if len(queue) == 0 || j.searched > maxSearched {
		for w := range seen {
			j.found[w] = none
		}
	}
	return none
}

// imports relates what modules give to what others have of them.
func (j *Join) imports() {
	g := j.Graph
	for i := range j.parts {
		base := int32(g.Units[i].First)
		for _, m := range j.parts[i].Unit.Imports {
			node := base + m.Node
			t, ok := j.resolve(i, g.Starts[node], m.Specifier, m.Bundle)
			if !ok {
				continue
			}
			from := j.export(t, m.Name)
			if from == none && m.Name == "default" {
				from = j.export(t, "*")
			}
			if from == none {
				from = int32(g.Units[t.Part].Modules[t.Module])
			}
			j.Add(Crosses, from, node)
			if m.Name == "*" {
				j.membersOf(node, t)
			}
		}
	}
}

// membersOf relates the exports of a module to the properties that are read of
// what stands for it.
func (j *Join) membersOf(node int32, t Target) {
	g := j.Graph
	holders := []int32{node}
	for _, e := range j.from(node) {
		if e.Kind == Flows && Kind(g.Kinds[e.To]) == Variable {
			holders = append(holders, e.To)
		}
	}
	for _, h := range holders {
		for _, e := range j.from(h) {
			if e.Kind != Property || Kind(g.Kinds[e.To]) != Slot {
				continue
			}
			_, name, ok := strings.Cut(g.Label(e.To), ".")
			if !ok || strings.Contains(name, ".") {
				continue
			}
			if from := j.export(t, name); from != none {
				j.Add(Crosses, from, e.To)
			}
		}
	}
}

// calls relates calls of what was imported to the functions that this is.
func (j *Join) calls() {
	g := j.Graph
	for i := range g.Edges {
		e := &g.Edges[i]
		switch e.Kind {
		case Callee:
			if f := j.Function(e.From); f != none && !j.related(e.To, f) {
				j.Call(e.To, f)
			}
		case Argument, Uses, Spawns, Asks:
			how := runsArguments(Kind(g.Kinds[e.To]))
			if from := Kind(g.Kinds[e.From]); how == 0 || from != Slot && from != Variable && from != Parameter && from != Boundary {
				continue
			}
			if f := j.Function(e.From); f != none && !j.related(e.To, f) {
				j.Add(how, e.To, f)
				j.Receive(e.To, f)
			}
		}
	}
}

// runsArguments is how a kind of call runs functions that it is given, 0 for none.
func runsArguments(k Kind) Relation {
	switch k {
	case Listener, Signal:
		return Listens
	case Timer:
		return Schedules
	case Promise, ChildProcess, Resource, Request:
		return Continues
	}
	return 0
}

// related reports whether a call is known to run a function.
func (j *Join) related(call, f int32) bool {
	for _, e := range j.from(call) {
		if (e.Kind == Calls || e.Kind == runsArguments(Kind(j.Graph.Kinds[call]))) && e.To == f {
			return true
		}
	}
	return false
}

// Call relates a call to a function that it runs.
func (j *Join) Call(call, f int32) {
	j.Add(Calls, call, f)
	j.Add(Results, f, call)
	j.Receive(call, f)
}

// Runs relates calls to all the functions that they are given, which they run when
// something comes.
func (j *Join) Runs(calls []int32) {
	if len(calls) == 0 {
		return
	}
	runs := map[int32]bool{}
	for _, c := range calls {
		runs[c] = true
	}
	for i := range j.Graph.Edges {
		e := &j.Graph.Edges[i]
		if e.Kind != Argument || !runs[e.To] {
			continue
		}
		if f := j.Function(e.From); f != none && !j.related(e.To, f) {
			j.Add(Listens, e.To, f)
			j.Receive(e.To, f)
		}
	}
}

// Receive relates what runs a function to its parameters: which of what is given
// becomes which of them is not told apart.
func (j *Join) Receive(from, f int32) {
	list := j.parameters(f)
	for _, p := range list[:min(len(list), maxReceived)] {
		j.Add(Passes, from, p)
	}
}

// parameters of a function.
func (j *Join) parameters(f int32) []int32 {
	if list, ok := j.params[f]; ok {
		return list
	}
	g := j.Graph
	list := []int32{}
	u := g.UnitOf(f)
	for i := int64(f) + 1; i < u.First+u.Count && g.Starts[i] < g.Ends[f]; {
		switch Kind(g.Kinds[i]) {
		case Parameter:
			list = append(list, int32(i))
		case Function:
			if end := g.Ends[i]; end <= g.Ends[f] {
				for i < u.First+u.Count && g.Starts[i] < end {
					i++
				}
				continue
			}
		}
		i++
	}
	j.params[f] = list
	return list
}

// maxOrigins bounds the steps from a value back to the function that it is.
const maxOrigins = 12

// Function is the function that a variable or property always is, as far as is
// known: the only value that flows into it. Or none.
func (j *Join) Function(n int32) int32 {
	g := j.Graph
	for range maxOrigins {
		if Kind(g.Kinds[n]) == Function {
			return n
		}
		from := none
		for _, f := range j.in.of(n) {
			if from != none && from != f {
				return none
			}
			from = f
		}
		if from == none && Kind(g.Kinds[n]) == Parameter {
			if given := j.given(n); len(given) == 1 {
				from = given[0]
			}
		}
		if from == none {
			return none
		}
		n = from
	}
	return none
}

// given is what calls that are known give a parameter.
func (j *Join) given(parameter int32) []int32 {
	if j.passed.first == nil {
		j.passed.index(j.Graph, func(r Relation) bool { return r == Passes })
	}
	return j.passed.of(parameter)
}

// Listener gives the functions that run when an event comes.
func (j *Join) Listener(n int32) []int32 {
	var list []int32
	for _, e := range j.from(n) {
		if e.Kind == Listens {
			list = append(list, e.To)
		}
	}
	return list
}

// Member is the node of a member of the object that an argument of a call is, by
// its path; or none.
func (j *Join) Member(call int32, path string) int32 {
	g := j.Graph
	var holders []int32
	for _, n := range j.arguments(call) {
		holders = append(holders, j.objects(n)...)
	}
	for _, step := range strings.Split(path, ".") {
		found := none
		for _, h := range holders {
			for _, e := range j.from(h) {
				if e.Kind == Property && lastStep(g.Label(e.To)) == step {
					if found != none && found != e.To {
						return none
					}
					found = e.To
				}
			}
		}
		if found == none {
			return none
		}
		holders = j.objects(found)
	}
	return holders[0]
}

func lastStep(label string) string { return label[strings.LastIndexByte(label, '.')+1:] }

// arguments are the nodes that are arguments of a call.
func (j *Join) arguments(call int32) []int32 {
	if j.args.first == nil {
		j.args.index(j.Graph, func(r Relation) bool { return r == Argument })
	}
	return j.args.of(call)
}

// objects are a node and what alone flows into it.
func (j *Join) objects(n int32) []int32 {
	list := []int32{n}
	for range maxOrigins {
		in := j.in.of(n)
		if len(in) != 1 {
			break
		}
		n = in[0]
		list = append(list, n)
	}
	return list
}

// Add adds a relation; it is seen when the graph is settled.
func (j *Join) Add(kind Relation, from, to int32) {
	if from != none && to != none && from != to {
		j.more = append(j.more, Edge{kind, from, to})
	}
}

// settle takes in the relations that were added.
func (j *Join) settle() {
	g := j.Graph
	var work sync.WaitGroup
	defer work.Wait()
	if len(j.more) > 0 {
		g.Edges = mergeEdges(g.Edges, SortEdges(j.more))
		j.more = nil
		j.passed = inflow{} // which what was added may change
		work.Go(func() { j.index(len(g.Kinds)) })
	} else if j.in.first != nil {
		return
	}
	j.in.index(g, Relation.flow)
}

// index finds where the edges of each of some nodes begin.
func (j *Join) index(nodes int) {
	j.starts = cleared(j.starts, nodes+1)
	for i := range j.Graph.Edges {
		j.starts[j.Graph.Edges[i].From+1]++
	}
	sum(j.starts)
}

// from are the edges that begin at a node.
func (j *Join) from(n int32) []Edge { return j.Graph.Edges[j.starts[n]:j.starts[n+1]] }

// cleared is room for numbers that are 0, where there was some if it is enough.
func cleared(room []int32, n int) []int32 {
	if cap(room) < n {
		return make([]int32, n, n+n/16)
	}
	room = room[:n]
	clear(room)
	return room
}

func sum(counts []int32) {
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
}

// mergeEdges joins two lists in order, each edge once. The second is short, and the
// first is not used any more: it is where the result lies if there is room behind it.
func mergeEdges(a, b []Edge) []Edge {
	fresh, from := b[:0], 0
	for _, e := range b {
		i, there := slices.BinarySearchFunc(a[from:], e, Edge.compare)
		if from += i; !there {
			fresh = append(fresh, e)
		}
	}
	end := len(a)
	if n := len(a) + len(fresh); n <= cap(a) {
		a = a[:n]
	} else {
		more := make([]Edge, n, n+n/16)
		for at := 0; at < end; at += atOnce {
			copy(more[at:], a[at:min(end, at+atOnce)])
		}
		a = more
	}
	// From the end on: what comes behind an edge that is put in moves up.
	for i := len(fresh) - 1; i >= 0; i-- {
		at, _ := slices.BinarySearchFunc(a[:end], fresh[i], Edge.compare)
		for end > at {
			first := max(at, end-atOnce)
			copy(a[first+i+1:], a[first:end])
			end = first
		}
		a[at+i] = fresh[i]
	}
	return a
}

// atOnce is how many edges are moved before others may run: see [wire.Piece].
const atOnce = wire.Piece / 12

func (e Edge) compare(o Edge) int { return cmp.Compare(e.pack(), o.pack()) }

// NodeAt is the node of a part that has exactly a range and one of some kinds.
func (j *Join) NodeAt(part int, at parse.Span, kinds ...Kind) int32 {
	return j.Graph.nodeAt(&j.Graph.Units[part], at, kinds)
}

func (g *Graph) nodeAt(u *UnitRange, at parse.Span, kinds []Kind) int32 {
	nodes := g.Starts[u.First : u.First+u.Count]
	i, _ := slices.BinarySearch(nodes, at.Start)
	for ; i < len(nodes) && nodes[i] == at.Start; i++ {
		n := int32(u.First) + int32(i)
		if g.Ends[n] == at.End && (len(kinds) == 0 || slices.Contains(kinds, Kind(g.Kinds[n]))) {
			return n
		}
	}
	return none
}

// inflow lists the nodes from which relations of some kinds lead to each.
type inflow struct{ first, sources []int32 }

func (a *inflow) index(g *Graph, is func(Relation) bool) {
	var kinds [256]bool
	for k := range kinds {
		kinds[k] = is(Relation(k))
	}
	// What leads to a node begins one further on until it is there.
	a.first = cleared(a.first, len(g.Kinds)+2)
	for i := range g.Edges {
		if e := &g.Edges[i]; kinds[e.Kind] {
			a.first[e.To+2]++
		}
	}
	sum(a.first)
	a.sources = cleared(a.sources, int(a.first[len(a.first)-1]))
	for i := range g.Edges {
		if e := &g.Edges[i]; kinds[e.Kind] {
			a.sources[a.first[e.To+1]] = e.From
			a.first[e.To+1]++
		}
	}
}

// flow reports relations by which a node gets its value.
func (r Relation) flow() bool { return r == Flows || r == Crosses }

func (a *inflow) of(n int32) []int32 { return a.sources[a.first[n]:a.first[n+1]] }
