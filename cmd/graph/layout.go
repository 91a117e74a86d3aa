package graph

import (
	"slices"
	"sort"
)

// Sizes, in pixels.
const (
	charWidth   = 7.25
	lineHeight  = 16.0
	padding     = 9.0
	nodeGap     = 26.0
	dummyGap    = 14.0
	layerGap    = 46.0
	acrossGap   = 9.0 // between nodes and dummies of layers beside one another
	margin      = 28.0
	smallestBox = 48.0
)

// Bounds of the layout.
const (
	mostDummies = 30000
	sweeps      = 24
)

// placed is a graph with positions. The first len(g.Nodes) vertices are its
// nodes, the others dummies that carry long edges through layers.
type placed struct {
	g      *Graph
	widest int // nodes without successors that share a layer
	vs     []vertex
	layers [][]int
	routes []route
	width  float64
	height float64
}

type vertex struct {
	w, h     float64
	x, y     float64 // of the centre
	layer    int
	order    int
	up, down []int // neighbours in the adjacent layers
	dummy    bool
}

// route is the way of one edge: vertices from upper to lower.
type route struct {
	edge     int
	through  []int
	reversed bool // the edge leads upwards
}

// layOut places the nodes. Of a graph whose layers stand beside one another the
// places are those of the picture with its axes exchanged.
func layOut(g *Graph) *placed {
	if g.Across {
		return layOutIn(g, 64)
	}
	return layOutIn(g, 14)
}

// layOutIn places the nodes with at most so many in a row of those that lead
// nowhere.
func layOutIn(g *Graph, widest int) *placed {
	p := &placed{g: g, widest: widest, vs: make([]vertex, len(g.Nodes))}
	for i := range g.Nodes {
		n := 0
		for _, l := range g.Nodes[i].Lines {
			n = max(n, columns(l))
		}
		p.vs[i].w = max(smallestBox, float64(n)*charWidth+2*padding)
		p.vs[i].h = float64(len(g.Nodes[i].Lines))*lineHeight + 2*padding - 3
		if g.Across {
			p.vs[i].w, p.vs[i].h = p.vs[i].h, p.vs[i].w
		}
	}
	p.place()
	return p
}

// place does the work, once the sizes are known.
func (p *placed) place() {
	reversed := p.breakCycles()
	p.rank(reversed)
	p.spread(reversed)
	p.cut(reversed)
	p.arrange()
	p.position()
}

// breakCycles finds edges that lead back, by a depth-first walk from the nodes
// that nothing leads to, in their order.
func (p *placed) breakCycles() []bool {
	n := len(p.g.Nodes)
	out := make([][]int, n)
	entered := make([]int, n)
	for k, e := range p.g.Edges {
		if e.From != e.To {
			out[e.From] = append(out[e.From], k)
			entered[e.To]++
		}
	}
	reversed := make([]bool, len(p.g.Edges))
	state := make([]uint8, n)
	type frame struct{ node, next int }
	walk := func(start int) {
		if state[start] != 0 {
			return
		}
		stack := []frame{{start, 0}}
		state[start] = 1
		for len(stack) > 0 {
			t := &stack[len(stack)-1]
			if t.next == len(out[t.node]) {
				state[t.node] = 2
				stack = stack[:len(stack)-1]
				continue
			}
			k := out[t.node][t.next]
			t.next++
			switch to := p.g.Edges[k].To; state[to] {
			case 1:
				reversed[k] = true
			case 0:
				state[to] = 1
				stack = append(stack, frame{to, 0})
			}
		}
	}
	if n > 0 {
		walk(0)
	}
	for i := range n {
		if entered[i] == 0 {
			walk(i)
		}
	}
	for i := range n {
		walk(i)
	}
	return reversed
}

// ends are the upper and the lower node of an edge.
func (p *placed) ends(k int, reversed []bool) (from, to int) {
	e := p.g.Edges[k]
	if reversed[k] {
		return e.To, e.From
	}
	return e.From, e.To
}

// rank gives every node the layer of the longest path to it.
func (p *placed) rank(reversed []bool) {
	n := len(p.g.Nodes)
	entered := make([]int, n)
	below := make([][]int, n)
	for k, e := range p.g.Edges {
		if e.From == e.To {
			continue
		}
		from, to := p.ends(k, reversed)
		below[from] = append(below[from], to)
		entered[to]++
	}
	var ready []int
	for i := range n {
		if entered[i] == 0 {
			ready = append(ready, i)
		}
	}
	var order []int
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		order = append(order, i)
		for _, to := range below[i] {
			p.vs[to].layer = max(p.vs[to].layer, p.vs[i].layer+1)
			if entered[to]--; entered[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	// A node without predecessors moves down to just above what it leads to.
	entered = make([]int, n)
	for k, e := range p.g.Edges {
		if e.From != e.To {
			_, to := p.ends(k, reversed)
			entered[to]++
		}
	}
	for _, i := range order {
		if entered[i] == 0 && len(below[i]) > 0 && i != 0 {
			least := p.vs[below[i][0]].layer
			for _, to := range below[i] {
				least = min(least, p.vs[to].layer)
			}
			p.vs[i].layer = max(0, least-1)
		}
	}
}

// spread moves nodes that lead nowhere out of layers with too many nodes into
// rows below.
func (p *placed) spread(reversed []bool) {
	leads := make([]bool, len(p.g.Nodes))
	for k, e := range p.g.Edges {
		if e.From != e.To {
			from, _ := p.ends(k, reversed)
			leads[from] = true
		}
	}
	last := 0
	for i := range p.vs {
		last = max(last, p.vs[i].layer)
	}
	rows := make([][]int, last+1)
	for i := range p.vs {
		rows[p.vs[i].layer] = append(rows[p.vs[i].layer], i)
	}
	layer := 0
	for _, row := range rows {
		kept := 0
		var moved []int
		for _, i := range row {
			if leads[i] {
				kept++
			}
		}
		room := max(2, p.widest-kept)
		for _, i := range row {
			p.vs[i].layer = layer
			if leads[i] {
				continue
			}
			if room > 0 {
				room--
				continue
			}
			moved = append(moved, i)
		}
		for k, i := range moved {
			p.vs[i].layer = layer + 1 + k/p.widest
		}
		layer += 1 + (len(moved)+p.widest-1)/p.widest
	}
}

// cut makes the routes, with dummies where an edge passes layers.
func (p *placed) cut(reversed []bool) {
	// Long edges of a kind that end at one node share their way there, and those
	// that lead back share it from there.
	type way struct {
		node, layer int
		kind        string
		back        bool
	}
	shared := map[way]int{}
	type pair struct{ upper, lower int }
	linked := map[pair]bool{}
	total := 0
	for k, e := range p.g.Edges {
		if e.From != e.To {
			from, to := p.ends(k, reversed)
			total += max(0, p.vs[to].layer-p.vs[from].layer-1)
		}
	}
	direct := total > mostDummies
	if direct {
		p.g.Notes = append(p.g.Notes, "long edges are drawn straight")
	}
	for k, e := range p.g.Edges {
		if e.From == e.To {
			continue
		}
		from, to := p.ends(k, reversed)
		r := route{edge: k, through: []int{from}, reversed: reversed[k]}
		for layer := p.vs[from].layer + 1; layer < p.vs[to].layer && !direct; layer++ {
			w := way{e.To, layer, e.Kind, reversed[k]}
			d, ok := shared[w]
			if !ok {
				p.vs = append(p.vs, vertex{w: 1, layer: layer, dummy: true})
				d = len(p.vs) - 1
				shared[w] = d
			}
			r.through = append(r.through, d)
		}
		r.through = append(r.through, to)
		for i := 1; i < len(r.through); i++ {
			a, b := r.through[i-1], r.through[i]
			if linked[pair{a, b}] {
				continue
			}
			linked[pair{a, b}] = true
			p.vs[a].down = append(p.vs[a].down, b)
			p.vs[b].up = append(p.vs[b].up, a)
		}
		p.routes = append(p.routes, r)
	}
	last := 0
	for i := range p.vs {
		last = max(last, p.vs[i].layer)
	}
	p.layers = make([][]int, last+1)
}

// arrange orders the layers so that few edges cross.
func (p *placed) arrange() {
	p.initialOrder()
	best := p.crossings()
	kept := p.snapshot()
	n := sweeps
	if len(p.vs) > 4000 {
		n = 6
	}
	for s := 0; s < n && best > 0; s++ {
		p.sweep(s%2 == 0)
		if c := p.crossings(); c < best {
			best, kept = c, p.snapshot()
		}
	}
	p.layers = kept
	p.number()
}

func (p *placed) snapshot() [][]int {
	out := make([][]int, len(p.layers))
	for i := range p.layers {
		out[i] = slices.Clone(p.layers[i])
	}
	return out
}

func (p *placed) number() {
	for _, layer := range p.layers {
		for k, v := range layer {
			p.vs[v].order = k
		}
	}
}

// initialOrder follows a depth-first walk, so that subtrees stay together.
func (p *placed) initialOrder() {
	seen := make([]bool, len(p.vs))
	visit := func(start int) {
		stack := []int{start}
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			p.layers[p.vs[v].layer] = append(p.layers[p.vs[v].layer], v)
			for i := len(p.vs[v].down) - 1; i >= 0; i-- {
				stack = append(stack, p.vs[v].down[i])
			}
		}
	}
	for v := range p.vs {
		if len(p.vs[v].up) == 0 {
			visit(v)
		}
	}
	p.number()
}

// sweep orders every layer by the medians of the one before it, from top to
// bottom or from bottom to top.
func (p *placed) sweep(downward bool) {
	median := make(map[int]float64, 64)
	order := func(layer []int, near func(v int) []int) {
		clear(median)
		for _, v := range layer {
			ns := near(v)
			if len(ns) == 0 {
				median[v] = float64(p.vs[v].order)
				continue
			}
			at := make([]int, len(ns))
			for i, w := range ns {
				at[i] = p.vs[w].order
			}
			slices.Sort(at)
			m := len(at) / 2
			if len(at)%2 == 1 {
				median[v] = float64(at[m])
			} else {
				median[v] = float64(at[m-1]+at[m]) / 2
			}
		}
		sort.SliceStable(layer, func(a, b int) bool { return median[layer[a]] < median[layer[b]] })
		for k, v := range layer {
			p.vs[v].order = k
		}
	}
	if downward {
		for l := 1; l < len(p.layers); l++ {
			order(p.layers[l], func(v int) []int { return p.vs[v].up })
		}
		return
	}
	for l := len(p.layers) - 2; l >= 0; l-- {
		order(p.layers[l], func(v int) []int { return p.vs[v].down })
	}
}

// crossings counts pairs of edges between adjacent layers that cross.
func (p *placed) crossings() int {
	total := 0
	for l := 1; l < len(p.layers); l++ {
		n := len(p.layers[l])
		tree := make([]int, n+1) // of ends seen so far
		seen := 0
		for _, u := range p.layers[l-1] {
			ends := make([]int, 0, len(p.vs[u].down))
			for _, v := range p.vs[u].down {
				if p.vs[v].layer == l {
					ends = append(ends, p.vs[v].order)
				}
			}
			for _, e := range ends {
				before := 0
				for i := e + 1; i > 0; i -= i & -i {
					before += tree[i]
				}
				total += seen - before
			}
			for _, e := range ends {
				for i := e + 1; i <= n; i += i & -i {
					tree[i]++
				}
				seen++
			}
		}
	}
	return total
}
