package ir

import (
	"slices"
	"strings"

	"rea/gen/load"
)

// union classifies a oneOf by what tells its variants apart.
func (b *builder) union(t *Type, n *load.Node, at scope) {
	t.Kind = Union
	b.name(t, n, at)
	items := n.Get("oneOf").Items
	schemas := make([]*load.Node, len(items))
	objects := 0
	for i, item := range items {
		schemas[i] = b.follow(item)
		if schemas[i].Str("type") == "object" && !isMap(schemas[i]) {
			objects++
		}
	}
	if objects < len(items) {
		b.byType(t, items, schemas, at)
		return
	}
	tags := make([]string, len(items))
	if t.Tag = sharedTag(schemas); t.Tag != "" {
		t.Union = Tagged
		for i, s := range schemas {
			tags[i] = s.At("properties", t.Tag, "const").Text
		}
	} else {
		t.Union = Presence
		for i := range schemas {
			if tags[i] = ownProperty(schemas, i); tags[i] == "" {
				b.fail(items[i], "nothing tells this alternative from the others: give all of them one required property that is a different string constant in each, or each a required property that no other has")
				return
			}
		}
	}
	for i, item := range items {
		v := &Variant{Tag: tags[i], Kind: "{"}
		v.Type = b.build(item, at.named(t.Name+exported(tags[i])))
		b.reach(t, v, item)
		t.Variants = append(t.Variants, v)
	}
}

// byType builds a union whose variants have distinct JSON types.
func (b *builder) byType(t *Type, items, schemas []*load.Node, at scope) {
	t.Union = ByType
	kinds := map[string]string{"boolean": "t", "integer": "0", "number": "0", "string": `"`, "array": "[", "object": "{"}
	seen := ""
	for i, item := range items {
		typ := schemas[i].Str("type")
		kind := kinds[typ]
		if kind == "" || strings.Contains(seen, kind) {
			b.fail(item, "alternatives that are not all objects are told apart by their JSON type, and this one has the type of another or several: nest the objects in a oneOf of their own under contracts/models")
			return
		}
		seen += kind
		v := &Variant{Kind: kind}
		v.Type = b.build(item, at.named(t.Name+exported(typ)))
		switch v.Type.Kind {
		case Struct:
			b.reach(t, v, item)
		case Const, Union:
			b.fail(item, "an alternative told by its JSON type is a plain value, an array, a map or an object")
			return
		default:
			v.Go = t.Name + exported(typ)
			if v.Type.Name == v.Go {
				v.Go += "Value"
			}
			b.claim(item, t.Pkg, v.Go)
		}
		t.Variants = append(t.Variants, v)
	}
}

// reach refuses variants that live in another package than their union, where Go
// lets no method be added to them.
func (b *builder) reach(t *Type, v *Variant, item *load.Node) {
	if v.Type.Pkg != t.Pkg {
		b.fail(item, "a union of a tool or an error can't have a model as an alternative: move the whole oneOf to contracts/models/<name>.json and refer to it")
	}
	for _, other := range t.Variants {
		if other.Type == v.Type {
			b.fail(item, "the alternative is listed twice")
		}
	}
}

func (b *builder) follow(n *load.Node) *load.Node {
	for range 32 {
		ref := n.Get("$ref")
		if ref == nil {
			return n
		}
		target, err := b.set.Resolve(ref)
		if err != nil {
			return n
		}
		n = target
	}
	return n
}

func isMap(n *load.Node) bool {
	more := n.Get("additionalProperties")
	return more != nil && more.Kind == load.Object
}

// sharedTag is the first property that is a required, different string constant
// in every object.
func sharedTag(objects []*load.Node) string {
	properties := objects[0].Get("properties")
	if properties == nil {
		return ""
	}
next:
	for _, m := range properties.Members {
		seen := map[string]bool{}
		for _, o := range objects {
			c := o.At("properties", m.Name, "const")
			if c == nil || c.Kind != load.String || seen[c.Text] || !slices.Contains(o.Get("required").Strings(), m.Name) {
				continue next
			}
			seen[c.Text] = true
		}
		return m.Name
	}
	return ""
}

// ownProperty is the first required property of object i that no other object
// has.
func ownProperty(objects []*load.Node, i int) string {
next:
	for _, name := range objects[i].Get("required").Strings() {
		for j, o := range objects {
			if j != i && o.Get("properties").Has(name) {
				continue next
			}
		}
		return name
	}
	return ""
}
