package udif_test

import (
	"encoding/binary"
	"math/bits"
)

// An encoder of LZFSE for tests. It is as simple as the format allows: symbols
// are coded from the last to the first, the state that a symbol must lead to
// decides which of its states comes before.

type fseState struct{ bits, delta int }

// spread gives the states of every symbol: how many bits they pull, and where
// they lead from there.
func spread(states int, freq []int) (table [][]fseState, number [][]int) {
	table, number = make([][]fseState, len(freq)), make([][]int, len(freq))
	at := 0
	for s, f := range freq {
		if f == 0 {
			continue
		}
		k := bits.LeadingZeros32(uint32(f)) - bits.LeadingZeros32(uint32(states))
		wide := 2*states>>k - f
		for j := range f {
			st := fseState{k, (f+j)<<k - states}
			if j >= wide {
				st = fseState{k - 1, (j - wide) << (k - 1)}
			}
			table[s] = append(table[s], st)
			number[s] = append(number[s], at)
			at++
		}
	}
	return table, number
}

// normal makes frequencies that sum to states and leave no used symbol out.
func normal(counts []int, states int) []int {
	total := 0
	for _, c := range counts {
		total += c
	}
	out := make([]int, len(counts))
	left, most := states, 0
	for i, c := range counts {
		if c > 0 {
			out[i] = max(1, c*states/(total*2))
			left -= out[i]
		}
		if counts[i] > counts[most] {
			most = i
		}
	}
	out[most] += left
	return out
}

type bitWriter struct {
	b     []byte
	accum uint64
	n     int
}

func (w *bitWriter) put(v, n int) {
	w.accum |= uint64(v) << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.b = append(w.b, byte(w.accum))
		w.accum >>= 8
	}
}

// done gives the bytes and how many bits of the last one are not used, as a
// negative number.
func (w *bitWriter) done() ([]byte, int) {
	if w.n == 0 {
		return w.b, 0
	}
	return append(w.b, byte(w.accum)), w.n - 8
}

type fse struct {
	table  [][]fseState
	number [][]int
	state  int
}

func newFSE(states int, freq []int) *fse {
	t, n := spread(states, freq)
	return &fse{t, n, 0}
}

// code finds the state of the symbol that leads to the current one.
func (f *fse) code(w *bitWriter, symbol, extra, extraBits int) {
	for i, s := range f.table[symbol] {
		if f.state >= s.delta && f.state < s.delta+1<<s.bits {
			w.put((f.state-s.delta)<<extraBits|extra, s.bits+extraBits)
			f.state = f.number[symbol][i]
			return
		}
	}
	panic("no state leads there")
}

// symbolOf is the symbol with the largest base below the value.
func symbolOf(value int, base []int) int {
	s := 0
	for s+1 < len(base) && base[s+1] <= value {
		s++
	}
	return s
}

func bases(n int, extra func(int) int) (base, width []int) {
	next := 0
	for i := range n {
		base, width = append(base, next), append(width, extra(i))
		next += 1 << extra(i)
	}
	return base, width
}

func tailBits(list ...int) func(int) int {
	return func(i int) int {
		if i < 16 {
			return 0
		}
		return list[i-16]
	}
}

type triple struct{ l, m, d int }

// matches finds repetitions of 8 bytes or more with a table of where things
// were.
func matches(b []byte, find bool) (literals []byte, out []triple) {
	seen := map[uint64]int{}
	from := 0
	for i := 0; i+8 <= len(b) && find; {
		key := binary.LittleEndian.Uint64(b[i:])
		at, ok := seen[key]
		seen[key] = i
		if !ok || i-at > 60_000 {
			i++
			continue
		}
		n := 8
		for i+n < len(b) && b[at+n] == b[i+n] && n < 2000 {
			n++
		}
		for i-from > 300 {
			literals, out = append(literals, b[from:from+300]...), append(out, triple{300, 0, i - at})
			from += 300
		}
		literals, out = append(literals, b[from:i]...), append(out, triple{i - from, n, i - at})
		i += n
		from = i
	}
	for from < len(b) {
		n := min(300, len(b)-from)
		literals, out = append(literals, b[from:from+n]...), append(out, triple{n, 0, 1})
		from += n
	}
	for len(literals)%4 != 0 {
		literals = append(literals, 0)
	}
	return literals, out
}

// lzfse packs into blocks, with matches or with literals alone. No block may
// have more than 40,000 literals.
func lzfse(b []byte, find bool) []byte {
	var out []byte
	for len(b) > 0 {
		n := min(len(b), 30_000)
		out = append(out, lzfseBlock(b[:n], find)...)
		b = b[n:]
	}
	return append(out, "bvx$"...)
}

func lzfseBlock(b []byte, find bool) []byte {
	literals, ops := matches(b, find)
	lBase, lBits := bases(20, tailBits(2, 3, 5, 8))
	mBase, mBits := bases(20, tailBits(3, 5, 8, 11))
	dBase, dBits := bases(64, func(i int) int { return i / 4 })
	lc, mc, dc, tc := make([]int, 20), make([]int, 20), make([]int, 64), make([]int, 256)
	d := make([]int, len(ops)) // 0 repeats the distance before
	for i, o := range ops {
		if d[i] = o.d; i > 0 && ops[i-1].d == o.d {
			d[i] = 0
		}
		lc[symbolOf(o.l, lBase)]++
		mc[symbolOf(o.m, mBase)]++
		dc[symbolOf(d[i], dBase)]++
	}
	for _, c := range literals {
		tc[c]++
	}
	lf, mf, df, tf := normal(lc, 64), normal(mc, 64), normal(dc, 256), normal(tc, 1024)
	var text bitWriter
	coders := [4]*fse{}
	for i := range coders {
		coders[i] = newFSE(1024, tf)
	}
	for i := len(literals) - 1; i >= 0; i-- {
		coders[i%4].code(&text, int(literals[i]), 0, 0)
	}
	textBytes, textSpare := text.done()
	// Eight zero bytes stand before the lengths and distances.
	lmd := bitWriter{b: make([]byte, 8)}
	le, me, de := newFSE(64, lf), newFSE(64, mf), newFSE(256, df)
	for i := len(ops) - 1; i >= 0; i-- {
		s := symbolOf(d[i], dBase)
		de.code(&lmd, s, d[i]-dBase[s], dBits[s])
		s = symbolOf(ops[i].m, mBase)
		me.code(&lmd, s, ops[i].m-mBase[s], mBits[s])
		s = symbolOf(ops[i].l, lBase)
		le.code(&lmd, s, ops[i].l-lBase[s], lBits[s])
	}
	lmdBytes, lmdSpare := lmd.done()
	var freq bitWriter
	for _, list := range [][]int{lf, mf, df, tf} {
		for _, f := range list {
			switch {
			case f >= 24:
				freq.put((f-24)<<4|15, 14)
			case f >= 8:
				freq.put((f-8)<<4|7, 8)
			default:
				code := [8][2]int{{0, 2}, {2, 2}, {1, 3}, {5, 3}, {3, 5}, {11, 5}, {19, 5}, {27, 5}}[f]
				freq.put(code[0], code[1])
			}
		}
	}
	freqBytes, _ := freq.done()
	head := make([]byte, 32)
	copy(head, "bvx2")
	binary.LittleEndian.PutUint32(head[4:], uint32(len(b)))
	pack := func(at int, fields ...[2]int) {
		var v uint64
		for _, f := range fields {
			v |= uint64(f[0]) << f[1]
		}
		binary.LittleEndian.PutUint64(head[at:], v)
	}
	pack(8, [2]int{len(literals), 0}, [2]int{len(textBytes), 20}, [2]int{len(ops), 40}, [2]int{textSpare + 7, 60})
	pack(16, [2]int{coders[0].state, 0}, [2]int{coders[1].state, 10}, [2]int{coders[2].state, 20}, [2]int{coders[3].state, 30}, [2]int{len(lmdBytes), 40}, [2]int{lmdSpare + 7, 60})
	pack(24, [2]int{32 + len(freqBytes), 0}, [2]int{le.state, 32}, [2]int{me.state, 42}, [2]int{de.state, 52})
	out := append(head, freqBytes...)
	return append(append(out, textBytes...), lmdBytes...)
}

// lzvn packs into a block of that kind: literals, and matches of every form.
func lzvn(b []byte) []byte {
	var z []byte
	put := func(lit []byte) {
		for len(lit) > 0 {
			n := min(len(lit), 271)
			if n >= 16 {
				z = append(z, 0xe0, byte(n-16))
			} else {
				z = append(z, 0xe0|byte(n))
			}
			z = append(z, lit[:n]...)
			lit = lit[n:]
		}
	}
	_, ops := matches(b, true)
	at, last := 0, 0
	for i, o := range ops {
		put(b[at : at+o.l])
		at += o.l
		left := o.m
		if left == 0 {
			continue
		}
		if o.d != last {
			n := min(left, 10)
			switch {
			case o.d < 1536 && i%3 == 0: // small distance
				z = append(z, byte((n-3)<<3|o.d>>8), byte(o.d))
			case o.d < 1<<14 && i%3 == 1: // medium distance
				w := o.d<<2 | (n-3)&3
				z = append(z, 0xa0|byte((n-3)>>2), byte(w), byte(w>>8))
			default: // large distance
				z = append(z, byte((n-3)<<3|7), byte(o.d), byte(o.d>>8))
			}
			left, last = left-n, o.d
		}
		for left > 0 { // the same distance again
			n := min(left, 271)
			if n >= 16 {
				z = append(z, 0xf0, byte(n-16))
			} else {
				z = append(z, 0xf0|byte(n))
			}
			left -= n
		}
		at += o.m
	}
	z = append(z, 6, 0, 0, 0, 0, 0, 0, 0)
	head := make([]byte, 12)
	copy(head, "bvxn")
	binary.LittleEndian.PutUint32(head[4:], uint32(len(b)))
	binary.LittleEndian.PutUint32(head[8:], uint32(len(z)))
	return append(append(head, z...), "bvx$"...)
}
