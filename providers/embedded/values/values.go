// Package values tells which numbers the values of a function can be.
//
// The domain is Set: a few numbers, or a range with a stride. A value is
// evaluated in a context, a place of the function together with the outcomes
// of branches that every path to it has taken. Values at a place (phis and
// loads) are iterated over in reverse postorder, widened to the constants of
// the function when they keep growing, then narrowed; all other values follow
// from them when asked for.
//
// Sets are sound under the assumptions of package ssa and of the Memory they
// were made with: what the function computes is in the set.
package values

import (
	"context"
	"slices"

	"rea/providers/embedded/ir"
	"rea/providers/embedded/ssa"
)

// Memory is what is known of memory: number reports the little-endian number
// at addr when it is the same whenever the program runs.
type Memory interface {
	Number(addr uint64, size int) (uint64, bool)
}

// NoMemory knows nothing.
type NoMemory struct{}

// Number knows nothing.
func (NoMemory) Number(uint64, int) (uint64, bool) { return 0, false }

// Analysis holds the sets of one function. It is not safe for concurrent use.
type Analysis struct {
	f      *ssa.Func
	memory Memory

	leaf       []Set // of phis and loads
	contexts   []scope
	ofBlock    []int32
	ofEdge     map[[2]int32]int32 // conditional edges into joins
	thresholds []uint64
	memo       map[key]evaluated
	epoch      uint32 // evaluations of earlier epochs are void
	budget     int
	exhausted  bool
}

// scope is a context: what holds in it besides what holds in its parent.
type scope struct {
	parent      int32
	block       int32
	constraints []constraint
}

type key struct {
	v       ssa.ID
	context int32
}

type evaluated struct {
	set   Set
	epoch uint32
}

const (
	rounds   = 24      // of iteration, before what still changes is given up
	grows    = 3       // rounds before a phi is widened
	depth    = 24      // of expressions evaluated in a context
	work     = 4 << 20 // evaluations in all
	climbing = 48      // contexts above one that are looked at
)

// Analyze evaluates f. When the work exceeds its bound, Exhausted tells so and
// nothing is known of phis and loads.
func Analyze(ctx context.Context, f *ssa.Func, memory Memory) (*Analysis, error) {
	a := &Analysis{f: f, memory: memory, leaf: make([]Set, len(f.Values)), budget: work, memo: map[key]evaluated{}, ofEdge: map[[2]int32]int32{}}
	a.makeContexts()
	a.collectThresholds()
	count := map[ssa.ID]int{}
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.epoch++
		changed := a.pass(count, round >= rounds)
		if a.budget < 0 {
			a.giveUp()
			return a, nil
		}
		if !changed {
			break
		}
	}
	for range 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.epoch++
		a.narrow()
	}
	if a.budget < 0 {
		a.giveUp()
	}
	a.epoch++
	a.budget = work
	return a, nil
}

// Exhausted tells that the work exceeded its bound.
func (a *Analysis) Exhausted() bool { return a.exhausted }

func (a *Analysis) giveUp() {
	a.exhausted = true
	for v := range a.leaf {
		if k := a.f.Values[v].Kind; k == ssa.Phi || k == ssa.Load {
			a.leaf[v] = All(min(a.f.Values[v].Bits, 64))
		}
	}
	a.epoch++
	a.budget = work
}

// makeContexts attaches the outcomes of branches to the places behind them.
func (a *Analysis) makeContexts() {
	f := a.f
	a.ofBlock = make([]int32, len(f.Blocks))
	a.contexts = []scope{{parent: -1}}
	for b := 1; b < len(f.Blocks); b++ {
		blk := &f.Blocks[b]
		a.ofBlock[b] = a.ofBlock[blk.Idom]
		if len(blk.Preds) == 1 {
			p := blk.Preds[0]
			if cs := a.outcome(p, int32(b)); len(cs) > 0 {
				a.contexts = append(a.contexts, scope{a.ofBlock[p], int32(b), cs})
				a.ofBlock[b] = int32(len(a.contexts) - 1)
			}
		}
	}
	for b := range f.Blocks {
		for _, s := range f.Blocks[b].Succs {
			if len(f.Blocks[s].Preds) < 2 || len(f.Blocks[s].Phis) == 0 {
				continue
			}
			if cs := a.outcome(int32(b), s); len(cs) > 0 {
				a.contexts = append(a.contexts, scope{a.ofBlock[b], int32(b), cs})
				a.ofEdge[[2]int32{int32(b), s}] = int32(len(a.contexts) - 1)
			}
		}
	}
}

// outcome is what is known when control passes from one block to another.
func (a *Analysis) outcome(from, to int32) []constraint {
	blk := &a.f.Blocks[from]
	if blk.Taken < 0 || len(blk.Succs) != 2 || blk.Succs[0] == blk.Succs[1] || len(blk.Code) == 0 {
		return nil
	}
	v := &a.f.Values[blk.Code[len(blk.Code)-1]]
	if v.Kind != ssa.Branch {
		return nil
	}
	cs := a.relate(v.Args[0], blk.Succs[blk.Taken] == to, 0, nil)
	return a.spread(cs)
}

// spread adds what constraints on x + k and on a widened x tell of x.
func (a *Analysis) spread(cs []constraint) []constraint {
	for i := 0; i < len(cs) && len(cs) < 32; i++ {
		c := cs[i]
		v := &a.f.Values[c.value]
		if v.Kind != ssa.Expr {
			continue
		}
		set := c.set
		if c.other != 0 {
			o := &a.f.Values[c.other]
			if o.Kind != ssa.Const {
				continue
			}
			set = satisfying(c.op, o.N, c.swap, v.Bits)
		}
		switch v.Op {
		case ir.Add:
			if k := &a.f.Values[v.Args[1]]; k.Kind == ssa.Const {
				cs = append(cs, constraint{value: v.Args[0], set: apply(ir.Sub, v.Bits, v.Bits, v.Bits, set, Of(k.N))})
			}
		case ir.Zext:
			cs = append(cs, constraint{value: v.Args[0], set: set.Within(0, mask(a.f.Values[v.Args[0]].Bits))})
		}
	}
	return cs
}

// collectThresholds are the constants that ranges are widened to.
func (a *Analysis) collectThresholds() {
	ts := []uint64{0, 1<<7 - 1, 1<<8 - 1, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1<<32 - 1, 1<<63 - 1, 1<<64 - 1}
	for v := range a.f.Values {
		if x := &a.f.Values[v]; x.Kind == ssa.Const && x.Bits > 1 && x.Bits <= 64 && len(ts) < 4096 {
			ts = append(ts, x.N, x.N-1, x.N+1)
		}
	}
	slices.Sort(ts)
	a.thresholds = slices.Compact(ts)
}

func (a *Analysis) widen(old, s Set, width uint16) Set {
	low, high := s.Bounds()
	oldLow, oldHigh := old.Bounds()
	if low < oldLow {
		i, ok := slices.BinarySearch(a.thresholds, low)
		if !ok {
			i--
		}
		low = 0
		if i >= 0 {
			low = a.thresholds[i]
		}
	}
	if high > oldHigh {
		i, _ := slices.BinarySearch(a.thresholds, high)
		high = mask(width)
		if i < len(a.thresholds) {
			high = min(high, a.thresholds[i])
		}
	}
	g := gcd(s.Stride(), old.Stride())
	l, _ := s.Bounds()
	if g = gcd(g, l-low); g == 0 {
		g = 1
	}
	return Range(low, high, g)
}

// pass evaluates phis and loads once and reports whether one grew.
func (a *Analysis) pass(count map[ssa.ID]int, final bool) bool {
	changed := false
	for b := range a.f.Blocks {
		blk := &a.f.Blocks[b]
		for _, p := range blk.Phis {
			x := &a.f.Values[p]
			if x.Bits > 64 {
				a.leaf[p] = All(64)
				continue
			}
			s := a.leaf[p].Join(a.phi(p))
			if s.Equal(a.leaf[p]) {
				continue
			}
			if count[p]++; count[p] > grows {
				s = a.widen(a.leaf[p], s, x.Bits)
			}
			if final || count[p] > rounds {
				s = All(x.Bits)
			}
			a.leaf[p] = s
			changed = true
			a.epoch++
		}
		for _, v := range blk.Code {
			if a.f.Values[v].Kind != ssa.Load {
				continue
			}
			s := a.leaf[v].Join(a.load(v))
			if final && !s.Equal(a.leaf[v]) {
				s = All(min(a.f.Values[v].Bits, 64))
			}
			if !s.Equal(a.leaf[v]) {
				a.leaf[v] = s
				changed = true
				a.epoch++
			}
		}
		if a.budget < 0 {
			return false
		}
	}
	return changed
}

// narrow evaluates once more from what holds: results can only be smaller.
func (a *Analysis) narrow() {
	for b := range a.f.Blocks {
		blk := &a.f.Blocks[b]
		for _, p := range blk.Phis {
			if a.f.Values[p].Bits <= 64 {
				if s := a.phi(p).Meet(a.leaf[p]); !s.Equal(a.leaf[p]) {
					a.leaf[p] = s
					a.epoch++
				}
			}
		}
		for _, v := range blk.Code {
			if a.f.Values[v].Kind == ssa.Load {
				if s := a.load(v).Meet(a.leaf[v]); !s.Equal(a.leaf[v]) {
					a.leaf[v] = s
					a.epoch++
				}
			}
		}
	}
}

func (a *Analysis) phi(p ssa.ID) Set {
	x := &a.f.Values[p]
	var s Set
	for i, arg := range a.f.List(p) {
		from := a.f.Blocks[x.Block].Preds[i]
		c, ok := a.ofEdge[[2]int32{from, x.Block}]
		if !ok {
			c = a.ofBlock[from]
		}
		s = s.Join(a.eval(arg, c, 0))
		if s.IsAll(x.Bits) {
			break
		}
	}
	return s
}

// load is what is at the addresses, when they are few and hold numbers that
// never change.
func (a *Analysis) load(v ssa.ID) Set {
	x := &a.f.Values[v]
	if x.Bits > 64 {
		return All(64)
	}
	at := a.eval(x.Args[0], a.ofBlock[x.Block], 0)
	if at.Empty() {
		return Set{}
	}
	addresses, few := at.Numbers()
	if !few {
		low, high := at.Bounds()
		n := (high - low) / max(1, at.Stride())
		if n >= 1024 {
			return All(x.Bits)
		}
		for k := range n + 1 {
			addresses = append(addresses, low+k*at.Stride())
		}
	}
	ns := make([]uint64, 0, len(addresses))
	for _, p := range addresses {
		n, ok := a.memory.Number(p, int(x.Bits/8))
		if !ok {
			return All(x.Bits)
		}
		ns = append(ns, n&mask(x.Bits))
	}
	return Of(ns...)
}

// At is what v can be in a block.
func (a *Analysis) At(v ssa.ID, block int32) Set {
	if v == 0 || a.f.Values[v].Bits > 64 {
		return All(64)
	}
	return a.eval(v, a.ofBlock[block], 0)
}

func (a *Analysis) eval(v ssa.ID, context int32, level int) Set {
	x := &a.f.Values[v]
	width := x.Bits
	if width > 64 {
		return All(64)
	}
	if x.Kind == ssa.Const {
		return Of(x.N)
	}
	if a.budget--; a.budget < 0 {
		return All(width)
	}
	k := key{v, context}
	if e, ok := a.memo[k]; ok && e.epoch == a.epoch {
		return e.set
	}
	var s Set
	switch {
	case x.Kind == ssa.Phi || x.Kind == ssa.Load:
		s = a.leaf[v]
	case x.Kind != ssa.Expr || level >= depth:
		s = All(width)
	default:
		s = a.expr(x, context, level+1)
	}
	s = a.constrain(v, s, context, level)
	if level < depth/2 {
		a.memo[k] = evaluated{s, a.epoch}
	}
	return s
}

func (a *Analysis) expr(x *ssa.Value, context int32, level int) Set {
	first := &a.f.Values[x.Args[0]]
	if first.Bits > 64 {
		return All(x.Bits)
	}
	if x.Op == ir.Extract {
		return extract(a.eval(x.Args[0], context, level), uint16(x.N), x.Bits)
	}
	if x.Op == ir.Select {
		cond := a.eval(x.Args[0], context, level)
		var s Set
		if cond.Has(1) {
			s = a.eval(x.Args[1], context, level)
		}
		if cond.Has(0) {
			s = s.Join(a.eval(x.Args[2], context, level))
		}
		return s
	}
	p := a.eval(x.Args[0], context, level)
	if x.Args[1] == 0 {
		return apply(x.Op, x.Bits, first.Bits, 0, p, Set{})
	}
	second := &a.f.Values[x.Args[1]]
	if second.Bits > 64 {
		return All(x.Bits)
	}
	return apply(x.Op, x.Bits, first.Bits, second.Bits, p, a.eval(x.Args[1], context, level))
}

// constrain applies what the context tells of v.
func (a *Analysis) constrain(v ssa.ID, s Set, context int32, level int) Set {
	width := a.f.Values[v].Bits
	for n := 0; context > 0 && n < climbing; n++ {
		c := &a.contexts[context]
		for i := range c.constraints {
			k := &c.constraints[i]
			if k.value != v {
				continue
			}
			if k.other == 0 {
				s = s.Meet(k.set)
				continue
			}
			o := &a.f.Values[k.other]
			var other Set
			switch {
			case o.Kind == ssa.Const:
				other = Of(o.N)
			case level < 4:
				other = a.eval(k.other, c.parent, level+8)
			default:
				continue
			}
			s = refine(s, k.op, other, k.swap, width)
		}
		context = c.parent
	}
	return s
}
