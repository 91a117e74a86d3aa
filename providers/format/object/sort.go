package object

import (
	"cmp"
	"slices"
)

// sortByAddress sorts s by the address that key gives, then by tie, then by the
// order before. Only small keys move while sorting: the lists of a large
// library have hundreds of thousands of wide entries.
func sortByAddress[T any](s []T, key func(*T) uint64, tie func(a, b *T) int) {
	type place struct {
		addr uint64
		i    int
	}
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
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		if c := tie(&s[a.i], &s[b.i]); c != 0 {
			return c
		}
		return cmp.Compare(a.i, b.i)
	})
	old := slices.Clone(s)
	for i, p := range places {
		s[i] = old[p.i]
	}
}
