package program

import "slices"

// sortedBy returns the indices below n in the order of their keys, equal keys
// by index: a radix sort over the bits in which the keys differ.
func sortedBy(n int, key func(int) uint64) []uint32 {
	type pair struct {
		key uint64
		i   uint32
	}
	a := make([]pair, n)
	lo, hi := ^uint64(0), uint64(0)
	for i := range a {
		k := key(i)
		a[i] = pair{k, uint32(i)}
		lo, hi = min(lo, k), max(hi, k)
	}
	const bits = 11
	b := make([]pair, n)
	for shift := 0; shift < 64 && n > 1 && (hi-lo)>>shift != 0; shift += bits {
		var at [1<<bits + 1]int
		for i := range a {
			at[(a[i].key-lo)>>shift&(1<<bits-1)+1]++
		}
		for d := range 1 << bits {
			at[d+1] += at[d]
		}
		for i := range a {
			d := (a[i].key - lo) >> shift & (1<<bits - 1)
			b[at[d]] = a[i]
			at[d]++
		}
		a, b = b, a
	}
	out := make([]uint32, n)
	for i := range a {
		out[i] = a[i].i
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
