package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// InputDepth is how deep a call's arguments may nest. Arguments that carry
// whole Evidence records are held to RecordDepth.
const (
	InputDepth  = 64
	RecordDepth = 512
)

// A Decoder reads one JSON document.
type Decoder struct {
	in    *jsontext.Decoder
	depth int
}

// NewDecoder reads data, which must not change meanwhile, and refuses nesting
// beyond depth.
func NewDecoder(data []byte, depth int) *Decoder {
	return &Decoder{in: jsontext.NewDecoder(bytes.NewBuffer(data)), depth: depth}
}

// Decode reads the whole of data as one value.
func Decode[T any](data []byte, depth int, v *T, value func(*T, *Decoder) error) error {
	d := NewDecoder(data, depth)
	if err := value(v, d); err != nil {
		return err
	}
	if _, err := d.in.ReadToken(); err != io.EOF {
		return &InvalidError{Keyword: "syntax", Message: "something follows the JSON value"}
	}
	return nil
}

// Must decodes a value that the generator has checked: the default of a
// property.
func Must[T any](data string, value func(*T, *Decoder) error) (v T) {
	if err := Decode([]byte(data), RecordDepth, &v, value); err != nil {
		panic(err)
	}
	return v
}

// Invalid reports that the value just read, or the name just read in an object,
// breaks a rule.
func (d *Decoder) Invalid(keyword, format string, args ...any) error {
	return &InvalidError{ShortPointer(d.in.StackPointer()), keyword, fmt.Sprintf(format, args...)}
}

// Missing reports that the object just read lacks a required property.
func (d *Decoder) Missing(name string) error {
	return &InvalidError{ShortPointer(d.in.StackPointer()) + "/" + EscapePointer(name), "required", "required property is missing"}
}

// Unknown reports the property whose name was just read; known lists the others.
func (d *Decoder) Unknown(name []byte, known string) error {
	if known == "" {
		return d.Invalid("additionalProperties", "unknown property %s: no properties are taken here", shown(string(name)))
	}
	return d.Invalid("additionalProperties", "unknown property %s: the known ones are %s", shown(string(name)), known)
}

// Dependent reports that the object just read has a property without another
// one it depends on.
func (d *Decoder) Dependent(has, lacks string) error {
	return &InvalidError{ShortPointer(d.in.StackPointer()) + "/" + EscapePointer(lacks), "dependentRequired",
		"required property is missing: " + has + " depends on it"}
}

func (d *Decoder) syntax(err error) error {
	e := &InvalidError{ShortPointer(d.in.StackPointer()), "syntax", "not valid JSON"}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) {
		e.Pointer = ShortPointer(s.JSONPointer)
		e.Message = fmt.Sprintf("not valid JSON at byte %d: %v", s.ByteOffset, s.Err)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Keyword, e.Message = "duplicate", "the property is given twice"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the JSON text ends too early"
	}
	return e
}

func (d *Decoder) token() (jsontext.Token, error) {
	tok, err := d.in.ReadToken()
	if err != nil {
		return tok, d.syntax(err)
	}
	return tok, nil
}

// want reads the next token, which must be of the kind.
func (d *Decoder) want(kind jsontext.Kind, name string) (jsontext.Token, error) {
	tok, err := d.token()
	if err != nil {
		return tok, err
	}
	if tok.Kind() != kind {
		return tok, d.Invalid("type", "must be %s, not %s", name, kindName(tok.Kind()))
	}
	return tok, nil
}

// quoted reads a string and gives its bytes, valid until the next read.
func (d *Decoder) quoted(name string) ([]byte, error) {
	if d.in.PeekKind() != jsontext.KindString {
		_, err := d.want(jsontext.KindString, name)
		return nil, err
	}
	raw, err := d.in.ReadValue()
	if err != nil {
		return nil, d.syntax(err)
	}
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		if text, err = jsontext.AppendUnquote(nil, raw); err != nil {
			return nil, d.syntax(err)
		}
	}
	return text, nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindFalse, jsontext.KindTrue:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "a delimiter"
}

// Object enters an object.
func (d *Decoder) Object() error {
	if _, err := d.want(jsontext.KindBeginObject, "an object"); err != nil {
		return err
	}
	return d.checkDepth()
}

// Array enters an array.
func (d *Decoder) Array() error {
	if _, err := d.want(jsontext.KindBeginArray, "an array"); err != nil {
		return err
	}
	return d.checkDepth()
}

func (d *Decoder) checkDepth() error {
	if d.in.StackDepth() > d.depth {
		return d.Invalid("depth", "nested deeper than %d levels", d.depth)
	}
	return nil
}

// Name reads the name of the next property, valid until the next read, or leaves
// the object.
func (d *Decoder) Name() (name []byte, more bool, err error) {
	if d.in.PeekKind() == jsontext.KindEndObject {
		_, err := d.token()
		return nil, false, err
	}
	name, err = d.quoted("a property name")
	return name, err == nil, err
}

// More reports whether the array has another item, and leaves it otherwise.
func (d *Decoder) More() (bool, error) {
	if d.in.PeekKind() != jsontext.KindEndArray {
		return true, nil
	}
	_, err := d.token()
	return false, err
}

// Null consumes a null if one is next.
func (d *Decoder) Null() (bool, error) {
	if d.in.PeekKind() != jsontext.KindNull {
		return false, nil
	}
	_, err := d.token()
	return true, err
}

// Kind says what is next: 'n', 't', '"', '0', '{' or '['. Both booleans are 't'.
func (d *Decoder) Kind() byte {
	if k := d.in.PeekKind(); k != jsontext.KindFalse {
		return byte(k)
	}
	return 't'
}

// Refuse reads the next value and reports that no alternative of a union takes
// its type.
func (d *Decoder) Refuse(want string) error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	return d.Invalid("type", "must be %s, not %s", want, kindName(tok.Kind()))
}

// Bool reads a boolean.
func (d *Decoder) Bool(v *bool) error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case jsontext.KindTrue:
		*v = true
	case jsontext.KindFalse:
		*v = false
	default:
		return d.Invalid("type", "must be a boolean, not %s", kindName(tok.Kind()))
	}
	return nil
}

// Address reads an address.
func (d *Decoder) Address(v *Address) error {
	text, err := d.quoted("an address such as \"0x401000\"")
	if err != nil {
		return err
	}
	a, ok := parseAddress(text)
	if !ok {
		return d.Invalid("pattern", "%s is not an address such as \"0x401000\"", shown(string(text)))
	}
	*v = a
	return nil
}

// Any reads a value of any shape and keeps its text.
func (d *Decoder) Any(v *jsontext.Value) error {
	left := d.depth - d.in.StackDepth()
	raw, err := d.in.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	if tooDeep(raw, left) {
		return d.Invalid("depth", "nested deeper than %d levels", d.depth)
	}
	*v = raw.Clone()
	return nil
}

func tooDeep(raw []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// OneOf reads a string that must be among the names, which are in contract order.
func OneOf[S ~string](d *Decoder, v *S, names ...S) error {
	text, err := d.quoted("a string")
	if err != nil {
		return err
	}
	for _, n := range names {
		if string(text) == string(n) {
			*v = n
			return nil
		}
	}
	s := string(text)
	if len(names) == 1 {
		return d.Invalid("const", "%s must be %q", shown(s), names[0])
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return d.Invalid("enum", "%s is not one of %s", shown(s), strings.Join(list, ", "))
}

// ConstString reads a string that can only be the given one.
func (d *Decoder) ConstString(want string) error {
	text, err := d.quoted("a string")
	if err != nil {
		return err
	}
	if string(text) != want {
		return d.Invalid("const", "%s must be %q", shown(string(text)), want)
	}
	return nil
}

// ConstInt reads an integer that can only be the given one.
func (d *Decoder) ConstInt(want int64) error {
	text, err := d.integer()
	if err != nil {
		return err
	}
	if text != strconv.FormatInt(want, 10) {
		return d.Invalid("const", "%s must be %d", shortNumber(text), want)
	}
	return nil
}

// ConstBool reads a boolean that can only be the given one.
func (d *Decoder) ConstBool(want bool) error {
	var v bool
	if err := d.Bool(&v); err != nil {
		return err
	}
	if v != want {
		return d.Invalid("const", "must be %v", want)
	}
	return nil
}

// Pointer reads a value that may be absent or null elsewhere.
func Pointer[T any](d *Decoder, v **T, value func(*T, *Decoder) error) error {
	*v = new(T)
	return value(*v, d)
}

// Nullable reads null or a value.
func Nullable[T any](d *Decoder, v **T, value func(*T, *Decoder) error) error {
	null, err := d.Null()
	if err != nil || null {
		*v = nil
		return err
	}
	return Pointer(d, v, value)
}

// NullOr reads null, which leaves the zero value, or a value.
func NullOr[T any](d *Decoder, v *T, value func(*T, *Decoder) error) error {
	null, err := d.Null()
	if err != nil || null {
		var none T
		*v = none
		return err
	}
	return value(v, d)
}

// Number reads a floating-point number.
func (d *Decoder) Number(v *float64) error {
	tok, err := d.want(jsontext.KindNumber, "a number")
	if err != nil {
		return err
	}
	f, err := tok.Float()
	if err != nil {
		return d.Invalid("maximum", "%s is beyond what a 64-bit float holds", shown(tok.String()))
	}
	*v = f
	return nil
}

// NumberIn reads a number between bounds.
func (d *Decoder) NumberIn(v *float64, low, high float64) error {
	if err := d.Number(v); err != nil {
		return err
	}
	if *v < low {
		return d.Invalid("minimum", "%v is below the minimum %v", *v, low)
	}
	if *v > high {
		return d.Invalid("maximum", "%v is above the maximum %v", *v, high)
	}
	return nil
}

// Int reads an integer between bounds. As JSON Schema says, 1.0 and 1e3 are
// integers.
func (d *Decoder) Int(v *int64, low, high int64) error {
	text, err := d.integer()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case n < low: // out of range, n is the nearest
		return d.Invalid("minimum", "%s is below the minimum %d", shortNumber(text), low)
	case n > high:
		return d.Invalid("maximum", "%s is above the maximum %d", shortNumber(text), high)
	case err != nil && n < 0:
		return d.Invalid("minimum", "%s is beyond a 64-bit integer", shortNumber(text))
	case err != nil:
		return d.Invalid("maximum", "%s is beyond a 64-bit integer", shortNumber(text))
	}
	*v = n
	return nil
}

// Uint reads an unsigned integer between bounds.
func (d *Decoder) Uint(v *uint64, low, high uint64) error {
	text, err := d.integer()
	if err != nil {
		return err
	}
	if text[0] == '-' {
		return d.Invalid("minimum", "%s is below the minimum %d", shortNumber(text), low)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case n < low:
		return d.Invalid("minimum", "%d is below the minimum %d", n, low)
	case n > high:
		return d.Invalid("maximum", "%s is above the maximum %d", shortNumber(text), high)
	case err != nil:
		return d.Invalid("maximum", "%s is beyond an unsigned 64-bit integer", shortNumber(text))
	}
	*v = n
	return nil
}

func shortNumber(text string) string {
	if len(text) > 24 {
		return text[:20] + "…"
	}
	return text
}

// integer reads a number without fraction as decimal digits.
func (d *Decoder) integer() (string, error) {
	if d.in.PeekKind() != jsontext.KindNumber {
		_, err := d.want(jsontext.KindNumber, "an integer")
		return "", err
	}
	raw, err := d.in.ReadValue()
	if err != nil {
		return "", d.syntax(err)
	}
	text := string(raw)
	plain, whole := plainInteger(text)
	if !whole {
		return "", d.Invalid("type", "must be an integer, not %s", shortNumber(text))
	}
	return plain, nil
}

// plainInteger writes a JSON number out as digits, or says that it has a
// fraction. Magnitudes beyond 64 bits come out as thirty nines: large enough for
// every bound, and bounded whatever the exponent says.
func plainInteger(text string) (string, bool) {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			return "0", true
		}
		return text, true
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", true
	}
	exp := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent) // out of range, n is the nearest
		if err != nil && n == 0 {
			return "", false
		}
		exp = min(max(n, -1<<40), 1<<40)
	}
	trailing := len(digits) - len(strings.TrimRight(digits, "0"))
	digits = strings.TrimRight(digits, "0")
	// The value is digits × 10^shift with no zero at the end of digits.
	shift := exp - len(fraction) + trailing
	switch {
	case shift < 0:
		return "", false
	case shift+len(digits) > 30:
		return sign + strings.Repeat("9", 30), true
	}
	return sign + digits + strings.Repeat("0", shift), true
}
