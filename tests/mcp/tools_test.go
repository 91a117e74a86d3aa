package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
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

// A step of an investigation. Words that begin with $ in its arguments are
// values that earlier steps gave (see keep).
type step struct {
	tool string
	args object
	// keep names the values of the result that later steps use, with their place.
	keep map[string][]string
	// may is the code with which the tool may refuse, because the fixture or the
	// engine does not have what it shows.
	may string
}

// retained refers to a record that an earlier step gave.
func retained(name string) object { return object{"kind": "retained-evidence", "evidence_id": name} }

// steps is an investigation of one program.
func steps(dir, fixture string) []step {
	bundle := filepath.Join(dir, "bundle.json")
	address := []string{"normalized_result", "procedure", "address"}
	const noCapability = "capability_unavailable"
	return []step{
		{tool: "binary_session", args: object{}},
		{tool: "inspect_artifact", args: object{"path": fixture}},
		{tool: "demangle_symbols", args: object{"symbols": []string{"_ZN3foo3barEi", "not mangled"}}},
		{tool: "open_binary", args: object{"path": fixture}},
		{tool: "binary_session", args: object{}},
		{tool: "binary_overview", args: object{"detail": "detailed"}},
		{tool: "inspect_binary_layout", args: object{"relocation_limit": 20}},
		{tool: "list_documents", args: object{}},
		{tool: "current_document", args: object{}},
		{tool: "list_segments", args: object{}},
		{tool: "list_procedures", args: object{}},
		{tool: "list_names", args: object{}},
		{tool: "list_strings", args: object{}},
		{tool: "search_procedures", args: object{"pattern": "check"}},
		{tool: "search_strings", args: object{"pattern": "^usage", "mode": "regex"}},
		{tool: "procedure_address", args: object{"procedure": "main"}, keep: map[string][]string{"$main": address}},
		{tool: "procedure_info", args: object{"procedure": "main"}},
		{tool: "procedure_assembly", args: object{"procedure": "main"}},
		{tool: "read_function_instructions", args: object{"procedure": "main"}},
		{tool: "procedure_callees", args: object{"procedure": "choose"}},
		{tool: "procedure_callers", args: object{"procedure": "greet"}},
		{tool: "procedure_references", args: object{"procedure": "choose"}},
		{tool: "resolve_native_call_targets", args: object{"procedure": "main"}},
		{tool: "analyze_function", args: object{"procedure": "check_license", "include_assembly": true}},
		{tool: "get_call_graph", args: object{"procedure": "main", "depth": 3}},
		{tool: "trace_call_path", args: object{"start": "main", "goal": "check_license"}},
		{tool: "trace_feature", args: object{"query": "license"}},
		{tool: "find_xrefs_to_name", args: object{"name": "strcmp"}},
		{tool: "inspect_native_api", args: object{"procedure": "choose"}},
		{tool: "address_name", args: object{"address": "$main"}},
		{tool: "address_to_file_offset", args: object{"address": "$main"}},
		{tool: "resolve_containing_procedure", args: object{"address": "$main"}},
		{tool: "read_bytes", args: object{"address": "$main", "length": 32}},
		{tool: "xrefs", args: object{"address": "$main"}},
		{tool: "next_address", args: object{"address": "$main"}},
		{tool: "prev_address", args: object{"address": "$main"}},
		{tool: "inspect_native_instruction", args: object{"address": "$main"}},
		{tool: "inspect_address_context", args: object{"address": "$main"}},
		{tool: "goto_address", args: object{"address": "$main"}},
		{tool: "current_address", args: object{}},
		{tool: "current_procedure", args: object{}},
		{tool: "get_navigation_context", args: object{}},
		{tool: "set_comment", args: object{"address": "$main", "comment": "entry of the menu"}},
		{tool: "comment", args: object{"address": "$main"}},
		{tool: "set_inline_comment", args: object{"address": "$main", "comment": "first"}},
		{tool: "inline_comment", args: object{"address": "$main"}},
		{tool: "set_bookmark", args: object{"address": "$main", "name": "start"}},
		{tool: "list_bookmarks", args: object{}},
		{tool: "unset_bookmark", args: object{"address": "$main"}},
		{tool: "set_names", args: object{"names": []object{{"address": "$main", "name": "menu_main"}}}},
		{tool: "annotate_native_function", args: object{"procedure": "choose", "comment": "dispatches"}},
		{tool: "procedure_pseudo_code", args: object{"procedure": "greet"}, may: noCapability},
		{tool: "batch_decompile", args: object{"procedures": []string{"greet", "no_such"}}, may: noCapability},
		{tool: "inspect_native_data_type", args: object{"pattern": "int"}, may: noCapability},
		{tool: "trace_native_values", args: object{"address": "$main"}, may: noCapability},
		{tool: "analyze_swift_types", args: object{}, may: noCapability},
		{tool: "get_cpp_classes", args: object{}},
		{tool: "get_objc_classes", args: object{}, may: noCapability},
		{tool: "get_objc_protocols", args: object{}, may: noCapability},
		{tool: "analyze_function", args: object{"procedure": "greet"}, keep: map[string][]string{"$left": {"evidence_id"}}},
		{tool: "analyze_function", args: object{"procedure": "measure"}, keep: map[string][]string{"$right": {"evidence_id"}}},
		{tool: "compare_functions", args: object{"left": retained("$left"), "right": retained("$right")}},
		{tool: "inspect_analysis_view", args: object{"analysis": retained("$left")}},
		{tool: "get_evidence_bundle", args: object{}},
		{tool: "export_evidence_bundle", args: object{"path": bundle}},
		{tool: "import_evidence_bundle", args: object{"path": bundle}},
		{tool: "compare_bundles", args: object{"left": bundle, "right": bundle}},
		{tool: "close_binary", args: object{}},
	}
}

func TestEveryTool(t *testing.T) {
	// What the server extracts goes to a folder that is removed with the test.
	s := server(t, built.Rea(t), nil, "TMPDIR="+t.TempDir())
	list := tools(t, s)
	schema := schemas(t, list)
	kept := map[string]string{}
	called := map[string]bool{}
	fixture := built.C(t, "menu.c", "-O1", "-g")
	all := slices.Concat(steps(t.TempDir(), fixture), fileSteps(t, fixture), packageSteps(t))
	for _, step := range all {
		args := string(marshal(t, step.args))
		for name, value := range kept {
			args = strings.ReplaceAll(args, name, value)
		}
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: step.tool, Arguments: json.RawMessage(args)})
		if err != nil {
			t.Fatalf("%s: %v", step.tool, err)
		}
		called[step.tool] = true
		switch {
		case r.IsError && step.may == "":
			t.Errorf("%s %s failed: %s", step.tool, args, text(t, r))
			continue
		case r.IsError:
			checkError(t, step.tool, r, step.may)
			continue
		}
		checkReply(t, step.tool, schema[step.tool], r)
		for name, path := range step.keep {
			value, _ := at(t, r, path...).(string)
			if value == "" {
				t.Fatalf("%s gave no %v", step.tool, path)
			}
			kept[name] = value
		}
	}
	for _, tool := range list {
		if !called[tool.Name] {
			t.Errorf("%s is used by no step of the investigation; add one", tool.Name)
		}
	}
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
