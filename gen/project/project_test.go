package project

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"rea/gen/load"
)

func parse(t *testing.T, text string) *load.Node {
	t.Helper()
	n, err := load.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFull(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"properties_even_when_empty",
			`{"type":"object","additionalProperties":false}`,
			`{"type":"object","properties":{},"additionalProperties":false}`},
		{"titles_and_formats_go_descriptions_stay",
			`{"title":"T","description":"D","type":"object","properties":{"title":{"type":"string","title":"x","description":"d","format":"path","examples":["a"]}}}`,
			`{"type":"object","description":"D","properties":{"title":{"type":"string","description":"d","examples":["a"]}}}`},
		{"addresses_have_a_pattern",
			`{"type":"object","properties":{"a":{"type":"string","format":"address"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","pattern":"^0x[0-9a-f]{1,16}$"}}}`},
		{"a_definition_used_once_is_written_in_place",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"own"}},"$defs":{"x":{"type":"string","description":"shared","maxLength":5}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"own","maxLength":5}}}`},
		{"a_long_definition_used_twice_is_shared",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x","description":"own"}},"$defs":{"x":{"type":"string","enum":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbb"]}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x","description":"own"}},"$defs":{"x":{"type":"string","enum":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbb"]}}}`},
		{"a_short_definition_used_twice_is_not",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"recursion_ends_in_the_type",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","properties":{"next":{"$ref":"#/$defs/x"},"name":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"next":{"type":"object"},"name":{"type":"string"}}}}}`},
		{"tags_of_a_root_union_become_an_enum",
			`{"oneOf":[{"type":"object","required":["mode"],"properties":{"mode":{"type":"string","const":"all"}}},` +
				`{"type":"object","required":["mode","name"],"properties":{"mode":{"type":"string","const":"one"},"name":{"type":"string"},"limit":{"type":"integer"}}}],"description":"D."}`,
			`{"type":"object","description":"D. Accepted groups: mode=\"all\"; or mode=\"one\" and name (optional: limit).",` +
				`"properties":{"mode":{"type":"string","enum":["all","one"]},"name":{"type":"string"},"limit":{"type":"integer"}},` +
				`"required":["mode"],"dependentRequired":{"limit":["name"]},"additionalProperties":false}`},
		{"different_forms_of_a_property_become_alternatives",
			`{"oneOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"v":{"type":"string","description":"d","default":"x"}}},` +
				`{"type":"object","required":["b"],"properties":{"b":{"type":"string"},"v":{"type":"integer"}}}]}`,
			`{"type":"object","description":"Accepted groups: a (optional: v); or b (optional: v).",` +
				`"properties":{"a":{"type":"string"},"v":{"anyOf":[{"type":"string"},{"type":"integer"}],"description":"d"},"b":{"type":"string"}},"additionalProperties":false}`},
		{"prose_inside_records_goes",
			`{"type":"object","properties":{"r":{"type":"object","description":"record","properties":{"evidence_id":{"type":"string","description":"x"},"normalized_result":{"type":"object","description":"y"}}}}}`,
			`{"type":"object","properties":{"r":{"type":"object","properties":{"evidence_id":{"type":"string"},"normalized_result":{"type":"object"}},"description":"record"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := parse(t, tt.in)
			if got := Full(in, nil).JSON(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if in.JSON() != tt.in {
				t.Error("the contract itself was changed")
			}
		})
	}
}

func TestFull_examples(t *testing.T) {
	schema := parse(t, `{"type":"object","properties":{}}`)
	examples := parse(t, `[{},{"a":1},{"a":1},{"r":[{"evidence_id":"e","normalized_result":1}]},{"r":{"kind":"retained-evidence","evidence_id":"e"}},{"b":1}]`).Items
	want := `{"type":"object","properties":{},"examples":[{"a":1},{"r":{"kind":"retained-evidence","evidence_id":"e"}}]}`
	if got := Full(schema, examples).JSON(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCompact_drops_prose_and_expands(t *testing.T) {
	in := `{"description":"Root.","type":"object","properties":{"description":{"$ref":"#/$defs/x","description":"own"},"b":{"$ref":"#/$defs/x"}},"required":["b"],` +
		`"$defs":{"x":{"title":"X","type":"array","description":"d","default":[],"items":{"$ref":"#/$defs/y"}},"y":{"type":"string","examples":["e"],"minLength":1}}}`
	want := `{"type":"object","description":"Root.","properties":{"description":{"type":"array","items":{"type":"string","minLength":1}},` +
		`"b":{"type":"array","items":{"type":"string","minLength":1}}},"required":["b"]}`
	if got := Compact(parse(t, in)).JSON(); got != want {
		t.Errorf("got %s", got)
	}
}

// wide is a definition whose expansion grows tenfold with every level.
func wide(levels int) string {
	var defs []string
	for i := range levels {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		if i == levels-1 {
			next = `{"type":"string"}`
		}
		var properties []string
		for p := range 10 {
			properties = append(properties, fmt.Sprintf(`"p%d":%s`, p, next))
		}
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{%s}}`, i, strings.Join(properties, ",")))
	}
	return strings.Join(defs, ",")
}

func TestCompact_reduces_what_has_no_room(t *testing.T) {
	in := `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/d0","description":"guidance"},` +
		`"u":{"oneOf":[{"$ref":"#/$defs/d0"},{"type":"string"},{"$ref":"#/$defs/d1"}]},"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}},` +
		`"additionalProperties":false,"$defs":{` + wide(12) + `}}`
	want := `{"type":"object","properties":{"a":{"type":"object","description":"guidance"},"u":{"anyOf":[{"type":"object"},{"type":"string"}]},` +
		`"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`
	if got := Compact(parse(t, in)).JSON(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestCanonical_has_the_bounds_of_the_decoder(t *testing.T) {
	in := `{"type":"object","properties":{"i":{"type":"integer","minimum":0},"u":{"type":"integer","format":"uint64"},"c":{"type":"integer","const":1}}}`
	want := `{"type":"object","properties":{"i":{"type":"integer","minimum":0,"maximum":9223372036854775807},` +
		`"u":{"type":"integer","minimum":0,"maximum":18446744073709551615},"c":{"type":"integer","const":1}},"$schema":"` + Dialect + `"}`
	if got := Canonical(parse(t, in)).JSON(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestOutput(t *testing.T) {
	record := parse(t, `{"type":"object","description":"A record.","properties":{"normalized_result":{"type":"object"},"provider":{"$ref":"#/$defs/provider"}},`+
		`"$defs":{"provider":{"type":"object","description":"An engine.","properties":{"id":{"type":"string"}}}}}`)
	result := func(description string) *load.Node {
		return parse(t, `{"type":"object","properties":{"provider":{"$ref":"#/$defs/provider"},"same":{"$ref":"#/$defs/provider"}},`+
			`"$defs":{"provider":{"type":"string","description":"`+description+`"}}}`)
	}
	got := Output(result("a"), record)
	want := `{"$schema":"` + Dialect + `","$id":"` + got.Str("$id") + `","type":"object","properties":{"normalized_result":{"type":"object","properties":` +
		`{"provider":{"type":"string","description":"a"},"same":{"type":"string","description":"a"}}},"provider":{"type":"object","properties":{"id":{"type":"string"}}}}}`
	if got.JSON() != want {
		t.Errorf("got  %s\nwant %s", got.JSON(), want)
	}
	if same := Output(result("a"), record); same.Str("$id") != got.Str("$id") {
		t.Error("the same schema has two identities")
	}
	if other := Output(result("b"), record); other.Str("$id") == got.Str("$id") {
		t.Error("another schema has the same identity")
	}
}

func TestContained_follows_references_into_files(t *testing.T) {
	set, err := load.Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range set.Models {
		n, err := Contained(set, doc.Root)
		if err != nil {
			t.Errorf("%s: %v", doc.Name, err)
			continue
		}
		defs := n.Get("$defs")
		rewrite(n, func(s *load.Node) *load.Node {
			if ref := s.Str("$ref"); ref != "" && !defs.Has(strings.TrimPrefix(ref, local)) {
				t.Errorf("%s: %s leads nowhere", doc.Name, ref)
			}
			return s
		})
	}
}
