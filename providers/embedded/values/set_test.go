package values

import (
	"math/rand/v2"
	"testing"

	"rea/providers/embedded/ir"
)

// random is a set of a width and some numbers that are in it.
func random(r *rand.Rand, width uint16) (Set, []uint64) {
	m := mask(width)
	if r.IntN(2) == 0 {
		ns := make([]uint64, 1+r.IntN(4))
		for i := range ns {
			ns[i] = number(r) & m
		}
		return Of(ns...), ns
	}
	low, high, stride := number(r)&m, number(r)&m, uint64(1)<<r.IntN(4)
	if r.IntN(3) == 0 {
		stride = 1 + uint64(r.IntN(9))
	}
	if low > high {
		low, high = high, low
	}
	s := Range(low, high, stride)
	ns := []uint64{low}
	for range 4 {
		if n := (high - low) / stride; n < ^uint64(0) {
			ns = append(ns, low+r.Uint64N(n+1)*stride)
		}
	}
	return s, ns
}

// number prefers the ends of ranges.
func number(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return uint64(r.IntN(40))
	case 1:
		return ^uint64(r.IntN(40))
	case 2:
		return uint64(1)<<r.IntN(64) + uint64(r.IntN(5)) - 2
	}
	return r.Uint64()
}

func TestOperationsContainEveryResult(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ops := []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.DivU, ir.DivS, ir.RemU, ir.RemS, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg, ir.Shl, ir.ShrU, ir.ShrS, ir.RotL, ir.RotR,
		ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS, ir.Zext, ir.Sext, ir.PopCount, ir.CountLeading, ir.CountTrailing, ir.ReverseBits, ir.ReverseBytes, ir.Concat}
	widths := []uint16{1, 8, 16, 32, 64}
	informative := map[ir.Op]int{}
	for range 400_000 {
		op := ops[r.IntN(len(ops))]
		aWidth := widths[r.IntN(len(widths))]
		bWidth, width := aWidth, aWidth
		switch op {
		case ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS:
			width = 1
		case ir.Zext, ir.Sext:
			width = 64
		case ir.Concat:
			aWidth, bWidth = 32, 32
			width = 64
		case ir.ReverseBytes:
			if aWidth == 1 {
				continue
			}
		}
		a, as := random(r, aWidth)
		b, bs := random(r, bWidth)
		s := apply(op, width, aWidth, bWidth, a, b)
		if !s.IsAll(width) {
			informative[op]++
		}
		for _, x := range as {
			for _, y := range bs {
				if !a.Has(x) || !b.Has(y) {
					t.Fatalf("%v lacks %#x or %v lacks %#x", a, x, b, y)
				}
				if n := ir.Fold(op, width, aWidth, x, y, bWidth); !s.Has(n) {
					t.Fatalf("%s of %d bits: %v, %v gives %v, which lacks %#x = %#x, %#x", op, aWidth, a, b, s, n, x, y)
				}
			}
		}
	}
	for _, op := range ops {
		if informative[op] == 0 {
			t.Errorf("%s never told anything", op)
		}
	}
}

func TestSetOperationsLoseNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		width := []uint16{8, 32, 64}[r.IntN(3)]
		a, as := random(r, width)
		b, bs := random(r, width)
		j, m := a.Join(b), a.Meet(b)
		op := comparisons[r.IntN(len(comparisons))]
		swap := r.IntN(2) == 0
		kept := refine(a, op, b, swap, width)
		for _, x := range as {
			if !j.Has(x) {
				t.Fatalf("%v joined with %v lacks %#x: %v", a, b, x, j)
			}
			if b.Has(x) && !m.Has(x) {
				t.Fatalf("%v met with %v lacks %#x: %v", a, b, x, m)
			}
			for _, y := range bs {
				p, q := x, y
				if swap {
					p, q = y, x
				}
				if ir.Fold(op, 1, width, p, q, width) == 1 && !kept.Has(x) {
					t.Fatalf("%v where %s %v (swapped: %v) lacks %#x, which compares with %#x: %v", a, op, b, swap, x, y, kept)
				}
			}
			k := as[r.IntN(len(as))]
			if x != k && !a.Without(k).Has(x) {
				t.Fatalf("%v without %#x lacks %#x", a, k, x)
			}
			low := uint16(r.IntN(8))
			if e := extract(a, low, width-low); !e.Has(x >> low & mask(width-low)) {
				t.Fatalf("bits from %d of %v: %v", low, a, e)
			}
		}
	}
}
