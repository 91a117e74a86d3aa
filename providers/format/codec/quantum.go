package codec

import (
	"io"

	"rea/providers/format/container"
)

// A Quantum decodes the chunks of a cabinet's folder one behind the other.
// Every chunk begins the arithmetic code anew and goes on with the statistics
// and the history. [M. Russotto, Quantum archive format]
type Quantum struct {
	window int
	out    []byte // the last of what was decoded

	selector quantumModel    // what comes: literals of a quarter, matches of 3, 4 or more bytes
	literals [4]quantumModel // by quarter of the values
	slots    [3]quantumModel // of positions, by kind of match
	lengths  quantumModel    // of matches of 5 bytes or more
}

// NewQuantum begins a folder with a history of 1<<bits bytes, 1 KiB to 2 MiB.
func NewQuantum(bits int) (*Quantum, error) {
	if bits < 10 || bits > 21 {
		return nil, badQuantum("a history of 2^%d bytes", bits)
	}
	d := &Quantum{window: 1 << bits, selector: newQuantumModel(7), lengths: newQuantumModel(27)}
	for i := range d.literals {
		d.literals[i] = newQuantumModel(64)
	}
	for i, most := range []int{24, 36, 42} {
		d.slots[i] = newQuantumModel(min(2*bits, most))
	}
	return d, nil
}

func badQuantum(what string, args ...any) error {
	return container.Errorf("quantum", container.Corrupt, what, args...)
}

// Next decodes a chunk that gives size bytes.
func (d *Quantum) Next(chunk []byte, size int) ([]byte, error) {
	if size < 0 || size > MaxLZXChunk {
		return nil, badQuantum("a chunk of %d bytes", size)
	}
	if len(d.out) > 2*d.window {
		d.out = d.out[:copy(d.out, d.out[len(d.out)-d.window:])]
	}
	in := &arithmetic{b: chunk, high: 0xffff}
	in.code = uint16(in.take(16))
	for end := len(d.out) + size; len(d.out) < end; {
		kind := d.selector.decode(in)
		if kind < 4 {
			d.out = append(d.out, byte(kind<<6|d.literals[kind].decode(in)))
		} else {
			n := kind - 1
			if kind == 6 {
				n = 5 + quantumLength(d.lengths.decode(in), in)
			}
			slot := d.slots[kind-4].decode(in)
			back := slot + 1
			if slot > 3 {
				extra := slot/2 - 1
				back = (2+slot%2)<<extra + in.take(extra) + 1
			}
			if back > d.window || back > len(d.out) {
				return nil, badQuantum("a match %d bytes back", back)
			}
			if n > end-len(d.out) {
				return nil, badQuantum("a match goes on behind its chunk")
			}
			d.out = copyBack(d.out, back, n)
		}
		if in.behind() {
			return nil, unexpected(io.ErrUnexpectedEOF)
		}
	}
	return append([]byte(nil), d.out[len(d.out)-size:]...), nil
}

// quantumLength is what a length has above the least: up to 5 alone, then four
// symbols for every number of extra bits, and one symbol for the longest.
func quantumLength(symbol int, in *arithmetic) int {
	switch {
	case symbol < 6:
		return symbol
	case symbol == 26:
		return 254
	}
	extra := (symbol-6)/4 + 1
	return 4*(1<<extra-2) + 6 + (symbol-6)%4<<extra + in.take(extra)
}

// A quantumModel counts the symbols of one kind, the more frequent ones first.
type quantumModel struct {
	symbols []uint8
	above   []uint16 // the sum of the counts of a symbol and of those behind it; a 0 at the end
	halves  int      // how often counts are halved until symbols are sorted again
}

const (
	quantumStep = 8
	quantumMost = 3800
)

func newQuantumModel(n int) quantumModel {
	m := quantumModel{make([]uint8, n), make([]uint16, n+1), 4}
	for i := range m.symbols {
		m.symbols[i], m.above[i] = uint8(i), uint16(n-i)
	}
	return m
}

func (m *quantumModel) decode(in *arithmetic) int {
	i := in.find(m.above)
	symbol := int(m.symbols[i])
	for j := range i + 1 {
		m.above[j] += quantumStep
	}
	if m.above[0] > quantumMost {
		m.age()
	}
	return symbol
}

// age halves the counts.
func (m *quantumModel) age() {
	if m.halves--; m.halves > 0 {
		for i := len(m.symbols) - 1; i >= 0; i-- {
			m.above[i] = max(m.above[i]/2, m.above[i+1]+1)
		}
		return
	}
	m.halves = 50
	for i := range m.symbols {
		m.above[i] = (m.above[i] - m.above[i+1] + 1) / 2
	}
	// The order of equal counts is that of this sort.
	for i := range m.symbols {
		for j := i + 1; j < len(m.symbols); j++ {
			if m.above[i] < m.above[j] {
				m.above[i], m.above[j] = m.above[j], m.above[i]
				m.symbols[i], m.symbols[j] = m.symbols[j], m.symbols[i]
			}
		}
	}
	for i := len(m.symbols) - 1; i >= 0; i-- {
		m.above[i] += m.above[i+1]
	}
}

// arithmetic decodes an arithmetic code of 16 bits, between whose bits others
// stand as they are.
type arithmetic struct {
	b               []byte
	at              int // in bits
	low, high, code uint16
}

// take gives n bits, zeros behind the end.
func (a *arithmetic) take(n int) int {
	v := 0
	for range n {
		v <<= 1
		if i := a.at / 8; i < len(a.b) {
			v |= int(a.b[i]) >> (7 - a.at%8) & 1
		}
		a.at++
	}
	return v
}

// behind reports whether bits were used that are not there: the code looks 16
// bits ahead.
func (a *arithmetic) behind() bool { return a.at > 8*len(a.b)+16 }

// find decodes which of the ranges comes that the sums bound.
func (a *arithmetic) find(above []uint16) int {
	width := uint32(a.high-a.low) + 1
	total := uint32(above[0])
	at := uint16(((uint32(a.code-a.low)+1)*total - 1) / width)
	i := 0
	for above[i+1] > at {
		i++
	}
	a.high = a.low + uint16(uint32(above[i])*width/total) - 1
	a.low += uint16(uint32(above[i+1]) * width / total)
	for {
		if (a.low^a.high)&0x8000 != 0 {
			if a.low&0x4000 == 0 || a.high&0x4000 != 0 {
				return i
			}
			a.code ^= 0x4000
			a.low &= 0x3fff
			a.high |= 0x4000
		}
		a.low <<= 1
		a.high = a.high<<1 | 1
		a.code = a.code<<1 | uint16(a.take(1))
	}
}
