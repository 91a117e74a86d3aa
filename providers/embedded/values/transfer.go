package values

import (
	"math/bits"

	"rea/providers/embedded/ir"
)

// apply is what an operation makes of sets: every result of numbers of a and b
// is in it. Widths are at most 64 bits.
func apply(op ir.Op, width, aWidth, bWidth uint16, a, b Set) Set {
	if a.Empty() || !unaryOp(op) && b.Empty() {
		return Set{}
	}
	if unaryOp(op) {
		if !a.ranged {
			return a.mapped(func(x uint64) uint64 { return ir.Fold(op, width, aWidth, x, 0, 0) })
		}
		return applyRange1(op, width, aWidth, a)
	}
	if !a.ranged && !b.ranged && len(a.list)*len(b.list) <= most*most {
		return pairs(a, b, func(x, y uint64) uint64 { return ir.Fold(op, width, aWidth, x, y, bWidth) })
	}
	s := applyRange2(op, width, aWidth, bWidth, a, b)
	if s.ranged { // a hull may be of one number
		s = Range(s.low, s.high, s.stride)
	}
	if _, high := s.Bounds(); !s.Empty() && high > mask(width) {
		return All(width)
	}
	return s
}

func unaryOp(op ir.Op) bool {
	switch op {
	case ir.Copy, ir.Not, ir.Neg, ir.Zext, ir.Sext, ir.PopCount, ir.CountLeading, ir.CountTrailing, ir.ReverseBits, ir.ReverseBytes:
		return true
	}
	return false
}

func applyRange1(op ir.Op, width, aWidth uint16, a Set) Set {
	switch op {
	case ir.Copy, ir.Zext:
		return a
	case ir.Sext:
		sign := uint64(1) << (aWidth - 1)
		switch {
		case a.high < sign:
			return a
		case a.low >= sign:
			up := mask(width) &^ mask(aWidth)
			return Range(a.low|up, a.high|up, a.stride)
		}
	case ir.Not:
		m := mask(width)
		return Range(m-a.high, m-a.low, a.stride)
	case ir.Neg:
		if a.low > 0 {
			m := mask(width)
			return Range(m-a.high+1, m-a.low+1, a.stride)
		}
	case ir.PopCount, ir.CountLeading, ir.CountTrailing:
		return Range(0, uint64(aWidth), 1)
	}
	return All(width)
}

func applyRange2(op ir.Op, width, aWidth, bWidth uint16, a, b Set) Set {
	a, b = a.hull(), b.hull()
	m := mask(width)
	k, one := b.low, b.low == b.high
	switch op {
	case ir.Add:
		return addRanges(a, b, width)
	case ir.Sub:
		switch {
		case a.low >= b.high:
			return Range(a.low-b.high, a.high-b.low, gcd(a.stride, b.stride))
		case a.high < b.low: // all wrap
			return Range((a.low-b.high)&m, (a.high-b.low)&m, gcd(a.stride, b.stride))
		}
		return aligned(width, a, b)
	case ir.Mul:
		hi, lo := bits.Mul64(a.high, b.high)
		if hi == 0 && lo <= m {
			if one {
				return Range(a.low*k, lo, a.stride*k)
			}
			return Range(a.low*b.low, lo, a.alignment()*b.alignment())
		}
	case ir.Shl:
		if one && k < uint64(width) && a.high <= m>>k {
			return Range(a.low<<k, a.high<<k, a.stride<<k)
		}
		if one && k < uint64(width) {
			return Range(0, m, min(a.alignment(), 1<<(63-k))<<k)
		}
	case ir.ShrU:
		if one && k < uint64(width) {
			return Range(a.low>>k, a.high>>k, 1)
		}
		return Range(0, a.high, 1)
	case ir.ShrS:
		if a.high <= m>>1 {
			if one && k < uint64(width) {
				return Range(a.low>>k, a.high>>k, 1)
			}
			return Range(0, a.high, 1)
		}
	case ir.DivU:
		if b.low > 0 {
			return Range(a.low/b.high, a.high/b.low, 1)
		}
		return Range(0, a.high, 1)
	case ir.RemU:
		if b.low > 0 {
			if a.high < b.low {
				return a
			}
			return Range(0, min(a.high, b.high-1), 1)
		}
		return Range(0, a.high, 1)
	case ir.DivS:
		if a.high <= m>>1 && b.high <= m>>1 && b.low > 0 {
			return Range(a.low/b.high, a.high/b.low, 1)
		}
	case ir.RemS:
		if a.high <= m>>1 && b.high <= m>>1 && b.low > 0 {
			return Range(0, min(a.high, b.high-1), 1)
		}
	case ir.And:
		high := min(a.high, b.high)
		if one && k&(k+1) == 0 && a.high <= k {
			return a
		}
		return Range(0, high, max(a.alignment(), b.alignment()))
	case ir.Or:
		return Range(max(a.low, b.low), smear(a.high|b.high), 1)
	case ir.Xor:
		return Range(0, smear(a.high|b.high), 1)
	case ir.Concat:
		if bWidth < 64 {
			if a.low == a.high {
				return Range(a.low<<bWidth|b.low, a.low<<bWidth|b.high, b.stride)
			}
			return Range(a.low<<bWidth, a.high<<bWidth|mask(bWidth), 1)
		}
	case ir.Eq, ir.Ne, ir.LtU, ir.LeU, ir.LtS, ir.LeS:
		return compare(op, aWidth, a, b)
	}
	return All(width)
}

// addRanges adds when nothing or everything wraps.
func addRanges(a, b Set, width uint16) Set {
	m := mask(width)
	g := gcd(a.stride, b.stride)
	lowWraps, highWraps := b.low > m-a.low, b.high > m-a.high
	if lowWraps == highWraps {
		return Range((a.low+b.low)&m, (a.high+b.high)&m, g)
	}
	return aligned(width, a, b)
}

// aligned are the numbers of a width that keep the alignment that sums and
// differences of a and b have.
func aligned(width uint16, a, b Set) Set {
	n := min(a.alignment(), b.alignment())
	if n > mask(width) {
		n = 1
	}
	return Range(0, mask(width), n)
}

// smear sets all bits below the highest one.
func smear(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return ^uint64(0) >> bits.LeadingZeros64(n)
}

// compare decides a comparison of ranges where it is the same for all numbers.
func compare(op ir.Op, width uint16, a, b Set) Set {
	if op == ir.LtS || op == ir.LeS {
		flip := uint64(1) << (width - 1)
		if a.low&flip != a.high&flip || b.low&flip != b.high&flip {
			return Of(0, 1)
		}
		a.low, a.high, b.low, b.high = a.low^flip, a.high^flip, b.low^flip, b.high^flip
		op = map[ir.Op]ir.Op{ir.LtS: ir.LtU, ir.LeS: ir.LeU}[op]
	}
	apart := a.high < b.low || b.high < a.low
	switch op {
	case ir.Eq:
		if apart {
			return Of(0)
		}
	case ir.Ne:
		if apart {
			return Of(1)
		}
	case ir.LtU:
		if a.high < b.low {
			return Of(1)
		}
		if a.low >= b.high {
			return Of(0)
		}
	case ir.LeU:
		if a.high <= b.low {
			return Of(1)
		}
		if a.low > b.high {
			return Of(0)
		}
	}
	return Of(0, 1)
}

// extract are bits of the numbers of a.
func extract(a Set, low, width uint16) Set {
	if !a.ranged {
		return a.mapped(func(x uint64) uint64 { return x >> low & mask(width) })
	}
	lo, hi := a.low>>low, a.high>>low
	m := mask(width)
	if lo&^m == hi&^m {
		stride := uint64(1)
		if low == 0 {
			stride = a.stride
		}
		return Range(lo&m, hi&m, stride)
	}
	if n := a.alignment(); low == 0 && n <= m {
		return Range(0, m, n)
	}
	return All(width)
}
