package tool

import (
	"encoding/json"
	"regexp/syntax"
	"strings"
	"testing"
)

// A sampler makes a value that a schema accepts. Its variant decides which
// alternative of a union is taken, whether optional properties are there and
// whether nullable ones are null.
type sampler struct {
	t       *testing.T
	root    map[string]any
	variant int
	depth   int
}

func newSampler(t *testing.T, text string, variant int) *sampler {
	t.Helper()
	s := &sampler{t: t, variant: variant}
	if err := json.Unmarshal([]byte(text), &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sampler) value() any { return s.of(s.root) }

func (s *sampler) of(schema map[string]any) any {
	s.depth++
	defer func() { s.depth-- }()
	if ref, ok := schema["$ref"].(string); ok {
		defs := s.root["$defs"].(map[string]any)
		return s.of(defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list, ok := schema[keyword].([]any); ok {
			i := s.variant % len(list)
			if s.depth > 20 { // an end for recursive schemas
				i = len(list) - 1
			}
			return s.of(list[i].(map[string]any))
		}
	}
	if c, ok := schema["const"]; ok {
		return c
	}
	if e, ok := schema["enum"].([]any); ok {
		return e[s.variant%len(e)]
	}
	switch schema["type"] {
	case "null":
		return nil
	case "boolean":
		return s.variant%2 == 0
	case "integer", "number":
		if low, ok := schema["minimum"].(float64); ok && low > -1e15 {
			return low + float64(s.variant)
		}
		return s.variant
	case "string":
		return s.text(schema)
	case "array":
		n := number(schema, "minItems")
		if high := number(schema, "maxItems"); n == 0 && s.depth < 20 && (schema["maxItems"] == nil || high > 0) {
			n = 1
		}
		if s.variant == 3 {
			n = number(schema, "minItems")
		}
		items := []any{}
		for range n {
			items = append(items, s.of(schema["items"].(map[string]any)))
		}
		return items
	case "object":
		return s.object(schema)
	}
	return map[string]any{"any": []any{nil, true, 1.5, "text"}}
}

func (s *sampler) object(schema map[string]any) any {
	out := map[string]any{}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		out["key"] = s.of(more)
		return out
	}
	required := map[string]bool{}
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required[name.(string)] = true
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		if required[name] || s.variant%2 == 0 && s.depth < 20 {
			out[name] = s.of(p.(map[string]any))
		}
	}
	return out
}

func (s *sampler) text(schema map[string]any) string {
	text := "téxt"
	if pattern, ok := schema["pattern"].(string); ok {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			s.t.Fatal(err)
		}
		text = matching(re)
	}
	if n := number(schema, "minLength"); len([]rune(text)) < n {
		text += strings.Repeat("x", n-len([]rune(text)))
	}
	if n := number(schema, "maxLength"); schema["maxLength"] != nil && len([]rune(text)) > n {
		text = string([]rune(text)[:n])
	}
	return text
}

func number(schema map[string]any, keyword string) int {
	f, _ := schema[keyword].(float64)
	return int(f)
}

// matching is a string that a regular expression matches.
func matching(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(re.Rune[0])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpRepeat:
		return strings.Repeat(matching(re.Sub[0]), max(re.Min, 1))
	case syntax.OpPlus, syntax.OpStar, syntax.OpQuest, syntax.OpCapture, syntax.OpAlternate:
		return matching(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(matching(sub))
		}
		return b.String()
	}
	return ""
}

// sealedSample is an Evidence record with a place for the result, as a format.
func sealedSample(t *testing.T) string {
	t.Helper()
	digest := strings.Repeat("0", 64)
	return `{"schema_version":2,"evidence_id":"ev_` + digest + `","operation":"x","predicate_type":"p",` +
		`"normalized_result":%s,"confidence":"observed","authority":"shipped-artifact",` +
		`"subject":{"name":"a","digest":{"sha256":"` + digest + `"},"format":null,"architecture":null,"local_path":null},` +
		`"provider":{"id":"embedded","name":"Embedded","version":null},"analysis_profile":null,"parameters":{"a":1},` +
		`"limitations":["l"],"locations":[{"kind":"address","address":"0x1"}],"evidence_links":[],"environment":null,"raw_result":null}`
}
