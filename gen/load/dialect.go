package load

import (
	"regexp"
	"slices"
	"strings"
)

// AnyTypes are the types of a value of any shape, as contracts list them.
var AnyTypes = []string{"null", "boolean", "object", "array", "number", "string"}

// keywords that a schema may have beside "type", by that type.
var keywords = map[string][]string{
	"null":    {},
	"boolean": {"const"},
	"integer": {"const", "minimum", "maximum", "format"},
	"number":  {"minimum", "maximum"},
	"string":  {"const", "enum", "minLength", "maxLength", "pattern", "format"},
	"array":   {"items", "minItems", "maxItems", "uniqueItems"},
	"object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties",
		"dependentRequired"},
}

var annotations = []string{"title", "description", "default", "examples", "x-go-name"}

var formats = map[string][]string{
	"string":  {"path", "address"},
	"integer": {"uint64"},
}

// notPortable finds what regular-expression engines read differently.
var notPortable = regexp.MustCompile(`\(\?|\\[dDwWsSbBpPuxcQkzZAG0-9]`)

// checkDialect holds every schema of the set to the part of JSON Schema that the
// generator understands completely.
func (s *Set) checkDialect(faults *Faults) {
	d := dialect{s, faults}
	for _, doc := range s.Models {
		d.schema(doc.Root, "$schema", "$defs")
		d.definitions(doc.Root)
	}
	for _, doc := range slices.Concat(s.Errors, s.Tools) {
		d.definitions(doc.Root)
	}
}

type dialect struct {
	set    *Set
	faults *Faults
}

func (d dialect) definitions(root *Node) {
	if defs := root.Get("$defs"); defs != nil {
		for _, m := range defs.Members {
			d.schema(m.Value)
		}
	}
}

// schema checks one schema and those inside it; also are further keywords that
// it may have.
func (d dialect) schema(n *Node, also ...string) {
	if n.Kind != Object {
		d.faults.Add(n, "a schema is an object, not %s; a value of any shape is {\"type\": [%s]}", n.Kind, quoted(AnyTypes))
		return
	}
	switch {
	case n.Has("$ref"):
		d.only(n, append(also, "$ref", "description", "default", "x-go-name")...)
		if ref := n.Get("$ref"); ref.Kind != String {
			d.faults.Add(ref, "$ref is a string")
		} else if _, err := d.set.Resolve(ref); err != nil {
			*d.faults = append(*d.faults, err.(*Fault))
		}
	case n.Has("oneOf"):
		d.only(n, slices.Concat(also, annotations, []string{"oneOf"})...)
		list := n.Get("oneOf")
		if list.Kind != Array || len(list.Items) < 2 {
			d.faults.Add(list, "oneOf lists at least two alternatives")
			return
		}
		for _, item := range list.Items {
			d.schema(item)
		}
	case n.Has("anyOf"):
		d.only(n, slices.Concat(also, annotations, []string{"anyOf"})...)
		list := n.Get("anyOf")
		if list.Kind != Array || len(list.Items) != 2 || list.Items[1].JSON() != `{"type":"null"}` {
			d.faults.Add(list, `anyOf is only for a value or null: [X, {"type": "null"}]; alternatives are a oneOf`)
			return
		}
		d.schema(list.Items[0])
	default:
		d.typed(n, also)
	}
}

func (d dialect) typed(n *Node, also []string) {
	t := n.Get("type")
	if t == nil {
		d.faults.Add(n, "a schema has a type, $ref, oneOf, or anyOf [X, null]")
		return
	}
	if t.Kind == Array {
		if !slices.Equal(t.Strings(), AnyTypes) {
			d.faults.Add(t, `a type list is exactly [%s], a value of any shape; a value or null is {"anyOf": [X, {"type": "null"}]}`, quoted(AnyTypes))
		}
		d.only(n, slices.Concat(also, annotations, []string{"type"})...)
		return
	}
	own, ok := keywords[t.Text]
	if t.Kind != String || !ok {
		d.faults.Add(t, "type is one of %s", quoted(sortedKeys(keywords)))
		return
	}
	d.only(n, slices.Concat(also, annotations, []string{"type"}, own)...)
	d.values(n, t.Text)
	if items := n.Get("items"); items != nil {
		d.schema(items)
	} else if t.Text == "array" {
		d.faults.Add(n, "an array has items")
	}
	if t.Text == "object" {
		d.object(n)
	}
}

// values checks the keywords that bound a value.
func (d dialect) values(n *Node, typ string) {
	for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		if v := n.Get(name); v != nil && (v.Kind != Number || strings.ContainsAny(v.Text, "-.eE")) {
			d.faults.Add(v, "%s is a number of things, 0 or more", name)
		}
	}
	for _, name := range []string{"minimum", "maximum"} {
		if v := n.Get(name); v != nil && (v.Kind != Number || typ == "integer" && strings.ContainsAny(v.Text, ".eE")) {
			d.faults.Add(v, "%s is a number (of an integer: digits only)", name)
		}
	}
	if p := n.Get("pattern"); p != nil {
		if _, err := regexp.Compile(p.Text); err != nil || p.Kind != String {
			d.faults.Add(p, "pattern: %v", err)
		} else if found := notPortable.FindString(p.Text); found != "" {
			d.faults.Add(p, "pattern %s: engines differ about %s; write a character class such as [0-9]", p.Text, found)
		}
	}
	if e := n.Get("enum"); e != nil {
		values := e.Strings()
		if e.Kind != Array || len(values) == 0 || len(values) != len(e.Items) {
			d.faults.Add(e, "enum lists strings")
		} else if len(slices.Compact(slices.Sorted(slices.Values(values)))) != len(values) {
			d.faults.Add(e, "enum has a value twice")
		}
	}
	if c := n.Get("const"); c != nil {
		want := map[string]Kind{"string": String, "integer": Number, "boolean": Bool}[typ]
		if c.Kind != want {
			d.faults.Add(c, "const is %s, the type says %s", c.Kind, typ)
		}
	}
	if f := n.Get("format"); f != nil && !slices.Contains(formats[typ], f.Text) {
		d.faults.Add(f, "format is one of %s here", quoted(formats[typ]))
	}
	if u := n.Get("uniqueItems"); u != nil && u.Text != "true" {
		d.faults.Add(u, "uniqueItems is true or absent")
	}
}

func (d dialect) object(n *Node) {
	properties, more := n.Get("properties"), n.Get("additionalProperties")
	switch {
	case more == nil:
		d.faults.Add(n, `objects are closed: add "additionalProperties": false (or a schema, for a map)`)
	case more.Kind == Object:
		if properties != nil || n.Has("required") {
			d.faults.Add(n, "an object has either fixed properties or, as a map, additionalProperties with a schema")
		}
		d.schema(more)
		return
	case more.Kind != Bool || more.Text != "false":
		d.faults.Add(more, "additionalProperties is false, or the schema of a map's values")
	}
	if properties == nil {
		properties = &Node{Kind: Object, Pos: n.Pos}
	}
	if properties.Kind != Object {
		d.faults.Add(properties, "properties is an object")
		return
	}
	for _, m := range properties.Members {
		d.schema(m.Value)
	}
	d.names(n.Get("required"), "required", properties)
	if dep := n.Get("dependentRequired"); dep != nil {
		for _, m := range dep.Members {
			if !properties.Has(m.Name) {
				d.faults.Add(m.Value, "dependentRequired: no property %q", m.Name)
			}
			d.names(m.Value, "dependentRequired", properties)
		}
	}
}

func (d dialect) names(list *Node, keyword string, properties *Node) {
	if list == nil {
		return
	}
	if list.Kind != Array {
		d.faults.Add(list, "%s is a list of names", keyword)
		return
	}
	for _, item := range list.Items {
		if item.Kind != String || !properties.Has(item.Text) {
			d.faults.Add(item, "%s: no property %q", keyword, item.Text)
		}
	}
}

// only refuses keywords outside the list.
func (d dialect) only(n *Node, allowed ...string) {
	for _, m := range n.Members {
		if !slices.Contains(allowed, m.Name) {
			slices.Sort(allowed)
			d.faults.Add(m.Value, "keyword %q is not taken here; known: %s", m.Name, strings.Join(slices.Compact(allowed), ", "))
		}
	}
}

func quoted(names []string) string {
	return `"` + strings.Join(names, `", "`) + `"`
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
