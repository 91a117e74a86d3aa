package program

import (
	"math/bits"
	"sync/atomic"
)

// bitset is a fixed set of code offsets.
type bitset []uint32

func newBitset(n uint32) bitset { return make(bitset, (uint64(n)+31)/32) }

// borrow returns an empty set of code offsets for a while; giveBack ends that.
// Rounds need such sets again and again, and memory that was only read costs the
// system twice when it is written after all. For the goroutine of the rounds only.
func (r *recovery) borrow() bitset {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return newBitset(r.sp.size + regionGuard)
}

func (r *recovery) giveBack(b bitset) {
	clear(b)
	r.spare = append(r.spare, b)
}

func (b bitset) has(i uint32) bool { return b[i>>5]&(1<<(i&31)) != 0 }
func (b bitset) set(i uint32)      { b[i>>5] |= 1 << (i & 31) }
func (b bitset) clear(i uint32)    { b[i>>5] &^= 1 << (i & 31) }

// share sets i where others may set other members at the same time.
func (b bitset) share(i uint32) {
	m := uint32(1) << (i & 31)
	if atomic.LoadUint32(&b[i>>5])&m == 0 {
		atomic.OrUint32(&b[i>>5], m)
	}
}

// claim sets i for exactly one of several concurrent callers.
func (b bitset) claim(i uint32) bool {
	m := uint32(1) << (i & 31)
	if atomic.LoadUint32(&b[i>>5])&m != 0 {
		return false
	}
	return atomic.OrUint32(&b[i>>5], m)&m == 0
}

// clearRange takes out [lo, hi).
func (b bitset) clearRange(lo, hi uint32) {
	for ; lo < hi && lo&31 != 0; lo++ {
		b.clear(lo)
	}
	for ; lo+32 <= hi; lo += 32 {
		b[lo>>5] = 0
	}
	for ; lo < hi; lo++ {
		b.clear(lo)
	}
}

// shareRange is setRange where others may do the same at the same time.
func (b bitset) shareRange(lo, hi uint32) {
	for lo < hi {
		end := min(hi, (lo|31)+1)
		m := ^uint32(0) << (lo & 31) & (^uint32(0) >> (31 - (end-1)&31))
		if atomic.LoadUint32(&b[lo>>5])&m != m {
			atomic.OrUint32(&b[lo>>5], m)
		}
		lo = end
	}
}

// setPiece is how many words of a set one goroutine takes at a time.
const setPiece = 1 << 15

func pieces(b bitset) int { return (len(b) + setPiece - 1) / setPiece }

// eachPiece calls f for every piece of the words of b, by number.
func (r *recovery) eachPiece(b bitset, f func(k, lo, hi int)) error {
	return each(r.ctx, r.workers, pieces(b), 1, func(_, k int) { f(k, k*setPiece, min(len(b), (k+1)*setPiece)) })
}

// members lists those of the set's members that lie in the words [lo, hi), in order.
func (b bitset) members(lo, hi int) []uint32 {
	var out []uint32
	for i := lo; i < hi; i++ {
		for w := b[i]; w != 0; w &= w - 1 {
			out = append(out, uint32(i)<<5+uint32(bits.TrailingZeros32(w)))
		}
	}
	return out
}

// claimed is has beside concurrent claims.
func (b bitset) claimed(i uint32) bool { return atomic.LoadUint32(&b[i>>5])&(1<<(i&31)) != 0 }

// setRange adds [lo, hi).
func (b bitset) setRange(lo, hi uint32) {
	if lo >= hi {
		return
	}
	first, last := lo>>5, (hi-1)>>5
	head, tail := ^uint32(0)<<(lo&31), ^uint32(0)>>(31-(hi-1)&31)
	if first == last {
		b[first] |= head & tail
		return
	}
	b[first] |= head
	for i := first + 1; i < last; i++ {
		b[i] = ^uint32(0)
	}
	b[last] |= tail
}

// next returns the first member at or after i and below end, or end.
func (b bitset) next(i, end uint32) uint32 {
	for i < end {
		if w := b[i>>5] >> (i & 31); w != 0 {
			return min(end, i+uint32(bits.TrailingZeros32(w)))
		}
		i = (i | 31) + 1
	}
	return end
}

// nextClear returns the first non-member at or after i and below end, or end.
func (b bitset) nextClear(i, end uint32) uint32 {
	for i < end {
		if w := ^b[i>>5] >> (i & 31); w != 0 {
			return min(end, i+uint32(bits.TrailingZeros32(w)))
		}
		i = (i | 31) + 1
	}
	return end
}

// trail is a set of code offsets that is emptied in the time it took to fill.
type trail struct {
	bitset
	words []uint32 // those that hold members
}

// begin empties the set, which has room for offsets below n.
func (t *trail) begin(n uint32) {
	if t.bitset == nil {
		t.bitset = newBitset(n)
		clear(t.bitset) // written before it is read, so that the system maps it once
	}
	for _, w := range t.words {
		t.bitset[w] = 0
	}
	t.words = t.words[:0]
}

func (t *trail) add(i uint32) {
	w := &t.bitset[i>>5]
	if *w == 0 {
		t.words = append(t.words, i>>5)
	}
	*w |= 1 << (i & 31)
}

func (t *trail) addRange(lo, hi uint32) {
	for w := lo >> 5; lo < hi && w <= (hi-1)>>5; w++ {
		if t.bitset[w] == 0 {
			t.words = append(t.words, w)
		}
	}
	t.setRange(lo, hi)
}
