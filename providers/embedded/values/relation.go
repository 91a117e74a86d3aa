package values

import (
	"rea/providers/embedded/ir"
	"rea/providers/embedded/ssa"
)

// A branch tells something about the values it depends on. Its condition is a
// formula over flags, each architecture's own. Rather than matching the shapes
// that lifters produce, relate evaluates the formula at chosen numbers and
// finds the comparison that agrees with it everywhere there: the numbers next
// to every constant of the formula and at the ends of the signed and unsigned
// ranges. The formulas consist of one subtraction, addition or conjunction and
// of tests of single bits of its result; two comparisons that agree at those
// numbers are the same comparison.

// constraint says that value is in set, or that it compares with other by op.
type constraint struct {
	value ssa.ID
	set   Set
	op    ir.Op // of value and other, or of other and value when swapped
	other ssa.ID
	swap  bool
}

// largest bounds the formula of a condition, in values.
const largest = 48

// relate appends what is known when cond is truth.
func (a *Analysis) relate(cond ssa.ID, truth bool, depth int, out []constraint) []constraint {
	v := &a.f.Values[cond]
	if v.Kind != ssa.Expr || depth > 6 {
		if v.Kind != ssa.Const && v.Bits == 1 {
			out = append(out, constraint{value: cond, set: Of(flag(truth))})
		}
		return out
	}
	out = append(out, constraint{value: cond, set: Of(flag(truth))})
	switch v.Op {
	case ir.Not:
		return a.relate(v.Args[0], !truth, depth+1, out)
	case ir.And:
		if truth {
			return a.relate(v.Args[1], true, depth+1, a.relate(v.Args[0], true, depth+1, out))
		}
	case ir.Or:
		if !truth {
			return a.relate(v.Args[1], false, depth+1, a.relate(v.Args[0], false, depth+1, out))
		}
	case ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS:
		return a.compared(v.Op, v.Args[0], v.Args[1], truth, out)
	}
	return a.probe(cond, truth, out)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// negated is the comparison that holds when op does not, of operands in the
// same order where swapped is false.
func negated(op ir.Op) (not ir.Op, swapped bool) {
	switch op {
	case ir.Eq:
		return ir.Ne, false
	case ir.Ne:
		return ir.Eq, false
	case ir.LtU:
		return ir.LeU, true
	case ir.LeU:
		return ir.LtU, true
	case ir.LtS:
		return ir.LeS, true
	}
	return ir.LtS, true
}

// compared appends what a comparison of two values tells of each.
func (a *Analysis) compared(op ir.Op, x, y ssa.ID, truth bool, out []constraint) []constraint {
	if !truth {
		var swapped bool
		if op, swapped = negated(op); swapped {
			x, y = y, x
		}
	}
	if a.f.Values[x].Bits > 64 {
		return out
	}
	if a.f.Values[x].Kind != ssa.Const {
		out = append(out, constraint{value: x, op: op, other: y})
	}
	if a.f.Values[y].Kind != ssa.Const {
		out = append(out, constraint{value: y, op: op, other: x, swap: true})
	}
	return out
}

// formula evaluates a condition.
type formula struct {
	f     *ssa.Func
	known map[ssa.ID]uint64
	steps int
}

func (e *formula) value(v ssa.ID) (uint64, bool) {
	if n, ok := e.known[v]; ok {
		return n, true
	}
	x := &e.f.Values[v]
	if x.Kind == ssa.Const && x.Bits <= 64 {
		return x.N, true
	}
	if x.Kind != ssa.Expr || x.Bits > 64 {
		return 0, false
	}
	if e.steps--; e.steps < 0 {
		return 0, false
	}
	p, ok := e.value(x.Args[0])
	if !ok {
		return 0, false
	}
	switch {
	case x.Op == ir.Extract:
		return p >> x.N & mask(x.Bits), true
	case x.Op == ir.Select:
		if p != 0 {
			return e.value(x.Args[1])
		}
		return e.value(x.Args[2])
	case x.Args[1] == 0:
		return ir.Fold(x.Op, x.Bits, e.f.Values[x.Args[0]].Bits, p, 0, 0), true
	}
	q, ok := e.value(x.Args[1])
	if !ok {
		return 0, false
	}
	return ir.Fold(x.Op, x.Bits, e.f.Values[x.Args[0]].Bits, p, q, e.f.Values[x.Args[1]].Bits), true
}

// nodes lists the wide values and the constants of a formula, outermost first.
func (a *Analysis) nodes(cond ssa.ID) (wide []ssa.ID, constants []uint64) {
	seen := map[ssa.ID]bool{cond: true}
	queue := []ssa.ID{cond}
	for len(queue) > 0 && len(seen) < largest {
		v := queue[0]
		queue = queue[1:]
		x := &a.f.Values[v]
		if x.Kind == ssa.Const {
			constants = append(constants, x.N)
			continue
		}
		if x.Bits >= 8 && x.Bits <= 64 {
			wide = append(wide, v)
		}
		if x.Kind != ssa.Expr || x.Op == ir.Zext || x.Op == ir.Sext || x.Bits > 64 {
			continue
		}
		for _, arg := range x.Args {
			if arg != 0 && !seen[arg] {
				seen[arg] = true
				queue = append(queue, arg)
			}
		}
	}
	return wide, constants
}

var comparisons = [...]ir.Op{ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS}

// probe finds comparisons equal to a condition.
func (a *Analysis) probe(cond ssa.ID, truth bool, out []constraint) []constraint {
	wide, constants := a.nodes(cond)
	if len(wide) > 8 {
		wide = wide[:8]
	}
	for _, leaf := range wide {
		if op, c, swap, ok := a.single(cond, leaf, constants, truth); ok {
			k := constraint{value: leaf, set: satisfying(op, c, swap, a.f.Values[leaf].Bits)}
			out = append(out, k)
		}
	}
	for _, r := range wide {
		x := &a.f.Values[r]
		if x.Kind != ssa.Expr || x.Op != ir.Sub && x.Op != ir.Add && x.Op != ir.And {
			continue
		}
		p, q := x.Args[0], x.Args[1]
		if a.f.Values[p].Kind == ssa.Const || a.f.Values[q].Kind == ssa.Const {
			continue
		}
		if op, swap, ok := a.double(cond, p, q, truth); ok {
			if swap {
				p, q = q, p
			}
			return a.compared(op, p, q, true, out)
		}
	}
	return out
}

// satisfying are the numbers n with n op c, or c op n when swapped.
func satisfying(op ir.Op, c uint64, swap bool, width uint16) Set {
	return refine(All(width), op, Of(c), swap, width)
}

// single compares a formula of one value with every comparison of that value
// and a constant.
func (a *Analysis) single(cond, leaf ssa.ID, constants []uint64, truth bool) (ir.Op, uint64, bool, bool) {
	width := a.f.Values[leaf].Bits
	m := mask(width)
	candidates := []uint64{0}
	for _, c := range constants {
		for _, k := range []uint64{c, ^c, -c, c + 1, c - 1} {
			candidates = append(candidates, k&m)
		}
	}
	if len(candidates) > 32 {
		candidates = candidates[:32]
	}
	var probes, results []uint64
	add := func(n uint64) {
		probes = append(probes, n&m)
	}
	sign := uint64(1) << (width - 1)
	for _, c := range append([]uint64{0, sign, m, m >> 2, sign | m>>3}, candidates...) {
		add(c - 1)
		add(c)
		add(c + 1)
		add(c ^ sign)
	}
	e := formula{f: a.f, known: map[ssa.ID]uint64{}}
	varies := false
	for _, p := range probes {
		e.known[leaf], e.steps = p, 4*largest
		r, ok := e.value(cond)
		if !ok {
			return 0, 0, false, false
		}
		if !truth {
			r ^= 1
		}
		results = append(results, r)
		varies = varies || r != results[0]
	}
	if !varies {
		return 0, 0, false, false
	}
	for _, op := range comparisons {
		for _, c := range candidates {
			for _, swap := range []bool{false, true} {
				if agrees(probes, results, func(n uint64) uint64 {
					if swap {
						return ir.Fold(op, 1, width, c, n, width)
					}
					return ir.Fold(op, 1, width, n, c, width)
				}) {
					return op, c, swap, true
				}
			}
		}
	}
	return 0, 0, false, false
}

func agrees(probes, results []uint64, f func(uint64) uint64) bool {
	for i, p := range probes {
		if f(p) != results[i] {
			return false
		}
	}
	return true
}

// double compares a formula of two values with every comparison of the two.
func (a *Analysis) double(cond, p, q ssa.ID, truth bool) (op ir.Op, swap, ok bool) {
	width := a.f.Values[p].Bits
	m := mask(width)
	sign := uint64(1) << (width - 1)
	var numbers []uint64
	for _, n := range []uint64{0, 1, 2, 7, sign - 1, sign, sign + 1, m - 1, m, m >> 2, sign | m>>2} {
		numbers = append(numbers, n&m)
	}
	e := formula{f: a.f, known: map[ssa.ID]uint64{}}
	var results []uint64
	for _, x := range numbers {
		for _, y := range numbers {
			e.known[p], e.known[q], e.steps = x, y, 4*largest
			r, ok := e.value(cond)
			if !ok {
				return 0, false, false
			}
			if !truth {
				r ^= 1
			}
			results = append(results, r)
		}
	}
	for _, op := range comparisons {
		for _, swap := range []bool{false, true} {
			equal := true
			for i, r := range results {
				x, y := numbers[i/len(numbers)], numbers[i%len(numbers)]
				if swap {
					x, y = y, x
				}
				if ir.Fold(op, 1, width, x, y, width) != r {
					equal = false
					break
				}
			}
			if equal {
				return op, swap, true
			}
		}
	}
	return 0, false, false
}

// refine are the numbers n of s for which n op c (c op n when swapped) holds
// for some c of o.
func refine(s Set, op ir.Op, o Set, swap bool, width uint16) Set {
	if o.Empty() {
		return Set{}
	}
	low, high := o.Bounds()
	m := mask(width)
	sign := uint64(1) << (width - 1)
	switch op {
	case ir.Eq:
		return s.Meet(o)
	case ir.Ne:
		if n, ok := o.One(); ok {
			return s.Without(n)
		}
		return s
	case ir.LtU:
		if swap {
			if low == m {
				return Set{}
			}
			return s.Within(low+1, m)
		}
		if high == 0 {
			return Set{}
		}
		return s.Within(0, high-1)
	case ir.LeU:
		if swap {
			return s.Within(low, m)
		}
		return s.Within(0, high)
	}
	// Signed: only where o lies on one side of zero.
	if low&sign != high&sign {
		return s
	}
	strict := uint64(flag(op == ir.LtS))
	if swap { // o < n
		if low == sign-1 && strict == 1 {
			return Set{}
		}
		from := low + strict
		if low&sign == 0 {
			return s.Within(from, sign-1)
		}
		if from > m || from == 0 {
			return s.Within(0, sign-1)
		}
		return s.Within(from, m).Join(s.Within(0, sign-1))
	}
	if high == sign && strict == 1 {
		return Set{}
	}
	to := (high - strict) & m
	if high&sign != 0 {
		return s.Within(sign, to)
	}
	if high == 0 && strict == 1 {
		return s.Within(sign, m)
	}
	return s.Within(0, to).Join(s.Within(sign, m))
}
