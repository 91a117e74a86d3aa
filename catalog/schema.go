package catalog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is one property of a schema as the page lists it.
type Row struct {
	Depth       int
	Name        string
	Type        string
	Required    bool
	Default     string
	Rules       string // bounds, patterns and the like
	Description string
}

const maxRows = 400 // of one schema on the page; the JSON has them all

// rows flattens an advertised schema, or the part of it that the names of
// properties lead to: properties in their order, nested ones below with a
// greater depth.
func rows(schema []byte, path ...string) ([]Row, error) {
	root, err := readValue(jsontext.NewDecoder(bytes.NewReader(schema)))
	if err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	f := flattener{root: root}
	at := root
	for _, name := range path {
		if at = f.resolve(at).get("properties").get(name); at == nil {
			return nil, fmt.Errorf("the schema has no property %s", name)
		}
	}
	f.properties(at, 0, nil)
	return f.rows, nil
}

// value is JSON with its members in order.
type value struct {
	kind  jsontext.Kind
	text  string
	raw   string
	names []string
	items []*value
}

func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i, n := range v.names {
		if n == name {
			return v.items[i]
		}
	}
	return nil
}

func (v *value) str(name string) string {
	if m := v.get(name); m != nil {
		return m.text
	}
	return ""
}

func readValue(dec *jsontext.Decoder) (*value, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	v := &value{kind: raw.Kind(), raw: string(raw), text: string(raw)}
	inner := jsontext.NewDecoder(bytes.NewReader(raw))
	tok, err := inner.ReadToken()
	if err != nil {
		return nil, err
	}
	switch v.kind {
	case '"':
		v.text = tok.String()
	case '{', '[':
		for inner.PeekKind() != '}' && inner.PeekKind() != ']' {
			if v.kind == '{' {
				name, err := inner.ReadToken()
				if err != nil {
					return nil, err
				}
				v.names = append(v.names, name.String())
			}
			item, err := readValue(inner)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
	}
	return v, nil
}

type flattener struct {
	root *value
	rows []Row
}

// resolve follows a local reference.
func (f *flattener) resolve(v *value) *value {
	for range 16 {
		ref := v.str("$ref")
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return v
		}
		at := f.root
		for part := range strings.SplitSeq(path, "/") {
			at = at.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
		if at == nil {
			return v
		}
		v = at
	}
	return v
}

// properties lists those of an object, of the items of a list and of the
// alternatives of a union. within holds the schemas around it.
func (f *flattener) properties(v *value, depth int, within []*value) {
	v = f.resolve(v)
	for _, w := range within {
		if w == v {
			return
		}
	}
	within = append(within[:len(within):len(within)], v)
	required := map[string]bool{}
	if r := v.get("required"); r != nil {
		for _, name := range r.items {
			required[name.text] = true
		}
	}
	if props := v.get("properties"); props != nil {
		for i, name := range props.names {
			if len(f.rows) >= maxRows {
				return
			}
			p := props.items[i]
			f.rows = append(f.rows, f.row(p, name, depth, required[name]))
			f.properties(p, depth+1, within)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if sub := v.get(key); sub != nil && sub.kind == '{' {
			f.properties(sub, depth, within)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if alts := v.get(key); alts != nil {
			for _, alt := range alts.items {
				f.properties(alt, depth, within)
			}
		}
	}
}

func (f *flattener) row(v *value, name string, depth int, required bool) Row {
	target := f.resolve(v)
	row := Row{Depth: depth, Name: name, Type: f.typeOf(target, 0), Required: required, Rules: f.rules(target)}
	row.Description = v.str("description")
	if row.Description == "" {
		row.Description = target.str("description")
	}
	if d := v.get("default"); d != nil {
		row.Default = d.raw
	} else if d := target.get("default"); d != nil {
		row.Default = d.raw
	}
	return row
}

func (f *flattener) typeOf(v *value, depth int) string {
	v = f.resolve(v)
	if depth > 6 {
		return "…"
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		alts := v.get(key)
		if alts == nil {
			continue
		}
		var names []string
		for _, alt := range alts.items {
			if t := f.typeOf(alt, depth+1); len(names) == 0 || names[len(names)-1] != t {
				names = append(names, t)
			}
		}
		return strings.Join(names, " | ")
	}
	t := v.get("type")
	switch {
	case t == nil:
		if c := v.get("const"); c != nil {
			return c.raw
		}
		return "any"
	case t.kind == '[':
		return "any JSON"
	case t.text == "array":
		if items := v.get("items"); items != nil {
			return "list of " + f.typeOf(items, depth+1)
		}
		return "list"
	case t.text == "object" && v.get("properties") == nil && v.get("additionalProperties") != nil && v.get("additionalProperties").kind == '{':
		return "map of " + f.typeOf(v.get("additionalProperties"), depth+1)
	}
	return t.text
}

func (f *flattener) rules(v *value) string {
	var out []string
	if e := v.get("enum"); e != nil {
		var values []string
		for _, item := range e.items {
			values = append(values, item.text)
		}
		out = append(out, strings.Join(values, " | "))
	}
	if c := v.get("const"); c != nil {
		out = append(out, "always "+c.raw)
	}
	bounds := func(low, high, unit string) {
		lo, hi := v.str(low), v.str(high)
		switch {
		case lo != "" && hi != "":
			out = append(out, lo+" to "+hi+unit)
		case lo != "" && lo != "0":
			out = append(out, "at least "+lo+unit)
		case hi != "":
			out = append(out, "at most "+hi+unit)
		}
	}
	bounds("minimum", "maximum", "")
	bounds("minLength", "maxLength", " characters")
	bounds("minItems", "maxItems", " items")
	if p := v.str("pattern"); p != "" {
		out = append(out, p)
	}
	if items := v.get("items"); items != nil {
		if r := f.rules(f.resolve(items)); r != "" {
			out = append(out, "each "+r)
		}
	}
	return strings.Join(out, ", ")
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
