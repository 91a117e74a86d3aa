package plist

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// textReader reads the form of NeXTSTEP: { key = value; }, ( items ), < hex >,
// with the typed scalars that GNUstep added: <*I5> <*BY> <*R0.5> <*D2001-01-01 00:00:00 +0000>.
type textReader struct {
	data []byte
	at   int
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_$/:.-", c) >= 0 || c >= 0x80
}

// parseText reads one value, or the pairs of a dictionary without its braces,
// as files of translated strings have them.
func parseText(data []byte) (Value, error) {
	r := &textReader{data: data}
	r.skip()
	if r.at < len(data) && (data[r.at] == '"' || isWordByte(data[r.at])) {
		if v, err := r.pairs(0, true); err == nil {
			return v, nil
		}
		r.at = 0
	}
	v, err := r.value(0)
	if err != nil {
		return Value{}, err
	}
	if r.skip(); r.at < len(data) {
		return Value{}, r.fail("something follows the value")
	}
	return v, nil
}

func (r *textReader) fail(what string) error { return &Error{OpenStep, int64(r.at), what} }

// skip passes space and comments.
func (r *textReader) skip() {
	for r.at < len(r.data) {
		rest := r.data[r.at:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n\f\v"), rest[0]) >= 0:
			r.at++
		case bytes.HasPrefix(rest, []byte("//")):
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				r.at += n
			} else {
				r.at = len(r.data)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
				r.at += n + 4
			} else {
				r.at = len(r.data)
			}
		default:
			return
		}
	}
}

func (r *textReader) peek() byte {
	r.skip()
	if r.at >= len(r.data) {
		return 0
	}
	return r.data[r.at]
}

func (r *textReader) eat(c byte) bool {
	if r.peek() != c || r.at >= len(r.data) {
		return false
	}
	r.at++
	return true
}

func (r *textReader) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, r.fail("nested too deeply")
	}
	switch c := r.peek(); {
	case c == '{':
		r.at++
		return r.pairs(depth, false)
	case c == '(':
		r.at++
		return r.array(depth)
	case c == '<':
		r.at++
		return r.angle()
	case c == '"' || c == '\'' || isWordByte(c) && r.at < len(r.data):
		s, err := r.word()
		return Value{Kind: String, Text: s}, err
	}
	return Value{}, r.fail("a value is missing")
}

func (r *textReader) pairs(depth int, bare bool) (Value, error) {
	v := Value{Kind: Dict}
	for {
		if bare {
			if r.peek(); r.at >= len(r.data) {
				return v, nil
			}
		} else if r.eat('}') {
			return v, nil
		}
		if c := r.peek(); c != '"' && c != '\'' && !isWordByte(c) || r.at >= len(r.data) {
			return Value{}, r.fail("a key is missing")
		}
		key, err := r.word()
		if err != nil {
			return Value{}, err
		}
		item := Value{Kind: String, Text: key}
		if r.eat('=') {
			if item, err = r.value(depth + 1); err != nil {
				return Value{}, err
			}
		} else if r.peek() != ';' {
			return Value{}, r.fail("a key without =")
		}
		v.Keys, v.Items = append(v.Keys, key), append(v.Items, item)
		if !r.eat(';') && (bare || r.peek() != '}') {
			return Value{}, r.fail("; is missing")
		}
	}
}

func (r *textReader) array(depth int) (Value, error) {
	v := Value{Kind: Array}
	for {
		if r.eat(')') {
			return v, nil
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
		if !r.eat(',') && r.peek() != ')' {
			return Value{}, r.fail(", is missing")
		}
	}
}

// angle is data, or a typed scalar.
func (r *textReader) angle() (Value, error) {
	n := bytes.IndexByte(r.data[r.at:], '>')
	if n < 0 {
		return Value{}, r.fail("data without an end")
	}
	s := string(r.data[r.at : r.at+n])
	typed, ok := strings.CutPrefix(s, "*")
	if !ok {
		if coded, ok := strings.CutPrefix(s, "["); ok { // base64
			b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, "]"))
			if err != nil {
				return Value{}, r.fail("data that is not base64")
			}
			r.at += n + 1
			return Value{Kind: Data, Bytes: b}, nil
		}
		b, err := hex.DecodeString(strings.Map(func(c rune) rune {
			if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
				return -1
			}
			return c
		}, s))
		if err != nil {
			return Value{}, r.fail("data that is not hexadecimal")
		}
		r.at += n + 1
		return Value{Kind: Data, Bytes: b}, nil
	}
	if typed == "" {
		return Value{}, r.fail("a typed value without a type")
	}
	text := strings.Trim(typed[1:], `"`)
	v := Value{}
	switch typed[0] {
	case 'I':
		d, ok := integer(text)
		if !ok {
			return v, r.fail("not an integer")
		}
		v = Value{Kind: Integer, Text: d}
	case 'R':
		f, ok := real(text)
		if !ok {
			return v, r.fail("not a number")
		}
		v = Value{Kind: Real, Real: f}
	case 'B':
		if text != "Y" && text != "N" {
			return v, r.fail("neither Y nor N")
		}
		v = Value{Kind: Boolean, Bool: text == "Y"}
	case 'D':
		when, err := time.Parse("2006-01-02 15:04:05 -0700", text)
		if err != nil {
			return v, r.fail("not a date")
		}
		v = Value{Kind: Date, Time: when.UTC()}
	default:
		return v, r.fail("a typed value of unknown type")
	}
	r.at += n + 1
	return v, nil
}

// word is a quoted string, or a run of letters.
func (r *textReader) word() (string, error) {
	quote := r.data[r.at]
	if quote != '"' && quote != '\'' {
		start := r.at
		for r.at < len(r.data) && isWordByte(r.data[r.at]) {
			r.at++
		}
		return strings.ToValidUTF8(string(r.data[start:r.at]), "\ufffd"), nil
	}
	r.at++
	var b strings.Builder
	for r.at < len(r.data) {
		c := r.data[r.at]
		r.at++
		switch c {
		case quote:
			return strings.ToValidUTF8(b.String(), "\ufffd"), nil
		case '\\':
			r.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	return "", r.fail("a string without an end")
}

func (r *textReader) escape(b *strings.Builder) {
	if r.at >= len(r.data) {
		return
	}
	c := r.data[r.at]
	r.at++
	switch c {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		b.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
	case 'U', 'u':
		end := min(r.at+4, len(r.data))
		if n, err := strconv.ParseUint(string(r.data[r.at:end]), 16, 16); err == nil && end == r.at+4 {
			r.at = end
			b.Write(utf8.AppendRune(nil, rune(n)))
			return
		}
		b.WriteByte(c)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := int(c - '0')
		for i := 0; i < 2 && r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '7'; i++ {
			n = n*8 + int(r.data[r.at]-'0')
			r.at++
		}
		b.Write(utf8.AppendRune(nil, rune(n&0xff)))
	default:
		b.WriteByte(c)
	}
}
