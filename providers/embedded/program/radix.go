package program

import (
	"context"
	"slices"
)

// sortKey is a key of a list to be ordered, and the index of what it belongs to.
type sortKey struct {
	key  uint64
	i    uint32
	mark uint32 // the caller's
}

// sortPiece is how many keys one goroutine takes at a time.
const sortPiece = 1 << 16

// sortKeys returns the keys of the indices below n, in order, equal ones by
// index: a radix sort over the bits in which they differ.
func sortKeys(workers, n int, key func(int) sortKey) []sortKey {
	const bits = 11
	pieces := (n + sortPiece - 1) / sortPiece
	eachPiece := func(f func(k, lo, hi int)) {
		_ = each(context.Background(), workers, pieces, 1, func(_, k int) { f(k, k*sortPiece, min(n, (k+1)*sortPiece)) })
	}
	a, lows, highs := make([]sortKey, n), make([]uint64, pieces), make([]uint64, pieces)
	eachPiece(func(k, lo, hi int) {
		low, high := ^uint64(0), uint64(0)
		for i := lo; i < hi; i++ {
			x := key(i)
			x.i = uint32(i)
			a[i] = x
			low, high = min(low, x.key), max(high, x.key)
		}
		lows[k], highs[k] = low, high
	})
	if n < 2 {
		return a
	}
	low, high := slices.Min(lows), slices.Max(highs)
	b := make([]sortKey, n)
	at := make([][1 << bits]uint32, pieces) // by piece: how many have each digit, then where they go
	for shift := 0; shift < 64 && (high-low)>>shift != 0; shift += bits {
		eachPiece(func(k, lo, hi int) {
			clear(at[k][:])
			for i := lo; i < hi; i++ {
				at[k][(a[i].key-low)>>shift&(1<<bits-1)]++
			}
		})
		sum := uint32(0)
		for d := range 1 << bits {
			for k := range at {
				sum, at[k][d] = sum+at[k][d], sum
			}
		}
		eachPiece(func(k, lo, hi int) {
			for i := lo; i < hi; i++ {
				to := &at[k][(a[i].key-low)>>shift&(1<<bits-1)]
				b[*to] = a[i]
				*to++
			}
		})
		a, b = b, a
	}
	return a
}

// sortedBy returns the indices below n in the order of their keys, equal keys
// by index.
func sortedBy(workers, n int, key func(int) uint64) []uint32 {
	keys := sortKeys(workers, n, func(i int) sortKey { return sortKey{key: key(i)} })
	out := make([]uint32, n)
	for i := range keys {
		out[i] = keys[i].i
	}
	return out
}

// mergeSorted merges two sorted lists, in the place of the first if it can.
func mergeSorted[T any](a, b []T, order func(a, b T) int) []T {
	if len(a) == 0 || len(b) == 0 || order(a[len(a)-1], b[0]) <= 0 {
		return append(a, b...)
	}
	i, j := len(a)-1, len(b)-1
	b = slices.Clone(b) // which may lie right behind a
	a = append(a, b...)
	for k := len(a) - 1; j >= 0; k-- {
		if i >= 0 && order(a[i], b[j]) > 0 {
			a[k] = a[i]
			i--
		} else {
			a[k] = b[j]
			j--
		}
	}
	return a
}
