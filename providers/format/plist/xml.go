package plist

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

type xmlReader struct{ dec *xml.Decoder }

func parseXML(data []byte) (Value, error) {
	r := &xmlReader{xml.NewDecoder(bytes.NewReader(data))}
	// The text is UTF-8 by now, or bytes that are nearly that.
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	r.dec.Entity = map[string]string{}
	start, err := r.start()
	if err != nil {
		return Value{}, err
	}
	if start == nil {
		return r.fail("there is no element")
	}
	if start.Name.Local != "plist" { // some writers leave it out
		return r.value(start, 0)
	}
	if start, err = r.start(); err != nil {
		return Value{}, err
	}
	if start == nil {
		return r.fail("it holds no value")
	}
	v, err := r.value(start, 0)
	if err != nil {
		return v, err
	}
	more, err := r.start()
	if err != nil {
		return Value{}, err
	}
	if more != nil {
		return r.fail("it holds more than one value")
	}
	return v, nil
}

func (r *xmlReader) fail(what string) (Value, error) {
	return Value{}, &Error{XML, r.dec.InputOffset(), what}
}

// start is the next element, nil at the end of the one around it.
func (r *xmlReader) start() (*xml.StartElement, error) {
	for {
		t, err := r.dec.Token()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, &Error{XML, r.dec.InputOffset(), err.Error()}
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return nil, &Error{XML, r.dec.InputOffset(), "text where an element belongs"}
			}
		}
	}
}

// text is the content of the element that was begun.
func (r *xmlReader) text() (string, error) {
	var b strings.Builder
	for {
		t, err := r.dec.Token()
		if err != nil {
			return "", &Error{XML, r.dec.InputOffset(), err.Error()}
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", &Error{XML, r.dec.InputOffset(), "an element where text belongs"}
		}
	}
}

func (r *xmlReader) value(start *xml.StartElement, depth int) (Value, error) {
	if depth > maxDepth {
		return r.fail("nested too deeply")
	}
	switch start.Name.Local {
	case "dict":
		return r.dict(depth)
	case "array":
		v := Value{Kind: Array}
		for {
			next, err := r.start()
			if err != nil || next == nil {
				return v, err
			}
			item, err := r.value(next, depth+1)
			if err != nil {
				return Value{}, err
			}
			v.Items = append(v.Items, item)
		}
	}
	text, err := r.text()
	if err != nil {
		return Value{}, err
	}
	return r.scalar(start.Name.Local, text)
}

func (r *xmlReader) dict(depth int) (Value, error) {
	v := Value{Kind: Dict}
	for {
		next, err := r.start()
		if err != nil || next == nil {
			return v, err
		}
		if next.Name.Local != "key" {
			return r.fail("a dictionary where a key is missing")
		}
		key, err := r.text()
		if err != nil {
			return Value{}, err
		}
		if next, err = r.start(); err != nil {
			return Value{}, err
		}
		if next == nil {
			return r.fail("a key without a value")
		}
		item, err := r.value(next, depth+1)
		if err != nil {
			return Value{}, err
		}
		if item.Kind == Dict && len(item.Keys) == 1 && item.Keys[0] == "CF$UID" && item.Items[0].Kind == Integer {
			item = Value{Kind: UID, Text: item.Items[0].Text}
		}
		v.Keys, v.Items = append(v.Keys, key), append(v.Items, item)
	}
}

func (r *xmlReader) scalar(name, text string) (Value, error) {
	word := strings.TrimSpace(text)
	switch name {
	case "string", "ustring":
		return Value{Kind: String, Text: text}, nil
	case "true", "false":
		return Value{Kind: Boolean, Bool: name == "true"}, nil
	case "integer":
		if n, ok := integer(word); ok {
			return Value{Kind: Integer, Text: n}, nil
		}
		return r.fail(strconv.Quote(shorten(word)) + " is not an integer")
	case "real":
		if f, ok := real(word); ok {
			return Value{Kind: Real, Real: f}, nil
		}
		return r.fail(strconv.Quote(shorten(word)) + " is not a number")
	case "date":
		when, err := time.Parse(time.RFC3339, word)
		if err != nil {
			return r.fail(strconv.Quote(shorten(word)) + " is not a date")
		}
		return Value{Kind: Date, Time: when.UTC()}, nil
	case "data":
		b, err := base64.StdEncoding.DecodeString(strings.Map(func(c rune) rune {
			if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
				return -1
			}
			return c
		}, text))
		if err != nil {
			return r.fail("data that is not base64")
		}
		return Value{Kind: Data, Bytes: b}, nil
	}
	return r.fail("an element " + strconv.Quote(shorten(name)))
}

// integer is a decimal or hexadecimal number of at most 64 bits as decimal digits.
func integer(s string) (string, bool) {
	if len(s) > 40 {
		return "", false
	}
	digits := strings.TrimPrefix(s, "+")
	base := 10
	rest, negative := strings.CutPrefix(digits, "-")
	if hex, ok := strings.CutPrefix(strings.ToLower(rest), "0x"); ok {
		base, rest = 16, hex
	}
	n, ok := new(big.Int).SetString(rest, base)
	if !ok || rest == "" || strings.ContainsAny(rest, "+-_") || n.BitLen() > 64 {
		return "", false
	}
	if negative {
		n.Neg(n)
	}
	return n.String(), true
}

func real(s string) (float64, bool) {
	switch strings.ToLower(strings.TrimPrefix(s, "+")) {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
