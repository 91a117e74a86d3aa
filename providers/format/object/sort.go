package object

import (
	"cmp"
	"slices"
)

// place is an address, and the index of what it belongs to.
type place struct {
	addr uint64
	i    int
}

// sortByAddress sorts s by the address that key gives, then by tie, then by the
// order before. Only small keys move while sorting: the lists of a large
// library have hundreds of thousands of wide entries.
func sortByAddress[T any](s []T, key func(*T) uint64, tie func(a, b *T) int) {
	places := make([]place, len(s))
	sorted := true
	for i := range s {
		places[i] = place{key(&s[i]), i}
		if i > 0 && sorted {
			p := &places[i-1]
			sorted = p.addr < places[i].addr || p.addr == places[i].addr && tie(&s[i-1], &s[i]) <= 0
		}
	}
	if sorted {
		return
	}
	places = byAddress(places)
	for lo := 0; lo < len(places); {
		hi := lo + 1
		for hi < len(places) && places[hi].addr == places[lo].addr {
			hi++
		}
		if hi > lo+1 {
			slices.SortFunc(places[lo:hi], func(a, b place) int { return cmp.Or(tie(&s[a.i], &s[b.i]), cmp.Compare(a.i, b.i)) })
		}
		lo = hi
	}
	old := slices.Clone(s)
	for i, p := range places {
		s[i] = old[p.i]
	}
}

// byAddress sorts places by address alone: a radix sort over the bits in which
// the addresses differ.
func byAddress(a []place) []place {
	const bits = 11
	lo, hi := a[0].addr, a[0].addr
	for i := range a {
		lo, hi = min(lo, a[i].addr), max(hi, a[i].addr)
	}
	if len(a) < 1<<bits {
		slices.SortFunc(a, func(a, b place) int { return cmp.Compare(a.addr, b.addr) })
		return a
	}
	b := make([]place, len(a))
	for shift := 0; shift < 64 && (hi-lo)>>shift != 0; shift += bits {
		var at [1 << bits]int // how many have each digit, then where they go
		for i := range a {
			at[(a[i].addr-lo)>>shift&(1<<bits-1)]++
		}
		sum := 0
		for d := range at {
			sum, at[d] = sum+at[d], sum
		}
		for i := range a {
			d := (a[i].addr - lo) >> shift & (1<<bits - 1)
			b[at[d]] = a[i]
			at[d]++
		}
		a, b = b, a
	}
	return a
}
