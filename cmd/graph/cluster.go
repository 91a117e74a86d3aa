package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of clusters, in pixels.
const (
	clusterPad   = 16.0
	clusterTitle = 26.0
	clusterGap   = 40.0 // between layers of clusters, without labels
	labelRow     = 14.0
	mostInRow    = 9
)

// nested is a graph whose nodes lie in clusters: each cluster is laid out on its
// own, and the clusters are laid out as if they were nodes. Lines between clusters
// share their way from one to the other.
type nested struct {
	g      *Graph
	groups []group // by cluster
	p      *placed // of the clusters
	links  []link
	rows   []int // of labels below each layer of clusters
}

// group is one cluster with its nodes.
type group struct {
	p    *placed
	at   map[int]int // index of a node of the graph in p
	x, y float64     // of its corner
	w, h float64
}

// link is a line from one cluster to another.
type link struct {
	edge     int
	route    *route
	up, down int // nodes: the upper and the lower end
	leaves   float64
	enters   float64
	row      int // of the label, -1 for none
	label    string
}

func nest(g *Graph) *nested {
	n := &nested{g: g, groups: make([]group, len(g.Clusters))}
	for c := range g.Clusters {
		n.layOutCluster(c)
	}
	n.layOutClusters()
	return n
}

// layOutCluster lays out the nodes of a cluster, in rows that make it about as high
// as it is wide.
func (n *nested) layOutCluster(c int) {
	sub := &Graph{}
	at := map[int]int{}
	for i := range n.g.Nodes {
		if n.g.Nodes[i].Cluster == c+1 {
			at[i] = len(sub.Nodes)
			sub.Nodes = append(sub.Nodes, n.g.Nodes[i])
		}
	}
	for _, e := range n.g.Edges {
		from, here := at[e.From]
		to, there := at[e.To]
		if here && there {
			e.From, e.To = from, to
			sub.Edges = append(sub.Edges, e)
		}
	}
	widest := min(max(3, int(math.Ceil(1.2*math.Sqrt(float64(len(sub.Nodes)))))), mostInRow)
	if n.g.Clusters[c].Kind == "outside" { // lines come from above: nothing stands in their way
		widest = mostInRow
	}
	p := layOutIn(sub, widest)
	title := float64(columns(line(n.g.Clusters[c].Title)))*8.2 + 2*clusterPad
	n.groups[c] = group{p: p, at: at, w: max(p.width-2*margin+2*clusterPad, title), h: p.height - 2*margin + clusterTitle + clusterPad + 10}
}

// layOutClusters places the clusters as nodes.
func (n *nested) layOutClusters() {
	super := &Graph{Nodes: make([]Node, len(n.groups))}
	p := &placed{g: super, widest: 3, vs: make([]vertex, len(n.groups))}
	for c := range n.groups {
		p.vs[c].w, p.vs[c].h = n.groups[c].w, n.groups[c].h
	}
	type pair struct{ from, to int }
	index := map[pair]int{}
	for i := range n.g.Edges {
		from, to := n.ends(i)
		if from == to {
			continue
		}
		if _, ok := index[pair{from, to}]; !ok {
			index[pair{from, to}] = len(super.Edges)
			super.Edges = append(super.Edges, Edge{From: from, To: to})
		}
	}
	p.place()
	n.p = p
	routes := make([]*route, len(super.Edges))
	for i := range p.routes {
		routes[p.routes[i].edge] = &p.routes[i]
	}
	for c := range n.groups {
		n.groups[c].x = p.vs[c].x - p.vs[c].w/2
	}
	for i := range n.g.Edges {
		from, to := n.ends(i)
		if from == to {
			continue
		}
		e := &n.g.Edges[i]
		l := link{edge: i, route: routes[index[pair{from, to}]], up: e.From, down: e.To, row: -1, label: line(e.Label)}
		if l.route.reversed {
			l.up, l.down = e.To, e.From
		}
		n.links = append(n.links, l)
	}
	n.ports()
	n.labels()
	n.stack()
}

func (n *nested) ends(edge int) (from, to int) {
	e := &n.g.Edges[edge]
	return n.g.Nodes[e.From].Cluster - 1, n.g.Nodes[e.To].Cluster - 1
}

// corner is where the drawing of a cluster's nodes begins.
func (gr *group) corner() (x, y float64) {
	inner := gr.p.width - 2*margin
	return gr.x + (gr.w-inner)/2 - margin, gr.y + clusterTitle - margin + 4
}

// box is where a node lies.
func (n *nested) box(node int) (x, y, w, h float64) {
	gr := &n.groups[n.g.Nodes[node].Cluster-1]
	v := &gr.p.vs[gr.at[node]]
	cx, cy := gr.corner()
	return cx + v.x, cy + v.y, v.w, v.h
}

// ports spreads the ends of the links over the sides of the nodes.
func (n *nested) ports() {
	assign := func(end func(*link) int, far func(*link) int, put func(*link, float64)) {
		by := map[int][]int{}
		for i := range n.links {
			by[end(&n.links[i])] = append(by[end(&n.links[i])], i)
		}
		for node, list := range by {
			slices.SortStableFunc(list, func(a, b int) int {
				xa, _, _, _ := n.box(far(&n.links[a]))
				xb, _, _, _ := n.box(far(&n.links[b]))
				return cmp.Compare(xa, xb)
			})
			x, _, w, _ := n.box(node)
			room := min(w-2*padding, 20*float64(len(list)-1))
			for k, i := range list {
				at := x
				if len(list) > 1 {
					at += room * (float64(k)/float64(len(list)-1) - 0.5)
				}
				put(&n.links[i], at)
			}
		}
	}
	assign(func(l *link) int { return l.up }, func(l *link) int { return l.down }, func(l *link, x float64) { l.leaves = x })
	assign(func(l *link) int { return l.down }, func(l *link) int { return l.up }, func(l *link, x float64) { l.enters = x })
}

// labels gives each label a row below the cluster that its line leaves downwards, so
// that none covers another.
func (n *nested) labels() {
	n.rows = make([]int, len(n.p.layers))
	type span struct{ from, to float64 }
	taken := make([][][]span, len(n.p.layers))
	order := make([]int, len(n.links))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n.links[a].leaves, n.links[b].leaves) })
	for _, i := range order {
		l := &n.links[i]
		if l.label == "" {
			continue
		}
		layer := n.p.vs[n.g.Nodes[l.up].Cluster-1].layer
		s := span{l.leaves, l.leaves + float64(columns(l.label))*6.7 + 14}
		for row := 0; l.row < 0; row++ {
			if row == len(taken[layer]) {
				taken[layer] = append(taken[layer], nil)
			}
			if !slices.ContainsFunc(taken[layer][row], func(t span) bool { return s.from < t.to && t.from < s.to }) {
				taken[layer][row] = append(taken[layer][row], s)
				l.row = row
				n.rows[layer] = max(n.rows[layer], row+1)
			}
		}
	}
}

// stack puts the layers of clusters below one another.
func (n *nested) stack() {
	y := margin
	for i, layer := range n.p.layers {
		tallest := 0.0
		for _, v := range layer {
			tallest = max(tallest, n.p.vs[v].h)
		}
		for _, v := range layer {
			n.p.vs[v].y = y
			if v < len(n.groups) {
				n.groups[v].y = y
			} else {
				n.p.vs[v].h = tallest
			}
		}
		y += tallest + clusterGap + labelRow*float64(n.rows[i])
	}
	n.p.height = y - clusterGap + margin
}

const clusterStyle = `rect.cluster{fill:@box;fill-opacity:.45;stroke:@line;rx:9px}rect.outside{fill:none;stroke-dasharray:5 4}text.cluster{font-size:13px;font-weight:600;fill:@muted;paint-order:stroke;stroke:@bg;stroke-width:4px}
path.link{fill:none;stroke-width:1.35;stroke-opacity:.85}rect.box{fill-opacity:1}
`

// clustered draws a graph with clusters.
func clustered(g *Graph) []byte {
	n := nest(g)
	var b strings.Builder
	legend := n.legend()
	head := headHeight + 18*float64(len(g.Notes))
	if legend != "" {
		head += 22
	}
	width := max(n.p.width, float64(columns(line(g.Title)))*9.2+2*margin, 640)
	for _, note := range g.Notes {
		width = max(width, float64(columns(note))*charWidth+2*margin)
	}
	for i := range n.links { // labels may stand out
		if l := &n.links[i]; l.row >= 0 {
			width = max(width, l.leaves+float64(columns(l.label))*6.7+margin)
		}
	}
	openSVG(&b, g, width, n.p.height+head, clusterStyle)
	if legend != "" {
		fmt.Fprintf(&b, `<g transform="translate(%s %s)">%s</g>`+"\n", number(margin), number(44+18*float64(len(g.Notes))), legend)
	}
	fmt.Fprintf(&b, `<g transform="translate(0 %s)">`+"\n", number(head))
	for c := range n.groups {
		n.drawCluster(&b, c)
	}
	for i := range n.links {
		n.drawLink(&b, &n.links[i])
	}
	for c := range n.groups {
		gr := &n.groups[c]
		x, y := gr.corner()
		fmt.Fprintf(&b, `<g transform="translate(%s %s)">`+"\n", number(x), number(y))
		gr.p.drawEdges(&b)
		for i := range gr.p.g.Nodes {
			gr.p.drawNode(&b, i)
		}
		b.WriteString("</g>\n")
	}
	for c := range n.groups {
		gr := &n.groups[c]
		fmt.Fprintf(&b, `<text class="cluster" x="%s" y="%s">%s</text>`+"\n", number(gr.x+clusterPad), number(gr.y+18), escapeXML(line(g.Clusters[c].Title)))
	}
	for i := range n.links {
		n.drawLabel(&b, &n.links[i])
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

// lineKinds are those of a map, as the legend tells them.
var lineKinds = []struct{ kind, means string }{
	{"start", "starts"}, {"api", "calls an exposed API"}, {"message", "sends a message"}, {"request", "asks a host"}, {"import", "loads"}, {"use", "keeps"},
}

// legend tells the colours of the lines that are drawn.
func (n *nested) legend() string {
	used := map[string]bool{}
	for _, e := range n.g.Edges {
		used[e.Kind] = true
	}
	var b strings.Builder
	x := 0.0
	for _, k := range lineKinds {
		if !used[k.kind] {
			continue
		}
		fmt.Fprintf(&b, `<path class="edge %s" marker-end="url(#%s)" d="M%s 0h26"/><text class="note" x="%s" y="4">%s</text>`, colour(k.kind), colour(k.kind), number(x), number(x+33), k.means)
		x += 33 + float64(len(k.means))*charWidth + 22
	}
	return b.String()
}

func (n *nested) drawCluster(b *strings.Builder, c int) {
	gr := &n.groups[c]
	class := "cluster"
	if n.g.Clusters[c].Kind != "" {
		class += " " + n.g.Clusters[c].Kind
	}
	fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", class, number(gr.x), number(gr.y), number(gr.w), number(gr.h))
}

func (n *nested) drawLink(b *strings.Builder, l *link) {
	e := &n.g.Edges[l.edge]
	_, uy, _, uh := n.box(l.up)
	_, dy, _, dh := n.box(l.down)
	up, down := &n.groups[n.g.Nodes[l.up].Cluster-1], &n.groups[n.g.Nodes[l.down].Cluster-1]
	x, y := l.leaves, uy+uh/2
	var d strings.Builder
	fmt.Fprintf(&d, "M%s %s", number(x), number(y))
	lead := func(nx, ny float64) {
		if nx == x {
			fmt.Fprintf(&d, "L%s %s", number(nx), number(ny))
		} else {
			mid := (y + ny) / 2
			fmt.Fprintf(&d, "C%s %s %s %s %s %s", number(x), number(mid), number(nx), number(mid), number(nx), number(ny))
		}
		x, y = nx, ny
	}
	layer := n.p.vs[n.g.Nodes[l.up].Cluster-1].layer
	lead(x, up.y+up.h+labelRow*float64(n.rows[layer]))
	for _, v := range l.route.through[1 : len(l.route.through)-1] {
		dummy := &n.p.vs[v]
		lead(dummy.x, dummy.y)
		lead(dummy.x, dummy.y+dummy.h+labelRow*float64(n.rows[dummy.layer]))
	}
	lead(l.enters, down.y)
	lead(l.enters, dy-dh/2)
	marker, class := "marker-end", "link"
	if l.route.reversed {
		marker, class = "marker-start", "link back"
	}
	fmt.Fprintf(b, `<path class="%s %s" %s="url(#%s)" d="%s"/>`+"\n", class, colour(e.Kind), marker, colour(e.Kind), d.String())
}

func (n *nested) drawLabel(b *strings.Builder, l *link) {
	if l.row < 0 {
		return
	}
	up := &n.groups[n.g.Nodes[l.up].Cluster-1]
	fmt.Fprintf(b, `<text class="label" x="%s" y="%s">%s</text>`+"\n", number(l.leaves+4), number(up.y+up.h+12+labelRow*float64(l.row)), escapeXML(l.label))
}
