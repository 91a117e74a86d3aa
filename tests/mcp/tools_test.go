package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kaptinlin/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/tests/built"
)

// schemas compiles what the server advertises. Nothing is ever loaded from elsewhere.
func schemas(t *testing.T, list []*mcp.Tool) map[string]*jsonschema.Schema {
	t.Helper()
	out := map[string]*jsonschema.Schema{}
	for _, tool := range list {
		c := jsonschema.NewCompiler()
		for _, scheme := range []string{"http", "https"} {
			c.RegisterLoader(scheme, func(url string) (io.ReadCloser, error) {
				return nil, errors.New("refused to load " + url)
			})
		}
		schema, err := c.Compile(marshal(t, tool.OutputSchema))
		if err != nil {
			t.Fatalf("%s: output schema: %v", tool.Name, err)
		}
		out[tool.Name] = schema
	}
	return out
}

// checkReply holds a successful reply to what every client relies on: structured
// content that obeys the advertised schema, and text that says the same.
func checkReply(t *testing.T, name string, schema *jsonschema.Schema, r *mcp.CallToolResult) {
	t.Helper()
	structured := marshal(t, r.StructuredContent)
	if result := schema.ValidateJSON(structured); !result.IsValid() {
		t.Errorf("%s: structured content breaks its schema: %v\n%.2000s", name, result.DetailedErrors(), structured)
	}
	var said any
	if err := json.Unmarshal([]byte(text(t, r)), &said); err != nil {
		t.Errorf("%s: text is not JSON: %v", name, err)
		return
	}
	if !reflect.DeepEqual(said, r.StructuredContent) {
		t.Errorf("%s: text and structured content differ", name)
	}
}

// steps is an investigation that uses every tool at least once, in an order in
// which each finds what it needs.
func steps(t *testing.T, dir, fixture string) []struct {
	tool string
	args object
} {
	bundle := filepath.Join(dir, "bundle.json")
	type step = struct {
		tool string
		args object
	}
	return []step{
		{"binary_session", object{}},
		{"open_binary", object{"path": fixture}},
		{"binary_session", object{}},
		{"binary_overview", object{"detail": "detailed"}},
		{"inspect_binary_layout", object{"relocation_limit": 20}},
		{"list_documents", object{}},
		{"current_document", object{}},
		{"list_segments", object{}},
		{"list_procedures", object{}},
		{"list_names", object{}},
		{"list_strings", object{}},
		{"search_procedures", object{"pattern": "check"}},
		{"search_strings", object{"pattern": "^usage", "mode": "regex"}},
		{"procedure_address", object{"procedure": "main"}},
		{"procedure_info", object{"procedure": "main"}},
		{"procedure_assembly", object{"procedure": "main"}},
		{"read_function_instructions", object{"procedure": "main"}},
		{"procedure_callees", object{"procedure": "choose"}},
		{"procedure_callers", object{"procedure": "greet"}},
		{"procedure_references", object{"procedure": "choose"}},
		{"resolve_native_call_targets", object{"procedure": "main"}},
		{"analyze_function", object{"procedure": "check_license", "include_assembly": true}},
		{"get_call_graph", object{"procedure": "main", "depth": 3}},
		{"trace_call_path", object{"start": "main", "goal": "check_license"}},
		{"trace_feature", object{"query": "license"}},
		{"find_xrefs_to_name", object{"name": "strcmp"}},
		{"inspect_native_api", object{"procedure": "choose"}},
		{"address_name", object{"address": "$main"}},
		{"address_to_file_offset", object{"address": "$main"}},
		{"resolve_containing_procedure", object{"address": "$main"}},
		{"read_bytes", object{"address": "$main", "length": 32}},
		{"xrefs", object{"address": "$main"}},
		{"next_address", object{"address": "$main"}},
		{"prev_address", object{"address": "$main"}},
		{"inspect_native_instruction", object{"address": "$main"}},
		{"inspect_address_context", object{"address": "$main"}},
		{"goto_address", object{"address": "$main"}},
		{"current_address", object{}},
		{"current_procedure", object{}},
		{"get_navigation_context", object{}},
		{"set_comment", object{"address": "$main", "comment": "entry of the menu"}},
		{"comment", object{"address": "$main"}},
		{"set_inline_comment", object{"address": "$main", "comment": "first"}},
		{"inline_comment", object{"address": "$main"}},
		{"set_bookmark", object{"address": "$main", "name": "start"}},
		{"list_bookmarks", object{}},
		{"unset_bookmark", object{"address": "$main"}},
		{"set_names", object{"names": []object{{"address": "$main", "name": "menu_main"}}}},
		{"annotate_native_function", object{"procedure": "choose", "comment": "dispatches"}},
		{"get_evidence_bundle", object{}},
		{"export_evidence_bundle", object{"path": bundle}},
		{"import_evidence_bundle", object{"path": bundle}},
	}
}

func TestEveryTool(t *testing.T) {
	fixture := built.C(t, "menu.c", "-O1", "-g")
	s := server(t, built.Rea(t), nil)
	list := tools(t, s)
	schema := schemas(t, list)
	var main string
	called := map[string]int{}
	for _, step := range steps(t, t.TempDir(), fixture) {
		args := strings.ReplaceAll(string(marshal(t, step.args)), "$main", main)
		r := call(t, s, step.tool, json.RawMessage(args))
		checkReply(t, step.tool, schema[step.tool], r)
		called[step.tool]++
		if step.tool == "procedure_address" {
			main, _ = at(t, r, "normalized_result", "procedure", "address").(string)
			if main == "" {
				t.Fatal("main has no address")
			}
		}
	}
	for _, tool := range list {
		if called[tool.Name] > 0 {
			continue
		}
		// What is left needs an engine or a target that is not here, or records of
		// its own; it must say so in the form of every error.
		args := remaining(t, s, tool.Name)
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: args})
		if err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if r.IsError {
			checkError(t, tool.Name, r, "capability_unavailable")
			continue
		}
		checkReply(t, tool.Name, schema[tool.Name], r)
	}
}

// remaining are arguments of the tools that the investigation does not use.
func remaining(t *testing.T, s *mcp.ClientSession, tool string) any {
	t.Helper()
	record := func(name string, args object) object {
		r := call(t, s, name, args)
		return object{"kind": "retained-evidence", "evidence_id": at(t, r, "evidence_id")}
	}
	switch tool {
	case "close_binary", "analyze_swift_types", "get_objc_classes", "get_objc_protocols":
		return object{}
	case "batch_decompile":
		return object{"procedures": []string{"greet", "no_such"}}
	case "procedure_pseudo_code":
		return object{"procedure": "greet"}
	case "inspect_native_data_type":
		return object{"pattern": "int"}
	case "trace_native_values":
		r := call(t, s, "procedure_address", object{"procedure": "greet"})
		return object{"address": at(t, r, "normalized_result", "procedure", "address")}
	case "compare_functions":
		return object{
			"left":  record("analyze_function", object{"procedure": "greet"}),
			"right": record("analyze_function", object{"procedure": "measure"}),
		}
	}
	t.Errorf("%s is used by no test; add it to an investigation", tool)
	return object{}
}

// checkError holds a failed reply to the documented form.
func checkError(t *testing.T, name string, r *mcp.CallToolResult, code string) {
	t.Helper()
	if !r.IsError || r.StructuredContent != nil {
		t.Errorf("%s: want an error without structured content, got %+v", name, r)
		return
	}
	var doc struct {
		Error struct {
			Code, Category, Message string
			Retryable               *bool
			Remediation             struct {
				Action          string
				RestartRequired *bool `json:"restart_required"`
			}
			Details object
		}
	}
	if err := json.Unmarshal([]byte(text(t, r)), &doc); err != nil {
		t.Errorf("%s: error text is not JSON: %v", name, err)
		return
	}
	e := doc.Error
	if e.Code != code {
		t.Errorf("%s: code %q, want %q (%s)", name, e.Code, code, e.Message)
	}
	if e.Category == "" || e.Message == "" || e.Retryable == nil || e.Remediation.Action == "" || e.Remediation.RestartRequired == nil || e.Details == nil {
		t.Errorf("%s: the diagnostic is incomplete: %s", name, text(t, r))
	}
}

func TestErrors(t *testing.T) {
	fixture := built.C(t, "menu.c", "-O1")
	s := server(t, built.Rea(t), nil)
	for _, tt := range []struct {
		name, tool string
		args       any
		code       string
	}{
		{"nothing_open", "list_procedures", object{}, "no_target_open"},
		{"missing_file", "open_binary", object{"path": "/no/such/file"}, "target_unavailable"},
		{"directory", "open_binary", object{"path": t.TempDir()}, "target_unavailable"},
		{"no_binary", "open_binary", object{"path": "client_test.go"}, "unsupported_target"},
		{"no_path", "open_binary", object{}, "invalid_request"},
		{"unknown_engine", "open_binary", object{"path": fixture, "provider_id": "nothing"}, "provider_selection"},
		{"", "open_binary", object{"path": fixture}, ""},
		{"unknown_property", "list_procedures", object{"bogus": 1}, "invalid_request"},
		{"wrong_type", "list_procedures", object{"limit": "ten"}, "invalid_request"},
		{"unknown_procedure", "procedure_info", object{"procedure": "no_such"}, "procedure_not_found"},
		{"bad_address", "read_bytes", object{"address": "zz", "length": 4}, "invalid_address"},
		{"bad_pattern", "search_strings", object{"pattern": "(", "mode": "regex"}, "invalid_pattern"},
		{"unknown_document", "list_procedures", object{"document": "other"}, "document_not_found"},
		{"a_refused_open", "open_binary", object{"path": "client_test.go"}, "unsupported_target"},
		{"", "list_procedures", object{}, ""}, // the previous target is as it was
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
		switch {
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.code == "" && r.IsError:
			t.Errorf("%s failed: %s", tt.tool, text(t, r))
		case tt.code != "":
			checkError(t, tt.name, r, tt.code)
		}
	}
}
