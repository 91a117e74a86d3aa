// Package edit holds what the editors of configuration files share: the values
// that they write, changes of byte ranges, and places in a file.
//
// An editor never writes a file anew. It finds the byte range of one entry and
// returns the file with that range changed, so that everything a person wrote
// around it stays as it is: comments, order, indentation, line ends, byte order
// mark, duplicate keys.
package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Step leads from a mapping to one of its values, or, with Item, from a
// sequence to the mapping in it whose "name" is Key.
type Step struct {
	Key  string
	Item bool
}

// Path leads from the root of a file to an entry.
type Path []Step

// Keys is a path of mappings.
func Keys(keys ...string) Path {
	p := make(Path, len(keys))
	for i, k := range keys {
		p[i].Key = k
	}
	return p
}

func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Item:
			fmt.Fprintf(&b, "[name: %s]", s.Key)
		case i > 0:
			b.WriteString("." + s.Key)
		default:
			b.WriteString(s.Key)
		}
	}
	return b.String()
}

// Object is a mapping in the order in which it is written. Values are string,
// bool, int64, Array, Object, or nil; Other stands for what was read and is
// none of these.
type Object []Member

// A Member of an Object.
type Member struct {
	Key   string
	Value any
	// Initial members are written with a new entry and left alone in an old one.
	Initial bool
}

// Array is a sequence of values.
type Array []any

// Other is a value that exists and isn't looked into.
type Other struct{ Source string }

// Get returns the value of the last member named key; that is the one that counts
// where a file has several.
func (o Object) Get(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return o[i].Value, true
		}
	}
	return nil, false
}

// Equal tells whether two values mean the same; the order of members does not matter.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, ok := b.(Object)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, m := range a {
			if v, ok := b.Get(m.Key); !ok || !Equal(m.Value, v) {
				return false
			}
		}
		return true
	case Array:
		b, ok := b.(Array)
		return ok && slices.EqualFunc(a, b, Equal)
	}
	switch b.(type) {
	case Object, Array:
		return false
	}
	return a == b
}

// A Change replaces the bytes from Start to End by Text.
type Change struct {
	Start, End int
	Text       string
}

// Apply makes the changes, which must not overlap. Insertions at the same place
// keep their order.
func Apply(src []byte, changes []Change) []byte {
	slices.SortStableFunc(changes, func(a, b Change) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	var out bytes.Buffer
	at := 0
	for _, c := range changes {
		out.Write(src[at:c.Start])
		out.WriteString(c.Text)
		at = c.End
	}
	out.Write(src[at:])
	return out.Bytes()
}

// An Error says why a file can't be edited, and where. Line and Column count
// from 1, columns in characters.
type Error struct {
	Line, Column int
	Reason       string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Errorf makes an Error about the byte at offset.
func Errorf(src []byte, offset int, format string, args ...any) error {
	p := At(src, offset)
	return &Error{p.Line, p.Column, fmt.Sprintf(format, args...)}
}

// Position is a place in a file, counted from 1.
type Position struct{ Line, Column int }

// At is the position of the byte at offset.
func At(src []byte, offset int) Position {
	offset = min(offset, len(src))
	before := src[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	if start == 0 && bytes.HasPrefix(before, BOM) {
		start = len(BOM)
	}
	return Position{line, utf8.RuneCount(before[start:]) + 1}
}

// BOM is the byte order mark of UTF-8.
var BOM = []byte("\xef\xbb\xbf")

// Begin is the offset behind a byte order mark. Files in UTF-16 are refused.
func Begin(src []byte) (int, error) {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return 0, &Error{1, 1, "the file is UTF-16; it must be UTF-8"}
	}
	if bytes.HasPrefix(src, BOM) {
		return len(BOM), nil
	}
	return 0, nil
}

// EOL is the line end of a file: that of its first line.
func EOL(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// LineStart is the offset of the first byte of the line that holds offset.
func LineStart(src []byte, offset int) int {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	if start == 0 && bytes.HasPrefix(src, BOM) && offset >= len(BOM) {
		return len(BOM)
	}
	return start
}

// LineEnd is the offset of the line break (or end of file) that ends the line of offset.
func LineEnd(src []byte, offset int) int {
	i := bytes.IndexByte(src[offset:], '\n')
	if i < 0 {
		return len(src)
	}
	end := offset + i
	if end > offset && src[end-1] == '\r' {
		end--
	}
	return end
}

// NextLine is the offset of the line after that of offset, or the end of the file.
func NextLine(src []byte, offset int) int {
	i := bytes.IndexByte(src[offset:], '\n')
	if i < 0 {
		return len(src)
	}
	return offset + i + 1
}

// PreviousEnd is the offset of the line break before the line that starts at
// lineStart, or lineStart where it is the first.
func PreviousEnd(src []byte, lineStart int) int {
	switch {
	case lineStart > 1 && src[lineStart-1] == '\n' && src[lineStart-2] == '\r':
		return lineStart - 2
	case lineStart > 0 && src[lineStart-1] == '\n':
		return lineStart - 1
	}
	return lineStart
}

// Indent is the white space at the start of the line of offset.
func Indent(src []byte, offset int) string {
	start := LineStart(src, offset)
	end := start
	for end < offset && (src[end] == ' ' || src[end] == '\t') {
		end++
	}
	return string(src[start:end])
}

// OnlySpace tells whether there are only spaces and tabs.
func OnlySpace(b []byte) bool { return len(bytes.Trim(b, " \t")) == 0 }
