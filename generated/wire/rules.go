package wire

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Unbounded is the upper bound of a length that the contract leaves open.
const Unbounded = int(^uint(0) >> 1)

// A Pattern is a regular expression that is compiled when it is first needed.
type Pattern struct {
	Source  string
	compile sync.Once
	re      *regexp.Regexp
}

// MatchString reports whether the pattern occurs in s.
func (p *Pattern) MatchString(s string) bool {
	p.compile.Do(func() { p.re = regexp.MustCompile(p.Source) })
	return p.re.MatchString(s)
}

// String reads a string of any length.
func (d *Decoder) String(v *string) error {
	text, err := d.quoted("a string")
	if err != nil {
		return err
	}
	*v = string(text)
	return nil
}

// StringIn reads a string whose length in characters is bounded and which
// matches a pattern, if there is one.
func (d *Decoder) StringIn(v *string, low, high int, p *Pattern) error {
	if err := d.String(v); err != nil {
		return err
	}
	if low > 0 || high != Unbounded {
		n := utf8.RuneCountInString(*v)
		if n < low {
			return d.Invalid("minLength", "%s must have at least %d characters", shown(*v), low)
		}
		if n > high {
			return d.Invalid("maxLength", "%s has %d characters, the limit is %d", shown(*v), n, high)
		}
	}
	if p != nil && !p.MatchString(*v) {
		return d.Invalid("pattern", "%s does not match %s", shown(*v), p.Source)
	}
	return nil
}

// Slice reads an array. An empty one is an empty slice, never nil.
func Slice[T any](d *Decoder, v *[]T, low, high int, item func(*T, *Decoder) error) error {
	if err := d.Array(); err != nil {
		return err
	}
	items := []T{}
	for {
		more, err := d.More()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if len(items) >= high {
			return d.tooMany(len(items) > 0, "maxItems", "more than %d items", high)
		}
		var zero T
		items = append(items, zero)
		if err := item(&items[len(items)-1], d); err != nil {
			return err
		}
	}
	if len(items) < low {
		return d.Invalid("minItems", "%d items, at least %d are needed", len(items), low)
	}
	*v = items
	return nil
}

// tooMany reports the array or object around what was just read, if it is inside.
func (d *Decoder) tooMany(inside bool, keyword, format string, limit int) error {
	at := string(d.in.StackPointer())
	if inside {
		at = at[:strings.LastIndexByte(at, '/')]
	}
	return &InvalidError{ShortPointer(at), keyword, fmt.Sprintf(format, limit)}
}

// Set reads an array whose items are all different, compared by what they are
// written as.
func Set[T any](d *Decoder, v *[]T, low, high int, item func(*T, *Decoder) error, text func(*T, []byte) []byte) error {
	if err := Slice(d, v, low, high, item); err != nil {
		return err
	}
	return unique(d, *v, text)
}

func unique[T any](d *Decoder, items []T, item func(*T, []byte) []byte) error {
	seen := make(map[string]bool, len(items))
	var text []byte
	for i := range items {
		text = item(&items[i], text[:0])
		if seen[string(text)] {
			return d.Invalid("uniqueItems", "item %d is given twice", i)
		}
		seen[string(text)] = true
	}
	return nil
}

// Map reads an object with names of any kind. An empty one is an empty map,
// never nil.
func Map[T any](d *Decoder, v *map[string]T, low, high int, item func(*T, *Decoder) error) error {
	if err := d.Object(); err != nil {
		return err
	}
	m := map[string]T{}
	for {
		name, more, err := d.Name()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if len(m) >= high {
			return d.tooMany(true, "maxProperties", "more than %d properties", high)
		}
		key := string(name)
		var value T
		if err := item(&value, d); err != nil {
			return err
		}
		m[key] = value
	}
	if len(m) < low {
		return d.Invalid("minProperties", "%d properties, at least %d are needed", len(m), low)
	}
	*v = m
	return nil
}

// Tag looks ahead into the object that is next for the string value of the
// property that tells the alternatives of a union apart. What it can't find it
// leaves to the decoder of an alternative, or to Untagged, to report.
func (d *Decoder) Tag(property string) (value string, found bool) {
	for name, raw := range members(d.ahead()) {
		if name != property {
			continue
		}
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil
	}
	return "", false
}

// Has looks ahead for the first of the names that the object which is next has,
// and returns its index, or -1.
func (d *Decoder) Has(names ...string) int {
	for name := range members(d.ahead()) {
		if i := slices.Index(names, name); i >= 0 {
			return i
		}
	}
	return -1
}

// Untagged reads the next value and reports that no alternative of a union takes
// it: it is no object, or its tag is missing or not among the known ones.
func (d *Decoder) Untagged(property, known string) error {
	if err := d.Object(); err != nil {
		return err
	}
	for {
		name, more, err := d.Name()
		if err != nil {
			return err
		}
		if !more {
			return d.Missing(property)
		}
		if string(name) == property {
			var s string
			if err := d.String(&s); err != nil {
				return err
			}
			return d.Invalid("enum", "%s is not one of %s", shown(s), known)
		}
		if err := d.in.SkipValue(); err != nil {
			return d.syntax(err)
		}
	}
}

// NoneOf reads the next value and reports that it has none of the properties
// that tell the alternatives of a union apart.
func (d *Decoder) NoneOf(known string) error {
	if err := d.Object(); err != nil {
		return err
	}
	for {
		_, more, err := d.Name()
		if err != nil {
			return err
		}
		if !more {
			return d.Invalid("oneOf", "has none of %s", known)
		}
		if err := d.in.SkipValue(); err != nil {
			return d.syntax(err)
		}
	}
}

// ahead is the text from the next value to the end of the input.
func (d *Decoder) ahead() []byte {
	if d.in.PeekKind() != jsontext.KindBeginObject {
		return nil
	}
	rest := d.in.UnreadBuffer()
	for i, c := range rest {
		if c == '{' {
			return rest[i:]
		}
	}
	return nil
}
