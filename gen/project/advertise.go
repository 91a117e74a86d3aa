package project

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"rea/gen/load"
)

// CompactLimit is the longest compact input, references expanded.
const CompactLimit = 13312

// MaxExamples is how many examples of a tool are advertised.
const MaxExamples = 2

// Full is the advertised input: one object at the root, prose kept, titles
// dropped. Examples are valid inputs; those that only inline Evidence could carry
// are left to the contract.
func Full(contained *load.Node, examples []*load.Node) *load.Node {
	out := share(quietRecords(advertised(mergeRoot(contained))))
	out = dropTitles(out)
	shown := list()
	for _, e := range examples {
		if len(shown.Items) < MaxExamples && len(e.Members) > 0 && !carriesEvidence(e) &&
			!slices.ContainsFunc(shown.Items, func(s *load.Node) bool { return s.JSON() == e.JSON() }) {
			shown.Items = append(shown.Items, e)
		}
	}
	if len(shown.Items) > 0 {
		out = with(out, "examples", shown)
	}
	return ordered(out)
}

// advertised drops what clients can't use: formats of our own, and the bounds
// that hold anyway.
func advertised(n *load.Node) *load.Node { return rewrite(n, plainFormat) }

// quietRecords drops the prose inside Evidence records: callers pass records on as
// they got them, and the words would push the tool's own out of what clients show.
func quietRecords(n *load.Node) *load.Node {
	return rewrite(n, func(s *load.Node) *load.Node {
		p := s.Get("properties")
		if !p.Has("evidence_id") || !p.Has("normalized_result") {
			return s
		}
		quiet := rewrite(s, func(s *load.Node) *load.Node { return without(s, "title", "description") })
		return describe(quiet, s.Str("description"))
	})
}

func dropTitles(n *load.Node) *load.Node {
	return rewrite(n, func(s *load.Node) *load.Node { return without(s, "title") })
}

// ordered puts the keywords of the root in the order in which one reads them.
func ordered(n *load.Node) *load.Node {
	out := object()
	for _, name := range []string{"$schema", "$id", "type", "description", "properties", "required"} {
		if v := n.Get(name); v != nil {
			out.Members = append(out.Members, load.Member{Name: name, Value: v})
		}
	}
	rest := without(n, "$schema", "$id", "type", "description", "properties", "required", "$defs")
	out.Members = append(out.Members, rest.Members...)
	if v := n.Get("$defs"); v != nil {
		out.Members = append(out.Members, load.Member{Name: "$defs", Value: v})
	}
	return out
}

// carriesEvidence reports whether a value has a whole Evidence record in it.
func carriesEvidence(n *load.Node) bool {
	if n.Has("evidence_id") && n.Has("normalized_result") {
		return true
	}
	for _, item := range n.Items {
		if carriesEvidence(item) {
			return true
		}
	}
	for _, m := range n.Members {
		if carriesEvidence(m.Value) {
			return true
		}
	}
	return false
}

// Compact is the advertised input of the compact profile: references expanded,
// and no prose but the root's.
func Compact(contained *load.Node) *load.Node {
	merged := advertised(mergeRoot(contained))
	bare := rewrite(merged, func(s *load.Node) *load.Node {
		return without(s, "title", "description", "default", "examples")
	})
	bare = describe(bare, merged.Str("description"))
	if out := expand(bare, CompactLimit); out != nil {
		return ordered(out)
	}
	return ordered(Reduced(merged))
}

func describe(n *load.Node, description string) *load.Node {
	if description == "" {
		return n
	}
	return with(n, "description", text(description))
}

// Reduced says the names, types and descriptions of the root's properties, and
// which are required: what is left of a schema that the compact profile has no
// room for.
func Reduced(merged *load.Node) *load.Node {
	defs := merged.Get("$defs")
	properties := object()
	for _, m := range merged.Get("properties").Members {
		p := describe(kinds(m.Value, defs), target(m.Value, defs).Str("description"))
		if own := m.Value.Str("description"); own != "" {
			p = describe(p, own)
		}
		properties.Members = append(properties.Members, load.Member{Name: m.Name, Value: p})
	}
	out := object(load.Member{Name: "type", Value: text("object")}, load.Member{Name: "properties", Value: properties})
	for _, name := range []string{"required", "additionalProperties"} {
		if v := merged.Get(name); v != nil {
			out = with(out, name, v)
		}
	}
	return describe(out, merged.Str("description"))
}

// kinds is the type of a value, or the types of its alternatives.
func kinds(n, defs *load.Node) *load.Node {
	n = target(n, defs)
	var alternatives []*load.Node
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, item := range n.Get(keyword).List() {
			k := kinds(item, defs)
			if inner := k.Get("anyOf"); inner != nil {
				alternatives = append(alternatives, inner.Items...)
			} else {
				alternatives = append(alternatives, k)
			}
		}
	}
	var distinct []*load.Node
	for _, a := range alternatives {
		if !slices.ContainsFunc(distinct, func(d *load.Node) bool { return d.JSON() == a.JSON() }) {
			distinct = append(distinct, a)
		}
	}
	switch len(distinct) {
	case 0:
		return typeOnly(n)
	case 1:
		return distinct[0]
	}
	return object(load.Member{Name: "anyOf", Value: list(distinct...)})
}

// Output is the advertised output. A tool that seals Evidence returns the record
// with its output inside; then record is the schema of records, and nil
// otherwise. The identity is bound to the content, so that equal outputs have one
// and any change makes another.
func Output(contained, record *load.Node) *load.Node {
	out := mergeOutput(contained)
	if record != nil {
		out = enclose(record, contained)
	}
	out = ordered(dropTitles(share(rewrite(advertised(out), shortNullable))))
	out = with(without(out, "$schema", "$id"), "$schema", text(Dialect))
	sum := sha256.Sum256(out.AppendJSON(nil))
	return ordered(with(out, "$id", text("urn:rea:schema:sha256:"+hex.EncodeToString(sum[:]))))
}

// shortNullable says "a value or null" by a list of types where that means the
// same. Only outputs are written so: some model APIs read a list of types in an
// input as its first.
func shortNullable(s *load.Node) *load.Node {
	list := s.Get("anyOf").List()
	if len(list) != 2 || list[1].JSON() != `{"type":"null"}` {
		return s
	}
	value := list[0]
	if t := value.Get("type"); t == nil || t.Kind != load.String || value.Has("enum") || value.Has("const") {
		return s
	}
	value = with(value, "type", texts(value.Str("type"), "null"))
	for _, m := range s.Members {
		if m.Name != "anyOf" {
			value = with(value, m.Name, m.Value)
		}
	}
	return value
}

func mergeOutput(contained *load.Node) *load.Node {
	if contained.Has("oneOf") {
		return mergeRoot(contained)
	}
	return contained
}

// Either is the schema of a result that comes in one of two forms.
func Either(a, b *load.Node) *load.Node {
	defs := a.Get("$defs")
	if defs == nil {
		defs = object()
	}
	for _, m := range b.Get("$defs").Properties() {
		if !defs.Has(m.Name) {
			defs = with(defs, m.Name, m.Value)
		}
	}
	bare := func(n *load.Node) *load.Node { return without(n, "$defs", "$schema", "title") }
	out := object(load.Member{Name: "oneOf", Value: list(bare(a), bare(b))})
	if len(defs.Members) > 0 {
		out = with(out, "$defs", defs)
	}
	return out
}

// enclose is the schema of a record whose result is of the given schema. The
// prose about records, the same in every tool, is left out.
func enclose(record, result *load.Node) *load.Node {
	quiet := rewrite(record, func(s *load.Node) *load.Node { return without(s, "title", "description") })
	defs := quiet.Get("$defs")
	if defs == nil {
		defs = object()
	}
	renamed := map[string]string{}
	for _, m := range result.Get("$defs").Properties() {
		name := m.Name
		other := defs.Get(name)
		bare := rewrite(m.Value, func(s *load.Node) *load.Node { return without(s, "title", "description") })
		for other != nil && other.JSON() != bare.JSON() { // a local definition of that name
			name += "_"
			other = defs.Get(name)
		}
		renamed[m.Name] = name
	}
	rename := func(n *load.Node) *load.Node {
		return rewrite(n, func(s *load.Node) *load.Node {
			if name := refName(s); name != "" {
				return with(s, "$ref", text(local+renamed[name]))
			}
			return s
		})
	}
	for _, m := range result.Get("$defs").Properties() {
		defs = with(defs, renamed[m.Name], rename(m.Value))
	}
	properties := with(quiet.Get("properties"), "normalized_result", rename(without(result, "$defs", "$schema")))
	out := with(without(quiet, "$defs"), "properties", properties)
	if len(defs.Members) > 0 {
		out = with(out, "$defs", defs)
	}
	return out
}
