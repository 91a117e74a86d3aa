package wire

import (
	"cmp"
	"hash"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// An Appender writes itself as JSON.
type Appender interface {
	AppendJSON(dst []byte) []byte
}

const hexDigits = "0123456789abcdef"

// plain marks the ASCII bytes that a JSON string holds unescaped.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s quoted and escaped as RFC 8785 asks.
func AppendString[S ~string](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start, i := 0, 0
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf && plain[c] {
			i++
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:]))
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			start = i + 1
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendFloat appends f as ECMAScript prints numbers. JSON has no infinities
// and no NaN: they become null.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if f == 0 {
		return append(dst, '0')
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1] // e-09 is e-9
		dst = dst[:n-1]
	}
	return dst
}

// AppendInt appends a signed integer.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendUint appends an unsigned integer.
func AppendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// AppendAny appends a JSON value of any shape; no value is null.
func AppendAny(dst []byte, v jsontext.Value) []byte {
	if len(v) == 0 {
		return append(dst, "null"...)
	}
	return Append(dst, v)
}

// Piece is how much is copied or hashed at once. The runtime can't interrupt either,
// and whoever is about to stop all goroutines waits for it with all of them.
const Piece = 256 << 10

// Append appends bytes, piece by piece.
func Append(dst, v []byte) []byte {
	if len(v) > Piece && cap(dst)-len(dst) < len(v) {
		// Room that is made is cleared in pieces; that of append is not.
		dst = append(make([]byte, 0, len(dst)+len(v)+len(v)/64), dst...)
	}
	for len(v) > Piece {
		dst, v = append(dst, v[:Piece]...), v[Piece:]
	}
	return append(dst, v...)
}

// Copy copies src to dst, piece by piece, and gives how much that was. They do not
// overlap.
func Copy(dst, src []byte) int {
	n := min(len(dst), len(src))
	for at := 0; at < n; at += Piece {
		copy(dst[at:min(at+Piece, n)], src[at:n])
	}
	return n
}

// Write writes all of v to h, which takes everything, piece by piece.
func Write(h hash.Hash, v []byte) {
	for len(v) > Piece {
		h.Write(v[:Piece])
		v = v[Piece:]
	}
	h.Write(v)
}

// AppendUnion appends a value of a union, or null when there is none.
func AppendUnion(dst []byte, v Appender) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	return v.AppendJSON(dst)
}

// AppendNullable appends what v points to, or null.
func AppendNullable[T any](dst []byte, v *T, value func(*T, []byte) []byte) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	return value(v, dst)
}

// AppendNullableSlice appends an array, or null for nil.
func AppendNullableSlice[T any](dst []byte, items []T, item func(*T, []byte) []byte) []byte {
	if items == nil {
		return append(dst, "null"...)
	}
	return AppendSlice(dst, items, item)
}

// AppendNullableMap appends an object, or null for nil.
func AppendNullableMap[T any](dst []byte, m map[string]T, item func(*T, []byte) []byte) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	return AppendMap(dst, m, item)
}

// AppendSlice appends an array.
func AppendSlice[T any](dst []byte, items []T, item func(*T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(&items[i], dst)
	}
	return append(dst, ']')
}

// AppendInts appends an array of integers.
func AppendInts(dst []byte, items []int64) []byte {
	dst = append(dst, '[')
	for i, n := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n < 0 && n > -1000 {
			dst, n = append(dst, '-'), -n
		}
		switch { // columns hold small differences for the most part
		case uint64(n) < 10:
			dst = append(dst, '0'+byte(n))
		case uint64(n) < 100:
			dst = append(dst, '0'+byte(n/10), '0'+byte(n%10))
		case uint64(n) < 1000:
			dst = append(dst, '0'+byte(n/100), '0'+byte(n/10%10), '0'+byte(n%10))
		default:
			dst = strconv.AppendInt(dst, n, 10)
		}
	}
	return append(dst, ']')
}

// AppendMap appends an object with its keys sorted.
func AppendMap[T any](dst []byte, m map[string]T, item func(*T, []byte) []byte) []byte {
	type entry struct {
		key   string
		value T
	}
	entries := make([]entry, 0, len(m))
	for k, v := range m {
		entries = append(entries, entry{k, v})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, entries[i].key)
		dst = append(dst, ':')
		dst = item(&entries[i].value, dst)
	}
	return append(dst, '}')
}

// Comma separates a property from the ones before it, where it depends on the
// value whether there are any.
func Comma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] == '{' {
		return dst
	}
	return append(dst, ',')
}
