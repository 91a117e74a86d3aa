package feature

import (
	"fmt"
	"testing"

	"rea/generated/model"
)

// drawn is a graph of edges "from relation to"; nodes are modules but for those
// whose name begins with the name of a kind and a colon.
func drawn(edges ...[3]string) (*model.ApplicationGraph, map[string]int) {
	g, rows := &model.ApplicationGraph{}, map[string]int{}
	node := func(name string) int64 {
		i, ok := rows[name]
		if !ok {
			i = len(g.Nodes)
			rows[name] = i
			kind := model.ApplicationNodeKindJavascriptModule
			for _, k := range []model.ApplicationNodeKind{model.ApplicationNodeKindIpcChannel, model.ApplicationNodeKindIpcHandler, model.ApplicationNodeKindContextBridgeAPI} {
				if len(name) > len(k) && name[:len(k)+1] == string(k)+":" {
					kind = k
				}
			}
			g.Nodes = append(g.Nodes, model.ApplicationNode{ID: name, Kind: kind})
		}
		return int64(i)
	}
	for _, e := range edges {
		from := node(e[0])
		g.Edges = append(g.Edges, model.ApplicationEdge{From: from, To: node(e[2]), Relation: model.ApplicationRelation(e[1])})
	}
	return g, rows
}

var roomy = Limits{Depth: 64, Nodes: 1000, Edges: 1000, Paths: 100}

// A message goes from the API that pages call to the module that handles it and
// on to what that module loads.
func TestWalk_follows_what_happens(t *testing.T) {
	g, rows := drawn(
		[3]string{"preload", "exposes", "context-bridge-api:search"},
		[3]string{"preload", "invokes", "ipc-channel:query"},
		[3]string{"ipc-handler:query", "handles", "ipc-channel:query"},
		[3]string{"main", "contains", "ipc-handler:query"},
		[3]string{"main", "imports", "db"},
		[3]string{"other", "imports", "db"},
	)
	trace, err := Walk(t.Context(), g, []int{rows["context-bridge-api:search"]}, []Side{Outgoing}, roomy)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Paths) != 1 {
		t.Fatalf("%d paths", len(trace.Paths))
	}
	said := ""
	for _, n := range trace.Paths[0].Nodes {
		said += g.Nodes[n].ID + " "
	}
	if want := "context-bridge-api:search preload ipc-channel:query ipc-handler:query main db "; said != want || trace.Paths[0].End != Terminal {
		t.Errorf("%s (%s), want %s", said, trace.Paths[0].End, want)
	}
	back, err := Walk(t.Context(), g, []int{rows["db"]}, []Side{Incoming}, roomy)
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Nodes) != 7 || len(back.Paths) != 2 || back.Paths[1].Nodes[len(back.Paths[1].Nodes)-1] != rows["db"] {
		t.Errorf("%+v", back)
	}
}

func TestWalk_limits(t *testing.T) {
	var edges [][3]string
	for i := range 100 {
		edges = append(edges, [3]string{fmt.Sprint(i), "imports", fmt.Sprint(i + 1)}, [3]string{fmt.Sprint(i), "imports", fmt.Sprint("leaf", i)})
	}
	g, rows := drawn(edges...)
	for _, tt := range []struct {
		name          string
		limits        Limits
		nodes, paths  int
		omitted, lost int
		reason        Reason
	}{
		{"none", Limits{Depth: 200, Nodes: 1000, Edges: 1000, Paths: 1000}, 201, 101, 0, 0, ""},
		{"depth", Limits{Depth: 3, Nodes: 1000, Edges: 1000, Paths: 1000}, 7, 4, 2, 0, MaxDepth},
		{"nodes", Limits{Depth: 200, Nodes: 5, Edges: 1000, Paths: 1000}, 5, 3, 2, 0, MaxNodes},
		{"edges", Limits{Depth: 200, Nodes: 1000, Edges: 4, Paths: 1000}, 5, 3, 2, 0, MaxEdges},
		{"paths", Limits{Depth: 200, Nodes: 1000, Edges: 1000, Paths: 10}, 201, 10, 0, 91, ""},
	} {
		trace, err := Walk(t.Context(), g, []int{rows["0"]}, []Side{Outgoing}, tt.limits)
		if err != nil {
			t.Fatal(err)
		}
		if len(trace.Nodes) != tt.nodes || len(trace.Paths) != tt.paths || trace.OmittedNodes != tt.omitted || trace.OmittedPaths != tt.lost {
			t.Errorf("%s: %d nodes, %d paths, %d and %d omitted", tt.name, len(trace.Nodes), len(trace.Paths), trace.OmittedNodes, trace.OmittedPaths)
		}
		if tt.reason != "" && (len(trace.Frontier) == 0 || trace.Frontier[0].Reason != tt.reason) {
			t.Errorf("%s: frontier %+v", tt.name, trace.Frontier)
		}
	}
}

// Cycles and knots end.
func TestWalk_cycles(t *testing.T) {
	var edges [][3]string
	for i := range 400 {
		edges = append(edges, [3]string{fmt.Sprint(i), "imports", fmt.Sprint((i + 1) % 400)}, [3]string{fmt.Sprint(i), "imports", fmt.Sprint(i)}, [3]string{fmt.Sprint(i), "imports", fmt.Sprint(i * 31 % 400)})
	}
	g, rows := drawn(edges...)
	trace, err := Walk(t.Context(), g, []int{rows["5"]}, []Side{Incoming, Outgoing}, Limits{Depth: 64, Nodes: 50000, Edges: 100000, Paths: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Nodes) != 400 {
		t.Errorf("%d nodes", len(trace.Nodes))
	}
}

func TestExact(t *testing.T) {
	for _, tt := range []struct {
		kind  SeedKind
		value string
		s     string
		want  bool
	}{
		{ByModule, "search.js", "src/search.js", true},
		{ByModule, "search.js", "src/research.js", false},
		{ByModule, "SEARCH.js", "src/search.js", true},
		{ByString, "search.js", "src/search.js", false},
		{byEndpoint, "https://a.b/c", "https://a.b/c?q=", true},
		{byEndpoint, "b/c", "https://a.b/c", false},
		{ByNative, "fast", "build/fast.node", true},
	} {
		if got := NewExact(tt.kind, tt.value, false).Match(tt.s); got != tt.want {
			t.Errorf("%s %q in %q: %v", tt.kind, tt.value, tt.s, got)
		}
	}
}
