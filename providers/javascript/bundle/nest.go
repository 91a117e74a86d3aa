package bundle

import (
	"cmp"
	"slices"

	"rea/providers/javascript/parse"
)

// A Nest finds the innermost of ranges that lie in one another or apart.
type Nest struct {
	spans []parse.Span
	order []int // by start, outer before inner
	up    []int // position in order of the range around each, or -1
	at    []int // position in order, by index
}

// NewNest makes the nest of ranges.
func NewNest(spans []parse.Span) *Nest {
	n := &Nest{spans: spans, order: make([]int, len(spans)), up: make([]int, len(spans)), at: make([]int, len(spans))}
	for i := range spans {
		n.order[i] = i
	}
	slices.SortStableFunc(n.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(spans[a].Start, spans[b].Start), cmp.Compare(spans[b].End, spans[a].End))
	})
	var open []int
	for i, s := range n.order {
		for len(open) > 0 && spans[n.order[open[len(open)-1]]].End <= spans[s].Start {
			open = open[:len(open)-1]
		}
		n.up[i], n.at[s] = -1, i
		if len(open) > 0 {
			n.up[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return n
}

func nestOf(modules []Module) *Nest {
	spans := make([]parse.Span, len(modules))
	for i := range modules {
		spans[i] = modules[i].At
	}
	return NewNest(spans)
}

// Innermost is the index of the innermost range at an offset, or -1.
func (n *Nest) Innermost(at uint32) int {
	after, _ := slices.BinarySearchFunc(n.order, at, func(i int, at uint32) int {
		if n.spans[i].Start <= at {
			return -1
		}
		return 1
	})
	for i := after - 1; i >= 0; i = n.up[i] {
		if at < n.spans[n.order[i]].End {
			return n.order[i]
		}
	}
	return -1
}

// Around is the index of the innermost range around the i-th, or -1.
func (n *Nest) Around(i int) int {
	if up := n.up[n.at[i]]; up >= 0 {
		return n.order[up]
	}
	return -1
}
