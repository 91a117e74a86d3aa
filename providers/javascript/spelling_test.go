package javascript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rea/runtime/dispatch"
)

// spellings are a JSON value as different writers write it.
func spellings(t *testing.T, doc []byte) map[string][]byte {
	t.Helper()
	var value any
	if err := json.Unmarshal(doc, &value); err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	html, err := json.Marshal(value) // writes <, > and & as escapes
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"as_delivered": doc,
		"indented":     indented,
		"html_safe":    html,
		"spaced":       spell(nil, value, spelling{comma: ", ", colon: ": "}),
		"reversed":     spell(nil, value, spelling{comma: ",", colon: ":", reversed: true}),
		"escaped":      spell(nil, value, spelling{comma: ",", colon: ":", escaped: true}),
	}
}

// A spelling is a way of writing JSON.
type spelling struct {
	comma, colon      string
	reversed, escaped bool
}

func spell(b []byte, value any, s spelling) []byte {
	switch v := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		if s.reversed {
			slices.Reverse(names)
		}
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, s.comma...)
			}
			b = append(spell(b, name, s), s.colon...)
			b = spell(b, v[name], s)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, s.comma...)
			}
			b = spell(b, item, s)
		}
		return append(b, ']')
	case string:
		if !s.escaped || strings.ContainsFunc(v, func(r rune) bool { return r > 0xffff }) {
			break
		}
		b = append(b, '"')
		for _, r := range v {
			b = fmt.Appendf(b, `\u%04X`, r)
		}
		return append(b, '"')
	}
	doc, _ := json.Marshal(value)
	return append(b, doc...)
}

// How a caller writes the JSON of a record says nothing: whatever the spaces, the
// order of members and the escapes are, the answer is that for the kept record.
func TestAnySpellingOfARecordIsTheRecord(t *testing.T) {
	files := changed(map[string]string{"odd <&>.js": "exports.odd = (a) => fetch('https://api.example.com/<&>/\u00e9\u2028');"})
	d := tools(t)
	app, record, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, files)})
	source, sourceRecord, _ := call(t, d, "import_reference_source", object{"path": folder(t, old)})
	seed := object{"kind": "channel", "value": "search"}
	for name, input := range map[string]func(app, source any) object{
		"trace_application_feature": func(app, _ any) object { return object{"application": app, "seed": seed} },
		"trace_javascript_semantics": func(app, _ any) object {
			return object{"application": app, "seed": seed}
		},
		"compare_application_versions": func(app, _ any) object { return object{"left": app, "right": app} },
		"compare_javascript_export_shapes": func(app, _ any) object {
			return object{"left": app, "right": app, "left_module_path": "search.js"}
		},
		"compare_source_to_bundle": func(app, source any) object { return object{"application": app, "reference": source} },
	} {
		want, err := callWith(t, d, name, input(retained(app), retained(source)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sources := spellings(t, sourceRecord)
		for form, doc := range spellings(t, record) {
			got, err := callWith(t, tools(t), name, input(json.RawMessage(doc), json.RawMessage(sources[form])))
			if err != nil {
				t.Errorf("%s of a record that is %s: %v", name, form, err)
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s of a record that is %s has another answer than of the kept one", name, form)
			}
		}
	}
}

// callWith runs a tool with arguments whose raw parts are left as they are spelled.
func callWith(t *testing.T, d *dispatch.Dispatcher, name string, input object) ([]byte, error) {
	t.Helper()
	args := []byte{'{'}
	for member, value := range input {
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = fmt.Appendf(args, "%q:", member)
		if raw, ok := value.(json.RawMessage); ok {
			args = append(args, raw...)
			continue
		}
		doc, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, doc...)
	}
	out, err := d.Call(t.Context(), name, append(args, '}'))
	if err != nil {
		return nil, err
	}
	return out.Document, nil
}
