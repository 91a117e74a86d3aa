package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rea/generated/schema"
	"rea/generated/tool"
)

// What model APIs and clients were seen to refuse, in both profiles and over the
// whole inventory. The numbers are theirs, not ours.

const (
	fullLimit    = 4800  // beyond about 5,000 bytes one client drops every description
	compactLimit = 13312 // the largest input that a strict API was seen to take
	nativeLimit  = 70 << 10
	totalLimit   = 128 << 10
	deepest      = 10
)

// overLimit are the full inputs above fullLimit, references expanded, with their
// sizes: they take whole Evidence records, whose form leaves no choice.
var overLimit = map[string]int{
	"compare_application_versions":     22756,
	"compare_artifacts":                11441,
	"compare_functions":                11334,
	"compare_javascript_export_shapes": 12162,
	"compare_source_to_bundle":         11972,
	"inspect_analysis_view":            6682,
	"trace_application_feature":        12385,
	"trace_javascript_semantics":       8851,
}

// nativeFamilies are what an agent needs for native binaries; --toolsets shows
// them alone.
var nativeFamilies = []string{"session", "evidence", "native", "analysis", "binary"}

// reducedForms are the tools whose compact input has no room for its structure.
var reducedForms = []string{"compare_application_versions"}

type object = map[string]any

func parse(t *testing.T, text string) object {
	t.Helper()
	var v object
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// eachAdvertised runs a test over every advertised input and output.
func eachAdvertised(t *testing.T, check func(t *testing.T, s object)) {
	for _, spec := range tool.Specs() {
		for what, text := range map[string]string{
			"full":    schema.Input(spec.Name, schema.Full),
			"compact": schema.Input(spec.Name, schema.Compact),
			"output":  schema.Output(spec.Name),
		} {
			t.Run(spec.Name+"/"+what, func(t *testing.T) { check(t, parse(t, text)) })
		}
	}
}

// walk visits every schema with its path and its depth in levels of data.
func walk(s object, path string, depth int, visit func(s object, path string, depth int)) {
	visit(s, path, depth)
	for _, keyword := range []string{"properties", "$defs"} {
		named, _ := s[keyword].(object)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			level := depth
			if keyword == "properties" {
				level++
			}
			at := path + "/" + keyword + "/" + name
			if sub, ok := named[name].(object); ok {
				walk(sub, at, level, visit)
			} else {
				visit(nil, at, level)
			}
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, _ := s[keyword].([]any)
		for i, item := range list {
			sub, _ := item.(object)
			walk(sub, fmt.Sprintf("%s/%s/%d", path, keyword, i), depth, visit)
		}
	}
	if items, ok := s["items"]; ok {
		sub, _ := items.(object)
		walk(sub, path+"/items", depth+1, visit)
	}
	if more, ok := s["additionalProperties"]; ok && more != false {
		sub, _ := more.(object)
		walk(sub, path+"/additionalProperties", depth+1, visit)
	}
}

// expand writes references out, as some clients do before they send a schema.
func expand(t *testing.T, v any, defs object, open []string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = expand(t, v[i], defs, open)
		}
		return out
	case object:
		out := object{}
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/$defs/")
			if slices.Contains(open, name) {
				t.Fatalf("recursive reference %s", ref)
			}
			out = expand(t, defs[name], defs, append(slices.Clone(open), name)).(object)
		}
		for name, value := range v {
			if name != "$ref" && name != "$defs" {
				out[name] = expand(t, value, defs, open)
			}
		}
		return out
	}
	return v
}

func expandedSize(t *testing.T, s object) int {
	defs, _ := s["$defs"].(object)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(expand(t, s, defs, nil)); err != nil {
		t.Fatal(err)
	}
	return b.Len() - 1
}

func TestRoot_is_an_object_with_properties(t *testing.T) {
	eachAdvertised(t, func(t *testing.T, s object) {
		if _, ok := s["properties"].(object); !ok || s["type"] != "object" {
			t.Error("the root is no object with properties")
		}
		for _, keyword := range []string{"anyOf", "oneOf", "allOf", "enum", "not", "if", "$ref"} {
			if _, ok := s[keyword]; ok {
				t.Errorf("the root has %s", keyword)
			}
		}
	})
}

var (
	notPortable  = regexp.MustCompile(`\(\?[=!<]|\\[pucdwsDWSbB0]`)
	propertyName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

func TestSubschemas_are_of_the_forms_that_all_clients_take(t *testing.T) {
	eachAdvertised(t, func(t *testing.T, root object) {
		input := strings.HasSuffix(t.Name(), "/full") || strings.HasSuffix(t.Name(), "/compact")
		walk(root, "#", 0, func(s object, path string, depth int) {
			if s == nil {
				t.Errorf("%s is a boolean schema", path)
				return
			}
			has := func(keyword string) bool { _, ok := s[keyword]; return ok }
			if has("type") && (has("anyOf") || has("oneOf")) {
				t.Errorf("%s has a type beside alternatives", path)
			}
			if (has("enum") || has("const")) && !has("type") {
				t.Errorf("%s has values without a type", path)
			}
			if path != "#" && !has("type") && !has("anyOf") && !has("oneOf") && !has("$ref") {
				t.Errorf("%s says no type", path)
			}
			if list, ok := s["type"].([]any); ok && len(list) != 6 && input {
				t.Errorf("%s has a list of types other than all six", path)
			}
			if has("$defs") && path != "#" {
				t.Errorf("%s has $defs below the root", path)
			}
			if ref, ok := s["$ref"].(string); ok {
				defs, _ := root["$defs"].(object)
				if defs[strings.TrimPrefix(ref, "#/$defs/")] == nil {
					t.Errorf("%s refers to %s, which is not there", path, ref)
				}
				for keyword := range s {
					if keyword != "$ref" && keyword != "description" && keyword != "default" {
						t.Errorf("%s has %s beside $ref", path, keyword)
					}
				}
			}
			properties, _ := s["properties"].(object)
			required, _ := s["required"].([]any)
			for _, name := range required {
				if properties[name.(string)] == nil {
					t.Errorf("%s requires %v, which is no property", path, name)
				}
			}
			for name := range properties {
				if !propertyName.MatchString(name) {
					t.Errorf("%s: property name %q", path, name)
				}
			}
			if pattern, ok := s["pattern"].(string); ok && notPortable.MatchString(pattern) {
				t.Errorf("%s: engines differ about %s", path, pattern)
			}
			if input && depth > deepest {
				t.Errorf("%s lies %d levels deep", path, depth)
			}
		})
		expandedSize(t, root) // fails on recursion
	})
}

func TestFull_inputs_are_small(t *testing.T) {
	for _, spec := range tool.Specs() {
		n := expandedSize(t, parse(t, schema.Input(spec.Name, schema.Full)))
		if want, listed := overLimit[spec.Name]; listed {
			if n > want || n <= fullLimit {
				t.Errorf("%s: %d bytes, listed with %d", spec.Name, n, want)
			}
			if len(spec.Retained) == 0 {
				t.Errorf("%s takes no Evidence and has no reason to be over %d bytes", spec.Name, fullLimit)
			}
		} else if n > fullLimit {
			t.Errorf("%s: %d bytes with references expanded, the limit is %d", spec.Name, n, fullLimit)
		}
	}
}

func TestCompact_inputs_fit_and_have_prose_at_the_root_only(t *testing.T) {
	for _, spec := range tool.Specs() {
		s := parse(t, schema.Input(spec.Name, schema.Compact))
		if n := expandedSize(t, s); n > compactLimit {
			t.Errorf("%s: %d bytes, the limit is %d", spec.Name, n, compactLimit)
		}
		if slices.Contains(reducedForms, spec.Name) {
			continue
		}
		walk(s, "#", 0, func(s object, path string, _ int) {
			for _, keyword := range []string{"description", "title", "default", "examples", "$ref", "$defs"} {
				if _, ok := s[keyword]; ok && path != "#" {
					t.Errorf("%s: %s has %s", spec.Name, path, keyword)
				}
			}
		})
	}
}

// The compact form says all that the full one does about structure, but for the
// reduced ones.
func TestCompact_structure_is_that_of_full(t *testing.T) {
	shape := func(s object) []string {
		defs, _ := s["$defs"].(object)
		var out []string
		walk(expand(t, s, defs, nil).(object), "#", 0, func(s object, path string, _ int) {
			for _, keyword := range []string{"type", "enum", "const", "pattern", "required", "minimum", "maximum", "minLength", "maxLength",
				"minItems", "maxItems", "uniqueItems", "dependentRequired", "additionalProperties"} {
				if v, ok := s[keyword]; ok {
					if sub, ok := v.(object); ok && keyword == "additionalProperties" {
						v = len(sub) > 0
					}
					out = append(out, fmt.Sprint(path, " ", keyword, " ", v))
				}
			}
		})
		slices.Sort(out)
		return out
	}
	for _, spec := range tool.Specs() {
		full := shape(parse(t, schema.Input(spec.Name, schema.Full)))
		compact := shape(parse(t, schema.Input(spec.Name, schema.Compact)))
		if same := slices.Equal(full, compact); same == slices.Contains(reducedForms, spec.Name) {
			t.Errorf("%s: same structure is %v\nfull    %v\ncompact %v", spec.Name, same, full, compact)
		}
	}
}

func TestInventory_fits_into_model_requests(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)
	total, native := 0, 0
	for _, spec := range tool.Specs() {
		n := len(spec.Name) + len(spec.Description) + len(schema.Input(spec.Name, schema.Full))
		total += n
		if slices.Contains(nativeFamilies, spec.Family) {
			native += n
		}
		if !name.MatchString(spec.Name) {
			t.Errorf("tool name %q", spec.Name)
		}
		if strings.TrimSpace(spec.Description) == "" {
			t.Errorf("%s has no description", spec.Name)
		}
	}
	t.Logf("%d tools, %d bytes of names, descriptions and inputs; %d of them for native binaries", len(tool.Specs()), total, native)
	if native > nativeLimit {
		t.Errorf("names, descriptions and inputs of the tools for native binaries take %d bytes, the limit is %d", native, nativeLimit)
	}
	if total > totalLimit {
		t.Errorf("names, descriptions and inputs take %d bytes, the limit is %d", total, totalLimit)
	}
	if n := len(tool.Specs()); n > 128 {
		t.Errorf("%d tools, several clients refuse more than 128", n)
	}
}

func TestOutputs_have_an_identity_of_their_content(t *testing.T) {
	identity := regexp.MustCompile(`^urn:rea:schema:sha256:[0-9a-f]{64}$`)
	seen := map[string]string{}
	for _, spec := range tool.Specs() {
		text := schema.Output(spec.Name)
		s := parse(t, text)
		id, _ := s["$id"].(string)
		if !identity.MatchString(id) || s["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s: $id %q, $schema %v", spec.Name, id, s["$schema"])
		}
		if other, ok := seen[id]; ok && other != text {
			t.Errorf("%s: another schema has the same $id", spec.Name)
		}
		seen[id] = text
	}
}

func TestUnknown_tools_have_no_schema(t *testing.T) {
	for _, name := range []string{"", "zzz", "list_name"} {
		if got := schema.Input(name, schema.Full) + schema.Output(name); got != "" {
			t.Errorf("%q has the schema %s", name, got)
		}
	}
}
