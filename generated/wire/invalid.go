package wire

import (
	"fmt"
	"strings"
)

// An InvalidError says where a value breaks its schema and which rule it
// breaks.
type InvalidError struct {
	Pointer string // RFC 6901; "" is the whole document
	Keyword string // the JSON Schema keyword, or "syntax", "duplicate", "depth"
	Message string
}

func (e *InvalidError) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}

// EscapePointer escapes a name for use as one token of a JSON pointer.
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// ShortPointer is a JSON pointer of bounded length: names in the input may be of
// any. What was cut ends with an ellipsis.
func ShortPointer[P ~string](pointer P) string {
	const limit = 400
	if len(pointer) <= limit {
		return string(pointer)
	}
	return strings.ToValidUTF8(string(pointer[:limit]), "") + "…"
}

// shown quotes a piece of the input for a message, cut to a readable length.
func shown(s string) string {
	const limit = 60
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		return fmt.Sprintf("%q…", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}
