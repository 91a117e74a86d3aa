// Package facts reads from one file of JavaScript what it does with the world
// around it: what it imports and exports, which addresses, keys and variables it
// names, which processes and windows it opens, and which messages it passes.
//
// A fact is bound to the bytes it was read from. Its name is literal when the
// text is in the program; Dynamic facts were seen, but their name is only known
// when the program runs.
package facts

import (
	"cmp"
	"slices"

	"rea/providers/javascript/address"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// Kind of a fact.
type Kind string

// Kinds of fact.
const (
	Endpoint      Kind = "endpoint"
	Route         Kind = "route"
	Storage       Kind = "storage"
	Flag          Kind = "feature-flag"
	Environment   Kind = "environment-variable"
	Window        Kind = "browser-window"
	BridgeAPI     Kind = "context-bridge-api"
	Message       Kind = "ipc"
	Worker        Kind = "worker"
	ServiceWorker Kind = "service-worker"
	NativeAddon   Kind = "native-addon"
	NativeBinding Kind = "native-binding"
	ChildProcess  Kind = "child-process"
	Document      Kind = "document"
	Preload       Kind = "preload"
	SourceMap     Kind = "source-map"
	Banner        Kind = "banner"
	// What code does that is compiled, or globals that are chosen, when the program runs
	// is only known then.
	Compiled Kind = "compiled-code"
	Chosen   Kind = "chosen-global"
)

// A Value is a detail of a fact.
type Value struct {
	Name  string
	Value any // string, bool, float64 or []string
}

// A Fact is one thing that the program does or names. Its texts have no addresses
// with what must not be kept of them (see package address).
type Fact struct {
	Kind Kind
	Name string
	// Exact is the name as it stands in the program, to be compared and not kept.
	Exact string
	Via   string // the path of what does it, as "fetch"
	// Overridden are the options that something of which the members are not known may
	// take the place of.
	Overridden []string
	Dynamic    bool
	// Pieces are what the name of a Dynamic fact is put together of where modules that
	// are loaded have parts of it; see Settle.
	Pieces []Piece
	// Inferred is why the name is one though it does not stand where it is used, "" for
	// those that do.
	Inferred string
	At       parse.Span
	// Wrapper is the function whose callers choose the name, or parts of it; nil for none.
	Wrapper *Wrapper
	// Base is the address to which the name of an endpoint is relative, nil for none. A
	// name that is known has it already.
	Base *Base
	// Windows are the places of the windows into which a page is loaded; Guessed where
	// they are told by nothing but that the file has no other.
	Windows []parse.Span
	Guessed bool
	// Router is the one that a route is defined with: its index plus one.
	Router  int
	Within  parse.Span // of what an API is made of, which may stand elsewhere
	Details []Value
}

// An ImportKind says how a module asks for another.
type ImportKind string

// Ways to import.
const (
	Static   ImportKind = "import"
	Require  ImportKind = "require"
	Dynamic  ImportKind = "dynamic-import"
	Reexport ImportKind = "re-export"
	Resolve  ImportKind = "resolve" // require.resolve, new URL(…, import.meta.url)
)

// An Import is one request for a module.
type Import struct {
	Specifier string
	Kind      ImportKind
	Unknown   bool // the specifier is only known when the program runs
	Optional  bool // in a try block
	Names     []string
	At        parse.Span
}

// An Export is one name that a module gives.
type Export struct {
	Name string
	At   parse.Span
	// Value is what is exported where it is known, else 0.
	Value parse.Ref
}

// A Program is what extraction reads.
type Program struct {
	File   *parse.File
	Scopes *scope.Table
	Names  *symbol.Namer
	// Roles of the parameters of module wrappers. What bundle modules load is
	// known from their bundle; extraction leaves it out.
	Roles map[scope.BindingID]bundle.Role
	// Parents as File.Parents gives them.
	Parents []parse.Ref
	// Wrapped, when it is set, tells which part of the file a variable loads, as
	// require_a in require_a(). Parts are numbered as who sets it does.
	Wrapped func(variable parse.Ref) (part int, ok bool)
}

// Found is what was read from a program, in order of place.
type Found struct {
	Facts   []Fact
	Imports []Import
	Exports []Export
	Globals []Global
	// Constants are the values of exports that are texts, or values of other modules.
	Constants []Constant
	Calls     []Call
	// Wrappers are facts of functions that only hand on what their callers give them to
	// others which do: they are none of their own.
	Wrappers []Fact
	Routers  []Router
	Mounts   []Mount
}

// Extract reads a program.
func Extract(p *Program) *Found {
	e := &extractor{Program: p, f: p.File, parents: p.Parents}
	for i := range e.f.Nodes {
		if i%parse.Stride == 0 && e.f.Stopped() {
			return &e.out
		}
		e.node(parse.Ref(i), &e.f.Nodes[i])
	}
	e.link()
	e.callWrappers()
	e.wrappers()
	e.exportRouters()
	e.constants()
	for i := range e.out.Facts {
		e.out.Facts[i].clean()
	}
	sortPlaces(e.out.Calls, func(v *Call) parse.Span { return v.At })
	sortPlaces(e.out.Facts, func(v *Fact) parse.Span { return v.At })
	sortPlaces(e.out.Imports, func(v *Import) parse.Span { return v.At })
	sortPlaces(e.out.Exports, func(v *Export) parse.Span { return v.At })
	sortPlaces(e.out.Constants, func(v *Constant) parse.Span { return v.At })
	return &e.out
}

// clean takes out of a fact what must not be kept.
func (f *Fact) clean() {
	f.Exact, f.Name = f.Name, address.Text(f.Name)
	for i := range f.Details {
		switch v := f.Details[i].Value.(type) {
		case string:
			f.Details[i].Value = address.Text(v)
		case []string:
			f.Details[i].Value = address.Texts(v)
		}
	}
}

func sortPlaces[T any](list []T, at func(*T) parse.Span) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(at(&a).Start, at(&b).Start), cmp.Compare(at(&a).End, at(&b).End))
	})
}

type extractor struct {
	*Program
	f       *parse.File
	parents []parse.Ref
	out     Found
	// grown is what the values of variables were given after they were made, nil until
	// it was looked for.
	grown map[scope.BindingID]growth
	// What the caller that is looked at gives for parameters.
	given       map[scope.BindingID]parse.Ref
	opened      []opening
	routers     map[scope.BindingID]int
	addresses   int // that are read, one in another
	optionSteps int
	overridden  map[string]bool // options that are set and that what comes later may set again
	shows       []showing
	classes     map[parse.Ref]scope.BindingID   // by name, nil until they were asked for
	uses        map[scope.BindingID][]parse.Ref // that read, nil until they were asked for
	methods     *methods                        // nil until they were asked for
	told        map[placed]bool                 // facts, while those of callers are added
}

func (e *extractor) span(r parse.Ref) parse.Span {
	n := e.f.At(r)
	return parse.Span{Start: n.Start, End: n.End}
}

func (e *extractor) fact(kind Kind, name, via string, at parse.Ref, details ...Value) *Fact {
	e.out.Facts = append(e.out.Facts, Fact{Kind: kind, Name: name, Via: via, At: e.span(at), Details: details})
	return &e.out.Facts[len(e.out.Facts)-1]
}

// named is a fact whose name is the value of an expression.
func (e *extractor) named(kind Kind, name parse.Ref, via string, at parse.Ref, details ...Value) *Fact {
	text, ok := "", false
	if name != 0 {
		text, ok = e.Names.Constant(name)
	}
	fact := e.fact(kind, text, via, at, details...)
	if fact.Dynamic = !ok; !ok {
		e.pend(fact, name)
	}
	return fact
}

// pend notes the parts of a dynamic name that are values of modules, where there is
// nothing else that is not known.
func (e *extractor) pend(fact *Fact, name parse.Ref) {
	if name == 0 {
		return
	}
	if pieces := e.pieces(name); settled(pieces) {
		fact.Pieces = pieces
	}
}

func (e *extractor) role(r parse.Ref) bundle.Role {
	if len(e.Roles) == 0 || e.f.Kind(r) != parse.Ident {
		return bundle.NoRole
	}
	return e.Roles[e.Scopes.Of[r]]
}

func (e *extractor) node(r parse.Ref, n *parse.Node) {
	switch n.Kind {
	case parse.Import, parse.ExportNames, parse.ExportAll, parse.ExportDecl, parse.ExportDef, parse.ImportCall:
		e.module(r, n)
	case parse.Call:
		e.call(r, n)
	case parse.New:
		e.construct(r, n)
	case parse.Assign:
		e.assign(r, n)
	case parse.Ident:
		e.handedOn(r)
	case parse.With: // what is assigned in it may be exported
		if e.exportsOf(n.First()) {
			e.export(others, n.First(), 0)
		}
	case parse.Dot, parse.Index:
		e.member(r, n)
	case parse.String, parse.Template:
		e.text(r, n)
	case parse.ObjectPattern:
		e.pattern(r, n)
	case parse.Binary:
		if n.Op == parse.KeyIn { // "A" in process.env
			if right := e.f.Last(r); e.environment(right) || e.f.Kind(right) == parse.Dot && e.Names.Path(right) == "process.env" {
				e.named(Environment, e.f.First(r), "process.env", r)
			}
		}
	case parse.Object:
		e.routeObject(r, n)
	case parse.JSXElement:
		e.element(r, n)
	}
}
