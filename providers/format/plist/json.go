package plist

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"strconv"
	"strings"
)

type jsonReader struct{ dec *stdjson.Decoder }

func parseJSON(data []byte) (Value, error) {
	r := &jsonReader{stdjson.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return Value{}, err
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return Value{}, r.fail("something follows the value")
	}
	return v, nil
}

func (r *jsonReader) fail(what string) error { return &Error{JSON, r.dec.InputOffset(), what} }

func (r *jsonReader) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, r.fail("nested too deeply")
	}
	t, err := r.dec.Token()
	if err != nil {
		return Value{}, r.fail(err.Error())
	}
	switch t := t.(type) {
	case nil:
		return Value{Kind: Null}, nil
	case bool:
		return Value{Kind: Boolean, Bool: t}, nil
	case string:
		return Value{Kind: String, Text: t}, nil
	case stdjson.Number:
		if !strings.ContainsAny(string(t), ".eE") {
			if n, ok := integer(string(t)); ok {
				return Value{Kind: Integer, Text: n}, nil
			}
		}
		f, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return Value{}, r.fail("a number out of range")
		}
		return Value{Kind: Real, Real: f}, nil
	case stdjson.Delim:
		return r.collection(t, depth)
	}
	return Value{}, r.fail("an unexpected token")
}

func (r *jsonReader) collection(open stdjson.Delim, depth int) (Value, error) {
	v := Value{Kind: Array}
	if open == '{' {
		v.Kind = Dict
	}
	for r.dec.More() {
		if v.Kind == Dict {
			key, err := r.dec.Token()
			if err != nil {
				return Value{}, r.fail(err.Error())
			}
			v.Keys = append(v.Keys, key.(string))
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, item)
	}
	if _, err := r.dec.Token(); err != nil {
		return Value{}, r.fail(err.Error())
	}
	return v, nil
}
