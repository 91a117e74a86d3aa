package semantic

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists that are joined are what sorting both gives, whether there is room or not.
func TestMergeEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func(n, nodes int) []Edge {
		list := make([]Edge, n)
		for i := range list {
			list[i] = Edge{Relation("dac"[r.IntN(3)]), int32(r.IntN(nodes)), int32(r.IntN(nodes))}
		}
		return SortEdges(list)
	}
	for round := range 200 {
		a, b := some(r.IntN(60), 1+r.IntN(9)), some(r.IntN(20), 1+r.IntN(9))
		want := SortEdges(slices.Concat(a, b))
		if round%2 == 0 {
			a = slices.Grow(a, len(b))
		} else {
			a = slices.Clip(a)
		}
		if got := mergeEdges(a, b); !slices.Equal(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
	}
	long, few := some(3*atOnce, 1000), some(5, 1000)
	want := SortEdges(slices.Concat(long, few))
	if !slices.Equal(mergeEdges(slices.Grow(slices.Clone(long), 5), few), want) || !slices.Equal(mergeEdges(slices.Clip(long), few), want) {
		t.Error("long lists are joined in another way")
	}
}

// What flows to each node is found, in order.
func TestInflow(t *testing.T) {
	g := &Graph{Kinds: make([]byte, 5), Edges: []Edge{{Flows, 0, 4}, {Crosses, 1, 0}, {Calls, 1, 2}, {Flows, 2, 0}, {Flows, 3, 4}, {Flows, 4, 3}}}
	var in inflow
	for range 2 { // in the same room
		in.index(g, Relation.flow)
		for n, want := range [][]int32{{1, 2}, {}, {}, {4}, {0, 3}} {
			if got := in.of(int32(n)); !slices.Equal(got, want) {
				t.Errorf("to %d flows %v, not %v", n, got, want)
			}
		}
	}
}
