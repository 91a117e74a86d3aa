package graph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rea/providers/javascript/application"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/tree"
)

// recordOf is what an analysis of a path looks like to those who read records.
func recordOf(t testing.TB, path string) []byte {
	t.Helper()
	read, err := tree.Read(t.Context(), path, tree.Options{MaxFiles: 1e5, MaxFileBytes: 1 << 30, MaxTextBytes: 1 << 30, MaxTotalBytes: 1 << 32, MaxDepth: 4})
	if err != nil {
		t.Fatal(err)
	}
	a, err := application.Analyze(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"normalized_result":%s}`, a.AppendJSON(nil))
}

// said are the lines of a picture: "cluster/title kind cluster/title label".
func said(g *Graph) (out []string) {
	name := func(i int) string { return g.Clusters[g.Nodes[i].Cluster-1].Title + "/" + g.Nodes[i].Lines[0] }
	for _, e := range g.Edges {
		out = append(out, strings.TrimSpace(name(e.From)+" "+e.Kind+" "+name(e.To)+" "+e.Label))
	}
	return out
}

func TestTheMapOfAnApplication(t *testing.T) {
	app, _ := jstest.Electron(t)
	g, err := Application(recordOf(t, app.Archive), 120)
	if err != nil {
		t.Fatal(err)
	}
	lines := said(g)
	for _, want := range []string{
		"preload/window.notes api preload/index.js",
		"preload/index.js message main/index.js notes:search, notes:save, notes:export",
		"main/index.js message preload/index.js link:opened, indexer:port",
		"main/index.js start preload/preload.js preload",
		"main/index.js start renderer/index.html renderer",
		"main/index.js start utility/indexer.js utility",
		"utility/index.js start worker/crawler.js worker",
		"main/export.js import main/plain.js",
		"main/search.js request network/api.notes.example",
		"main/search.js import machine/fastindex.node",
		"main/search.js import main/bindings",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if !slices.ContainsFunc(lines, func(s string) bool {
		return strings.HasPrefix(s, "renderer/index-") && strings.HasSuffix(s, "api preload/window.notes search, save")
	}) {
		t.Errorf("the page does not call the API:\n%s", strings.Join(lines, "\n"))
	}
	for _, l := range lines {
		if strings.Contains(l, "secret") || strings.Contains(l, "token") {
			t.Errorf("%q tells a secret", l)
		}
	}
}

// A picture of fewer boxes says so, and loses no line between what is left.
func TestMapsAreBounded(t *testing.T) {
	app, _ := jstest.Electron(t)
	record := recordOf(t, app.Archive)
	for _, most := range []int{1, 2, 5, 10, 14, 20} {
		g, err := Application(record, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Nodes) > most {
			t.Errorf("%d boxes of at most %d", len(g.Nodes), most)
		}
		if !slices.ContainsFunc(g.Notes, func(n string) bool { return strings.Contains(n, "--max-nodes") }) {
			t.Errorf("%d boxes, and nothing is said: %q", len(g.Nodes), g.Notes)
		}
		wellFormed(t, clustered(g))
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%.2000s", err, svg)
		}
	}
}

// clusters is a random graph whose nodes lie in clusters.
func clusters(r *rand.Rand, n, edges, of int) *Graph {
	g := random(r, n, edges)
	for c := range of {
		g.Clusters = append(g.Clusters, Cluster{Title: fmt.Sprintf("cluster <%d>", c)})
	}
	for i := range g.Nodes {
		g.Nodes[i].Cluster = 1 + r.IntN(of)
	}
	return g
}

func TestClustersHoldTheirNodesAndLieApart(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 40 {
		n := nest(clusters(r, 1+r.IntN(80), r.IntN(120), 1+r.IntN(7)))
		for i := range n.g.Nodes {
			gr := &n.groups[n.g.Nodes[i].Cluster-1]
			x, y, w, h := n.box(i)
			if x-w/2 < gr.x || x+w/2 > gr.x+gr.w || y-h/2 < gr.y+clusterTitle-10 || y+h/2 > gr.y+gr.h {
				t.Fatalf("node %d lies outside of its cluster", i)
			}
			for k := range i {
				x2, y2, w2, h2 := n.box(k)
				if x-w/2 < x2+w2/2 && x2-w2/2 < x+w/2 && y-h/2 < y2+h2/2 && y2-h2/2 < y+h/2 {
					t.Fatalf("nodes %d and %d overlap", i, k)
				}
			}
		}
		for i := range n.groups {
			for k := range i {
				a, b := &n.groups[i], &n.groups[k]
				if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Fatalf("clusters %d and %d overlap", i, k)
				}
			}
		}
		wellFormed(t, clustered(n.g))
	}
}

func TestMapsAreTheSameEveryTime(t *testing.T) {
	for _, format := range Formats {
		a, err := Write(clusters(rand.New(rand.NewPCG(7, 8)), 60, 90, 5), format)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Write(clusters(rand.New(rand.NewPCG(7, 8)), 60, 90, 5), format)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", format)
		}
	}
}

func TestWhatIsNoAnalysisIsNotDrawn(t *testing.T) {
	for _, text := range []string{"", "{}", `{"normalized_result":{"files":1}}`} {
		if _, err := Application(json.RawMessage(text), 10); err == nil {
			t.Errorf("%q is drawn", text)
		}
	}
}
