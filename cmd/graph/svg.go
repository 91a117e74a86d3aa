package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// columns is the number of character cells that a line takes; the text is set
// in a face where nearly all characters are equally wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 && utf8.RuneLen(r) >= 3 {
			n++
		}
	}
	return n
}

// A theme has the colours of a picture by what they are for.
type theme map[string]string

var (
	light = theme{
		"bg": "#ffffff", "fg": "#1f2430", "muted": "#6b7280", "box": "#f6f8fb", "line": "#9aa4b2", "entry": "#dbeafe", "entryline": "#2563eb", "import": "#f1f5f9", "unresolved": "#fef3c7",
		"taken": "#15803d", "nottaken": "#b91c1c", "jump": "#2563eb", "table": "#7c3aed", "pad": "#c2410c", "call": "#64748b",
	}
	dark = theme{
		"bg": "#12151c", "fg": "#e5e9f0", "muted": "#9aa4b2", "box": "#1b202b", "line": "#556070", "entry": "#16294d", "entryline": "#60a5fa", "import": "#20252f", "unresolved": "#3b2f10",
		"taken": "#4ade80", "nottaken": "#f87171", "jump": "#60a5fa", "table": "#c4b5fd", "pad": "#fb923c", "call": "#94a3b8",
	}
)

// style is rules with the colours of the light theme, and then with those of the
// dark one for readers who prefer it. Colours are written out: few programs but
// browsers know variables, and they draw black what they don't know.
func style(rules string) string {
	return light.paint(rules) + "@media (prefers-color-scheme: dark){\n" + dark.paint(rules) + "}\n"
}

// paint gives the colours of a theme to the names behind "@".
func (t theme) paint(rules string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		pairs = append(pairs, "@"+name+";", t[name]+";", "@"+name+"}", t[name]+"}")
	}
	return strings.NewReplacer(pairs...).Replace(rules)
}

const rules = `
svg{background:@bg}rect.bg{fill:@bg}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:@fg;white-space:pre}
text.title{font-size:15px;font-weight:600}text.note{fill:@muted}tspan.head{font-weight:600}
rect.box{fill:@box;stroke:@line;rx:5px}rect.entry{fill:@entry;stroke:@entryline;stroke-width:1.6}
rect.import{fill:@import;stroke-dasharray:4 3}rect.unresolved{fill:@unresolved}
path.edge{fill:none;stroke-width:1.35}path.back{stroke-dasharray:6 3}
path.taken{stroke:@taken}path.nottaken{stroke:@nottaken}path.jump{stroke:@jump}path.table{stroke:@table}path.pad{stroke:@pad}path.call{stroke:@call}
path.to-taken{fill:@taken}path.to-nottaken{fill:@nottaken}path.to-jump{fill:@jump}path.to-table{fill:@table}path.to-pad{fill:@pad}path.to-call{fill:@call}
text.label{font-size:11px;fill:@muted;paint-order:stroke;stroke:@bg;stroke-width:3px}
`

// colours of edges, by kind.
var colours = []struct{ kind, colour string }{
	{"call", "call"}, {"fallthrough", "call"}, {"jump", "jump"}, {"landing_pad", "pad"}, {"not_taken", "nottaken"}, {"table", "table"}, {"tail_call", "jump"}, {"taken", "taken"},
	{"import", "call"}, {"use", "call"}, {"message", "jump"}, {"start", "taken"}, {"api", "table"}, {"request", "pad"},
}

func colour(kind string) string {
	for _, c := range colours {
		if c.kind == kind {
			return c.colour
		}
	}
	return "call"
}

func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}

// number writes a coordinate.
func number(x float64) string {
	s := fmt.Sprintf("%.1f", x)
	return strings.TrimSuffix(s, ".0")
}

const headHeight = 34.0

// SVG draws the graph.
func SVG(g *Graph) []byte {
	p := layOut(g)
	if g.Across {
		p.width, p.height = p.height, p.width
	}
	var b strings.Builder
	notes := 18 * float64(len(g.Notes))
	width := max(p.width, float64(columns(line(g.Title)))*9.2+2*margin, 360)
	for _, n := range g.Notes {
		width = max(width, float64(columns(n))*charWidth+2*margin)
	}
	height := p.height + headHeight + notes
	openSVG(&b, g, width, height, "")
	fmt.Fprintf(&b, `<g transform="translate(%s %s)">`+"\n", number(max(0, (width-p.width)/2)), number(headHeight+notes))
	p.drawEdges(&b)
	for i := range g.Nodes {
		p.drawNode(&b, i)
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

// openSVG begins a picture with its title and notes; more is style.
func openSVG(b *strings.Builder, g *Graph, width, height float64, more string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img">`, number(width), number(height), number(width), number(height))
	fmt.Fprintf(b, "\n<title>%s</title>\n<style>%s</style>\n<defs>", escapeXML(line(g.Title)), style(rules+more))
	used := map[string]bool{}
	for _, c := range colours {
		if !used[c.colour] {
			used[c.colour] = true
			fmt.Fprintf(b, `<marker id="%s" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7.5" markerHeight="7.5" orient="auto-start-reverse"><path class="to-%s" d="M0 0.6L8 4L0 7.4z"/></marker>`, c.colour, c.colour)
		}
	}
	b.WriteString("</defs>\n")
	fmt.Fprintf(b, `<rect class="bg" width="%s" height="%s"/>`+"\n", number(width), number(height))
	fmt.Fprintf(b, `<text class="title" x="%s" y="24">%s</text>`+"\n", number(margin), escapeXML(line(g.Title)))
	for i, n := range g.Notes {
		fmt.Fprintf(b, `<text class="note" x="%s" y="%s">%s</text>`+"\n", number(margin), number(44+18*float64(i)), escapeXML(n))
	}
}

func (p *placed) drawNode(b *strings.Builder, i int) {
	n, v := &p.g.Nodes[i], &p.vs[i]
	class := "box"
	if n.Kind != "" {
		class += " " + n.Kind
	}
	x, y, w, h := v.x-v.w/2, v.y-v.h/2, v.w, v.h
	if p.g.Across {
		x, y, w, h = y, x, h, w
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%s" y="%s" width="%s" height="%s"/><text y="%s">`, escapeXML(line(n.ID)), class, number(x), number(y), number(w), number(h), number(y))
	for k, l := range n.Lines {
		head := ""
		if k == 0 && len(n.Lines) > 1 {
			head = ` class="head"`
		}
		dy := lineHeight
		if k == 0 {
			dy = lineHeight + padding - 5
		}
		fmt.Fprintf(b, `<tspan%s x="%s" dy="%s">%s</tspan>`, head, number(x+padding), number(dy), escapeXML(l))
	}
	b.WriteString("</text></g>\n")
}

// ports spreads the ends of the edges over the side of each node, in the order
// of the vertices they lead to; edges to one vertex share an end.
func (p *placed) ports() (top, bottom map[[2]int]float64) {
	top, bottom = map[[2]int]float64{}, map[[2]int]float64{}
	assign := func(into map[[2]int]float64, v int, near []int) {
		near = slices.Clone(near)
		slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(p.vs[a].x, p.vs[b].x) })
		room := min(p.vs[v].w-2*padding, 22*float64(len(near)-1))
		if p.g.Across {
			room = min(p.vs[v].w-8, 4*float64(len(near)-1))
		}
		for k, n := range near {
			x := p.vs[v].x
			if len(near) > 1 {
				x += room * (float64(k)/float64(len(near)-1) - 0.5)
			}
			into[[2]int{v, n}] = x
		}
	}
	for v := range p.g.Nodes {
		assign(bottom, v, p.vs[v].down)
		assign(top, v, p.vs[v].up)
	}
	return top, bottom
}

// point writes a place of the layout as one of the picture.
func (p *placed) point(x, y float64) string {
	if p.g.Across {
		x, y = y, x
	}
	return number(x) + " " + number(y)
}

// mostLabels bounds the edges of a node that are labelled, so that the labels
// keep clear of one another.
const mostLabels = 3

func (p *placed) drawEdges(b *strings.Builder) {
	top, bottom := p.ports()
	floor := make([]float64, len(p.layers)) // lowest point of each layer
	ceiling := make([]float64, len(p.layers))
	for l, layer := range p.layers {
		for k, v := range layer {
			if k == 0 || p.vs[v].y-p.vs[v].h/2 < ceiling[l] {
				ceiling[l] = p.vs[v].y - p.vs[v].h/2
			}
			floor[l] = max(floor[l], p.vs[v].y+p.vs[v].h/2)
		}
	}
	for k := range p.routes {
		r := &p.routes[k]
		e := &p.g.Edges[r.edge]
		from, to := r.through[0], r.through[len(r.through)-1]
		leaves := bottom[[2]int{from, r.through[1]}]
		x, y := leaves, p.vs[from].y+p.vs[from].h/2
		var d strings.Builder
		fmt.Fprintf(&d, "M%s", p.point(x, y))
		lead := func(nx, ny float64) {
			if nx == x {
				fmt.Fprintf(&d, "L%s", p.point(nx, ny))
			} else {
				mid := (y + ny) / 2
				fmt.Fprintf(&d, "C%s %s %s", p.point(x, mid), p.point(nx, mid), p.point(nx, ny))
			}
			x, y = nx, ny
		}
		if f := floor[p.vs[from].layer]; f > y { // past taller nodes of the layer
			lead(x, f)
		}
		for _, v := range r.through[1 : len(r.through)-1] {
			l := p.vs[v].layer
			lead(p.vs[v].x, ceiling[l])
			if floor[l] > ceiling[l] {
				lead(p.vs[v].x, floor[l])
			}
		}
		endY := p.vs[to].y - p.vs[to].h/2
		enters := top[[2]int{to, r.through[len(r.through)-2]}]
		lead(enters, endY)
		c := colour(e.Kind)
		marker, class := "marker-end", "edge"
		if r.reversed {
			marker, class = "marker-start", "edge back"
		}
		fmt.Fprintf(b, `<path class="%s %s" %s="url(#%s)" d="%s"/>`+"\n", class, c, marker, c, d.String())
		if e.Label != "" && len(p.vs[from].down) <= mostLabels {
			lx, ly := leaves, p.vs[from].y+p.vs[from].h/2+13
			if r.reversed {
				lx, ly = enters, endY-6
			}
			if p.g.Across {
				lx, ly = p.vs[from].y+p.vs[from].h/2, leaves-3
				if r.reversed {
					lx, ly = endY-26, enters-3
				}
			}
			fmt.Fprintf(b, `<text class="label" x="%s" y="%s">%s</text>`+"\n", number(lx+4), number(ly), escapeXML(line(e.Label)))
		}
	}
	for k := range p.g.Edges {
		if e := &p.g.Edges[k]; e.From == e.To {
			v := &p.vs[e.From]
			c := colour(e.Kind)
			x, y := v.x+v.w/2, v.y
			if p.g.Across {
				x, y = v.y+v.h/2, v.x
			}
			fmt.Fprintf(b, `<path class="edge %s" marker-end="url(#%s)" d="M%s %sc16 -10 16 14 1 7"/>`+"\n", c, c, number(x), number(y-4))
		}
	}
}
