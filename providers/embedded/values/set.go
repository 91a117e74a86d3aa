package values

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// most bounds the numbers a Set lists one by one.
const most = 32

// Set is a set of numbers of a width up to 64 bits: some listed one by one, or
// every Stride-th from Low to High (unsigned). The zero Set is empty.
type Set struct {
	list              []uint64 // sorted; nil for a range
	low, high, stride uint64
	ranged            bool
}

func mask(width uint16) uint64 {
	if width >= 64 {
		return ^uint64(0)
	}
	return 1<<width - 1
}

// All is every number of a width. Widths above 64 have no numbers to tell; all
// of 64 bits stand for them.
func All(width uint16) Set { return Set{low: 0, high: mask(width), stride: 1, ranged: true} }

// Of lists numbers.
func Of(ns ...uint64) Set {
	ns = slices.Clone(ns)
	slices.Sort(ns)
	ns = slices.Compact(ns)
	if len(ns) <= most {
		return Set{list: ns}
	}
	var g uint64
	for i := 1; i < len(ns); i++ {
		g = gcd(g, ns[i]-ns[i-1])
	}
	return Set{low: ns[0], high: ns[len(ns)-1], stride: g, ranged: true}
}

// Range is every stride-th number from low to high.
func Range(low, high, stride uint64) Set {
	if low > high {
		return Set{}
	}
	if stride == 0 {
		stride = 1
	}
	high -= (high - low) % stride
	if n := (high - low) / stride; n < most {
		out := make([]uint64, 0, n+1)
		for v := low; ; v += stride {
			out = append(out, v)
			if v == high {
				return Set{list: out}
			}
		}
	}
	return Set{low: low, high: high, stride: stride, ranged: true}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Empty says that nothing is in s.
func (s Set) Empty() bool { return !s.ranged && len(s.list) == 0 }

// Numbers lists s when it is small enough to be listed.
func (s Set) Numbers() ([]uint64, bool) { return s.list, !s.ranged && len(s.list) > 0 }

// One is the only number of s.
func (s Set) One() (uint64, bool) {
	if s.ranged || len(s.list) != 1 {
		return 0, false
	}
	return s.list[0], true
}

// Bounds are the least and the greatest number.
func (s Set) Bounds() (low, high uint64) {
	if s.ranged {
		return s.low, s.high
	}
	if len(s.list) == 0 {
		return 1, 0
	}
	return s.list[0], s.list[len(s.list)-1]
}

// Stride is the distance that all differences are a multiple of; 0 for one number.
func (s Set) Stride() uint64 {
	if s.ranged {
		return s.stride
	}
	var g uint64
	for i := 1; i < len(s.list); i++ {
		g = gcd(g, s.list[i]-s.list[i-1])
	}
	return g
}

// Has says whether n is in s.
func (s Set) Has(n uint64) bool {
	if s.ranged {
		return n >= s.low && n <= s.high && (n-s.low)%s.stride == 0
	}
	_, ok := slices.BinarySearch(s.list, n)
	return ok
}

// IsAll says that s is every number of a width.
func (s Set) IsAll(width uint16) bool {
	return s.ranged && s.low == 0 && s.high == mask(width) && s.stride == 1
}

// Equal compares sets.
func (s Set) Equal(o Set) bool {
	return s.ranged == o.ranged && s.low == o.low && s.high == o.high && s.stride == o.stride && slices.Equal(s.list, o.list)
}

// Join is a set that holds what s and o hold.
func (s Set) Join(o Set) Set {
	switch {
	case s.Empty():
		return o
	case o.Empty():
		return s
	case !s.ranged && !o.ranged:
		return Of(append(slices.Clone(s.list), o.list...)...)
	}
	a, b := s.hull(), o.hull()
	d := max(a.low, b.low) - min(a.low, b.low)
	return Range(min(a.low, b.low), max(a.high, b.high), gcd(gcd(a.stride, b.stride), d))
}

// hull is s as a range; one number has stride 0.
func (s Set) hull() Set {
	if s.ranged {
		return s
	}
	low, high := s.Bounds()
	return Set{low: low, high: high, stride: s.Stride(), ranged: true}
}

// Within are the numbers of s from low to high.
func (s Set) Within(low, high uint64) Set {
	if !s.ranged {
		return Set{list: slices.DeleteFunc(slices.Clone(s.list), func(n uint64) bool { return n < low || n > high })}
	}
	if low > s.low {
		up := (low - s.low + s.stride - 1) / s.stride
		if up > (s.high-s.low)/s.stride {
			return Set{}
		}
		low = s.low + up*s.stride
	} else {
		low = s.low
	}
	return Range(low, min(high, s.high), s.stride)
}

// Meet are numbers that may be in both: all that are, and perhaps more.
func (s Set) Meet(o Set) Set {
	if s.Empty() || o.Empty() {
		return Set{}
	}
	if !o.ranged && s.ranged {
		s, o = o, s
	}
	if !s.ranged {
		return Set{list: slices.DeleteFunc(slices.Clone(s.list), func(n uint64) bool { return !o.Has(n) })}
	}
	if o.stride > s.stride {
		s, o = o, s
	}
	return s.Within(o.low, o.high)
}

// Without is s less one number.
func (s Set) Without(n uint64) Set {
	switch {
	case !s.Has(n):
		return s
	case !s.ranged:
		return Set{list: slices.DeleteFunc(slices.Clone(s.list), func(k uint64) bool { return k == n })}
	case n == s.low:
		return Range(s.low+s.stride, s.high, s.stride)
	case n == s.high:
		return Range(s.low, s.high-s.stride, s.stride)
	}
	return s
}

// mapped applies f to a listed set.
func (s Set) mapped(f func(uint64) uint64) Set {
	out := make([]uint64, len(s.list))
	for i, n := range s.list {
		out[i] = f(n)
	}
	return Of(out...)
}

// pairs applies f to the numbers of two listed sets.
func pairs(a, b Set, f func(x, y uint64) uint64) Set {
	out := make([]uint64, 0, len(a.list)*len(b.list))
	for _, x := range a.list {
		for _, y := range b.list {
			out = append(out, f(x, y))
		}
	}
	return Of(out...)
}

// alignment is the power of two that all numbers of s are a multiple of, up to 2⁶³.
func (s Set) alignment() uint64 {
	low, _ := s.Bounds()
	return 1 << min(63, bits.TrailingZeros64(low|s.Stride()))
}

// String writes the set.
func (s Set) String() string {
	switch {
	case s.Empty():
		return "{}"
	case !s.ranged:
		parts := make([]string, len(s.list))
		for i, n := range s.list {
			parts[i] = fmt.Sprintf("%#x", n)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case s.stride > 1:
		return fmt.Sprintf("%#x..%#x step %#x", s.low, s.high, s.stride)
	}
	return fmt.Sprintf("%#x..%#x", s.low, s.high)
}
