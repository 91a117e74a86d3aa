// Package plist reads property lists: XML, binary, the older text form with
// braces (also as a list of strings), and JSON.
//
// Every count and offset of a binary list is a claim that is checked before it
// is used. Objects of a binary list can be shared, so that a short list can
// mean a very large value: the values that are made are counted, and reading
// fails when they are more than the file can honestly hold.
package plist

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Format is the form a list is written in.
type Format string

const (
	XML      Format = "xml"
	Binary   Format = "binary"
	OpenStep Format = "openstep"
	JSON     Format = "json"
)

// Kind is the type of a value.
type Kind string

const (
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Integer Kind = "integer"
	Real    Kind = "real"
	String  Kind = "string"
	Data    Kind = "data"
	Date    Kind = "date"
	UID     Kind = "uid" // a reference inside of a keyed archive
	Array   Kind = "array"
	Dict    Kind = "dict"
)

// Value is one value. Which fields mean something depends on the kind.
type Value struct {
	Kind  Kind
	Bool  bool
	Text  string // of strings; of integers the decimal digits
	Real  float64
	Bytes []byte
	Time  time.Time
	Items []Value  // of arrays and dictionaries
	Keys  []string // of dictionaries, in file order
}

// Get is the value of a key, or nil.
func (v *Value) Get(key string) *Value {
	if v == nil || v.Kind != Dict {
		return nil
	}
	for i, k := range v.Keys {
		if k == key {
			return &v.Items[i]
		}
	}
	return nil
}

// String is the text of a string under a key, "" when there is none.
func (v *Value) String(key string) string {
	if s := v.Get(key); s != nil && s.Kind == String {
		return s.Text
	}
	return ""
}

// Error says why a file is no property list, and where.
type Error struct {
	Format Format
	Offset int64
	What   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s property list: %s (offset %d)", e.Format, e.What, e.Offset)
}

// Limits of nesting and of values.
const (
	maxDepth  = 512
	maxValues = 4 << 20
)

// Detect tells the format from the first bytes, "" when it is none: the older
// text form is recognized by its first character only.
func Detect(data []byte) Format {
	if bytes.HasPrefix(data, []byte("bplist")) {
		return Binary
	}
	text := bytes.TrimLeft(plain(data), " \t\r\n\ufeff")
	switch {
	case bytes.HasPrefix(text, []byte("<?xml")), bytes.HasPrefix(text, []byte("<!DOCTYPE plist")), bytes.HasPrefix(text, []byte("<plist")), bytes.HasPrefix(text, []byte("<!--")):
		return XML
	case len(text) == 0:
		return ""
	}
	switch text[0] {
	case '{', '[':
		if json(text) {
			return JSON
		}
		if text[0] == '{' {
			return OpenStep
		}
	case '(', '"', '/', '<':
		return OpenStep
	}
	if isWordByte(text[0]) {
		return OpenStep
	}
	return ""
}

// json reports whether a text that begins with a brace or bracket goes on as
// JSON does rather than as the older form.
func json(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return false
	}
	if text[0] == '[' {
		return true
	}
	if rest[0] == '}' {
		return false // an empty dictionary is the same in both
	}
	if rest[0] != '"' {
		return false
	}
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			after := bytes.TrimLeft(rest[i+1:], " \t\r\n")
			return len(after) > 0 && after[0] == ':'
		}
	}
	return false
}

// Parse reads a list in the format that its bytes have.
func Parse(data []byte) (Value, Format, error) {
	format := Detect(data)
	var v Value
	var err error
	switch format {
	case Binary:
		v, err = parseBinary(data)
	case XML:
		v, err = parseXML(plain(data))
	case JSON:
		v, err = parseJSON(plain(data))
	case OpenStep:
		v, err = parseText(plain(data))
	default:
		err = &Error{What: "it begins like none of the formats"}
	}
	return v, format, err
}

// plain is a text as UTF-8, whatever its byte order mark says it is.
func plain(data []byte) []byte {
	big := bytes.HasPrefix(data, []byte{0xfe, 0xff})
	if !big && !bytes.HasPrefix(data, []byte{0xff, 0xfe}) {
		return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		if big {
			units = append(units, uint16(data[i])<<8|uint16(data[i+1]))
		} else {
			units = append(units, uint16(data[i+1])<<8|uint16(data[i]))
		}
	}
	out := make([]byte, 0, len(data))
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return out
}
