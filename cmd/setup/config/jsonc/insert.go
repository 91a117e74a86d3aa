package jsonc

import (
	"bytes"
	"strings"

	"rea/cmd/setup/config/edit"
)

// insert adds members behind the last one, in the manner of the object: on
// lines of their own, or on its only line.
func (f *File) insert(o *object, add edit.Object) []edit.Change {
	n := len(o.members)
	if n == 0 {
		return f.fill(o, add)
	}
	first, last := o.members[0], o.members[n-1]
	end := last.value.end
	if !bytes.Contains(f.src[o.open:first.start], []byte("\n")) {
		separator := ", "
		if f.dense {
			separator = ","
		}
		text := f.line(add, separator)
		if last.comma >= 0 {
			return []edit.Change{{Start: last.comma + 1, End: last.comma + 1, Text: strings.TrimPrefix(separator, ",") + text + ","}}
		}
		return []edit.Change{{Start: end, End: end, Text: separator + text}}
	}
	indent := edit.Indent(f.src, first.start)
	var changes []edit.Change
	at, tail := end, ""
	if last.comma >= 0 {
		at, tail = last.comma+1, ","
	} else {
		changes = append(changes, edit.Change{Start: end, End: end, Text: ","})
	}
	at = f.behindComments(at, o.close)
	var b strings.Builder
	for i, m := range add {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.eol + indent + edit.Quote(m.Key) + ": " + f.render(m.Value, indent))
	}
	return append(changes, edit.Change{Start: at, End: at, Text: b.String() + tail})
}

// behindComments moves at behind comments that begin on the same line.
func (f *File) behindComments(at, limit int) int {
	for i := at; i < limit; {
		switch f.src[i] {
		case ' ', '\t':
			i++
		case '/':
			end, ok := commentEnd(f.src, i)
			if !ok {
				return at
			}
			at, i = end, end
		default:
			return at
		}
	}
	return at
}

// fill puts members into an object that has none.
func (f *File) fill(o *object, add edit.Object) []edit.Change {
	inner := f.src[o.open+1 : o.close]
	at := o.open + 1 + len(bytes.TrimRight(inner, " \t\r\n"))
	if f.dense && at == o.open+1 {
		return []edit.Change{{Start: at, End: at, Text: f.line(add, ",")}}
	}
	outer := edit.Indent(f.src, o.open)
	indent := outer + f.unit
	var b strings.Builder
	for i, m := range add {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.eol + indent + edit.Quote(m.Key) + ": " + f.render(m.Value, indent))
	}
	if !bytes.Contains(f.src[at:o.close], []byte("\n")) {
		b.WriteString(f.eol + outer)
	}
	return []edit.Change{{Start: at, End: at, Text: b.String()}}
}

// line writes members one behind another.
func (f *File) line(list edit.Object, separator string) string {
	colon := ": "
	if f.dense {
		colon = ":"
	}
	var parts []string
	for _, m := range list {
		parts = append(parts, edit.Quote(m.Key)+colon+f.flat(m.Value))
	}
	return strings.Join(parts, separator)
}

// flat writes a value on one line.
func (f *File) flat(v any) string {
	separator := ", "
	if f.dense {
		separator = ","
	}
	switch v := v.(type) {
	case edit.Object:
		return "{" + f.line(v, separator) + "}"
	case edit.Array:
		var parts []string
		for _, item := range v {
			parts = append(parts, f.flat(item))
		}
		return "[" + strings.Join(parts, separator) + "]"
	}
	s, _ := edit.Scalar(v)
	return s
}

// render writes a value whose first line is indented by indent.
func (f *File) render(v any, indent string) string {
	o, ok := v.(edit.Object)
	if !ok || len(o) == 0 || f.dense {
		return f.flat(v)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.eol + indent + f.unit + edit.Quote(m.Key) + ": " + f.render(m.Value, indent+f.unit))
	}
	b.WriteString(f.eol + indent + "}")
	return b.String()
}
