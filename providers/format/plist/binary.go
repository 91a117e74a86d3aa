package plist

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf16"
)

// epoch is what dates of property lists count seconds from.
var epoch = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

const trailerSize = 32

type binaryReader struct {
	data    []byte
	offsets []byte
	offSize int
	refSize int
	count   uint64
	open    map[uint64]bool // objects that are being read
	values  int
	limit   int
	bytes   int // text and data that may still be handed out
}

func parseBinary(data []byte) (Value, error) {
	bad := func(at int, what string) (Value, error) {
		return Value{}, &Error{Binary, int64(at), what}
	}
	if len(data) < 8+trailerSize {
		return bad(len(data), "cut off before the trailer")
	}
	if string(data[6:7]) != "0" {
		return bad(6, "version "+strconv.Quote(string(data[6:8]))+" is not known")
	}
	end := len(data) - trailerSize
	t := data[end:]
	r := &binaryReader{
		data: data[:end], offSize: int(t[6]), refSize: int(t[7]), count: binary.BigEndian.Uint64(t[8:]),
		open: map[uint64]bool{}, limit: min(maxValues, 8*len(data)+1024), bytes: 8*len(data) + 4096,
	}
	top, table := binary.BigEndian.Uint64(t[16:]), binary.BigEndian.Uint64(t[24:])
	switch {
	case r.offSize < 1 || r.offSize > 8 || r.refSize < 1 || r.refSize > 8:
		return bad(end+6, "sizes of offsets and references are not between 1 and 8")
	case table < 8 || table > uint64(end):
		return bad(end+24, "the offset table lies outside the file")
	case r.count == 0 || r.count > (uint64(end)-table)/uint64(r.offSize):
		return bad(end+8, "the offset table is longer than the file")
	case top >= r.count:
		return bad(end+16, "the top object does not exist")
	}
	r.offsets = data[table:end]
	return r.object(top, 0)
}

func (r *binaryReader) fail(at uint64, what string) (Value, error) {
	return Value{}, &Error{Binary, int64(min(at, uint64(len(r.data)))), what}
}

func sized(b []byte) uint64 {
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func (r *binaryReader) object(ref uint64, depth int) (Value, error) {
	if ref >= r.count {
		return r.fail(0, "a reference to object "+strconv.FormatUint(ref, 10)+", which does not exist")
	}
	at := sized(r.offsets[ref*uint64(r.offSize):][:r.offSize])
	if at >= uint64(len(r.data)) {
		return r.fail(at, "an object lies outside the file")
	}
	if r.open[ref] {
		return r.fail(at, "a collection contains itself")
	}
	if depth > maxDepth {
		return r.fail(at, "nested too deeply")
	}
	if r.values++; r.values > r.limit {
		return r.fail(at, "shared objects make more values than the file can hold")
	}
	marker := r.data[at]
	kind, low := marker>>4, marker&15
	body := r.data[at+1:]
	switch kind {
	case 0:
		return r.singleton(at, marker)
	case 1:
		return r.integer(at, body, low)
	case 2, 3:
		return r.number(at, body, kind, low)
	case 8:
		if int(low)+1 > len(body) || low > 7 {
			return r.fail(at, "a UID is cut off")
		}
		return Value{Kind: UID, Text: strconv.FormatUint(sized(body[:low+1]), 10)}, nil
	}
	n, body, ok := r.length(body, low)
	if !ok {
		return r.fail(at, "a length is damaged")
	}
	switch kind {
	case 4, 5, 6, 7:
		return r.text(at, kind, body, n)
	case 0xa, 0xb, 0xc, 0xd:
		r.open[ref] = true
		defer delete(r.open, ref)
		return r.collection(at, kind, body, n, depth)
	}
	return r.fail(at, "an object of unknown type "+strconv.Itoa(int(kind)))
}

func (r *binaryReader) singleton(at uint64, marker byte) (Value, error) {
	switch marker {
	case 0:
		return Value{Kind: Null}, nil
	case 8, 9:
		return Value{Kind: Boolean, Bool: marker == 9}, nil
	}
	return r.fail(at, "an object of unknown type")
}

func (r *binaryReader) integer(at uint64, body []byte, low byte) (Value, error) {
	if low > 4 || 1<<low > len(body) {
		return r.fail(at, "an integer is cut off")
	}
	b := body[:1<<low]
	switch {
	case low == 4: // only as large as one of 64 bits without sign
		n := new(big.Int).SetBytes(b)
		if b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		return Value{Kind: Integer, Text: n.String()}, nil
	case low == 3:
		return Value{Kind: Integer, Text: strconv.FormatInt(int64(sized(b)), 10)}, nil
	}
	return Value{Kind: Integer, Text: strconv.FormatUint(sized(b), 10)}, nil
}

func (r *binaryReader) number(at uint64, body []byte, kind, low byte) (Value, error) {
	var f float64
	switch {
	case low == 2 && len(body) >= 4:
		f = float64(math.Float32frombits(binary.BigEndian.Uint32(body)))
	case low == 3 && len(body) >= 8:
		f = math.Float64frombits(binary.BigEndian.Uint64(body))
	default:
		return r.fail(at, "a number is cut off")
	}
	if kind == 2 {
		return Value{Kind: Real, Real: f}, nil
	}
	when, ok := dateOf(f)
	if !ok {
		return r.fail(at, "a date is out of range")
	}
	return Value{Kind: Date, Time: when}, nil
}

// dateOf turns seconds since 2001 into a time of the years 1 to 9999.
func dateOf(seconds float64) (time.Time, bool) {
	if !(math.Abs(seconds) < 1e12) {
		return time.Time{}, false
	}
	whole, part := math.Modf(seconds)
	t := time.Unix(epoch.Unix()+int64(whole), int64(part*1e9)).UTC()
	return t, t.Year() >= 1 && t.Year() <= 9999
}

// length is in the marker, or in an integer after it.
func (r *binaryReader) length(body []byte, low byte) (uint64, []byte, bool) {
	if low != 15 {
		return uint64(low), body, true
	}
	if len(body) < 2 || body[0]>>4 != 1 || body[0]&15 > 3 {
		return 0, nil, false
	}
	size := 1 << (body[0] & 15)
	if len(body) < 1+size {
		return 0, nil, false
	}
	return sized(body[1 : 1+size]), body[1+size:], true
}

func (r *binaryReader) text(at uint64, kind byte, body []byte, n uint64) (Value, error) {
	width := uint64(1)
	if kind == 6 {
		width = 2
	}
	if n > uint64(len(body))/width {
		return r.fail(at, "text or data is cut off")
	}
	b := body[:n*width]
	if r.bytes -= len(b); r.bytes < 0 {
		return r.fail(at, "shared objects make more text than the file can hold")
	}
	switch kind {
	case 4:
		return Value{Kind: Data, Bytes: b}, nil
	case 6:
		units := make([]uint16, n)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(b[2*i:])
		}
		return Value{Kind: String, Text: string(utf16.Decode(units))}, nil
	}
	return Value{Kind: String, Text: string(b)}, nil
}

func (r *binaryReader) collection(at uint64, kind byte, body []byte, n uint64, depth int) (Value, error) {
	per := uint64(r.refSize)
	if kind == 0xd {
		per *= 2
	}
	if n > uint64(len(body))/per {
		return r.fail(at, "a collection is cut off")
	}
	ref := func(i uint64) uint64 { return sized(body[i*uint64(r.refSize):][:r.refSize]) }
	if kind != 0xd {
		v := Value{Kind: Array}
		for i := range n {
			item, err := r.object(ref(i), depth+1)
			if err != nil {
				return Value{}, err
			}
			v.Items = append(v.Items, item)
		}
		return v, nil
	}
	v := Value{Kind: Dict}
	for i := range n {
		key, err := r.object(ref(i), depth+1)
		if err != nil {
			return Value{}, err
		}
		if key.Kind != String {
			return r.fail(at, "a key is not a string")
		}
		item, err := r.object(ref(n+i), depth+1)
		if err != nil {
			return Value{}, err
		}
		v.Keys, v.Items = append(v.Keys, key.Text), append(v.Items, item)
	}
	return v, nil
}
