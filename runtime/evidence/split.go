package evidence

import (
	"fmt"
	"unicode/utf8"
)

// span is a part of a record, from its first byte to after its last.
type span struct{ start, end int }

// splitObject finds the members of a canonical object: names[i] must be its
// i-th member, and there must be no other. It trusts the JSON to be valid and
// compact, and checks nothing inside the values.
func splitObject(doc []byte, base int, names []string, spans []span) error {
	if len(doc) <= base || doc[base] != '{' {
		return fmt.Errorf("not an object")
	}
	i := base + 1
	for n, name := range names {
		if n > 0 {
			if i >= len(doc) || doc[i] != ',' {
				return fmt.Errorf("member %q is missing", name)
			}
			i++
		}
		if i >= len(doc) || doc[i] != '"' {
			return fmt.Errorf("member %q is missing", name)
		}
		end := skipString(doc, i)
		if got := doc[i+1 : end-1]; string(got) != name {
			if string(got) < name { // members are sorted
				return fmt.Errorf("unknown member %q", printable(got))
			}
			return fmt.Errorf("member %q is missing", name)
		}
		start := end + 1
		i = skipValue(doc, start)
		spans[n] = span{start, i}
	}
	if i < len(doc) && doc[i] == ',' {
		end := skipString(doc, i+1)
		return fmt.Errorf("unknown member %q", printable(doc[i+2:max(i+2, end-1)]))
	}
	return nil
}

// printable shortens a name for a message.
func printable(name []byte) []byte {
	const shown = 60
	if len(name) <= shown {
		return name
	}
	cut := shown
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// structural are the bytes that begin strings and nest values.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// skipValue returns the index after the value that starts at i in compact JSON.
func skipValue(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		if depth > 0 { // commas divide nothing there
			for i < len(doc) && !structural[doc[i]] {
				i++
			}
			if i == len(doc) {
				return i
			}
		}
		switch doc[i] {
		case '"':
			i = skipString(doc, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + max(0, 1+depth) // an outer bracket ends a scalar
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i, or len(doc).
func skipString(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}
