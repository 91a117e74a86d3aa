package object

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortByAddress compares with a stable sort by address and tie.
func TestSortByAddress(t *testing.T) {
	type item struct {
		addr     uint64
		tie, was int
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, 2047, 2048, 5000, 20000} {
		for _, span := range []uint64{1, 50, 1 << 11, 1 << 20, 1 << 40, ^uint64(0)} {
			list := make([]item, n)
			base := rng.Uint64() % (^uint64(0) - span + 1)
			for i := range list {
				list[i] = item{base + rng.Uint64N(span), rng.IntN(3), i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b item) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.tie, b.tie)) })
			sortByAddress(list, func(x *item) uint64 { return x.addr }, func(a, b *item) int { return cmp.Compare(a.tie, b.tie) })
			if !slices.Equal(list, want) {
				t.Fatalf("%d addresses within %#x are out of order", n, span)
			}
		}
	}
}
