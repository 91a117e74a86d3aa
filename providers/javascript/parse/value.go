package parse

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// StringValue is the value of a String. Lone surrogates become U+FFFD.
func (f *File) StringValue(r Ref) string { return f.stringValue(r, false) }

// StringUnits is the value of a String in WTF-8: as StringValue, but lone surrogates
// keep their three bytes. Strings of the same UTF-16 code units give the same bytes.
func (f *File) StringUnits(r Ref) string { return f.stringValue(r, true) }

func (f *File) stringValue(r Ref, surrogates bool) string {
	n := f.At(r)
	if n.End < n.Start+2 {
		return ""
	}
	return value(f.Src[n.Start+1:n.End-1], surrogates)
}

// ChunkValue is the cooked value of a Chunk.
func (f *File) ChunkValue(r Ref) string { return value(f.ChunkRaw(r), false) }

// ChunkUnits is the cooked value of a Chunk, in WTF-8 as that of StringUnits.
func (f *File) ChunkUnits(r Ref) string { return value(f.ChunkRaw(r), true) }

// ChunkRaw is the raw value of a Chunk: its text, in which every line ends with "\n".
func (f *File) ChunkRaw(r Ref) string {
	text := f.Text(r)
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func value(text string, surrogates bool) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return unescape(text, surrogates)
}

// unescape resolves escapes. Lone surrogates stay, in WTF-8, where surrogates says so,
// else become U+FFFD.
func unescape(s string, surrogates bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			b.WriteByte(c)
			i++
			continue
		}
		i++
		if i >= len(s) {
			break
		}
		switch c = s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'v':
			b.WriteByte('\v')
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
		case '\n':
		case 'x':
			if i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0 {
				b.WriteRune(rune(hexDigit(s[i+1])<<4 | hexDigit(s[i+2])))
				i += 2
			}
		case 'u':
			i += unicodeValue(&b, s[i-1:], surrogates) - 2
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' && v*8+int(s[i+n]-'0') < 256 {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			b.WriteRune(rune(v))
			i += n - 1
		default:
			_, n := utf8.DecodeRuneInString(s[i:])
			if s[i:i+n] != "\u2028" && s[i:i+n] != "\u2029" {
				b.WriteString(s[i : i+n])
			}
			i += n - 1
		}
		i++
	}
	return b.String()
}

// unicodeValue writes the character of the escape at the start of s, joining
// surrogates, and gives the bytes it takes.
func unicodeValue(b *strings.Builder, s string, surrogates bool) int {
	r, n := unicodeEscape(s)
	if n == 0 {
		return 2
	}
	if r >= 0xd800 && r < 0xdc00 && len(s) > n && s[n] == '\\' {
		if low, m := unicodeEscape(s[n:]); m > 0 && low >= 0xdc00 && low < 0xe000 {
			r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
			n += m
		}
	}
	if surrogates && r >= 0xd800 && r < 0xe000 {
		b.Write([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
		return n
	}
	b.WriteRune(r)
	return n
}

// NumberKey is a Number as the name of a property.
func (f *File) NumberKey(r Ref) (string, bool) {
	text := f.Text(r)
	if canonicalIndex(text) {
		return text, true
	}
	text = strings.ReplaceAll(text, "_", "")
	if digits, big := strings.CutSuffix(text, "n"); big {
		return bigKey(digits)
	}
	v, ok := numberValue(text)
	if !ok {
		return "", false
	}
	return FormatNumber(v), true
}

// NumberValue is the value of a Number that is not a big integer.
func (f *File) NumberValue(r Ref) (float64, bool) {
	return numberValue(strings.ReplaceAll(f.Text(r), "_", ""))
}

func canonicalIndex(text string) bool {
	if text == "0" {
		return true
	}
	if text == "" || text[0] == '0' || len(text) > 15 {
		return false
	}
	for i := range len(text) {
		if class[text[i]] != 2 {
			return false
		}
	}
	return true
}

func bigKey(digits string) (string, bool) {
	if len(digits) > 4096 {
		return "", false
	}
	v, ok := new(big.Int).SetString(digits, 0)
	if !ok {
		return "", false
	}
	return v.String(), true
}

func numberValue(text string) (float64, bool) {
	if len(text) > 4096 {
		return 0, false
	}
	if len(text) > 1 && text[0] == '0' {
		base := 0
		switch text[1] | 0x20 {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			base = 2
		}
		digits := text[min(2, len(text)):]
		if base == 0 && strings.Trim(text, "01234567") == "" {
			base, digits = 8, text[1:]
		}
		if base != 0 {
			v, ok := new(big.Int).SetString(digits, base)
			if !ok {
				return 0, false
			}
			f, _ := new(big.Float).SetInt(v).Float64()
			return f, true
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// FormatNumber writes a number as engines do.
func FormatNumber(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v != v:
		return "NaN"
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case math.Abs(v) >= 1e21 || math.Abs(v) < 1e-6:
		s := strconv.FormatFloat(v, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		sign := exponent[:1]
		return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
