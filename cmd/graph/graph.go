// Package graph draws call graphs and control-flow graphs: as SVG with a
// layered layout of its own, as DOT, or as Mermaid.
//
// The layout is Sugiyama's: cycles are broken, nodes are put on layers by the
// longest path, long edges are cut by dummy nodes, the order within layers is
// improved by medians as long as crossings get fewer, and positions follow from
// the neighbours' by isotonic regression. Everything is deterministic, and
// bounded: what was left out is said in the picture.
package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// Graph is what is drawn.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
	// Clusters are boxes around nodes.
	Clusters []Cluster
	// Across: layers stand beside one another, from left to right, instead of
	// below one another. Many small boxes take less room so.
	Across bool
	// Notes say what the picture leaves out.
	Notes []string
}

// Node is a box of lines of text; the first is its title.
type Node struct {
	ID    string
	Lines []string
	Kind  string // of the box: entry, import, unresolved, or ""
	// Cluster is the number of the node's cluster, from 1; 0 for none. A graph with
	// clusters has no node without one.
	Cluster int
}

// Cluster is a box with a title around nodes.
type Cluster struct {
	Title string
	Kind  string // outside, or ""
}

// Edge leads from one node to another, by index.
type Edge struct {
	From, To int
	// Kind is taken, not_taken, fallthrough, jump, table, landing_pad, call or
	// tail_call; in a map of processes import, message, start, api, request or use.
	Kind  string
	Label string
}

// Formats that Write knows.
var Formats = []string{"svg", "dot", "mermaid"}

// Write renders g in a format.
func Write(g *Graph, format string) ([]byte, error) {
	switch format {
	case "svg":
		if len(g.Clusters) > 0 {
			return clustered(g), nil
		}
		return SVG(g), nil
	case "dot":
		return DOT(g), nil
	case "mermaid":
		return Mermaid(g), nil
	}
	return nil, fmt.Errorf("%q is no graph format", format)
}

// longestLine bounds the text of one line, in characters.
const longestLine = 64

// line makes text safe to show: control characters and those that change the
// direction of text are made visible, and it is cut to the bound.
func line(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > longestLine {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == unicode.ReplacementChar, !unicode.IsPrint(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
