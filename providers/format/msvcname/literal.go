package msvcname

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// A name holds at most the first 32 bytes of a string constant.
const literalBytes = 32

// quoteLiteral writes the bytes of a string constant as a literal. Wide
// characters are stored high byte first; narrow constants that are 16- or
// 32-bit text are told by where their zeros lie.
func quoteLiteral(b []byte, size uint64, wide bool) string {
	if wide {
		units := make([]uint16, 0, len(b)/2)
		for i := 0; i+1 < len(b); i += 2 {
			units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
		}
		return `L"` + escape(units, size/2, len(units)) + `"` + more(size, 2*literalBytes)
	}
	units := make([]uint16, len(b))
	width := charWidth(b, size)
	switch width {
	case 1:
		for i, c := range b {
			units[i] = uint16(c)
		}
		return `"` + escape(units, size, len(units)) + `"` + more(size, literalBytes)
	case 2:
		units = units[:0]
		for i := 0; i+1 < len(b); i += 2 {
			units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
		}
		return `u"` + escape(units, size/2, len(units)) + `"` + more(size, literalBytes)
	}
	units = units[:0]
	for i := 0; i+3 < len(b); i += 4 {
		r := rune(b[i]) | rune(b[i+1])<<8 | rune(b[i+2])<<16 | rune(b[i+3])<<24
		units = append(units, utf16.Encode([]rune{r})...)
	}
	return `U"` + escape(units, size/4, len(units)) + `"` + more(size, literalBytes)
}

// charWidth guesses the size of a character from the zeros of the bytes.
func charWidth(b []byte, size uint64) int {
	if size%2 == 1 || size == 0 || len(b) < 2 {
		return 1
	}
	if size < literalBytes {
		trailing := 0
		for i := len(b) - 1; i >= 0 && b[i] == 0; i-- {
			trailing++
		}
		switch {
		case trailing >= 4 && size%4 == 0:
			return 4
		case trailing >= 2:
			return 2
		}
		return 1
	}
	zeros := 0
	for _, c := range b {
		if c == 0 {
			zeros++
		}
	}
	switch {
	case zeros >= 2*len(b)/3 && size%4 == 0:
		return 4
	case zeros >= len(b)/3:
		return 2
	}
	return 1
}

func more(size uint64, held int) string {
	if size > uint64(held) {
		return "..."
	}
	return ""
}

// escape writes characters as in C; the last one of a complete constant is the
// zero that ends it.
func escape(units []uint16, total uint64, held int) string {
	if uint64(held) >= total && held > 0 && units[held-1] == 0 {
		units = units[:held-1]
	}
	var out strings.Builder
	for _, c := range units {
		switch c {
		case 0:
			out.WriteString(`\0`)
		case '\'':
			out.WriteString(`\'`)
		case '"':
			out.WriteString(`\"`)
		case '\\':
			out.WriteString(`\\`)
		case '\a':
			out.WriteString(`\a`)
		case '\b':
			out.WriteString(`\b`)
		case '\f':
			out.WriteString(`\f`)
		case '\n':
			out.WriteString(`\n`)
		case '\r':
			out.WriteString(`\r`)
		case '\t':
			out.WriteString(`\t`)
		case '\v':
			out.WriteString(`\v`)
		default:
			if c >= 0x20 && c < 0x7f {
				out.WriteByte(byte(c))
			} else {
				fmt.Fprintf(&out, `\x%02X`, c)
			}
		}
	}
	return out.String()
}
