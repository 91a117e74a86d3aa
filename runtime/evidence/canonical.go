package evidence

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting of arrays and objects in a record.
const MaxDepth = 256

// Canonical returns the RFC 8785 form of one JSON value, which must meet the
// rules of the package documentation. src is not changed.
func Canonical(src []byte) ([]byte, error) {
	if err := precheck(src); err != nil {
		return nil, err
	}
	v := jsontext.Value(bytes.Clone(src))
	if err := v.Canonicalize(); err != nil {
		return nil, err
	}
	return v, nil
}

// precheck holds src to the bounds that a canonicalizer does not: depth, and
// numbers that a double cannot carry. It does not judge the syntax.
func precheck(src []byte) error {
	depth := 0
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			i = skipString(src, i)
			continue
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("nesting exceeds %d levels at byte %d", MaxDepth, i)
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || c >= '0' && c <= '9':
			end, plain := skipNumber(src, i)
			if err := checkNumber(src[i:end], plain); err != nil {
				return fmt.Errorf("%w at byte %d", err, i)
			}
			i = end
			continue
		}
		i++
	}
	return nil
}

// skipString returns the index after the string that starts at i, or len(src).
func skipString(src []byte, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// skipNumber returns the index after the number at i, and whether it is an
// integer without exponent.
func skipNumber(src []byte, i int) (end int, plain bool) {
	plain = true
	for ; i < len(src); i++ {
		switch c := src[i]; {
		case c >= '0' && c <= '9' || c == '-':
		case c == '+' || c == '.' || c == 'e' || c == 'E':
			plain = false
		default:
			return i, plain
		}
	}
	return i, plain
}

// exactDigits is how many decimal digits every double can carry.
const exactDigits = 15

func checkNumber(literal []byte, plain bool) error {
	if plain && len(literal) <= exactDigits {
		return nil
	}
	const shown = 40
	text := literal[:min(len(literal), shown)]
	if _, err := strconv.ParseFloat(string(literal), 64); err != nil {
		if numErr, ok := err.(*strconv.NumError); ok && numErr.Err == strconv.ErrRange {
			return fmt.Errorf("number %s is beyond double precision", text)
		}
		return nil // not a number: the syntax is judged elsewhere
	}
	if !plain {
		return nil
	}
	v := jsontext.Value(bytes.Clone(literal))
	if err := v.Canonicalize(); err == nil && !bytes.Equal(v, literal) {
		return fmt.Errorf("integer %s is not exact in double precision", text)
	}
	return nil
}

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

// skipValue returns the index after the value that starts at i in compact JSON.
func skipValue(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
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
