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

// shown quotes a piece of the input for a message, cut to a readable length.
func shown(s string) string {
	const limit = 60
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		return fmt.Sprintf("%q…", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}
