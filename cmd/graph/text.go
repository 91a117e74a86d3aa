package graph

import (
	"fmt"
	"strings"
)

var dotColours = map[string]string{"message": "#2563eb", "start": "#15803d", "api": "#7c3aed", "request": "#c2410c", "taken": "#15803d", "not_taken": "#b91c1c", "jump": "#2563eb", "tail_call": "#2563eb", "table": "#7c3aed", "landing_pad": "#c2410c"}

// DOT writes the graph in the language of Graphviz.
func DOT(g *Graph) []byte {
	var b strings.Builder
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
	}
	fmt.Fprintf(&b, "digraph %s {\n", quote(line(g.Title)))
	for _, n := range g.Notes {
		fmt.Fprintf(&b, "  // %s\n", strings.ReplaceAll(line(n), "\n", " "))
	}
	if g.Across {
		b.WriteString("  rankdir=LR;\n")
	}
	b.WriteString("  node [shape=box fontname=monospace fontsize=10 style=rounded];\n  edge [fontname=monospace fontsize=9];\n")
	for i := range g.Nodes {
		n := &g.Nodes[i]
		var label strings.Builder
		for _, l := range n.Lines {
			label.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l))
			if len(n.Lines) > 1 {
				label.WriteString(`\l`)
			}
		}
		style := ""
		switch n.Kind {
		case "entry":
			style = ` style="rounded,bold"`
		case "import":
			style = ` style="rounded,dashed"`
		case "unresolved":
			style = ` style="rounded,filled" fillcolor="#fef3c7"`
		}
		fmt.Fprintf(&b, "  n%d [label=\"%s\"%s];\n", i, label.String(), style)
	}
	for c := range g.Clusters {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n    style=rounded;\n   ", c, quote(line(g.Clusters[c].Title)))
		for i := range g.Nodes {
			if g.Nodes[i].Cluster == c+1 {
				fmt.Fprintf(&b, " n%d;", i)
			}
		}
		b.WriteString("\n  }\n")
	}
	for _, e := range g.Edges {
		var attributes []string
		if c := dotColours[e.Kind]; c != "" {
			attributes = append(attributes, `color="`+c+`"`)
		}
		if e.Label != "" {
			attributes = append(attributes, "label="+quote(line(e.Label)))
		}
		if e.Kind != "" {
			attributes = append(attributes, "class="+quote(e.Kind))
		}
		fmt.Fprintf(&b, "  n%d -> n%d [%s];\n", e.From, e.To, strings.Join(attributes, " "))
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// Mermaid writes the graph as a Mermaid flowchart.
func Mermaid(g *Graph) []byte {
	var b strings.Builder
	// Mermaid has no escape but entities, which begin with # instead of &.
	escape := func(s string) string {
		var o strings.Builder
		for _, r := range s {
			switch {
			case r < 0x80 && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" _.,:+-*/=$@!?()", r)):
				fmt.Fprintf(&o, "#%d;", r)
			default:
				o.WriteRune(r)
			}
		}
		return o.String()
	}
	direction := "TD"
	if g.Across {
		direction = "LR"
	}
	fmt.Fprintf(&b, "---\ntitle: \"%s\"\n---\nflowchart %s\n", strings.NewReplacer(`\`, `\\`, `"`, `\"`, "<", "‹", ">", "›").Replace(line(g.Title)), direction)
	for _, n := range g.Notes {
		fmt.Fprintf(&b, "  %%%% %s\n", strings.NewReplacer("{", "(", "}", ")").Replace(line(n)))
	}
	for i := range g.Nodes {
		lines := make([]string, len(g.Nodes[i].Lines))
		for k, l := range g.Nodes[i].Lines {
			lines[k] = escape(l)
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, strings.Join(lines, "<br/>"))
	}
	for c := range g.Clusters {
		fmt.Fprintf(&b, "  subgraph c%d[\"%s\"]\n   ", c, escape(line(g.Clusters[c].Title)))
		for i := range g.Nodes {
			if g.Nodes[i].Cluster == c+1 {
				fmt.Fprintf(&b, " n%d", i)
			}
		}
		b.WriteString("\n  end\n")
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == "landing_pad" || e.Kind == "tail_call" {
			arrow = "-.->"
		}
		label := ""
		if e.Label != "" {
			label = "|\"" + escape(line(e.Label)) + "\"|"
		}
		fmt.Fprintf(&b, "  n%d %s%s n%d\n", e.From, arrow, label, e.To)
	}
	return []byte(b.String())
}
