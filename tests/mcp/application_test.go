package mcp

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/providers/javascript/jstest"
	"rea/tests/built"
)

// list is a list in the structured content.
func list(t testing.TB, r *mcp.CallToolResult, path ...string) []object {
	t.Helper()
	values, ok := at(t, r, path...).([]any)
	if !ok {
		t.Fatalf("no list at %v", path)
	}
	out := make([]object, len(values))
	for i, v := range values {
		out[i], _ = v.(map[string]any)
	}
	return out
}

// An application is kept in the session, looked at by pages, followed from a page to
// its native add-on, and the add-on is opened.
func TestAnApplicationThroughAClient(t *testing.T) {
	app, _ := jstest.Electron(t)
	s := server(t, built.Rea(t), nil)
	summary := call(t, s, "analyze_javascript_application", object{"path": app.Archive, "detail": "summary"})
	parent, _ := at(t, summary, "normalized_result", "parent_evidence_id").(string)
	if parent == "" || len(marshal(t, summary.StructuredContent)) > 40_000 {
		t.Fatalf("a summary of %d bytes, of %q", len(marshal(t, summary.StructuredContent)), parent)
	}
	source := retained(parent)

	// Pages of modules are the whole, each time the same.
	whole := list(t, call(t, s, "inspect_analysis_view", object{"analysis": source, "view": "modules", "limit": 1000}), "normalized_result", "facts")
	kinds := map[any]int{}
	var paged []object
	for offset := 0.0; ; {
		page := call(t, s, "inspect_analysis_view", object{"analysis": source, "view": "modules", "limit": 7, "offset": offset})
		again := call(t, s, "inspect_analysis_view", object{"analysis": source, "view": "modules", "limit": 7, "offset": offset})
		if !bytes.Equal(marshal(t, page.StructuredContent), marshal(t, again.StructuredContent)) {
			t.Error("a page differs when it is asked for again")
		}
		paged = append(paged, list(t, page, "normalized_result", "facts")...)
		next, more := at(t, page, "normalized_result", "next_offset").(float64)
		if !more {
			break
		}
		offset = next
	}
	if !bytes.Equal(marshal(t, whole), marshal(t, paged)) {
		t.Errorf("pages have %d modules, the whole %d", len(paged), len(whole))
	}
	ids := map[any]bool{}
	for _, m := range whole {
		kinds[m["kind"]]++
		if ids[m["node_id"]] {
			t.Errorf("%v is listed twice", m["node_id"])
		}
		ids[m["node_id"]] = true
	}
	if kinds["javascript-asset"] < 8 || kinds["javascript-module"] < 10 || kinds["source-module"] < 10 {
		t.Errorf("modules by kind: %v", kinds)
	}

	// A name that several modules have is refused with their ids; each id is one.
	refused, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "inspect_analysis_view", Arguments: object{"analysis": source, "view": "module", "name": "src/main/store.js"}})
	if err != nil {
		t.Fatal(err)
	}
	checkError(t, "inspect_analysis_view", refused, "invalid_request")
	found := 0
	for _, m := range whole {
		if m["label"] != "webpack://notes/src/main/store.js" {
			continue
		}
		found++
		one := call(t, s, "inspect_analysis_view", object{"analysis": source, "view": "module", "node_id": m["node_id"]})
		if !bytes.Equal(marshal(t, at(t, one, "normalized_result", "facts", "module")), marshal(t, m)) {
			t.Errorf("the module %v is another in its own view", m["node_id"])
		}
		call(t, s, "inspect_analysis_view", object{"analysis": source, "view": "module", "node_id": m["node_id"], "name": "src/main/store.js"})
		other, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "inspect_analysis_view", Arguments: object{"analysis": source, "view": "module", "node_id": m["node_id"], "name": "main.js"}})
		if err != nil {
			t.Fatal(err)
		}
		checkError(t, "inspect_analysis_view", other, "invalid_request")
	}
	if found != 2 { // the module of the bundle, and the original that the map names
		t.Errorf("%d modules are %s", found, "store.js")
	}

	// From the page to the request, by the record that is kept; by pages.
	question := object{"application": source, "seed": object{"kind": "api", "value": "notes"}, "goal": object{"kind": "call", "value": "fetch"}, "page_size": 10}
	first := call(t, s, "trace_javascript_semantics", question)
	if len(list(t, first, "normalized_result", "goals")) != 1 {
		t.Error("the request is not reached")
	}
	total := at(t, first, "normalized_result", "page", "total").(float64)
	seen := len(list(t, first, "normalized_result", "relations"))
	for cursor := at(t, first, "normalized_result", "page", "next_cursor"); cursor != nil; {
		question["cursor"] = cursor
		page := call(t, s, "trace_javascript_semantics", question)
		seen += len(list(t, page, "normalized_result", "relations"))
		cursor = at(t, page, "normalized_result", "page", "next_cursor")
	}
	if seen != int(total) {
		t.Errorf("%d relations on the pages, of %v", seen, total)
	}

	// To the add-on, whose bytes are those of the handoff.
	trace := call(t, s, "trace_application_feature", object{"application": source, "seed": object{"kind": "channel", "value": "notes:search"}, "direction": "outgoing"})
	handoffs := list(t, trace, "normalized_result", "native_handoffs")
	if len(handoffs) != 1 {
		t.Fatalf("handoffs: %v", handoffs)
	}
	call(t, s, "open_binary", object{"path": app.Addon})
	overview := call(t, s, "binary_overview", object{})
	if got := at(t, overview, "subject", "digest", "sha256"); got != handoffs[0]["sha256"] {
		t.Errorf("the add-on has the digest %v, the handoff %v", got, handoffs[0]["sha256"])
	}
	linked := call(t, s, "trace_application_feature", object{"application": source, "seed": object{"kind": "channel", "value": "notes:search"}, "direction": "outgoing", "native_observations": []any{overview.StructuredContent}})
	if h := list(t, linked, "normalized_result", "native_handoffs"); h[0]["status"] != "evidence-linked" {
		t.Errorf("the handoff is %v", h[0]["status"])
	}
}

// An add-on that was signed after it was packed contradicts its archive: that is
// refused with its cause, and set aside on request.
func TestAnAlteredAddon(t *testing.T) {
	app, _ := jstest.Electron(t)
	dir := t.TempDir()
	archive, err := os.ReadFile(app.Archive)
	if err != nil {
		t.Fatal(err)
	}
	addon, err := os.ReadFile(app.Addon)
	if err != nil {
		t.Fatal(err)
	}
	at1 := filepath.Join(dir, "app.asar")
	write(t, dir, map[string]string{"app.asar": string(archive), "app.asar.unpacked/build/Release/fastindex.node": string(append(addon, "signature"...))})
	s := server(t, built.Rea(t), nil)
	refused, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "analyze_javascript_application", Arguments: object{"path": at1}})
	if err != nil {
		t.Fatal(err)
	}
	checkError(t, "analyze_javascript_application", refused, "artifact_integrity_mismatch")
	r := call(t, s, "analyze_javascript_application", object{"path": at1, "integrity_policy": "record-and-continue"})
	if c := list(t, r, "normalized_result", "integrity_contradictions"); len(c) != 1 || c[0]["path"] != "build/Release/fastindex.node" {
		t.Errorf("contradictions: %v", c)
	}
	if status := at(t, r, "normalized_result", "graph", "coverage", "status"); status != "partial" {
		t.Errorf("the coverage is %v", status)
	}
}
