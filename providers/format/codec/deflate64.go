package codec

import (
	"bufio"
	"io"
	"math/bits"

	"rea/providers/format/container"
)

// Deflate64 opens a raw stream of enhanced deflate: deflate (RFC 1951) with a
// history of 64 KiB, two more codes for distances, and lengths of up to 65538.
func Deflate64(r io.Reader) (io.ReadCloser, error) {
	return start("deflate64", func() (*deflate64, error) {
		return &deflate64{in: buffered(r), window: make([]byte, 0, 3*history64)}, nil
	}, nil)
}

const (
	history64 = 64 << 10
	// full64 is when the window is given before more is decoded; the longest
	// match still fits behind it.
	full64 = 3*history64 - 65538
	// tableBits is how many bits of a code are looked up at once.
	tableBits = 10
	maxCode   = 15
)

type deflate64 struct {
	in     *bufio.Reader
	bits   uint64
	have   uint // bits in it
	window []byte
	at     int // of what is still to give in the window
	state  func(*deflate64) error
	last   bool
	stored int
	lit    huffman
	dist   huffman
}

func (d *deflate64) Read(p []byte) (int, error) {
	for d.at == len(d.window) {
		if len(d.window) >= full64 {
			n := copy(d.window, d.window[len(d.window)-history64:])
			d.window, d.at = d.window[:n], n
		}
		if d.state == nil {
			if d.last {
				return 0, io.EOF
			}
			d.state = (*deflate64).block
		}
		if err := d.state(d); err != nil {
			return 0, unexpected(err)
		}
	}
	n := copy(p, d.window[d.at:])
	d.at += n
	return n, nil
}

func bad64(what string, args ...any) error {
	return container.Errorf("deflate64", container.Corrupt, what, args...)
}

// need makes sure that n bits are there.
func (d *deflate64) need(n uint) error {
	for d.have < n {
		c, err := d.in.ReadByte()
		if err != nil {
			return err
		}
		d.bits |= uint64(c) << d.have
		d.have += 8
	}
	return nil
}

func (d *deflate64) take(n uint) (int, error) {
	if err := d.need(n); err != nil {
		return 0, err
	}
	v := int(d.bits & (1<<n - 1))
	d.bits >>= n
	d.have -= n
	return v, nil
}

// block reads the header of a block.
func (d *deflate64) block() error {
	h, err := d.take(3)
	if err != nil {
		return err
	}
	d.last = h&1 != 0
	switch h >> 1 {
	case 0:
		if _, err := d.take(d.have % 8); err != nil {
			return err
		}
		n, err := d.take(16)
		if err != nil {
			return err
		}
		inverse, err := d.take(16)
		if err != nil {
			return err
		}
		if n^inverse != 0xffff {
			return bad64("the length of a stored block contradicts its complement")
		}
		d.stored, d.state = n, (*deflate64).copyStored
	case 1:
		var lengths [288]byte
		for i := range lengths {
			switch {
			case i < 144:
				lengths[i] = 8
			case i < 256:
				lengths[i] = 9
			case i < 280:
				lengths[i] = 7
			default:
				lengths[i] = 8
			}
		}
		var distances [32]byte
		for i := range distances {
			distances[i] = 5
		}
		if !d.lit.build(lengths[:]) || !d.dist.build(distances[:]) {
			return bad64("fixed codes")
		}
		d.state = (*deflate64).decode
	case 2:
		if err := d.dynamic(); err != nil {
			return err
		}
		d.state = (*deflate64).decode
	default:
		return bad64("a block of an unknown kind")
	}
	return nil
}

func (d *deflate64) copyStored() error {
	for d.stored > 0 && len(d.window) < full64 {
		c, err := d.take(8)
		if err != nil {
			return err
		}
		d.window = append(d.window, byte(c))
		d.stored--
	}
	if d.stored == 0 {
		d.state = nil
	}
	return nil
}

// codeOrder is the order of the lengths of the codes for code lengths.
var codeOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

func (d *deflate64) dynamic() error {
	h, err := d.take(14)
	if err != nil {
		return err
	}
	literals, distances, codes := h&31+257, h>>5&31+1, h>>10+4
	var lengths [288 + 32]byte
	var order [19]byte
	for _, i := range codeOrder[:codes] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		order[i] = byte(n)
	}
	if !d.lit.build(order[:]) {
		return bad64("the codes of code lengths are no code")
	}
	for i := 0; i < literals+distances; {
		s, err := d.symbol(&d.lit)
		if err != nil {
			return err
		}
		if s < 16 {
			lengths[i] = byte(s)
			i++
			continue
		}
		var value byte
		repeat := [3][2]int{{2, 3}, {3, 3}, {7, 11}}[s-16]
		if s == 16 {
			if i == 0 {
				return bad64("nothing to repeat")
			}
			value = lengths[i-1]
		}
		n, err := d.take(uint(repeat[0]))
		if err != nil {
			return err
		}
		if n += repeat[1]; n > literals+distances-i {
			return bad64("too many code lengths")
		}
		for range n {
			lengths[i] = value
			i++
		}
	}
	if lengths[256] == 0 {
		return bad64("the block cannot end")
	}
	if !d.lit.build(lengths[:literals]) || !d.dist.build(lengths[literals:literals+distances]) {
		return bad64("code lengths that are no code")
	}
	return nil
}

var (
	lengthBase  = [29]int{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 3}
	lengthExtra = [29]uint{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 16}
)

// decode reads symbols until the block ends or the window is well filled.
func (d *deflate64) decode() error {
	for len(d.window) < full64 {
		s, err := d.symbol(&d.lit)
		if err != nil {
			return err
		}
		switch {
		case s < 256:
			d.window = append(d.window, byte(s))
			continue
		case s == 256:
			d.state = nil
			return nil
		case s > 285:
			return bad64("a length that there is not")
		}
		n, err := d.take(lengthExtra[s-257])
		if err != nil {
			return err
		}
		n += lengthBase[s-257]
		c, err := d.symbol(&d.dist)
		if err != nil {
			return err
		}
		back := c + 1
		if c > 3 {
			extra := uint(c)/2 - 1
			more, err := d.take(extra)
			if err != nil {
				return err
			}
			back = (2|c&1)<<extra + more + 1
		}
		if back > len(d.window) || back > history64 {
			return bad64("a match reaches outside of the history")
		}
		d.window = copyBack(d.window, back, n)
	}
	return nil
}

// huffman decodes a canonical code: short codes by a table, longer ones by
// counting (RFC 1951, 3.2.2).
type huffman struct {
	table  [1 << tableBits]uint16 // symbol<<4 | length, 0 for codes that are longer
	counts [maxCode + 1]int
	sorted [288 + 32]uint16
}

// build makes the tables; false when the lengths are more than a code allows, or
// fewer with more than one symbol.
func (h *huffman) build(lengths []byte) bool {
	h.counts = [maxCode + 1]int{}
	for _, n := range lengths {
		h.counts[n]++
	}
	h.counts[0] = 0
	left, symbols := 1, 0
	var offsets, next [maxCode + 2]int
	for n := 1; n <= maxCode; n++ {
		left = left<<1 - h.counts[n]
		if left < 0 {
			return false
		}
		symbols += h.counts[n]
		offsets[n+1] = offsets[n] + h.counts[n]
		next[n+1] = (next[n] + h.counts[n]) << 1
	}
	if left > 0 && symbols > 1 {
		return false
	}
	clear(h.table[:])
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		h.sorted[offsets[n]] = uint16(s)
		offsets[n]++
		code := next[n]
		next[n]++
		if n > tableBits {
			continue
		}
		for i := int(bits.Reverse16(uint16(code)) >> (16 - n)); i < len(h.table); i += 1 << n {
			h.table[i] = uint16(s)<<4 | uint16(n)
		}
	}
	return true
}

func (d *deflate64) symbol(h *huffman) (int, error) {
	for d.have < maxCode { // as far as there are bytes
		c, err := d.in.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		d.bits |= uint64(c) << d.have
		d.have += 8
	}
	if e := h.table[d.bits&(1<<tableBits-1)]; e != 0 && uint(e&15) <= d.have {
		d.bits >>= e & 15
		d.have -= uint(e & 15)
		return int(e >> 4), nil
	}
	code, first, index := 0, 0, 0
	for n := uint(1); n <= maxCode; n++ {
		if n > d.have {
			return 0, io.ErrUnexpectedEOF
		}
		code |= int(d.bits >> (n - 1) & 1)
		if k := code - first; k < h.counts[n] {
			d.bits >>= n
			d.have -= n
			return int(h.sorted[index+k]), nil
		}
		index += h.counts[n]
		first = (first + h.counts[n]) << 1
		code <<= 1
	}
	return 0, bad64("a code that there is not")
}
