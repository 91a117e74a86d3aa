package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// random is a graph of n nodes, connected from the first.
func random(r *rand.Rand, n, edges int) *Graph {
	g := &Graph{Title: "random"}
	for i := range n {
		lines := []string{fmt.Sprintf("node %d", i)}
		for range r.IntN(5) {
			lines = append(lines, strings.Repeat("x", r.IntN(40)))
		}
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Lines: lines})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: r.IntN(i), To: i, Kind: "call"})
		}
	}
	for range edges {
		g.Edges = append(g.Edges, Edge{From: r.IntN(n), To: r.IntN(n), Kind: "jump", Label: "x"})
	}
	return g
}

func TestBoxesDoNotOverlapAndEdgesLeadDown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 1 + r.IntN(60)
		g := random(r, n, r.IntN(80))
		g.Across = round%2 == 1
		p := layOut(g)
		for i := range n {
			for k := i + 1; k < n; k++ {
				a, b := &p.vs[i], &p.vs[k]
				if a.x-a.w/2 < b.x+b.w/2 && b.x-b.w/2 < a.x+a.w/2 && a.y-a.h/2 < b.y+b.h/2 && b.y-b.h/2 < a.y+a.h/2 {
					t.Fatalf("boxes %d and %d overlap", i, k)
				}
			}
			if v := &p.vs[i]; v.x-v.w/2 < 0 || v.x+v.w/2 > p.width || v.y-v.h/2 < 0 || v.y+v.h/2 > p.height {
				t.Fatalf("box %d lies outside the picture", i)
			}
		}
		for _, route := range p.routes {
			for i := 1; i < len(route.through); i++ {
				if a, b := &p.vs[route.through[i-1]], &p.vs[route.through[i]]; a.layer+1 != b.layer {
					t.Fatalf("an edge leads from layer %d to layer %d", a.layer, b.layer)
				}
			}
		}
	}
}

func TestCrossingsAreRemovedWhereTheyCanBe(t *testing.T) {
	// A tree has a drawing without crossings.
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		p := layOut(random(r, 2+r.IntN(60), 0))
		if c := p.crossings(); c != 0 {
			t.Errorf("%d crossings in a tree", c)
		}
	}
}

// A procedure that calls many gets a column of names, not a row.
func TestLayersBesideOneAnotherAreNotWide(t *testing.T) {
	g := &Graph{Title: "calls", Across: true, Nodes: []Node{{ID: "main", Lines: []string{"main"}}}}
	for i := range 100 {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint(i), Lines: []string{fmt.Sprintf("procedure_%d", i)}})
		g.Edges = append(g.Edges, Edge{From: 0, To: i + 1, Kind: "call"})
	}
	var width, height float64
	if _, err := fmt.Sscanf(string(SVG(g)), `<svg xmlns="http://www.w3.org/2000/svg" width="%f" height="%f"`, &width, &height); err != nil {
		t.Fatal(err)
	}
	if width > 800 || height > 4000 {
		t.Errorf("the picture is %.0f wide and %.0f high", width, height)
	}
	for _, text := range []string{string(DOT(g)), string(Mermaid(g))} {
		if !strings.Contains(text, "LR") {
			t.Errorf("no direction in %.80s", text)
		}
	}
}

// hostile has text that would end quotes, tags and lines.
func hostile() *Graph {
	text := "<script>\"'&]]>--\\ \x00\x1b\u202e#quot;%%{|}\n\xff" + strings.Repeat("long", 40)
	return &Graph{Title: text, Notes: []string{"note <b> & --> \"quoted\""}, Nodes: []Node{{ID: text, Lines: []string{line(text), line(text)}}, {ID: "b", Lines: []string{"b"}}},
		Edges: []Edge{{From: 0, To: 1, Kind: "taken", Label: text}, {From: 1, To: 0, Kind: text}, {From: 1, To: 1}}}
}

func TestSVGIsWellFormedWhateverTheText(t *testing.T) {
	for _, g := range []*Graph{hostile(), {}, {Title: "empty"}, random(rand.New(rand.NewPCG(5, 6)), 30, 40)} {
		d := xml.NewDecoder(bytes.NewReader(SVG(g)))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := token.(xml.StartElement); ok && s.Name.Local == "script" {
				t.Fatal("text became an element")
			}
		}
	}
}

func TestTextFormatsKeepTextInItsQuotes(t *testing.T) {
	dot := string(DOT(hostile()))
	for l := range strings.Lines(dot) {
		quotes := strings.Count(strings.ReplaceAll(strings.ReplaceAll(l, `\\`, ""), `\"`, ""), `"`)
		if quotes%2 != 0 {
			t.Errorf("quotes do not match in %q", l)
		}
	}
	for l := range strings.Lines(string(Mermaid(hostile()))) {
		if strings.Contains(l, "script>") || strings.HasPrefix(l, "  n") && strings.Count(l, `"`)%2 != 0 {
			t.Errorf("text is not escaped in %q", l)
		}
	}
}

func TestPicturesAreTheSameEveryTime(t *testing.T) {
	for _, format := range Formats {
		a, err := Write(random(rand.New(rand.NewPCG(7, 8)), 80, 120), format)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Write(random(rand.New(rand.NewPCG(7, 8)), 80, 120), format)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", format)
		}
	}
	if _, err := Write(&Graph{}, "png"); err == nil {
		t.Error("an unknown format is accepted")
	}
}

func TestLargeGraphsEnd(t *testing.T) {
	start := time.Now()
	g := random(rand.New(rand.NewPCG(9, 10)), 2000, 6000)
	if n := len(SVG(g)); n == 0 {
		t.Fatal("no picture")
	}
	chain := &Graph{Title: "chain"}
	for i := range 2000 {
		chain.Nodes = append(chain.Nodes, Node{ID: fmt.Sprint(i), Lines: []string{"x"}})
		if i > 0 {
			chain.Edges = append(chain.Edges, Edge{From: i - 1, To: i}, Edge{From: i, To: 0}, Edge{From: 0, To: i})
		}
	}
	SVG(chain)
	if d := time.Since(start); d > 60*time.Second {
		t.Errorf("two large pictures took %v", d)
	}
}

func TestBuildSaysWhatIsLeftOut(t *testing.T) {
	answers := map[string]string{
		"open_binary":     `{}`,
		"binary_overview": `{"normalized_result":{"entry_points":[{"address":"0x1","name":"_start"},{"address":"0x2","name":"main"}],"target":{"entry":{"address":"0x1","name":"_start"}}}}`,
		"get_call_graph": `{"normalized_result":{"root":{"address":"0x2","name":"main"},"truncated":true,"omitted_nodes":7,
			"nodes":[{"procedure":{"address":"0x9","name":"puts"},"kind":"import_stub","expanded":false,"unresolved":0},{"procedure":{"address":"0x2","name":"main"},"kind":"function","expanded":true,"unresolved":0},
				{"procedure":{"address":"0x3","name":null},"kind":"function","expanded":false,"unresolved":2}],
			"edges":[{"from":"0x2","to":"0x9","kind":"call","sites":3},{"from":"0x2","to":"0x3","kind":"tail_call","sites":1},{"from":"0x2","to":"0x77","kind":"call","sites":1}]}}`,
		"analyze_function": `{"normalized_result":{"procedure":{"address":"0x10","name":"f"},
			"basic_blocks":{"items":[{"start":"0x10","end":"0x14","instructions":2,"successors":[{"address":"0x14","kind":"not_taken"},{"address":"0x20","kind":"taken"}]},
				{"start":"0x14","end":"0x16","instructions":1,"successors":[]},{"start":"0x20","end":"0x22","instructions":1,"successors":[]}],"total":3,"next_offset":null},
			"assembly":{"items":[{"address":"0x10","mnemonic":"test","operands":"edi, edi"},{"address":"0x12","mnemonic":"je","operands":"0x20"},{"address":"0x14","mnemonic":"ret","operands":""}],"next_offset":null}}}`,
	}
	var asked []string
	call := func(_ context.Context, tool string, input any) ([]byte, error) {
		data, _ := json.Marshal(input)
		asked = append(asked, tool+string(data))
		return []byte(answers[tool]), nil
	}
	g, err := Build(t.Context(), call, Request{Kind: "calls", Depth: 2, MaxNodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(asked, "\n"), `"procedure":"0x2"`) {
		t.Errorf("the graph does not begin at main: %q", asked)
	}
	if len(g.Nodes) != 3 || len(g.Edges) != 2 || g.Nodes[0].Lines[0] != "main" || g.Nodes[0].Kind != "entry" || g.Edges[0].Label != "3×" {
		t.Errorf("graph is %+v", g)
	}
	if len(g.Notes) != 2 || g.Notes[1] != "7 procedures are left out (--max-nodes 3)" {
		t.Errorf("notes are %q", g.Notes)
	}
	g, err = Build(t.Context(), call, Request{Kind: "flow", Procedure: "f", MaxNodes: 2, Code: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 2 || len(g.Edges) != 1 || g.Nodes[0].Lines[1] != "test    edi, edi" {
		t.Errorf("graph is %+v", g)
	}
	if len(g.Notes) != 2 || g.Notes[0] != "1 of 3 basic blocks are left out (--max-nodes 2)" || g.Notes[1] != "1 edges lead to blocks that are left out" {
		t.Errorf("notes are %q", g.Notes)
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				SVG(random(rand.New(rand.NewPCG(1, uint64(n))), n, n/2))
			}
		})
	}
}

// Programs that know no variables of CSS draw pictures as well.
func TestPictures_colours_are_written_out(t *testing.T) {
	for name, rules := range map[string]string{"plain": rules, "clustered": rules + clusterStyle} {
		text := style(rules)
		if strings.Contains(text, "var(") || strings.ContainsAny(strings.ReplaceAll(text, "@media", ""), "@") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
