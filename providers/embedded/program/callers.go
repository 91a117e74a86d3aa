package program

import (
	"cmp"
	"slices"
)

// caller is one direct call of, or exit to, another function's code.
type caller struct {
	to, at uint32
	from   *fn
	exit   bool
}

// callerIndex answers who calls a place. It is made once and then kept up by
// what walks newly find; what they no longer find is left out when asked. The
// newer entries are merged into the older ones when they have become many, so
// that keeping up costs little more than what is new.
type callerIndex struct {
	made         bool
	older, newer []caller // sorted
}

func compareCallers(a, b caller) int {
	return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from.entry, b.from.entry), compareBool(a.exit, b.exit), cmp.Compare(a.at, b.at))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// newerShare is the part of the index beyond which newer entries are merged.
const newerShare = 8

func (r *recovery) indexCallers() {
	x := &r.callers
	if !x.made {
		x.made = true
		parts := make([][]caller, r.shards(len(r.funcs)))
		_ = r.eachShard(len(r.funcs), func(_, s, lo, hi int) {
			for _, f := range r.funcs[lo:hi] {
				parts[s] = leads(parts[s], f, f.calls, nil, f.exits, nil)
			}
		})
		all := slices.Concat(parts...)
		order := sortedBy(r.workers, len(all), func(i int) uint64 { return uint64(all[i].to) })
		x.older = make([]caller, len(order))
		_ = each(r.ctx, r.workers, len(order), sortPiece, func(_, i int) { x.older[i] = all[order[i]] })
		return
	}
	var fresh []caller
	for w := range r.walkers {
		fresh = append(fresh, r.walkers[w].leads...)
		r.walkers[w].leads = r.walkers[w].leads[:0]
	}
	if len(fresh) == 0 {
		return
	}
	slices.SortFunc(fresh, compareCallers)
	x.newer = mergeSorted(x.newer, fresh, compareCallers)
	if len(x.newer) > len(x.older)/newerShare {
		x.older, x.newer = mergeSorted(x.older, x.newer, compareCallers), nil
	}
}

// leads appends those of the calls and exits to places in the code that f does
// not have yet.
func leads(out []caller, f *fn, calls, known []flow, exits, left []exit) []caller {
	k := 0
	for _, c := range calls {
		for k < len(known) && known[k].off < c.off {
			k++
		}
		if c.target != none && (k == len(known) || known[k].off != c.off) {
			out = append(out, caller{c.target, c.off, f, false})
		}
	}
	k = 0
	for _, e := range exits {
		for k < len(left) && left[k].from < e.from {
			k++
		}
		if e.to != none && (k == len(left) || left[k].from != e.from || left[k].to != e.to) {
			out = append(out, caller{e.to, e.from, f, true})
		}
	}
	return out
}

// lead says whether c still holds.
func (c *caller) lead() bool {
	if c.from.gone {
		return false
	}
	if c.exit {
		i, _ := slices.BinarySearchFunc(c.from.exits, c.at, func(e exit, at uint32) int { return cmp.Compare(e.from, at) })
		for ; i < len(c.from.exits) && c.from.exits[i].from == c.at; i++ {
			if c.from.exits[i].to == c.to {
				return true
			}
		}
		return false
	}
	_, ok := slices.BinarySearchFunc(c.from.calls, c.at, func(c flow, at uint32) int { return cmp.Compare(c.off, at) })
	return ok
}

// callersOf returns who calls or leaves for the function at to.
func (r *recovery) callersOf(to uint32) []caller {
	r.indexCallers()
	var out []caller
	older := 0
	for _, part := range [...][]caller{r.callers.older, r.callers.newer} {
		i, _ := slices.BinarySearchFunc(part, to, func(c caller, t uint32) int { return cmp.Compare(c.to, t) })
		for ; i < len(part) && part[i].to == to; i++ {
			if part[i].lead() {
				out = append(out, part[i])
			}
		}
		if older == 0 {
			older = len(out)
		}
	}
	if older < len(out) {
		slices.SortFunc(out, compareCallers)
	}
	return slices.Compact(out)
}

// calledMore says whether surely more than n calls lead to the function at to.
func (r *recovery) calledMore(to uint32, n int) bool {
	r.indexCallers()
	part := r.callers.older
	i, _ := slices.BinarySearchFunc(part, to, func(c caller, t uint32) int { return cmp.Compare(c.to, t) })
	for ; i < len(part) && part[i].to == to && n >= 0; i++ {
		if !part[i].exit && (i == 0 || part[i] != part[i-1]) && part[i].lead() {
			n--
		}
	}
	return n < 0
}
