// Package feature finds what seeds name in the graph of an application.
package feature

import (
	"maps"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
)

// A SeedKind says what the value of a seed names.
type SeedKind string

// Kinds of seed that are not a set of kinds of node.
const (
	ByID       SeedKind = "node-id"
	ByModule   SeedKind = "module"
	ByString   SeedKind = "string"
	ByExport   SeedKind = "export"
	ByAPI      SeedKind = "api"
	ByNative   SeedKind = "native-export"
	byEndpoint SeedKind = "endpoint"
	byRoute    SeedKind = "route"
	byProcess  SeedKind = "process"
)

// kindsOf are the kinds of node that a kind of seed names; those that it does not
// have are looked at whole.
var kindsOf = map[SeedKind][]model.ApplicationNodeKind{
	ByModule: {
		model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup,
		model.ApplicationNodeKindSourceModule, model.ApplicationNodeKindExternalModule, model.ApplicationNodeKindHTMLDocument,
	},
	ByExport: {model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup},
	ByNative: {model.ApplicationNodeKindNativeAddon, model.ApplicationNodeKindNativeBinding},
	ByAPI:    {model.ApplicationNodeKindContextBridgeAPI},

	byEndpoint:    {model.ApplicationNodeKindEndpoint},
	byRoute:       {model.ApplicationNodeKindRoute},
	"channel":     {model.ApplicationNodeKindIpcChannel, model.ApplicationNodeKindIpcHandler},
	"storage":     {model.ApplicationNodeKindStorage, model.ApplicationNodeKindFeatureFlag},
	"environment": {model.ApplicationNodeKindEnvironmentVariable},
	byProcess: {
		model.ApplicationNodeKindElectronMain, model.ApplicationNodeKindElectronPreload, model.ApplicationNodeKindElectronRenderer,
		model.ApplicationNodeKindElectronUtility, model.ApplicationNodeKindWorker, model.ApplicationNodeKindServiceWorker, model.ApplicationNodeKindChildProcess,
	},
	"window":  {model.ApplicationNodeKindBrowserWindow},
	"package": {model.ApplicationNodeKindPackage, model.ApplicationNodeKindLibrary},
}

// A Basis is what of a node matches a seed.
type Basis string

// Bases.
const (
	NodeID   Basis = "node-id"
	Label    Basis = "label"
	Identity Basis = "identity"
	Property Basis = "property"
	Code     Basis = "code"
)

// A Match is a node that a seed names.
type Match struct {
	Node  int
	Basis Basis
	Field string
	Value string // the text that matches
	Site  int32  // node of the semantic graph that matches, 0 for none
}

// A Matcher compares texts with the value of a seed.
type Matcher interface{ Match(s string) bool }

// Exact matches texts that are the value or, where they are paths, end in it.
// What an address asks for, and the extension of an add-on, need not be in it.
type Exact struct {
	Value         string
	CaseSensitive bool
	Path          bool
}

// NewExact makes the matcher for a kind of seed.
func NewExact(kind SeedKind, value string, caseSensitive bool) *Exact {
	e := &Exact{Value: value, CaseSensitive: caseSensitive}
	switch kind {
	case ByModule, ByNative, byEndpoint, byRoute, byProcess:
		e.Path = true
	}
	return e
}

// Match reports whether s matches.
func (e *Exact) Match(s string) bool {
	if e.is(s) {
		return true
	}
	if !e.Path {
		return false
	}
	address, _, _ := strings.Cut(s, "?")
	return e.is(address) || e.is(strings.TrimSuffix(s, ".node"))
}

func (e *Exact) is(s string) bool {
	if len(s) < len(e.Value) {
		return false
	}
	if at := len(s) - len(e.Value); at > 0 {
		if !e.Path || s[at-1] != '/' {
			return false
		}
		s = s[at:]
	}
	return s == e.Value || !e.CaseSensitive && strings.EqualFold(s, e.Value)
}

// Find lists the nodes that a seed names, in the order of the graph.
func Find(a *recorded.Application, kind SeedKind, m Matcher) []Match {
	want := map[model.ApplicationNodeKind]bool{}
	for _, k := range kindsOf[kind] {
		want[k] = true
	}
	given := map[int][]string{}
	if kind == ByNative {
		given = imported(&a.Graph, want)
	}
	var out []Match
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if len(want) > 0 && !want[n.Kind] {
			continue
		}
		if found := matches(n, kind, m, given[i]); found.Basis != "" {
			found.Node = i
			out = append(out, found)
		}
	}
	return out
}

// imported are the names that are taken from nodes of some kinds.
func imported(g *model.ApplicationGraph, kinds map[model.ApplicationNodeKind]bool) map[int][]string {
	out := map[int][]string{}
	for i := range g.Edges {
		e := &g.Edges[i]
		if kinds[g.Nodes[e.To].Kind] {
			out[int(e.To)] = append(out[int(e.To)], recorded.List(e.Properties["names"])...)
		}
	}
	return out
}

func matches(n *model.ApplicationNode, kind SeedKind, m Matcher, given []string) Match {
	if kind == ByID {
		if m.Match(n.ID) {
			return Match{Basis: NodeID, Field: "id", Value: n.ID}
		}
		return Match{}
	}
	if kind == ByExport {
		return property(n, m, "exports")
	}
	for _, name := range given {
		if m.Match(name) {
			return Match{Basis: Property, Field: "names", Value: name}
		}
	}
	if n.Label != nil && m.Match(*n.Label) {
		return Match{Basis: Label, Field: "label", Value: *n.Label}
	}
	if n.Identity.Key != nil && m.Match(*n.Identity.Key) {
		return Match{Basis: Identity, Field: "key", Value: *n.Identity.Key}
	}
	switch kind {
	case ByModule:
		return property(n, m, "path", "module_id")
	case ByAPI:
		for _, member := range recorded.Texts(n.Properties["members"]) { // as it is called
			if n.Label != nil && m.Match(*n.Label+"."+member) {
				return Match{Basis: Property, Field: "members", Value: member}
			}
		}
		return property(n, m, names(n)...)
	case ByString, ByNative:
		return property(n, m, names(n)...)
	}
	return Match{}
}

// property looks into properties, in an order that does not vary.
func property(n *model.ApplicationNode, m Matcher, names ...string) Match {
	for _, name := range names {
		for _, s := range recorded.Texts(n.Properties[name]) {
			if m.Match(s) {
				return Match{Basis: Property, Field: name, Value: s}
			}
		}
	}
	return Match{}
}

func names(n *model.ApplicationNode) []string { return slices.Sorted(maps.Keys(n.Properties)) }
