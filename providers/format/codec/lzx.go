package codec

import (
	"encoding/binary"
	"io"

	"rea/providers/format/container"
)

const (
	// MaxLZXChunk is the most that a chunk of a cabinet gives.
	MaxLZXChunk = 32 << 10

	lzxLengths    = 249 // symbols of the code of lengths
	lzxTranslated = 1 << 30
)

// The types of blocks.
const (
	lzxVerbatim     = 1
	lzxAligned      = 2
	lzxUncompressed = 3
)

// An LZX decodes the chunks of a cabinet's folder one behind the other. Blocks
// may go on from one chunk to the next, which begins with a byte of its own.
// [Microsoft LZX Data Compression Format, 1997; MS-PATCH 2.3 to 2.6]
type LZX struct {
	window int
	out    []byte // the last of what was decoded, before translation
	total  int64  // all that was decoded

	started   bool
	translate int32 // size of the file that calls are translated for, or 0

	kind    int
	left    int  // of the block
	padding bool // a byte of padding follows
	recent  [3]int

	mainLengths   []byte
	lengthLengths [lzxLengths]byte
	main          prefixCode
	length        prefixCode
	aligned       prefixCode
}

// NewLZX begins a folder with a history of 1<<bits bytes, 32 KiB to 2 MiB.
func NewLZX(bits int) (*LZX, error) {
	if bits < 15 || bits > 21 {
		return nil, badLZX("a history of 2^%d bytes", bits)
	}
	slots := 2 * bits
	switch bits { // beyond 2^18, slots have 17 bits each
	case 20:
		slots = 42
	case 21:
		slots = 50
	}
	return &LZX{window: 1 << bits, recent: [3]int{1, 1, 1}, mainLengths: make([]byte, 256+8*slots)}, nil
}

func badLZX(what string, args ...any) error {
	return container.Errorf("lzx", container.Corrupt, what, args...)
}

// Next decodes a chunk that gives size bytes.
func (d *LZX) Next(chunk []byte, size int) ([]byte, error) {
	if size < 0 || size > MaxLZXChunk {
		return nil, badLZX("a chunk of %d bytes", size)
	}
	if len(d.out) > 2*d.window {
		d.out = d.out[:copy(d.out, d.out[len(d.out)-d.window:])]
	}
	in := &words{b: chunk}
	if err := d.chunk(in, size); err != nil {
		return nil, unexpected(err)
	}
	out := append([]byte(nil), d.out[len(d.out)-size:]...)
	if d.translate != 0 && d.total < lzxTranslated {
		absoluteToRelative(out, int32(d.total), d.translate)
	}
	d.total += int64(size)
	return out, nil
}

func (d *LZX) chunk(in *words, size int) error {
	if !d.started {
		d.started = true
		if on, err := in.take(1); err != nil {
			return err
		} else if on != 0 {
			high, err := in.take(16)
			if err != nil {
				return err
			}
			low, err := in.take(16)
			if err != nil {
				return err
			}
			d.translate = int32(high<<16 | low)
		}
	}
	for end := len(d.out) + size; len(d.out) < end; {
		if d.left == 0 {
			if err := d.block(in); err != nil {
				return err
			}
			continue
		}
		n := min(d.left, end-len(d.out))
		var err error
		if d.kind == lzxUncompressed {
			err = d.stored(in, n)
		} else {
			err = d.tokens(in, len(d.out)+n)
		}
		if err != nil {
			return err
		}
		d.left -= n
		if d.left == 0 && d.padding && in.skipByte() {
			d.padding = false
		}
	}
	return nil
}

// block reads the header of a block.
func (d *LZX) block(in *words) error {
	if d.padding {
		in.skipByte()
		d.padding = false
	}
	kind, err := in.take(3)
	if err != nil {
		return err
	}
	high, err := in.take(8)
	if err != nil {
		return err
	}
	low, err := in.take(16)
	if err != nil {
		return err
	}
	d.kind, d.left = kind, high<<16|low
	switch kind {
	case lzxUncompressed:
		d.padding = d.left%2 != 0
		if err := in.align(); err != nil {
			return err
		}
		b, err := in.bytes(12)
		if err != nil {
			return err
		}
		for i := range d.recent {
			d.recent[i] = int(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return nil
	case lzxAligned:
		var lengths [8]byte
		for i := range lengths {
			n, err := in.take(3)
			if err != nil {
				return err
			}
			lengths[i] = byte(n)
		}
		if err := d.aligned.build(lengths[:]); err != nil {
			return err
		}
	case lzxVerbatim:
	default:
		return badLZX("a block of type %d", kind)
	}
	for _, part := range [][]byte{d.mainLengths[:256], d.mainLengths[256:], d.lengthLengths[:]} {
		if err := d.lengths(in, part); err != nil {
			return err
		}
	}
	if err := d.main.build(d.mainLengths); err != nil {
		return err
	}
	return d.length.build(d.lengthLengths[:])
}

// lengths reads lengths of codes, as differences from those of the block before.
func (d *LZX) lengths(in *words, to []byte) error {
	var pre [20]byte
	for i := range pre {
		n, err := in.take(4)
		if err != nil {
			return err
		}
		pre[i] = byte(n)
	}
	var code prefixCode
	if err := code.build(pre[:]); err != nil {
		return err
	}
	for i := 0; i < len(to); {
		symbol, err := code.symbol(in)
		if err != nil {
			return err
		}
		run, bits, less := 1, 0, symbol
		switch symbol {
		case 17:
			run, bits = 4, 4
		case 18:
			run, bits = 20, 5
		case 19:
			run, bits = 4, 1
		}
		if bits > 0 {
			more, err := in.take(uint(bits))
			if err != nil {
				return err
			}
			run += more
		}
		if run > len(to)-i {
			return badLZX("lengths of more codes than there are")
		}
		if symbol == 19 {
			if less, err = code.symbol(in); err != nil {
				return err
			}
			if less > 16 {
				return badLZX("a run of runs")
			}
		}
		n := byte(0)
		if symbol < 17 || symbol == 19 {
			n = byte((int(to[i]) - less + 17) % 17)
		}
		for range run {
			to[i] = n
			i++
		}
	}
	return nil
}

func (d *LZX) stored(in *words, n int) error {
	b, err := in.bytes(n)
	d.out = append(d.out, b...)
	return err
}

// tokens decodes literals and matches up to a length of the output, which none
// of them passes.
func (d *LZX) tokens(in *words, end int) error {
	for len(d.out) < end {
		symbol, err := d.main.symbol(in)
		if err != nil {
			return err
		}
		if symbol < 256 {
			d.out = append(d.out, byte(symbol))
			continue
		}
		symbol -= 256
		length, slot := symbol%8, symbol/8
		if length == 7 {
			more, err := d.length.symbol(in)
			if err != nil {
				return err
			}
			length += more
		}
		length += 2
		offset, err := d.offset(in, slot)
		if err != nil {
			return err
		}
		if offset < 1 || offset > d.window || offset > len(d.out) {
			return badLZX("a match %d bytes back", offset)
		}
		if length > end-len(d.out) {
			return badLZX("a match goes on behind its block")
		}
		d.out = copyBack(d.out, offset, length)
	}
	return nil
}

// offset reads how far back a match lies: one of the last three, or a new one.
func (d *LZX) offset(in *words, slot int) (int, error) {
	if slot < 3 {
		d.recent[0], d.recent[slot] = d.recent[slot], d.recent[0]
		return d.recent[0], nil
	}
	extra := uint(slot/2 - 1)
	base := (2 + slot%2) << extra
	if slot >= 36 {
		extra, base = 17, (slot-34)<<17
	}
	v := 0
	var err error
	if d.kind == lzxAligned && extra >= 3 {
		if v, err = in.take(extra - 3); err != nil {
			return 0, err
		}
		low, err := d.aligned.symbol(in)
		if err != nil {
			return 0, err
		}
		v = v<<3 | low
	} else if v, err = in.take(extra); err != nil {
		return 0, err
	}
	at := base + v - 2
	d.recent = [3]int{at, d.recent[0], d.recent[1]}
	return at, nil
}

// absoluteToRelative turns the targets of x86 calls back into what they were:
// the encoder writes them as positions in the file, which repeat more often.
func absoluteToRelative(b []byte, at, size int32) {
	for i := 0; i < len(b)-10; i++ {
		if b[i] != 0xe8 {
			continue
		}
		here := at + int32(i)
		if to := int32(binary.LittleEndian.Uint32(b[i+1:])); to >= -here && to < size {
			if to >= 0 {
				to -= here
			} else {
				to += size
			}
			binary.LittleEndian.PutUint32(b[i+1:], uint32(to))
		}
		i += 4
	}
}

// words gives bits of little-endian words of 16, the highest first.
type words struct {
	b    []byte
	at   int
	bits uint64 // the last have of them are still to give
	have uint
}

// fill tries to have 17 bits or more.
func (w *words) fill() {
	for w.have <= 16 && w.at+2 <= len(w.b) {
		w.bits = w.bits<<16 | uint64(binary.LittleEndian.Uint16(w.b[w.at:]))
		w.at += 2
		w.have += 16
	}
}

// take gives n bits, 17 at most.
func (w *words) take(n uint) (int, error) {
	if w.fill(); w.have < n {
		return 0, io.ErrUnexpectedEOF
	}
	w.have -= n
	return int(w.bits >> w.have & (1<<n - 1)), nil
}

// peek gives 16 bits, with zeros behind the end.
func (w *words) peek() uint16 {
	if w.fill(); w.have < 16 {
		return uint16(w.bits << (16 - w.have))
	}
	return uint16(w.bits >> (w.have - 16))
}

// align goes to the end of the word that was begun, or of the next one.
func (w *words) align() error {
	drop := w.have % 16
	if drop == 0 {
		drop = 16
	}
	_, err := w.take(drop)
	w.at -= int(w.have / 8)
	w.have = 0
	return err
}

// bytes gives n bytes; what was given before must end with a byte.
func (w *words) bytes(n int) ([]byte, error) {
	if n > len(w.b)-w.at {
		return nil, io.ErrUnexpectedEOF
	}
	w.at += n
	return w.b[w.at-n : w.at], nil
}

func (w *words) skipByte() bool {
	if w.at == len(w.b) {
		return false
	}
	w.at++
	return true
}

// prefixCode decodes a canonical code: short codes by a table, longer ones by
// where the codes of a length end.
type prefixCode struct {
	table  [1 << tableBits]uint16 // symbol<<5 | length, 0 for codes that are longer
	limits [17]uint32             // of the codes of a length, as 16 bits
	last   [17]int                // behind the symbols of a length
	sorted []uint16
}

// build makes the tables of lengths of up to 16 bits. A code may leave bits
// unused, but not use them twice.
func (c *prefixCode) build(lengths []byte) error {
	var counts [17]int
	for _, n := range lengths {
		counts[n]++
	}
	limit, symbols := uint32(0), 0
	var next [17]uint32
	var at [17]int
	for n := 1; n <= 16; n++ {
		next[n], at[n] = limit, symbols
		limit += uint32(counts[n]) << (16 - n)
		symbols += counts[n]
		c.limits[n], c.last[n] = limit, symbols
	}
	if limit > 1<<16 {
		return badLZX("a code with too many symbols")
	}
	clear(c.table[:])
	if cap(c.sorted) < len(lengths) {
		c.sorted = make([]uint16, len(lengths))
	}
	c.sorted = c.sorted[:symbols]
	for s, n := range lengths {
		if n == 0 {
			continue
		}
		c.sorted[at[n]] = uint16(s)
		at[n]++
		from := next[n]
		next[n] += 1 << (16 - n)
		if n <= tableBits {
			for i := from >> (16 - tableBits); i < next[n]>>(16-tableBits); i++ {
				c.table[i] = uint16(s)<<5 | uint16(n)
			}
		}
	}
	return nil
}

func (c *prefixCode) symbol(in *words) (int, error) {
	v := in.peek()
	if e := c.table[v>>(16-tableBits)]; e != 0 {
		_, err := in.take(uint(e & 31))
		return int(e >> 5), err
	}
	for n := uint(tableBits + 1); n <= 16; n++ {
		if uint32(v) < c.limits[n] {
			_, err := in.take(n)
			return int(c.sorted[c.last[n]-1-int((c.limits[n]-1-uint32(v))>>(16-n))]), err
		}
	}
	return 0, badLZX("a code that there is not")
}
