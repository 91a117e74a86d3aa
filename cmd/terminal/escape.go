package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns s with everything a terminal would obey or hide written out:
// control bytes, invalid UTF-8, and the invisible characters that reorder or
// conceal text. The result is one line.
func Escape(s string) string { return escape(s, false) }

// EscapeLines is [Escape] for listings: line breaks and tabs stay.
func EscapeLines(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	i := firstUnsafe(s, lines)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case safe(r, size, lines):
			b.WriteString(s[i : i+size])
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

func firstUnsafe(s string, lines bool) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !safe(r, size, lines) {
			return i
		}
		i += size
	}
	return len(s)
}

func safe(r rune, size int, lines bool) bool {
	switch {
	case 0x20 <= r && r < 0x7f:
		return true
	case r == '\n' || r == '\t':
		return lines
	case r == utf8.RuneError && size == 1:
		return false
	default:
		return unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Zl, r) && !unicode.Is(unicode.Zp, r)
	}
}
