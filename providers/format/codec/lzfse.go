package codec

import (
	"encoding/binary"
	"math/bits"

	"rea/providers/format/container"
)

// LZFSE decodes a whole LZFSE stream into at most limit bytes.
func LZFSE(src []byte, limit int) ([]byte, error) {
	var dst []byte
	bad := func(what string) ([]byte, error) {
		return nil, container.Errorf("lzfse", container.Corrupt, "%s", what)
	}
	for {
		if len(src) < 4 {
			return bad("the stream ends early")
		}
		magic := string(src[:4])
		if magic == "bvx$" {
			return dst, nil
		}
		if len(src) < 8 {
			return bad("the stream ends early")
		}
		raw := binary.LittleEndian.Uint32(src[4:])
		if uint64(raw) > uint64(limit-len(dst)) {
			return bad("more comes out than declared")
		}
		var err error
		switch magic {
		case "bvx-":
			if int64(raw) > int64(len(src)-8) {
				return bad("stored bytes run over the end of the stream")
			}
			dst, src = append(dst, src[8:8+raw]...), src[8+raw:]
		case "bvxn":
			if len(src) < 12 {
				return bad("the stream ends early")
			}
			n := binary.LittleEndian.Uint32(src[8:])
			if int64(n) > int64(len(src)-12) {
				return bad("a block runs over the end of the stream")
			}
			if dst, err = LZVN(dst, src[12:12+n], int(raw)); err != nil {
				return nil, err
			}
			src = src[12+n:]
		case "bvx2":
			before := len(dst)
			if dst, src, err = lzfseBlock(dst, src, int(raw)); err != nil {
				return nil, err
			}
			if len(dst)-before != int(raw) {
				return bad("a block has another length than declared")
			}
		default:
			return bad("a block of no known kind")
		}
	}
}

// The alphabets of lengths of literals, lengths of matches, distances and
// literals, and the number of states of each.
const (
	lSymbols, lStates             = 20, 64
	mSymbols, mStates             = 20, 64
	dSymbols, dStates             = 64, 256
	literalSymbols, literalStates = 256, 1024
)

// values gives bases and extra bits of an alphabet whose first plain symbols
// stand for themselves.
func values(symbols int, extra func(i int) uint8) (bitsOf []uint8, base []int32) {
	bitsOf, base = make([]uint8, symbols), make([]int32, symbols)
	next := int32(0)
	for i := range symbols {
		bitsOf[i], base[i] = extra(i), next
		next += 1 << bitsOf[i]
	}
	return bitsOf, base
}

func lExtra(i int) uint8 {
	if i < 16 {
		return 0
	}
	return []uint8{2, 3, 5, 8}[i-16]
}

func mExtra(i int) uint8 {
	if i < 16 {
		return 0
	}
	return []uint8{3, 5, 8, 11}[i-16]
}

func dExtra(i int) uint8 { return uint8(i / 4) }

// state is one row of a decoding table: what is pulled leads to the next state,
// and beside it to the extra bits of the value.
type state struct {
	pull, extra uint8
	delta       int32
	base        int32
}

// stateTable spreads the symbols over the states by their frequencies.
func stateTable(states int, freq []uint16, extra []uint8, base []int32) ([]state, bool) {
	t := make([]state, 0, states)
	lead := bits.LeadingZeros32(uint32(states))
	for i, f := range freq {
		if f == 0 {
			continue
		}
		if len(t)+int(f) > states {
			return nil, false
		}
		k := bits.LeadingZeros32(uint32(f)) - lead
		wide := 2*states>>k - int(f)
		for j := range int(f) {
			s := state{base: int32(i)}
			if j < wide {
				s.pull, s.delta = uint8(k), int32((int(f)+j)<<k-states)
			} else {
				s.pull, s.delta = uint8(k-1), int32((j-wide)<<(k-1))
			}
			if extra != nil {
				s.extra, s.base = extra[i], base[i]
				s.pull += s.extra
			}
			t = append(t, s)
		}
	}
	return t, len(t) == states
}

// backward reads bits from the end of a buffer to its beginning.
type backward struct {
	b     []byte // what was not loaded
	accum uint64
	n     int
	bad   bool
}

func newBackward(b []byte, spare int) *backward {
	r := &backward{b: b}
	width := 7
	if spare != 0 {
		width = 8
	}
	if len(b) < width {
		r.bad = true
		return r
	}
	r.b = b[:len(b)-width]
	for i := range width {
		r.accum |= uint64(b[len(b)-width+i]) << (8 * i)
	}
	r.n = 8*width + spare
	r.bad = r.n < 56 || r.n > 63 || r.accum>>r.n != 0
	return r
}

func (r *backward) fill() {
	for r.n <= 55 {
		if len(r.b) == 0 {
			return
		}
		r.accum = r.accum<<8 | uint64(r.b[len(r.b)-1])
		r.b = r.b[:len(r.b)-1]
		r.n += 8
	}
}

func (r *backward) take(n uint8) uint32 {
	if r.n < int(n) {
		r.bad = true
		return 0
	}
	r.n -= int(n)
	v := r.accum >> r.n
	r.accum &= 1<<r.n - 1
	return uint32(v)
}

// next decodes a value and goes on to the next state.
func (r *backward) next(t []state, at *int) int {
	s := t[*at]
	v := r.take(s.pull)
	*at = int(s.delta) + int(v>>s.extra)
	if *at < 0 || *at >= len(t) {
		r.bad, *at = true, 0
	}
	return int(s.base) + int(v&(1<<s.extra-1))
}

func lzfseBlock(dst, src []byte, raw int) (out, rest []byte, err error) {
	bad := func(what string) ([]byte, []byte, error) {
		return nil, nil, container.Errorf("lzfse", container.Corrupt, "%s", what)
	}
	if len(src) < 32 {
		return bad("a block header is cut")
	}
	v0, v1, v2 := binary.LittleEndian.Uint64(src[8:]), binary.LittleEndian.Uint64(src[16:]), binary.LittleEndian.Uint64(src[24:])
	field := func(v uint64, at, n int) int { return int(v >> at & (1<<n - 1)) }
	literals, literalBytes, matches := field(v0, 0, 20), field(v0, 20, 20), field(v0, 40, 20)
	lmdBytes, header := field(v1, 40, 20), field(v2, 0, 32)
	if header < 32 || header > len(src) || literalBytes+lmdBytes > len(src)-header {
		return bad("a block runs over the end of the stream")
	}
	freq, ok := frequencies(src[32:header])
	if !ok {
		return bad("the frequencies are damaged")
	}
	l, m, d, lit := freq[:lSymbols], freq[lSymbols:lSymbols+mSymbols], freq[lSymbols+mSymbols:lSymbols+mSymbols+dSymbols], freq[lSymbols+mSymbols+dSymbols:]
	litTable, ok := stateTable(literalStates, lit, nil, nil)
	if !ok {
		return bad("the frequencies of literals are wrong")
	}
	var tables [3][]state
	for i, a := range []struct {
		states int
		freq   []uint16
		extra  func(int) uint8
	}{{lStates, l, lExtra}, {mStates, m, mExtra}, {dStates, d, dExtra}} {
		extra, base := values(len(a.freq), a.extra)
		if tables[i], ok = stateTable(a.states, a.freq, extra, base); !ok {
			return bad("the frequencies of lengths or distances are wrong")
		}
	}
	// Short payloads are read together with what lies before them.
	in := newBackward(src[:header+literalBytes], field(v0, 60, 3)-7)
	at := [4]int{field(v1, 0, 10), field(v1, 10, 10), field(v1, 20, 10), field(v1, 30, 10)}
	text := make([]byte, 0, literals)
	for i := 0; i < literals && !in.bad; i++ {
		if i%4 == 0 {
			in.fill()
		}
		text = append(text, byte(in.next(litTable, &at[i%4])))
	}
	if in.bad {
		return bad("the literals are damaged")
	}
	in = newBackward(src[:header+literalBytes+lmdBytes], field(v1, 60, 3)-7)
	lState, mState, dState := field(v2, 32, 10), field(v2, 42, 10), field(v2, 52, 10)
	if lState >= lStates || mState >= mStates || dState >= dStates {
		return bad("a state is out of range")
	}
	end, distance := len(dst)+raw, 0
	for range matches {
		in.fill()
		ll, mm := in.next(tables[0], &lState), in.next(tables[1], &mState)
		if dd := in.next(tables[2], &dState); dd != 0 {
			distance = dd
		}
		if in.bad || ll > len(text) || ll+mm > end-len(dst) {
			return bad("the matches are damaged")
		}
		dst, text = append(dst, text[:ll]...), text[ll:]
		if mm > 0 {
			if distance == 0 || distance > len(dst) {
				return bad("a match reaches outside of the history")
			}
			dst = copyBack(dst, distance, mm)
		}
	}
	return dst, src[header+literalBytes+lmdBytes:], nil
}

// The lengths and values of the codes that frequencies are written in.
var (
	freqBits  = [32]uint8{2, 3, 2, 5, 2, 3, 2, 8, 2, 3, 2, 5, 2, 3, 2, 14, 2, 3, 2, 5, 2, 3, 2, 8, 2, 3, 2, 5, 2, 3, 2, 14}
	freqValue = [32]uint16{0, 2, 1, 4, 0, 3, 1, 0, 0, 2, 1, 5, 0, 3, 1, 0, 0, 2, 1, 6, 0, 3, 1, 0, 0, 2, 1, 7, 0, 3, 1, 0}
)

func frequencies(b []byte) ([]uint16, bool) {
	out := make([]uint16, lSymbols+mSymbols+dSymbols+literalSymbols)
	if len(b) == 0 {
		return out, true
	}
	var accum uint32
	n := uint8(0)
	for i := range out {
		for n+8 <= 32 && len(b) > 0 {
			accum |= uint32(b[0]) << n
			n, b = n+8, b[1:]
		}
		code := accum & 31
		width := freqBits[code]
		switch width {
		case 8:
			out[i] = uint16(8 + accum>>4&15)
		case 14:
			out[i] = uint16(24 + accum>>4&1023)
		default:
			out[i] = freqValue[code]
		}
		if width > n {
			return nil, false
		}
		accum, n = accum>>width, n-width
	}
	return out, n < 8 && len(b) == 0
}
