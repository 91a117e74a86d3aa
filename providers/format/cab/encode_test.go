package cab_test

import (
	"container/heap"
	"encoding/binary"
	"math/bits"
	"slices"
)

// What follows writes cabinets, so that there are some with blocks of every type
// and histories of every size. TestOthersAgree holds it to other readers.

const frame = 32 << 10

// cabinet makes one of a folder of chunks with one file.
func cabinet(method uint16, chunks [][]byte, sizes []int, name string) []byte {
	le := binary.LittleEndian
	total := 0
	for _, n := range sizes {
		total += n
	}
	files := 36 + 8
	data := files + 16 + len(name) + 1
	b := append([]byte("MSCF"), make([]byte, data-4)...)
	le.PutUint32(b[16:], uint32(files))
	b[24], b[25] = 3, 1
	le.PutUint16(b[26:], 1)
	le.PutUint16(b[28:], 1)
	le.PutUint32(b[36:], uint32(data))
	le.PutUint16(b[40:], uint16(len(chunks)))
	le.PutUint16(b[42:], method)
	le.PutUint32(b[files:], uint32(total))
	le.PutUint16(b[files+14:], 0x20)
	copy(b[files+16:], name)
	for i, c := range chunks {
		var h [8]byte
		le.PutUint16(h[4:], uint16(len(c)))
		le.PutUint16(h[6:], uint16(sizes[i]))
		b = append(append(b, h[:]...), c...)
	}
	le.PutUint32(b[8:], uint32(len(b)))
	return b
}

func frames(n int) (sizes []int) {
	for ; n > frame; n -= frame {
		sizes = append(sizes, frame)
	}
	return append(sizes, n)
}

// A finder finds the last place where three bytes stood.
type finder struct {
	data []byte
	last map[[3]byte]int
}

// match gives the length of the longest match that it finds for what stands at,
// and how far back it is.
func (f *finder) match(at, end, window, most int) (n, back int) {
	if end-at < 3 {
		return 0, 0
	}
	key := [3]byte(f.data[at:])
	from, ok := f.last[key]
	f.last[key] = at
	if !ok || at-from > window {
		return 0, 0
	}
	for n < min(most, end-at) && f.data[from+n] == f.data[at+n] {
		n++
	}
	return n, at - from
}

// lzxWriter writes words of 16 bits, the highest bits first.
type lzxWriter struct {
	chunks [][]byte
	b      []byte
	bits   uint64
	have   uint
}

func (w *lzxWriter) put(v int, n uint) {
	w.bits = w.bits<<n | uint64(v)&(1<<n-1)
	for w.have += n; w.have >= 16; w.have -= 16 {
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(w.bits>>(w.have-16)))
	}
}

func (w *lzxWriter) align() {
	if w.have > 0 {
		w.put(0, 16-w.have)
	}
}

func (w *lzxWriter) cut() {
	w.align()
	w.chunks, w.b = append(w.chunks, w.b), nil
}

type lzxToken struct {
	symbol int // of the main code
	length int // of the code of lengths, or -1
	extra  uint
	value  int
	n      int // bytes
}

// lzx compresses data with blocks of these types and sizes in turn. With
// translate, targets of calls are written as positions.
func lzx(data []byte, window uint, translate bool, kinds []int, sizes []int) (chunks [][]byte) {
	w := &lzxWriter{}
	if translate {
		w.put(1, 1)
		size := min(len(data), 1<<20)
		w.put(size>>16, 16)
		w.put(size, 16)
		data = relativeToAbsolute(data, size)
	} else {
		w.put(0, 1)
	}
	slots := map[uint]int{15: 30, 16: 32, 17: 34, 18: 36, 19: 38, 20: 42, 21: 50}[window]
	mainWas, lengthWas := make([]int, 256+8*slots), make([]int, 249)
	f := &finder{data, map[[3]byte]int{}}
	recent := [3]int{1, 1, 1}
	for at, i := 0, 0; at < len(data); i++ {
		kind, size := kinds[i%len(kinds)], min(sizes[i%len(sizes)], len(data)-at)
		end := at + size
		w.put(kind, 3)
		w.put(size, 24)
		if kind == 3 {
			if w.have == 0 {
				w.put(0, 16)
			}
			w.align()
			for _, r := range recent {
				w.b = binary.LittleEndian.AppendUint32(w.b, uint32(r))
			}
			for ; at < end; at++ {
				w.b = append(w.b, data[at])
				if at == end-1 && size%2 != 0 {
					w.b = append(w.b, 0)
				}
				if (at+1)%frame == 0 {
					w.cut()
				}
			}
			continue
		}
		var tokens []lzxToken
		mains, lengths, aligneds := make([]int, 256+8*slots), make([]int, 249), make([]int, 8)
		for at < end {
			n, back := f.match(at, min(end, (at/frame+1)*frame), 1<<window-3, 257)
			if n < 3 {
				tokens = append(tokens, lzxToken{int(data[at]), -1, 0, 0, 1})
				mains[data[at]]++
				at++
				continue
			}
			t := lzxToken{length: -1, n: n}
			slot := slices.Index(recent[:], back)
			if slot >= 0 {
				recent[0], recent[slot] = recent[slot], recent[0]
			} else {
				recent = [3]int{back, recent[0], recent[1]}
				slot, t.extra, t.value = position(back+2, 17)
			}
			head := min(n-2, 7)
			if head == 7 {
				t.length = n - 9
				lengths[t.length]++
			}
			t.symbol = 256 + 8*slot + head
			mains[t.symbol]++
			if t.extra >= 3 {
				aligneds[t.value%8]++
			}
			tokens = append(tokens, t)
			at += n
		}
		aligned := codeLengths(aligneds, 7)
		if kind == 2 {
			for _, n := range aligned {
				w.put(n, 3)
			}
		}
		main, length := codeLengths(mains, 16), codeLengths(lengths, 16)
		w.lengths(mainWas[:256], main[:256])
		w.lengths(mainWas[256:], main[256:])
		w.lengths(lengthWas, length)
		mainWas, lengthWas = main, length
		mainCodes, lengthCodes, alignedCodes := codes(main), codes(length), codes(aligned)
		done := end - size
		for _, t := range tokens {
			w.put(mainCodes[t.symbol], uint(main[t.symbol]))
			if t.length >= 0 {
				w.put(lengthCodes[t.length], uint(length[t.length]))
			}
			if kind == 2 && t.extra >= 3 {
				w.put(t.value>>3, t.extra-3)
				w.put(alignedCodes[t.value%8], uint(aligned[t.value%8]))
			} else {
				w.put(t.value, t.extra)
			}
			if done += t.n; done%frame == 0 {
				w.cut()
			}
		}
	}
	if len(data)%frame != 0 {
		w.cut()
	}
	return w.chunks
}

// position gives the slot of a position, and what is added to its first one.
func position(v int, most uint) (slot int, extra uint, value int) {
	if v < 4 {
		return v, 0, 0
	}
	extra = uint(bits.Len(uint(v)) - 2)
	if extra > most {
		return v>>most + 34, most, v & (1<<most - 1)
	}
	return int(2*extra) + v>>extra, extra, v & (1<<extra - 1)
}

// lengths writes lengths of codes as differences, runs of them as such.
func (w *lzxWriter) lengths(was, are []int) {
	type step struct{ symbol, value, extra, then int }
	var steps []step
	for i := 0; i < len(are); {
		n := 1
		for i+n < len(are) && are[i+n] == are[i] {
			n++
		}
		switch difference := (was[i] - are[i] + 17) % 17; {
		case are[i] == 0 && n >= 20:
			n = min(n, 51)
			steps = append(steps, step{18, n - 20, 5, -1})
		case are[i] == 0 && n >= 4:
			n = min(n, 19)
			steps = append(steps, step{17, n - 4, 4, -1})
		case n >= 4:
			n = min(n, 5)
			steps = append(steps, step{19, n - 4, 1, difference})
		default:
			n = 1
			steps = append(steps, step{difference, 0, 0, -1})
		}
		i += n
	}
	counts := make([]int, 20)
	for _, s := range steps {
		counts[s.symbol]++
		if s.then >= 0 {
			counts[s.then]++
		}
	}
	lengths := codeLengths(counts, 15)
	for _, n := range lengths {
		w.put(n, 4)
	}
	c := codes(lengths)
	for _, s := range steps {
		w.put(c[s.symbol], uint(lengths[s.symbol]))
		w.put(s.value, uint(s.extra))
		if s.then >= 0 {
			w.put(c[s.then], uint(lengths[s.then]))
		}
	}
}

type node struct {
	count   int
	symbols []int
}
type nodes []node

func (h nodes) Len() int           { return len(h) }
func (h nodes) Less(i, j int) bool { return h[i].count < h[j].count }
func (h nodes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodes) Push(x any)        { *h = append(*h, x.(node)) }
func (h *nodes) Pop() any {
	n := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return n
}

// codeLengths are those of a Huffman code with two symbols or more, or none.
func codeLengths(counts []int, most int) []int {
	counts = slices.Clone(counts)
	used := 0
	for _, n := range counts {
		used += min(n, 1)
	}
	if used == 0 && len(counts) > 20 {
		return make([]int, len(counts))
	}
	for i := 0; used < 2; i++ {
		if counts[i] == 0 {
			counts[i] = 1
			used++
		}
	}
	for {
		lengths, h := make([]int, len(counts)), &nodes{}
		for s, n := range counts {
			if n > 0 {
				heap.Push(h, node{n, []int{s}})
			}
		}
		for h.Len() > 1 {
			a, b := heap.Pop(h).(node), heap.Pop(h).(node)
			joined := append(slices.Clone(a.symbols), b.symbols...)
			for _, s := range joined {
				lengths[s]++
			}
			heap.Push(h, node{a.count + b.count, joined})
		}
		if slices.Max(lengths) <= most {
			return lengths
		}
		for s := range counts {
			counts[s] = (counts[s] + 1) / 2
		}
	}
}

func codes(lengths []int) []int {
	out, code := make([]int, len(lengths)), 0
	for n := 1; n <= 16; n++ {
		for s, l := range lengths {
			if l == n {
				out[s] = code
				code++
			}
		}
		code <<= 1
	}
	return out
}

func relativeToAbsolute(data []byte, size int) []byte {
	out := slices.Clone(data)
	for start := 0; start < len(out); start += frame {
		b := out[start:min(start+frame, len(out))]
		for i := 0; i < len(b)-10; i++ {
			if b[i] != 0xe8 {
				continue
			}
			here := start + i
			to := int(int32(binary.LittleEndian.Uint32(b[i+1:])))
			switch {
			case to >= -here && to < size-here:
				to += here
			case to >= size-here && to < size:
				to -= size
			}
			binary.LittleEndian.PutUint32(b[i+1:], uint32(int32(to)))
			i += 4
		}
	}
	return out
}

// quantumWriter writes an arithmetic code, with bits between its own.
type quantumWriter struct {
	low, high uint16
	pending   int
	shifts    int
	code      []byte // bits
	between   map[int][]byte
}

func (w *quantumWriter) raw(v int, n uint) {
	for i := int(n) - 1; i >= 0; i-- { // the decoder is 16 bits ahead
		w.between[16+w.shifts] = append(w.between[16+w.shifts], byte(v>>i&1))
	}
}

func (w *quantumWriter) bit(b byte) {
	w.code = append(w.code, b)
	for ; w.pending > 0; w.pending-- {
		w.code = append(w.code, 1-b)
	}
}

func (w *quantumWriter) put(m *statistics, symbol int) {
	i := slices.Index(m.symbols, symbol)
	width, total := uint32(w.high-w.low)+1, uint32(m.sums[0])
	w.high = w.low + uint16(uint32(m.sums[i])*width/total) - 1
	w.low += uint16(uint32(m.sums[i+1]) * width / total)
	m.count(i)
	for {
		switch {
		case (w.low^w.high)&0x8000 == 0:
			w.bit(byte(w.low >> 15))
		case w.low&0x4000 != 0 && w.high&0x4000 == 0:
			w.pending++
			w.low &= 0x3fff
			w.high |= 0x4000
		default:
			return
		}
		w.shifts++
		w.low, w.high = w.low<<1, w.high<<1|1
	}
}

func (w *quantumWriter) chunk() []byte {
	w.pending++
	w.bit(byte(w.low >> 14 & 1))
	for len(w.code) < 16+w.shifts {
		w.code = append(w.code, 0)
	}
	var all []byte
	for i := range 16 + w.shifts + 1 {
		all = append(all, w.between[i]...)
		if i < 16+w.shifts {
			all = append(all, w.code[i])
		}
	}
	out := make([]byte, (len(all)+2+7)/8) // others want two bits more
	for i, b := range all {
		out[i/8] |= b << (7 - i%8)
	}
	return out
}

type statistics struct {
	symbols, sums []int
	halves        int
}

func newStatistics(n int) *statistics {
	m := &statistics{halves: 4, sums: make([]int, n+1)}
	for i := range n {
		m.symbols = append(m.symbols, i)
		m.sums[i] = n - i
	}
	return m
}

func (m *statistics) count(i int) {
	for j := 0; j <= i; j++ {
		m.sums[j] += 8
	}
	if m.sums[0] <= 3800 {
		return
	}
	n := len(m.symbols)
	if m.halves--; m.halves > 0 {
		for j := n - 1; j >= 0; j-- {
			if m.sums[j] >>= 1; m.sums[j] <= m.sums[j+1] {
				m.sums[j] = m.sums[j+1] + 1
			}
		}
		return
	}
	m.halves = 50
	counts := make([]int, n)
	for j := range counts {
		counts[j] = (m.sums[j] - m.sums[j+1] + 1) >> 1
	}
	for a := 0; a < n; a++ {
		for b := a + 1; b < n; b++ {
			if counts[a] < counts[b] {
				counts[a], counts[b] = counts[b], counts[a]
				m.symbols[a], m.symbols[b] = m.symbols[b], m.symbols[a]
			}
		}
	}
	for j := n - 1; j >= 0; j-- {
		m.sums[j] = m.sums[j+1] + counts[j]
	}
}

// quantum compresses data.
func quantum(data []byte, window uint) (chunks [][]byte) {
	selector, lengths := newStatistics(7), newStatistics(27)
	var literals [4]*statistics
	for i := range literals {
		literals[i] = newStatistics(64)
	}
	limits := [3]int{min(2*int(window), 24), min(2*int(window), 36), 2 * int(window)}
	slots := [3]*statistics{newStatistics(limits[0]), newStatistics(limits[1]), newStatistics(limits[2])}
	f := &finder{data, map[[3]byte]int{}}
	for start := 0; start < len(data); start += frame {
		w := &quantumWriter{high: 0xffff, between: map[int][]byte{}}
		end := min(start+frame, len(data))
		for at := start; at < end; {
			n, back := f.match(at, end, 1<<window, 259)
			kind := min(n, 5) - 3
			slot, extra, value := position(back-1, 30)
			if n < 3 || slot >= limits[kind] {
				w.put(selector, int(data[at]>>6))
				w.put(literals[data[at]>>6], int(data[at]&63))
				at++
				continue
			}
			w.put(selector, 4+kind)
			if kind == 2 {
				w.length(lengths, n-5)
			}
			w.put(slots[kind], slot)
			w.raw(value, extra)
			at += n
		}
		chunks = append(chunks, w.chunk())
	}
	return chunks
}

func (w *quantumWriter) length(m *statistics, n int) {
	base := []int{0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 18, 22, 26, 30, 38, 46, 54, 62, 78, 94, 110, 126, 158, 190, 222, 254}
	s := len(base) - 1
	for base[s] > n {
		s--
	}
	w.put(m, s)
	if s >= 6 && s < 26 {
		w.raw(n-base[s], uint((s-2)/4))
	}
}
