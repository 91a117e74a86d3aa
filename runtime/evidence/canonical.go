package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/wire"
)

// MaxDepth is the deepest nesting of arrays and objects in a record.
const MaxDepth = 256

// Canonical returns the RFC 8785 form of one JSON value, which must meet the
// rules of the package documentation. src is not changed.
//
// It makes one pass: values are written in the order they come, and an object
// whose members were not in order is put in order when it ends. The order is
// that of the UTF-16 code units of the names.
func Canonical(src []byte) ([]byte, error) {
	c := &canonicalizer{src: src, out: make([]byte, 0, len(src)+len(src)/16+16)}
	c.space()
	if err := c.value(0); err != nil {
		return nil, err
	}
	c.space()
	if c.i < len(c.src) {
		return nil, c.fail("more than one value")
	}
	return c.out, nil
}

type canonicalizer struct {
	src     []byte
	i       int
	out     []byte
	members []member // of the open objects, the innermost last
	moved   []byte   // room to put members in order
}

// member is one member of an open object, in out.
type member struct {
	start, colon, end int
	// special names do not compare by their bytes: they hold an escape, or a
	// character whose UTF-16 order is not its UTF-8 order.
	special bool
}

func (c *canonicalizer) fail(format string, args ...any) error {
	return &placedError{fmt.Sprintf(format, args...), c.i}
}

// placedError is a fault at a byte of a JSON text.
type placedError struct {
	reason string
	at     int
}

func (e *placedError) Error() string { return fmt.Sprintf("%s at byte %d", e.reason, e.at) }

// Place tells what [Canonical] refused doc for, and the JSON pointer of the value:
// a caller does not know the bytes of a text that was written anew.
func Place(doc []byte, err error) (pointer, reason string) {
	var placed *placedError
	if !errors.As(err, &placed) {
		return "", err.Error()
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc))
	for dec.InputOffset() <= int64(placed.at) {
		if _, broken := dec.ReadToken(); broken != nil {
			return "", err.Error() // the text is not JSON up to there
		}
	}
	const deepest = 32 // beyond it, a pointer tells nobody anything
	if dec.StackDepth() > deepest {
		return "", placed.reason
	}
	return wire.ShortPointer(dec.StackPointer()), placed.reason
}

var errEnd = errors.New("the JSON text ends early")

func (c *canonicalizer) space() {
	for c.i < len(c.src) && (c.src[c.i] == ' ' || c.src[c.i] == '\n' || c.src[c.i] == '\t' || c.src[c.i] == '\r') {
		c.i++
	}
}

// next skips spaces and returns the next byte, 0 at the end.
func (c *canonicalizer) next() byte {
	if c.i < len(c.src) && c.src[c.i] > ' ' {
		return c.src[c.i]
	}
	c.space()
	if c.i == len(c.src) {
		return 0
	}
	return c.src[c.i]
}

func (c *canonicalizer) value(depth int) error {
	switch b := c.next(); b {
	case '{':
		if depth == MaxDepth {
			return c.fail("nesting exceeds %d levels", MaxDepth)
		}
		return c.object(depth + 1)
	case '[':
		if depth == MaxDepth {
			return c.fail("nesting exceeds %d levels", MaxDepth)
		}
		return c.array(depth + 1)
	case '"':
		_, err := c.string()
		return err
	case 't':
		return c.literal("true")
	case 'f':
		return c.literal("false")
	case 'n':
		return c.literal("null")
	case 0:
		if c.i == len(c.src) {
			return errEnd
		}
		return c.fail("a value cannot begin with %q", b)
	default:
		if b == '-' || b >= '0' && b <= '9' {
			return c.number()
		}
		return c.fail("a value cannot begin with %q", b)
	}
}

func (c *canonicalizer) literal(text string) error {
	if !bytes.HasPrefix(c.src[c.i:], []byte(text)) {
		return c.fail("a value cannot begin with %q", c.src[c.i])
	}
	c.i += len(text)
	c.out = append(c.out, text...)
	return nil
}

func (c *canonicalizer) array(depth int) error {
	c.i++
	c.out = append(c.out, '[')
	for first := true; ; first = false {
		b := c.next()
		switch {
		case b == ']':
			c.i++
			c.out = append(c.out, ']')
			return nil
		case first:
		case b != ',':
			return c.expected("a comma or ]")
		default:
			c.i++
			c.out = append(c.out, ',')
			if c.next() == ']' {
				return c.fail("a value is missing")
			}
		}
		if c.integers() && c.next() == ']' {
			return c.fail("a value is missing")
		}
		if err := c.value(depth); err != nil {
			return err
		}
	}
}

// integers copies those of an array that are in canonical spelling already, each
// with the comma behind it, and reports whether there were any. What comes after
// them is read as any value.
func (c *canonicalizer) integers() bool {
	start := c.i
	for {
		i := c.i
		if i < len(c.src) && c.src[i] == '-' {
			i++
		}
		first := i
		for i < len(c.src) && c.src[i]-'0' <= 9 {
			i++
		}
		n := i - first
		if n == 0 || n > exactDigits || i == len(c.src) || c.src[i] != ',' || c.src[first] == '0' && i > c.i+1 {
			break
		}
		c.i = i + 1
	}
	c.out = wire.Append(c.out, c.src[start:c.i])
	return c.i > start
}

func (c *canonicalizer) expected(what string) error {
	if c.i == len(c.src) {
		return errEnd
	}
	return c.fail("%s is missing", what)
}

func (c *canonicalizer) object(depth int) error {
	c.i++
	c.out = append(c.out, '{')
	base, inOrder := len(c.members), true
	for first := true; ; first = false {
		b := c.next()
		if b == '}' && first {
			break
		}
		if !first {
			if b == '}' {
				break
			}
			if b != ',' {
				return c.expected("a comma or }")
			}
			c.i++
			c.out = append(c.out, ',')
		}
		if c.next() != '"' {
			return c.expected("a member name")
		}
		m := member{start: len(c.out)}
		special, err := c.string()
		if err != nil {
			return err
		}
		m.special, m.colon = special, len(c.out)
		if c.next() != ':' {
			return c.expected("a colon")
		}
		c.i++
		c.out = append(c.out, ':')
		if n := len(c.members); inOrder && n > base {
			order := c.compare(c.members[n-1], m)
			if order == 0 {
				return c.duplicate(m)
			}
			inOrder = order < 0
		}
		at := len(c.members)
		c.members = append(c.members, m)
		if err := c.value(depth); err != nil {
			return err
		}
		c.members[at].end = len(c.out)
	}
	c.i++
	if !inOrder {
		if err := c.sort(c.members[base:]); err != nil {
			return err
		}
	}
	c.members = c.members[:base]
	c.out = append(c.out, '}')
	return nil
}

func (c *canonicalizer) duplicate(m member) error {
	return c.fail("member %s appears twice", printable(c.out[m.start:m.colon]))
}

// sort puts the members of one object in order. They are the last bytes of out.
func (c *canonicalizer) sort(members []member) error {
	start := members[0].start
	c.moved = wire.Append(c.moved[:0], c.out[start:])
	slices.SortFunc(members, c.compare)
	for i := 1; i < len(members); i++ {
		if c.compare(members[i-1], members[i]) == 0 {
			return c.duplicate(members[i])
		}
	}
	at := start
	for i, m := range members {
		if i > 0 {
			c.out[at] = ','
			at++
		}
		at += wire.Copy(c.out[at:], c.moved[m.start-start:m.end-start])
	}
	return nil
}

// compare orders two members by their names. The names are in out, quoted.
func (c *canonicalizer) compare(a, b member) int {
	x, y := c.out[a.start+1:a.colon-1], c.out[b.start+1:b.colon-1]
	if !a.special && !b.special {
		return bytes.Compare(x, y)
	}
	return slices.Compare(utf16.Encode([]rune(unescape(x))), utf16.Encode([]rune(unescape(y))))
}

// unescape reads the inside of a canonical string.
func unescape(inside []byte) string {
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	quoted := append(append([]byte{'"'}, inside...), '"')
	return unquote(quoted)
}

// plainByte tells the bytes that a string holds as they are, without a look at
// their neighbours.
var plainByte = func() (t [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// string copies a string in its canonical spelling. special is explained at member.
func (c *canonicalizer) string() (special bool, err error) {
	start := c.i
	i := c.i + 1
	for {
		for i < len(c.src) && plainByte[c.src[i]] {
			i++
		}
		if i == len(c.src) {
			c.i = i
			return false, errEnd
		}
		b := c.src[i]
		if b == '"' {
			break
		}
		if b < utf8.RuneSelf { // an escape, or a control character
			return c.escaped(start)
		}
		r, size := utf8.DecodeRune(c.src[i:])
		if r == utf8.RuneError && size == 1 {
			c.i = i
			return false, c.fail("invalid UTF-8")
		}
		special = special || r >= 0xe000
		i += size
	}
	c.i = i + 1
	c.out = append(c.out, c.src[start:c.i]...)
	return special, nil
}

// escaped reads the string at start, which holds an escape, and writes it in
// its shortest spelling.
func (c *canonicalizer) escaped(start int) (special bool, err error) {
	c.i = start + 1
	var text []byte
	for {
		if c.i == len(c.src) {
			return false, errEnd
		}
		switch b := c.src[c.i]; {
		case b == '"':
			c.i++
			c.out = wire.AppendString(c.out, string(text))
			return true, nil
		case b < 0x20:
			return false, c.fail("control character %#02x in a string", b)
		case b == '\\':
			if text, err = c.escape(text); err != nil {
				return false, err
			}
		case b < utf8.RuneSelf:
			text = append(text, b)
			c.i++
		default:
			r, size := utf8.DecodeRune(c.src[c.i:])
			if r == utf8.RuneError && size == 1 {
				return false, c.fail("invalid UTF-8")
			}
			text = append(text, c.src[c.i:c.i+size]...)
			c.i += size
		}
	}
}

var shortEscapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads one escape.
func (c *canonicalizer) escape(text []byte) ([]byte, error) {
	if c.i+1 == len(c.src) {
		return nil, errEnd
	}
	if b := c.src[c.i+1]; b != 'u' {
		short, ok := shortEscapes[b]
		if !ok {
			return nil, c.fail("invalid escape")
		}
		c.i += 2
		return append(text, short), nil
	}
	r, ok := c.unit(c.i)
	if !ok {
		return nil, c.fail("invalid escape")
	}
	width := 6
	if utf16.IsSurrogate(r) {
		low, ok := c.unit(c.i + 6)
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return nil, c.fail("lone surrogate")
		}
		width = 12
	}
	c.i += width
	return utf8.AppendRune(text, r), nil
}

// unit reads the code unit of \uXXXX at i.
func (c *canonicalizer) unit(i int) (rune, bool) {
	if i+6 > len(c.src) || c.src[i] != '\\' || c.src[i+1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, b := range c.src[i+2 : i+6] {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		case b >= 'A' && b <= 'F':
			r = r<<4 | rune(b-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// exactDigits is how many decimal digits every double can carry.
const exactDigits = 15

// number copies a number in the spelling of ECMAScript.
func (c *canonicalizer) number() error {
	start := c.i
	end, plain, ok := scanNumber(c.src, start)
	if !ok {
		return c.fail("invalid number")
	}
	literal := c.src[start:end]
	if plain && len(literal) <= exactDigits {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		c.out = append(c.out, literal...)
		c.i = end
		return nil
	}
	const shown = 40
	text := literal[:min(len(literal), shown)]
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil {
		return c.fail("number %s is beyond double precision", text)
	}
	at := len(c.out)
	c.out = wire.AppendFloat(c.out, f)
	if plain && !bytes.Equal(c.out[at:], literal) {
		return c.fail("integer %s is not exact in double precision", text)
	}
	c.i = end
	return nil
}

// scanNumber returns the end of the number at i, and whether it is an integer
// without exponent.
func scanNumber(src []byte, i int) (end int, plain, ok bool) {
	digits := func() int {
		n := 0
		for i < len(src) && src[i] >= '0' && src[i] <= '9' {
			i++
			n++
		}
		return n
	}
	if src[i] == '-' {
		i++
	}
	zero := i < len(src) && src[i] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return i, false, false
	}
	plain = true
	if i < len(src) && src[i] == '.' {
		plain = false
		i++
		if digits() == 0 {
			return i, false, false
		}
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		plain = false
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if digits() == 0 {
			return i, false, false
		}
	}
	return i, plain, true
}
