// Package semantic finds how values move inside of programs: from definitions to
// uses, into and out of properties, through calls, returns, closures, promises,
// events and timers, and where they meet the world.
//
// # Graph
//
// Nodes are places of a program: functions, parameters, variables, properties,
// calls, returns, literals. A node has a kind, a range and a label; the function
// that it belongs to is the innermost function whose range holds it. A relation
// has a kind and two nodes, and points the way a value moves or a cause works:
// from what is given to what takes it.
//
// # Limits
//
// Relations are those that hold whatever runs: a call is joined to a function
// only when the callee is a variable that is never reassigned, a member of a
// literal or class that is known, or the function itself. All other callees are
// calls without a target. Flow is not ordered by time.
package semantic

import (
	"cmp"
	"slices"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/fingerprint"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// A Kind of node; the byte is how it is written.
type Kind byte

// Kinds of node.
const (
	Module       Kind = 'm'
	Function     Kind = 'f'
	Parameter    Kind = 'p'
	Variable     Kind = 'b'
	Expression   Kind = 'e'
	Literal      Kind = 'l'
	Slot         Kind = 's'
	Call         Kind = 'c'
	Return       Kind = 'r'
	Promise      Kind = 'w'
	Timer        Kind = 't'
	Event        Kind = 'v'
	Listener     Kind = 'n'
	ChildProcess Kind = 'h'
	Request      Kind = 'q'
	Stdio        Kind = 'i'
	Signal       Kind = 'g'
	Config       Kind = 'o'
	Resource     Kind = 'x'
	Parsing      Kind = 'j'
	Boundary     Kind = 'd'
	Unknown      Kind = 'u'
)

// Name of a kind.
func (k Kind) Name() string {
	switch k {
	case Module:
		return "module"
	case Function:
		return "function"
	case Parameter:
		return "parameter"
	case Variable:
		return "binding"
	case Expression:
		return "expression"
	case Literal:
		return "literal"
	case Slot:
		return "property-slot"
	case Call:
		return "call-site"
	case Return:
		return "return-site"
	case Promise:
		return "promise"
	case Timer:
		return "timer"
	case Event:
		return "event"
	case Listener:
		return "listener"
	case ChildProcess:
		return "child-process"
	case Request:
		return "request"
	case Stdio:
		return "stdio"
	case Signal:
		return "signal"
	case Config:
		return "config-source"
	case Resource:
		return "resource"
	case Parsing:
		return "parsing"
	case Boundary:
		return "boundary"
	}
	return "unknown-frontier"
}

// A Relation kind; the byte is how it is written.
type Relation byte

// Kinds of relation.
const (
	Flows      Relation = 'd' // a value goes into a variable, property, return or expression
	Argument   Relation = 'a' // a value is an argument of a call
	Passes     Relation = 'p' // an argument becomes a parameter
	Returns    Relation = 'r' // a value is what a function gives
	Results    Relation = 'u' // what a function gives is what a call is
	Property   Relation = 'o' // an object has a property
	Captures   Relation = 'x' // a function keeps a variable of another around it
	Calls      Relation = 'c' // a call runs a function
	Awaits     Relation = 'w' // a promise gives its value
	Continues  Relation = 't' // a promise runs a function
	Listens    Relation = 'n' // an event runs a function
	Schedules  Relation = 'm' // a timer runs a function
	Spawns     Relation = 'h' // a value becomes a process
	Asks       Relation = 'q' // a value is sent with a request
	Configures Relation = 'g' // the environment gives a value
	Uses       Relation = 's' // a value names or is a resource
	Parses     Relation = 'j' // a value is parsed or checked
	Crosses    Relation = 'b' // a value goes from one module to another
	Callee     Relation = 'e' // a value is what a call calls
	Delivers   Relation = 'v' // a message comes to who listens
	Answers    Relation = 'y' // what a handler gives is what the message is answered with
	Starts     Relation = 'i' // a call runs the program in a file
	// Within is what walks go along from a place to the function or module around
	// it. No graph holds it: ranges tell.
	Within Relation = 'z'
)

// Family of a relation.
func (r Relation) Family() string {
	switch r {
	case Flows, Argument, Passes, Returns, Results, Parses:
		return "data-flow"
	case Property:
		return "object-flow"
	case Captures:
		return "closure"
	case Calls, Callee:
		return "call-flow"
	case Awaits, Continues:
		return "promise-ownership"
	case Listens:
		return "event"
	case Schedules:
		return "timer"
	case Spawns:
		return "child-process"
	case Asks:
		return "request"
	case Configures:
		return "configuration"
	case Uses:
		return "resource-lifecycle"
	case Within:
		return "containment"
	}
	return "boundary"
}

// Name of a relation.
func (r Relation) Name() string {
	switch r {
	case Flows:
		return "flows-to"
	case Argument:
		return "argument-of"
	case Passes:
		return "becomes-parameter"
	case Returns:
		return "returned-by"
	case Results:
		return "result-of-call"
	case Property:
		return "has-property"
	case Captures:
		return "captured-by"
	case Calls:
		return "calls"
	case Awaits:
		return "awaited-by"
	case Continues:
		return "continues-with"
	case Listens:
		return "handled-by"
	case Schedules:
		return "schedules"
	case Spawns:
		return "spawned-with"
	case Asks:
		return "requested-with"
	case Configures:
		return "configures"
	case Uses:
		return "used-by-resource"
	case Parses:
		return "parsed-by"
	case Callee:
		return "called-by"
	case Delivers:
		return "delivered-to"
	case Answers:
		return "answered-to"
	case Starts:
		return "starts"
	case Within:
		return "contains"
	}
	return "crosses-to"
}

// A Node is a place in a program.
type Node struct {
	At    parse.Span
	Label int32 // index into Unit.Labels, 0 for none
	Kind  Kind
}

// An Edge is a relation between two nodes of one file.
type Edge struct {
	Kind     Relation
	From, To int32
}

// An Import is a node that stands for what another module exports.
type Import struct {
	Node      int32
	Specifier string
	Name      string // exported name, "*" for all
	Bundle    int    // index of the bundle whose id the specifier is, or how it is loaded
}

// How modules of no bundle are loaded, which decides the conditions that hold.
const (
	ByImport  = -1
	ByRequire = -2
)

// An Export is a node that a module exports.
type Export struct {
	Node int32
	Name string
}

// A Reexport is a name that a module exports and has from another: "*" for all.
type Reexport struct {
	Specifier, Imported, Name string
}

// A Unit is the graph of one file. Nodes are in order of place.
type Unit struct {
	Nodes     []Node
	Labels    []string // the first is ""
	Edges     []Edge
	Modules   []int32 // by part: the node of the file first, then of its modules
	Imports   []Import
	Exports   []Export
	Reexports []Reexport
	// Prints are digests of functions, by node.
	Functions []int32
	Prints    [][16]byte
	Omitted   int // nodes beyond the bound
}

// MaxNodes bounds the nodes of one file.
const MaxNodes = 4_000_000

// Extract reads a file. parts are the ranges of the modules in it, prints gives the
// digests of its functions. The draft does not hold the file.
func Extract(p *bundle.File, parts []parse.Span, roles map[scope.BindingID]bundle.Role, prints func() Prints) *Draft {
	e := &extractor{
		File: p, roles: roles,
		bindings: make([]int32, len(p.Scopes.Bindings)), rows: newRows(p.Nodes, hasRow), configs: map[parse.Ref]int32{},
		slots: map[slotKey]int32{}, names: map[string]int32{}, classes: map[parse.Ref]map[string]parse.Ref{},
	}
	for i := range e.bindings {
		e.bindings[i] = -1
	}
	e.unit.Nodes = make([]Node, 0, len(p.Nodes)/4)
	e.edges = make([]uint64, 0, len(p.Nodes)/3)
	e.unit.Labels = []string{""}
	e.labels = map[string]int32{"": 0}
	e.unit.Modules = append(e.unit.Modules, e.node(Module, parse.Span{Start: 0, End: uint32(len(p.Src))}, ""))
	for _, at := range parts {
		e.unit.Modules = append(e.unit.Modules, e.node(Module, at, ""))
	}
	e.findArguments()
	e.declareFunctions()
	e.kids(p.Root)
	e.captures()
	e.takePrints(prints())
	return &Draft{e.unit, e.edges}
}

// A Draft is a unit whose nodes are in the order in which they were found.
type Draft struct {
	unit  Unit
	edges []uint64 // packed
}

// Finish puts nodes and relations in order. The draft is used up.
func (d *Draft) Finish() *Unit {
	u, edges := d.unit, d.edges
	*d = Draft{}
	u.finish(edges)
	return &u
}

// Prints are the digests of the functions of a file, in order.
type Prints [][16]byte

// NewPrints makes the digests of functions.
func NewPrints(file *parse.File, scopes *scope.Table) Prints {
	normal := fingerprint.NewNormalizer(file, scopes)
	var prints Prints
	for i := range file.Nodes {
		if file.Nodes[i].Kind.IsFunction() {
			if file.Stopped() {
				break
			}
			prints = append(prints, normal.Function(parse.Ref(i)))
		}
	}
	return prints
}

// takePrints gives functions that have nodes their digests.
func (e *extractor) takePrints(prints Prints) {
	e.unit.Functions = make([]int32, 0, len(prints))
	e.unit.Prints = prints[:0]
	if e.Stopped() { // there may be too few
		return
	}
	for i := range e.Nodes {
		if !e.Nodes[i].Kind.IsFunction() {
			continue
		}
		if node := e.functionOf(parse.Ref(i)); node != none {
			e.unit.Functions = append(e.unit.Functions, node)
			e.unit.Prints = append(e.unit.Prints, prints[0])
		}
		prints = prints[1:]
	}
}

// finish puts nodes in order of place and numbers them anew.
func (u *Unit) finish(edges []uint64) {
	// Sorted as numbers: by where they begin, and then those that begin together.
	order := make([]uint64, len(u.Nodes))
	for i := range order {
		order[i] = uint64(u.Nodes[i].At.Start)<<32 | uint64(i)
	}
	slices.Sort(order)
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && order[end]>>32 == order[i]>>32 {
			end++
		}
		if end > i+1 {
			slices.SortFunc(order[i:end], func(a, b uint64) int {
				switch file := u.Modules[0]; { // around all, even a function that is the whole file
				case int32(uint32(a)) == file:
					return -1
				case int32(uint32(b)) == file:
					return 1
				}
				x, y := &u.Nodes[uint32(a)], &u.Nodes[uint32(b)]
				if x.At.End != y.At.End {
					return cmp.Compare(y.At.End, x.At.End)
				}
				return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(u.Labels[x.Label], u.Labels[y.Label]), cmp.Compare(a, b))
			})
		}
		i = end
	}
	number := make([]int32, len(order))
	nodes := make([]Node, len(order))
	for i, old := range order {
		number[uint32(old)] = int32(i)
		nodes[i] = u.Nodes[uint32(old)]
	}
	u.Nodes = nodes
	for i, k := range edges {
		e := unpack(k)
		edges[i] = Edge{e.Kind, number[e.From], number[e.To]}.pack()
	}
	u.Edges = sortPacked(edges, nil)
	for i := range u.Modules {
		u.Modules[i] = number[u.Modules[i]]
	}
	for i := range u.Imports {
		u.Imports[i].Node = number[u.Imports[i].Node]
	}
	for i := range u.Exports {
		u.Exports[i].Node = number[u.Exports[i].Node]
	}
	// Digests follow their nodes.
	by := make([]int, len(u.Functions))
	for i := range by {
		by[i] = i
		u.Functions[i] = number[u.Functions[i]]
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(u.Functions[a], u.Functions[b]) })
	functions, prints := make([]int32, len(by)), make([][16]byte, len(by))
	for i, old := range by {
		functions[i], prints[i] = u.Functions[old], u.Prints[old]
	}
	u.Functions, u.Prints = functions, prints
}

// pack makes one number of an edge: 28 bits for each end, which is more than there
// are nodes. Numbers are in the order of edges.
func (e Edge) pack() uint64 { return uint64(e.From)<<36 | uint64(e.To)<<8 | uint64(e.Kind) }

func unpack(k uint64) Edge { return Edge{Relation(k), int32(k >> 36), int32(k >> 8 & (1<<28 - 1))} }

// SortEdges puts edges in order of From, To and kind, each once.
func SortEdges(edges []Edge) []Edge {
	if len(edges) == 0 {
		return edges
	}
	keys := make([]uint64, len(edges))
	for i, e := range edges {
		keys[i] = e.pack()
	}
	return sortPacked(keys, edges)
}

// sortPacked is SortEdges of packed edges; room is used when it is enough.
func sortPacked(keys []uint64, room []Edge) []Edge {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if cap(room) < len(keys) {
		room = make([]Edge, len(keys))
	}
	room = room[:len(keys)]
	for i, k := range keys {
		room[i] = unpack(k)
	}
	return room
}
