package container

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Inside stands between the path of a container and the path of what is in it.
const Inside = "!/"

// Escape writes a raw name as text that has exactly one reading: a backslash is
// doubled, a byte that is not UTF-8, a control character and a "!" before "/"
// or at the end are written \xNN.
func Escape(raw string) string {
	if plain(raw) {
		return raw
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < 0x20, r == 0x7f, r >= 0x80 && r < 0xa0, r == '!' && (i+1 == len(raw) || raw[i+1] == '/'):
			for _, c := range []byte(raw[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(raw[i : i+n])
		}
		i += n
	}
	return b.String()
}

func plain(raw string) bool {
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c < 0x20 || c >= 0x7f || c == '\\' || c == '!' {
			return false
		}
	}
	return true
}

// Join is the logical path of an entry with a raw name in the container at
// parent, which is "" for the outermost. The content of a stream has no name.
func Join(parent, raw string) string {
	switch {
	case raw == "":
		return parent + Inside
	case parent == "" || parent == Inside:
		return Escape(raw)
	case strings.HasSuffix(parent, Inside):
		return parent + Escape(raw)
	}
	return parent + Inside + Escape(raw)
}

// Unescape gives the raw name that Escape wrote.
func Unescape(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) && text[i+1] == '\\' {
			i++
		} else if c == '\\' && i+3 < len(text) && text[i+1] == 'x' {
			if v, err := strconv.ParseUint(text[i+2:i+4], 16, 8); err == nil {
				c, i = byte(v), i+3
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
