package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MinString is the shortest string, in bytes, that searches look at: engines
// tell of short ones where something refers to them.
const MinString = 1

// Visible writes characters that would break or hide a line of text as
// escapes. Names and strings of a target are data and may hold anything.
func Visible(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	return !unicode.IsPrint(r) // also controls, line separators and bidirectional marks
}

// Count is "1 row", "2 rows".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
