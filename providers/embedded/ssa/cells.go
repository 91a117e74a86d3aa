package ssa

import (
	"cmp"
	"slices"
	"sort"
)

// widest bounds a cell, in bytes; larger runs of overlapping accesses are arrays.
const widest = 64

// makeCells groups overlapping accesses into cells and reports whether some
// were left out.
func (f *frame) makeCells(limit, word int64) (left bool) {
	as := slices.Clone(f.accesses)
	slices.SortFunc(as, func(a, b frameAccess) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size))
	})
	for i := 0; i < len(as); {
		c := Cell{Base: as[i].base, Offset: as[i].off, Saved: true}
		end := as[i].off + as[i].size
		j := i
		saved := false
		for ; j < len(as) && as[j].base == c.Base && as[j].off < end; j++ {
			end = max(end, as[j].off+as[j].size)
			if as[j].write {
				saved = true
				c.Saved = c.Saved && as[j].saves
			}
		}
		c.Size = end - c.Offset
		c.Saved = c.Saved && saved || c.Base == 0 && c.Offset == 0 && c.Size == word && f.in.CallPushes && !saved
		i = j
		if c.Size > widest || c.Size <= 0 {
			continue
		}
		if int64(len(f.cells)) >= limit {
			left = true
			break
		}
		low := f.escapes[c.Base]
		c.Exposed = !c.Saved && end > low && (c.Base == 1 || c.Offset < 0 || low >= 0)
		f.cells = append(f.cells, c)
	}
	return left
}

// cellAt is the cell that holds the bytes, as an index.
func (f *frame) cellAt(base uint8, off, size int64) (int, bool) {
	i := sort.Search(len(f.cells), func(i int) bool {
		c := &f.cells[i]
		return c.Base > base || c.Base == base && c.Offset > off
	}) - 1
	if i < 0 {
		return 0, false
	}
	c := &f.cells[i]
	return i, c.Base == base && off >= c.Offset && off+size <= c.Offset+c.Size
}
