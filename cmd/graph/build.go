package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Call runs a tool and returns the structured result as JSON.
type Call func(ctx context.Context, tool string, input any) ([]byte, error)

// Request says what to draw.
type Request struct {
	Open any // input of open_binary
	// Procedure is a name or an address. Without one, calls are drawn from the
	// main procedure or the entry point.
	Procedure string
	Kind      string // flow, calls or callers
	Depth     int    // levels of calls
	MaxNodes  int
	Code      bool // instructions in the blocks of a control-flow graph
}

// codeLines bounds the instructions shown in one block.
const codeLines = 14

// Build asks the tools for the graph.
func Build(ctx context.Context, call Call, r Request) (*Graph, error) {
	if _, err := call(ctx, "open_binary", r.Open); err != nil {
		return nil, err
	}
	if r.Kind == "flow" {
		return flow(ctx, call, r)
	}
	if r.Procedure == "" {
		p, err := start(ctx, call)
		if err != nil {
			return nil, err
		}
		r.Procedure = p
	}
	return calls(ctx, call, r)
}

// sealed calls a tool whose result is an evidence record.
func sealed(ctx context.Context, call Call, tool string, input, into any) error {
	data, err := call(ctx, tool, input)
	if err != nil {
		return err
	}
	var record struct {
		Result json.RawMessage `json:"normalized_result"`
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	if err := json.Unmarshal(record.Result, into); err != nil {
		return fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	return nil
}

type reference struct {
	Address string  `json:"address"`
	Name    *string `json:"name"`
}

func (r reference) title() string {
	if r.Name != nil {
		return line(*r.Name)
	}
	return r.Address
}

// start is the procedure that a call graph without a root begins with.
func start(ctx context.Context, call Call) (string, error) {
	var out struct {
		EntryPoints []reference `json:"entry_points"`
		Target      struct {
			Entry *reference `json:"entry"`
		} `json:"target"`
	}
	if err := sealed(ctx, call, "binary_overview", map[string]any{}, &out); err != nil {
		return "", err
	}
	for _, want := range []string{"main", "_main", "main.main"} {
		for _, e := range out.EntryPoints {
			if e.Name != nil && *e.Name == want {
				return e.Address, nil
			}
		}
	}
	if out.Target.Entry != nil {
		return out.Target.Entry.Address, nil
	}
	if len(out.EntryPoints) > 0 {
		return out.EntryPoints[0].Address, nil
	}
	return "", fmt.Errorf("the file has no entry point to begin with: name a procedure")
}

// caller is a node of a call graph.
type caller struct {
	Procedure  reference `json:"procedure"`
	Kind       string    `json:"kind"`
	Expanded   bool      `json:"expanded"`
	Unresolved int       `json:"unresolved"`
}

func calls(ctx context.Context, call Call, r Request) (*Graph, error) {
	direction := "forward"
	if r.Kind == "callers" {
		direction = "backward"
	}
	var out struct {
		Root         reference `json:"root"`
		Truncated    bool      `json:"truncated"`
		OmittedNodes *int      `json:"omitted_nodes"`
		Nodes        []caller  `json:"nodes"`
		Edges        []struct {
			From, To, Kind string
			Sites          int
		} `json:"edges"`
	}
	err := sealed(ctx, call, "get_call_graph", map[string]any{"procedure": r.Procedure, "depth": r.Depth, "direction": direction, "max_nodes": r.MaxNodes}, &out)
	if err != nil {
		return nil, err
	}
	g := &Graph{Title: "calls from " + out.Root.title(), Across: true}
	if direction == "backward" {
		g.Title = "callers of " + out.Root.title()
	}
	slices.SortStableFunc(out.Nodes, func(a, b caller) int {
		if x, y := a.Procedure.Address == out.Root.Address, b.Procedure.Address == out.Root.Address; x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(a.Procedure.Address), len(b.Procedure.Address)), cmp.Compare(a.Procedure.Address, b.Procedure.Address))
	})
	index := map[string]int{}
	cut := 0
	for i, n := range out.Nodes {
		index[n.Procedure.Address] = i
		node := Node{ID: n.Procedure.Address, Lines: []string{n.Procedure.title()}}
		switch {
		case n.Procedure.Address == out.Root.Address:
			node.Kind = "entry"
		case n.Kind == "import_stub" || n.Kind == "external":
			node.Kind = "import"
		case n.Unresolved > 0:
			node.Kind = "unresolved"
			node.ID += fmt.Sprintf(", %d computed calls without a known target", n.Unresolved)
		}
		if !n.Expanded && node.Kind != "import" {
			cut++
			node.Lines[0] += " …"
		}
		g.Nodes = append(g.Nodes, node)
	}
	for _, e := range out.Edges {
		from, ok := index[e.From]
		to, ok2 := index[e.To]
		if !ok || !ok2 {
			continue
		}
		edge := Edge{From: from, To: to, Kind: e.Kind}
		if e.Sites > 1 {
			edge.Label = strconv.Itoa(e.Sites) + "×"
		}
		g.Edges = append(g.Edges, edge)
	}
	if cut > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("what the %d procedures marked … lead to is left out (--depth %d)", cut, r.Depth))
	}
	if out.Truncated {
		left := "an unknown number of"
		if out.OmittedNodes != nil {
			left = strconv.Itoa(*out.OmittedNodes)
		}
		g.Notes = append(g.Notes, fmt.Sprintf("%s procedures are left out (--max-nodes %d)", left, r.MaxNodes))
	}
	return g, nil
}

type block struct {
	Start, End   string
	Instructions int
	Successors   []struct{ Address, Kind string }
}

type instruction struct {
	Address, Mnemonic, Operands string
}

// mostCode bounds the instructions that are read for one picture.
const mostCode = 50000

// dossier is the part of analyze_function that is drawn.
type dossier struct {
	Procedure struct{ Address, Name string }
	Blocks    struct {
		Items []block
		Total *int
		Next  *int `json:"next_offset"`
	} `json:"basic_blocks"`
	Assembly *struct {
		Items []instruction
		Next  *int `json:"next_offset"`
	}
}

// flow draws the control flow of one procedure.
func flow(ctx context.Context, call Call, r Request) (*Graph, error) {
	var blocks []block
	var first dossier
	for offset, more := 0, true; more && len(blocks) < r.MaxNodes; {
		var page dossier
		input := map[string]any{"procedure": r.Procedure, "limit": 500, "collection_offset": map[string]any{"basic_blocks": offset}}
		if err := sealed(ctx, call, "analyze_function", input, &page); err != nil {
			return nil, err
		}
		if offset == 0 {
			first = page
		}
		blocks = append(blocks, page.Blocks.Items...)
		if more = page.Blocks.Next != nil; more {
			offset = *page.Blocks.Next
		}
	}
	total := len(blocks)
	if first.Blocks.Total != nil {
		total = *first.Blocks.Total
	}
	blocks = blocks[:min(len(blocks), r.MaxNodes)]
	end := uint64(0) // of what is drawn
	for i := range blocks {
		end = max(end, value(blocks[i].End))
	}
	var code []instruction
	for offset, more := 0, r.Code; more && len(code) < mostCode && (len(code) == 0 || value(code[len(code)-1].Address) < end); {
		var page dossier
		input := map[string]any{"procedure": r.Procedure, "limit": 1, "include_assembly": true, "max_instructions": 5000, "assembly_offset": offset}
		if err := sealed(ctx, call, "analyze_function", input, &page); err != nil {
			return nil, err
		}
		if more = page.Assembly != nil; more {
			code = append(code, page.Assembly.Items...)
			if more = page.Assembly.Next != nil; more {
				offset = *page.Assembly.Next
			}
		}
	}
	g := &Graph{Title: "control flow of " + line(first.Procedure.Name)}
	if total > len(blocks) {
		g.Notes = append(g.Notes, fmt.Sprintf("%d of %d basic blocks are left out (--max-nodes %d)", total-len(blocks), total, r.MaxNodes))
	}
	fill(g, blocks, code, first.Procedure.Address)
	return g, nil
}

func value(address string) uint64 {
	n, err := strconv.ParseUint(address, 0, 64)
	if err != nil {
		return 0
	}
	return n
}

// fill makes the nodes and edges of blocks; the entry comes first.
func fill(g *Graph, blocks []block, code []instruction, entry string) {
	slices.SortStableFunc(blocks, func(a, b block) int {
		if x, y := a.Start == entry, b.Start == entry; x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(value(a.Start), value(b.Start))
	})
	index := map[string]int{}
	short := 0
	for i, b := range blocks {
		index[b.Start] = i
		n := Node{ID: b.Start, Lines: []string{b.Start}}
		if b.Start == entry {
			n.Kind = "entry"
		}
		lo, hi := value(b.Start), value(b.End)
		from, _ := slices.BinarySearchFunc(code, lo, func(in instruction, a uint64) int { return cmp.Compare(value(in.Address), a) })
		shown := 0
		for k := from; k < len(code) && value(code[k].Address) < hi; k++ {
			if shown == codeLines {
				n.Lines = append(n.Lines, fmt.Sprintf("… %d more", b.Instructions-shown))
				short++
				break
			}
			text := code[k].Mnemonic
			if code[k].Operands != "" {
				text = fmt.Sprintf("%-7s %s", code[k].Mnemonic, code[k].Operands)
			}
			n.Lines = append(n.Lines, line(text))
			shown++
		}
		if shown == 0 {
			n.Lines = append(n.Lines, fmt.Sprintf("%d instructions", b.Instructions))
		}
		g.Nodes = append(g.Nodes, n)
	}
	if short > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("of %d blocks only the first %d instructions are shown", short, codeLines))
	}
	missing := 0
	for i, b := range blocks {
		for _, s := range b.Successors {
			to, ok := index[s.Address]
			if !ok {
				missing++
				continue
			}
			g.Edges = append(g.Edges, Edge{From: i, To: to, Kind: s.Kind})
		}
	}
	if missing > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%d edges lead to blocks that are left out", missing))
	}
}
