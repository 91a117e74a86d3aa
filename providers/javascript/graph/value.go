package graph

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Value writes a property. Strings that are not UTF-8 are repaired.
func Value(v any) jsontext.Value {
	switch v := v.(type) {
	case nil:
		return jsontext.Value("null")
	case bool:
		return jsontext.Value(strconv.FormatBool(v))
	case int:
		return strconv.AppendInt(nil, int64(v), 10)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case float64:
		return number(v)
	case string:
		out, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(v, "\ufffd"))
		return out
	case []string:
		out := []byte{'['}
		for i, s := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out, _ = jsontext.AppendQuote(out, strings.ToValidUTF8(s, "\ufffd"))
		}
		return append(out, ']')
	case []int64:
		out := []byte{'['}
		for i, n := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, n, 10)
		}
		return append(out, ']')
	case jsontext.Value:
		return v
	}
	return jsontext.Value(`{"state":"unknown"}`)
}

// number writes a float as JSON does; what JSON lacks becomes null.
func number(v float64) jsontext.Value {
	if v != v || v > 1.7976931348623157e308 || v < -1.7976931348623157e308 {
		return jsontext.Value("null")
	}
	t := jsontext.Float(v)
	return jsontext.Value(t.String())
}

// Object writes properties as one value, by name.
func Object(p Properties) jsontext.Value {
	out := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(p)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, Value(name)...)
		out = append(out, ':')
		out = append(out, Value(p[name])...)
	}
	return append(out, '}')
}
