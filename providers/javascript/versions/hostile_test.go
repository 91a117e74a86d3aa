package versions

import (
	"fmt"
	"testing"
	"time"

	"rea/generated/model"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/recorded"
)

// synthetic is an analysis of one file with many modules, made by hand.
func synthetic(t testing.TB, modules int, draw func(b *graph.Builder, nodes []int64)) *recorded.Application {
	t.Helper()
	digest := fmt.Sprintf("%064x", 1)
	b := graph.NewBuilder([]model.ApplicationFile{{Path: "a.js", Kind: model.ApplicationFileKindJavascript, SHA256: &digest, State: model.ApplicationFileStateAnalyzed}})
	from := b.From(graph.Source{
		Extractor: "test", Authority: model.ApplicationProvenanceAuthorityArtifactBytes,
		State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact,
	})
	b.Locations = model.ApplicationLocations{File: []int64{}, Start: []int64{}, End: []int64{}, Line: []int64{}}
	root := b.Node(model.ApplicationNodeKindApplication, graph.Identity{Strategy: model.ApplicationNodeIdentityStrategyContentDigest, SHA256: digest}, "app", from, nil, nil)
	file := b.Node(model.ApplicationNodeKindJavascriptAsset, graph.Path("a.js", digest), "a.js", from, nil, nil)
	b.Edge(root, file, model.ApplicationRelationContains, from, nil, nil)
	nodes := []int64{}
	for i := range modules {
		id := graph.Local(fmt.Sprintf("a.js#webpack:%d", i))
		id.SHA256 = digest
		nodes = append(nodes, b.Node(model.ApplicationNodeKindJavascriptModule, id, "", from, nil, graph.Properties{"file": "a.js", "bundler": "webpack", "module_id": fmt.Sprint(i), "features": 0}))
	}
	draw(b, nodes)
	a := &model.ApplicationAnalysis{Files: b.Files, Locations: b.Locations, Provenance: b.Provenance, Graph: b.Graph(), Statistics: map[string]int64{}}
	a.Application = model.ApplicationAnalysisApplication{Name: "app", Format: "directory", SHA256: digest}
	a.Semantics = model.JavascriptSemantics{}
	return record(t, a)
}

// Thousands of modules that are all alike are compared in a time that grows with
// their number, and stay ambiguous.
func TestManyAlike(t *testing.T) {
	draw := func(first int) func(b *graph.Builder, nodes []int64) {
		return func(b *graph.Builder, nodes []int64) {
			for i := range nodes {
				// One module loads all; all load the next.
				b.Edge(nodes[0], nodes[i], model.ApplicationRelationImports, 0, nil, nil)
				b.Edge(nodes[i], nodes[(i+1)%len(nodes)], model.ApplicationRelationImports, 0, nil, nil)
				b.Set(nodes[i], "module_id", fmt.Sprint(first+i))
			}
		}
	}
	start := time.Now()
	c, err := Compare(t.Context(), synthetic(t, 20000, draw(0)), synthetic(t, 19000, draw(7)))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(c.Items) < 20000 {
		t.Errorf("%d items", len(c.Items))
	}
}

func TestOrderIsTheSame(t *testing.T) {
	draw := func(b *graph.Builder, nodes []int64) {
		for i := range nodes {
			b.Edge(nodes[i], nodes[i*7%len(nodes)], model.ApplicationRelationImports, 0, nil, nil)
		}
	}
	first := ""
	for range 5 {
		c, err := Compare(t.Context(), synthetic(t, 300, draw), synthetic(t, 280, draw))
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(c.Items)
		if first == "" {
			first = said
		} else if said != first {
			t.Fatal("two comparisons of the same sides differ")
		}
	}
}

func TestStem(t *testing.T) {
	for p, want := range map[string]string{
		"dist/main.3f9a1c2b.js":         "dist/main.js",
		"assets/index-CiS6P8MC.js":      "assets/index.js",
		"static/js/2.8c9d1e2f.chunk.js": "static/js/2.chunk.js",
		"vendors~main.bundle.js":        "vendors~main.bundle.js",
		"src/compare-versions.js":       "src/compare-versions.js",
		"lib/internal-operators.js":     "lib/internal-operators.js",
		"a/b.js":                        "a/b.js",
	} {
		if got := stem(p); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}
