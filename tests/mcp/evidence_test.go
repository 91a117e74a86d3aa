package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/tests/built"
)

// refused runs a tool that must fail and gives its diagnostic.
func refused(t *testing.T, s *mcp.ClientSession, tool string, args any) (code, action string, details object) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if !r.IsError {
		t.Fatalf("%s succeeds", tool)
	}
	var doc struct {
		Error struct {
			Code        string
			Remediation struct{ Action string }
			Details     object
		}
	}
	if err := json.Unmarshal([]byte(text(t, r)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Error.Code, doc.Error.Remediation.Action, doc.Error.Details
}

// What does not fit into a response can be paged through, and what is followed
// there is true.
func TestEvidence_larger_than_a_response(t *testing.T) {
	s := server(t, built.Rea(t), nil)
	call(t, s, "open_binary", object{"path": built.Rea(t)})
	code, action, details := refused(t, s, "inspect_binary_layout", object{"symbol_limit": 100_000})
	limits, _ := details["reported_limits"].(object)
	parent, _ := limits["evidence_reference"].(object)
	if code != "resource_constraint" || details["resource"] != "transport" || parent == nil ||
		!strings.Contains(action, "inspect_analysis_view") || !strings.Contains(action, "export_evidence_bundle") {
		t.Fatalf("%s: %s, %v", code, action, details)
	}
	code, _, details = refused(t, s, "inspect_analysis_view", object{"analysis": parent, "view": "symbols", "limit": 1_000_000})
	limits, _ = details["reported_limits"].(object)
	if again, _ := limits["evidence_reference"].(object); code != "resource_constraint" || again["evidence_id"] != parent["evidence_id"] {
		t.Errorf("a view leads to %v, its record is %v", again, parent)
	}
	page := call(t, s, "inspect_analysis_view", object{"analysis": parent, "view": "symbols", "offset": 10, "limit": 3})
	if facts, _ := at(t, page, "normalized_result", "facts").([]any); len(facts) != 3 || at(t, page, "normalized_result", "parent_evidence_id") != parent["evidence_id"] {
		t.Errorf("a page is %v", page.StructuredContent)
	}
	summary := call(t, s, "get_evidence_bundle", object{"detail": "summary", "filters": object{"operation": "inspect_binary_layout"}})
	if at(t, summary, "result", "total") != 1.0 {
		t.Errorf("the summary is %v", summary.StructuredContent)
	}
}

// A snapshot answers in another session; files of others and the target itself
// are not overwritten.
func TestSnapshot_between_sessions(t *testing.T) {
	dir := t.TempDir()
	snapshot, notes := filepath.Join(dir, "menu.snapshot"), filepath.Join(dir, "notes.txt")
	fixture := built.C(t, "menu.c", "-O1")
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := server(t, built.Rea(t), nil)
	if code, _, details := refused(t, one, "open_binary", object{"path": fixture, "snapshot_path": snapshot}); code != "snapshot_unavailable" || details["kind"] != "missing" {
		t.Errorf("a snapshot that is not there gives %s %v", code, details)
	}
	call(t, one, "open_binary", object{"path": fixture})
	first := call(t, one, "list_strings", object{})
	for _, path := range []string{fixture, notes} {
		code, _, details := refused(t, one, "close_binary", object{"snapshot_path": path, "overwrite": true})
		if code != "artifact_operation_failed" || details["kind"] != "protected" {
			t.Errorf("%s: %s %v", path, code, details)
		}
		code, _, details = refused(t, one, "export_evidence_bundle", object{"path": path, "overwrite": true})
		if code != "artifact_operation_failed" || details["kind"] != "protected" {
			t.Errorf("%s: %s %v", path, code, details)
		}
	}
	if content, err := os.ReadFile(notes); err != nil || string(content) != "mine" {
		t.Errorf("notes are %q, %v", content, err)
	}
	call(t, one, "close_binary", object{"snapshot_path": snapshot})
	two := server(t, built.Rea(t), nil)
	opened := call(t, two, "open_binary", object{"path": fixture, "snapshot_path": snapshot})
	if at(t, opened, "result", "snapshot", "entries") != 1.0 {
		t.Errorf("opened with %v", opened.StructuredContent)
	}
	if again := call(t, two, "list_strings", object{}); text(t, again) != text(t, first) {
		t.Errorf("the answer of the snapshot reads\n%.500s\nand was\n%.500s", text(t, again), text(t, first))
	}
}
