package program

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"
)

// index builds what the lookups need.
func (p *Program) index(workers int) {
	p.callsByTo = sortedBy(workers, len(p.Calls), func(i int) uint64 { return p.Calls[i].To })
	p.byRange = make([]rangeOwner, 0, len(p.Ranges))
	for i := range p.Functions {
		for _, g := range p.FunctionRanges(i) {
			p.byRange = append(p.byRange, rangeOwner{g, uint32(i)})
		}
	}
	slices.SortFunc(p.byRange, func(a, b rangeOwner) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.fn, b.fn)) })
	p.nameOrder = make([]uint32, len(p.Names))
	for i := range p.nameOrder {
		p.nameOrder[i] = uint32(i)
	}
	slices.SortFunc(p.nameOrder, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.Names[a].Name, p.Names[b].Name), cmp.Compare(a, b))
	})
}

// EachFunction calls f for the index of every function, on so many goroutines at
// the same time, each with its own number from 0.
func (p *Program) EachFunction(ctx context.Context, workers int, f func(worker, i int)) error {
	return Each(ctx, workers, len(p.Functions), f)
}

// Each calls f for every index below n, in the same way.
func Each(ctx context.Context, workers, n int, f func(worker, i int)) error {
	return each(ctx, workers, n, 256, f)
}

// FunctionAt returns the index of the function whose entry is addr.
func (p *Program) FunctionAt(addr uint64) (int, bool) {
	return slices.BinarySearchFunc(p.Functions, addr, func(f Function, a uint64) int { return cmp.Compare(f.Entry, a) })
}

// FunctionContaining returns the index of the function that owns addr.
func (p *Program) FunctionContaining(addr uint64) (int, bool) {
	if i, ok := p.FunctionAt(addr); ok {
		return i, true
	}
	i := sort.Search(len(p.byRange), func(i int) bool { return p.byRange[i].Start > addr })
	for k := 0; i > 0 && k < 4; k++ { // ranges of functions that share code may overlap a little
		i--
		if addr < p.byRange[i].End {
			return int(p.byRange[i].fn), true
		}
	}
	return 0, false
}

// FunctionRanges returns the ranges of function i, by address.
func (p *Program) FunctionRanges(i int) []Range {
	f := &p.Functions[i]
	return p.Ranges[f.ranges.lo:f.ranges.hi]
}

// FunctionBlocks returns the blocks of function i, by address.
func (p *Program) FunctionBlocks(i int) []Block {
	f := &p.Functions[i]
	return p.Blocks[f.blocks.lo:f.blocks.hi]
}

// BlockEdges returns the edges that leave a block.
func (p *Program) BlockEdges(b *Block) []Edge { return p.Edges[b.edges.lo:b.edges.hi] }

// BlockAt returns the block of function i that holds addr.
func (p *Program) BlockAt(i int, addr uint64) (*Block, bool) {
	bs := p.FunctionBlocks(i)
	k := sort.Search(len(bs), func(k int) bool { return bs[k].Start > addr }) - 1
	if k >= 0 && addr < bs[k].End {
		return &bs[k], true
	}
	return nil, false
}

// CallsBetween returns the call sites in [lo, hi).
func (p *Program) CallsBetween(lo, hi uint64) []Call {
	i := sort.Search(len(p.Calls), func(i int) bool { return p.Calls[i].From >= lo })
	j := sort.Search(len(p.Calls), func(i int) bool { return p.Calls[i].From >= hi })
	return p.Calls[i:max(i, j)]
}

// CallsIn returns the call sites of function i, by address.
func (p *Program) CallsIn(i int) []Call {
	var out []Call
	for _, g := range p.FunctionRanges(i) {
		cs := p.CallsBetween(g.Start, g.End)
		if out == nil {
			out = cs[:len(cs):len(cs)]
		} else {
			out = append(out, cs...)
		}
	}
	return out
}

// CallsTo yields the call sites that reach addr, by address.
func (p *Program) CallsTo(addr uint64) iter.Seq[Call] {
	return func(yield func(Call) bool) {
		i := sort.Search(len(p.callsByTo), func(i int) bool { return p.Calls[p.callsByTo[i]].To >= addr })
		for ; i < len(p.callsByTo) && p.Calls[p.callsByTo[i]].To == addr; i++ {
			if !yield(p.Calls[p.callsByTo[i]]) {
				return
			}
		}
	}
}

// RefsFrom returns the references made in [lo, hi), by address.
func (p *Program) RefsFrom(lo, hi uint64) []Ref {
	i := sort.Search(len(p.Refs), func(i int) bool { return p.Refs[i].From >= lo })
	j := sort.Search(len(p.Refs), func(i int) bool { return p.Refs[i].From >= hi })
	return p.Refs[i:max(i, j)]
}

// RefsTo yields the references to [lo, hi), by target and then by origin.
func (p *Program) RefsTo(lo, hi uint64) iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		i := sort.Search(len(p.refsByTo), func(i int) bool { return p.Refs[p.refsByTo[i]].To >= lo })
		for ; i < len(p.refsByTo) && p.Refs[p.refsByTo[i]].To < hi; i++ {
			if !yield(p.Refs[p.refsByTo[i]]) {
				return
			}
		}
	}
}

// CountRefsTo is the number of references to [lo, hi).
func (p *Program) CountRefsTo(lo, hi uint64) int {
	i := sort.Search(len(p.refsByTo), func(i int) bool { return p.Refs[p.refsByTo[i]].To >= lo })
	j := i
	for j < len(p.refsByTo) && p.Refs[p.refsByTo[j]].To < hi {
		j++
	}
	return j - i
}

// CountRefs returns what counts references as CountRefsTo does, quickly for
// ranges that follow one another.
func (p *Program) CountRefs() func(lo, hi uint64) int {
	at := 0 // the first reference not below the last range's begin
	seek := func(i int, a uint64) int {
		below := func(i int) bool { return p.Refs[p.refsByTo[i]].To < a }
		step := 1
		for i+step <= len(p.refsByTo) && below(i+step-1) {
			i, step = i+step, 2*step
		}
		return i + sort.Search(min(step, len(p.refsByTo)-i), func(k int) bool { return !below(i + k) })
	}
	last := uint64(0)
	return func(lo, hi uint64) int {
		if lo < last {
			at = 0
		}
		at, last = seek(at, lo), lo
		return seek(at, hi) - at
	}
}

// TablesAt returns the jump tables of the indirect jump at addr, by their
// addresses: more than one where paths of different tables share the jump.
func (p *Program) TablesAt(addr uint64) []Table {
	i := sort.Search(len(p.Tables), func(i int) bool { return p.Tables[i].Jump >= addr })
	j := i
	for j < len(p.Tables) && p.Tables[j].Jump == addr {
		j++
	}
	return p.Tables[i:j]
}

// StringsBetween returns the strings that start in [lo, hi).
func (p *Program) StringsBetween(lo, hi uint64) []String {
	i := sort.Search(len(p.Strings), func(i int) bool { return p.Strings[i].Addr >= lo })
	j := sort.Search(len(p.Strings), func(i int) bool { return p.Strings[i].Addr >= hi })
	return p.Strings[i:max(i, j)]
}

// StringAt returns the string that starts at addr.
func (p *Program) StringAt(addr uint64) (String, bool) {
	i, ok := slices.BinarySearchFunc(p.Strings, addr, func(s String, a uint64) int { return cmp.Compare(s.Addr, a) })
	if !ok {
		return String{}, false
	}
	return p.Strings[i], true
}

// NamesAt returns the names of addr, the most telling first.
func (p *Program) NamesAt(addr uint64) []Name {
	i := sort.Search(len(p.Names), func(i int) bool { return p.Names[i].Addr >= addr })
	j := i
	for j < len(p.Names) && p.Names[j].Addr == addr {
		j++
	}
	return p.Names[i:j]
}

// Named yields the names equal to name, by address.
func (p *Program) Named(name string) iter.Seq[Name] {
	return func(yield func(Name) bool) {
		i := sort.Search(len(p.nameOrder), func(i int) bool { return p.Names[p.nameOrder[i]].Name >= name })
		for ; i < len(p.nameOrder) && p.Names[p.nameOrder[i]].Name == name; i++ {
			if !yield(p.Names[p.nameOrder[i]]) {
				return
			}
		}
	}
}

// FunctionNamed returns the index of the first function that has the name, or
// that owns the split part which has it.
func (p *Program) FunctionNamed(name string) (int, bool) {
	for n := range p.Named(name) {
		if i, ok := p.FunctionOf(n); ok {
			return i, true
		}
	}
	return 0, false
}

// FunctionOf returns the index of the function a name belongs to: the one at
// its address or, for the name of a split part ("main.cold"), its parent.
// Names of data and of labels inside functions belong to none.
func (p *Program) FunctionOf(n Name) (int, bool) {
	if i, ok := p.FunctionAt(n.Addr); ok {
		return i, true
	}
	if !n.Func {
		return 0, false
	}
	i, ok := p.FunctionContaining(n.Addr)
	if !ok {
		return 0, false
	}
	if _, part := coldParent(n.Name); part {
		return i, true
	}
	ok = slices.ContainsFunc(p.FunctionRanges(i), func(g Range) bool { return g.Start == n.Addr })
	return i, ok
}

// IsInstruction says whether an instruction of a function starts at addr.
func (p *Program) IsInstruction(addr uint64) bool {
	o := p.sp.off(addr)
	return o != none && p.starts.has(o)
}

// Instructions yields the instruction starts in [lo, hi).
func (p *Program) InstructionsBetween(lo, hi uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := range p.sp.regions {
			g := &p.sp.regions[i]
			end := g.addr + uint64(len(g.data))
			if end <= lo || g.addr >= hi {
				continue
			}
			a, b := g.base, g.end()
			if lo > g.addr {
				a += uint32(lo - g.addr)
			}
			if hi < end {
				b -= uint32(end - hi)
			}
			for o := p.starts.next(a, b); o < b; o = p.starts.next(o+1, b) {
				if !yield(g.addr + uint64(o-g.base)) {
					return
				}
			}
		}
	}
}

// UnresolvedBetween returns the places in [lo, hi) where recovery stopped short.
func (p *Program) UnresolvedBetween(lo, hi uint64) []Unresolved {
	i := sort.Search(len(p.Unresolved), func(i int) bool { return p.Unresolved[i].Addr >= lo })
	j := sort.Search(len(p.Unresolved), func(i int) bool { return p.Unresolved[i].Addr >= hi })
	return p.Unresolved[i:max(i, j)]
}
