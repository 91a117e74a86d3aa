// Package project turns contract schemas into the forms that others see. Every
// function is pure: a schema in, a new schema out.
//
//   - [Contained] follows references into other files, so that one document
//     holds everything;
//   - [Canonical] is the form that decoders and validators agree on;
//   - [Full] and [Compact] are the advertised inputs;
//   - [Output] is the advertised output.
package project

import (
	"slices"
	"strconv"
	"strings"

	"rea/gen/load"
)

func text(s string) *load.Node   { return &load.Node{Kind: load.String, Text: s} }
func number(s string) *load.Node { return &load.Node{Kind: load.Number, Text: s} }
func list(items ...*load.Node) *load.Node {
	return &load.Node{Kind: load.Array, Items: items}
}
func texts(values ...string) *load.Node {
	n := list()
	for _, v := range values {
		n.Items = append(n.Items, text(v))
	}
	return n
}
func object(members ...load.Member) *load.Node {
	return &load.Node{Kind: load.Object, Members: members}
}

// with is n with a property set, in its place or at the end.
func with(n *load.Node, name string, value *load.Node) *load.Node {
	out := &load.Node{Kind: load.Object, Pos: n.Pos, Members: slices.Clone(n.Members)}
	for i := range out.Members {
		if out.Members[i].Name == name {
			out.Members[i].Value = value
			return out
		}
	}
	out.Members = append(out.Members, load.Member{Name: name, Value: value})
	return out
}

// without is n without some properties.
func without(n *load.Node, names ...string) *load.Node {
	out := &load.Node{Kind: load.Object, Pos: n.Pos}
	for _, m := range n.Members {
		if !slices.Contains(names, m.Name) {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// rewrite builds a schema anew from the bottom: change sees each subschema after
// its parts were rewritten.
func rewrite(n *load.Node, change func(*load.Node) *load.Node) *load.Node {
	out := &load.Node{Kind: load.Object, Pos: n.Pos}
	for _, m := range n.Members {
		v := m.Value
		switch m.Name {
		case "properties", "$defs":
			named := &load.Node{Kind: load.Object, Pos: v.Pos}
			for _, p := range v.Members {
				named.Members = append(named.Members, load.Member{Name: p.Name, Value: rewrite(p.Value, change)})
			}
			v = named
		case "oneOf", "anyOf":
			alternatives := &load.Node{Kind: load.Array, Pos: v.Pos}
			for _, item := range v.Items {
				alternatives.Items = append(alternatives.Items, rewrite(item, change))
			}
			v = alternatives
		case "items", "additionalProperties":
			if v.Kind == load.Object {
				v = rewrite(v, change)
			}
		}
		out.Members = append(out.Members, load.Member{Name: m.Name, Value: v})
	}
	return change(out)
}

const local = "#/$defs/"

// Contained is the schema with everything it refers to under root $defs, named
// after the files and definitions it comes from.
func Contained(set *load.Set, root *load.Node) (*load.Node, error) {
	c := container{set: set, names: map[*load.Node]string{}}
	for root.Has("$ref") {
		target, err := set.Resolve(root.Get("$ref"))
		if err != nil {
			return nil, err
		}
		root = target
	}
	out := without(c.schema(root), "$schema", "$defs")
	if len(c.defs) > 0 {
		out = with(out, "$defs", object(c.defs...))
	}
	return out, c.err
}

type container struct {
	set   *load.Set
	names map[*load.Node]string
	defs  []load.Member
	err   error
}

func (c *container) schema(n *load.Node) *load.Node {
	return rewrite(without(n, "$defs"), func(s *load.Node) *load.Node {
		s = without(s, "x-go-name")
		ref := s.Get("$ref")
		if ref == nil {
			return s
		}
		return with(s, "$ref", text(local+c.define(ref)))
	})
}

// define makes sure that the target of a reference is a definition, and names it.
func (c *container) define(ref *load.Node) string {
	target, err := c.set.Resolve(ref)
	if err != nil {
		c.err = err
		return ""
	}
	if name, ok := c.names[target]; ok {
		return name
	}
	name := ref.Text[strings.LastIndexByte(ref.Text, '/')+1:]
	name = strings.TrimSuffix(name, ".json")
	for slices.ContainsFunc(c.defs, func(m load.Member) bool { return m.Name == name }) {
		name += "_"
	}
	c.names[target] = name
	i := len(c.defs)
	c.defs = append(c.defs, load.Member{Name: name})
	c.defs[i].Value = without(c.schema(target), "$schema")
	return name
}

// Canonical says in plain JSON Schema all that a decoder checks: the bounds of
// the Go integers and floats, and what addresses look like.
func Canonical(contained *load.Node) *load.Node {
	return with(rewrite(contained, func(s *load.Node) *load.Node {
		low, high := "", ""
		switch {
		case s.Str("type") == "integer" && s.Str("format") == "uint64":
			low, high = "0", "18446744073709551615"
		case s.Str("type") == "integer":
			low, high = "-9223372036854775808", "9223372036854775807"
		case s.Str("type") == "number":
			high = strconv.FormatFloat(maxFloat, 'g', -1, 64)
			low = "-" + high
		}
		if low != "" && !s.Has("const") {
			if !s.Has("minimum") {
				s = with(s, "minimum", number(low))
			}
			if !s.Has("maximum") {
				s = with(s, "maximum", number(high))
			}
		}
		return plainFormat(s)
	}), "$schema", text(Dialect))
}

// Plain is a schema without the keywords that only direct the generator.
func Plain(n *load.Node) *load.Node {
	return rewrite(n, func(s *load.Node) *load.Node { return without(s, "goJSONSchema", "x-go-name") })
}

const maxFloat = 0x1p1023 * (1 + (1 - 0x1p-52))

// Dialect is what all schemas are written in.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// plainFormat replaces the formats that only the generator knows.
func plainFormat(s *load.Node) *load.Node {
	if s.Str("format") == "address" && !s.Has("pattern") {
		s = with(s, "pattern", text("^0x[0-9a-f]{1,16}$"))
	}
	return without(s, "format")
}

// size is the length of the schema as it is sent.
func size(n *load.Node) int { return len(n.AppendJSON(nil)) }
