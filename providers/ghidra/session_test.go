//go:build unix

package ghidra

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/enginetest"
	"rea/providers/enginetest/scripted"
	"rea/providers/native"
	"rea/runtime/bridge"
	"rea/runtime/query"
	"rea/runtime/session"
)

func recognize(path string, data []byte, _ string) (session.Recognition, error) {
	t, err := target(path)
	if err != nil {
		return session.Recognition{}, err
	}
	return session.Recognition{Kind: t.Kind, Format: t.Format, Architecture: t.Architecture}, nil
}

func serve(t *testing.T, h *harness) *enginetest.Harness {
	t.Helper()
	source := query.Source(session.Source)
	return enginetest.Open(t, h.provider, recognize, program(t), tool.Families{Analysis: analysis.New(source), Native: native.New(source)})
}

// TestRecovery: after a start that took too long, closing and opening again
// gives a fresh engine on the same connection.
func TestRecovery(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Start: scripted.Hang}, func(c *bridge.Config) { c.StartTimeout = 400 * time.Millisecond })
	tools := serve(t, h)
	if r := tools.Call(t, "binary_overview", `{}`); r.Code != fault.ProviderTimeoutCode {
		t.Fatalf("the first query ends with %v", r.Err)
	}
	h.clean(t)
	before, release := tools.Session.Acquire()
	release()
	if closed, err := tools.Session.Close(t.Context(), nil); err != nil || !closed.WasOpen {
		t.Fatalf("closing: %+v, %v", closed, err)
	}
	java := filepath.Join(h.provider.Getenv(JavaSetting), "bin", "java")
	if err := scripted.Install(java, scripted.Behaviour{Engine: ID, Version: "12.0"}); err != nil {
		t.Fatal(err)
	}
	bound, err := tools.Session.Open(t.Context(), session.OpenRequest{Path: program(t), Provider: ID})
	if err != nil {
		t.Fatal(err)
	}
	if bound.RunID == before.RunID {
		t.Error("the run has the name of the one before")
	}
	if lineage := bound.Run().ProcessLineage; fmt.Sprintf("%T", lineage) != "*model.AnalysisRunProcessLineageNotObserved" {
		t.Errorf("before a start the lineage is %T", lineage)
	}
	if r := tools.Call(t, "binary_overview", `{}`); r.Err != nil {
		t.Errorf("the query after it: %v", r.Err)
	}
	seen, ok := bound.Run().ProcessLineage.(*model.AnalysisRunProcessLineageSnapshots)
	if !ok || len(seen.Providers) != 1 || seen.Providers[0].Provider.ID != ID {
		t.Errorf("after it the lineage is %+v", bound.Run().ProcessLineage)
	}
	if m := bound.Model(); m.Provider.ID != ID || *m.Provider.Version != "12.0" || m.SelectionSource != model.SelectionSourceRequest || m.AnalysisProfile.Digest == "" {
		t.Errorf("the binding is %+v", m)
	}
}

// TestAnnotations reach the engine's copy, all or none.
func TestAnnotations(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{}, nil)
	tools := serve(t, h)
	entry := ""
	b, release := tools.Session.Acquire()
	defer release()
	for p, err := range b.Engine.Procedures(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == model.ProcedureKindFunction {
			entry = p.Address.String()
			break
		}
	}
	pseudocode := func() string {
		t.Helper()
		r := tools.Call(t, "procedure_pseudo_code", `{"procedure":"`+entry+`"}`)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r.Output
	}
	annotate := func(name string) enginetest.Reply {
		return tools.Call(t, "annotate_native_function", fmt.Sprintf(`{"procedure":%q,"name":%q,"comment":"c","bookmark":"b"}`, entry, name))
	}
	if r := annotate("first_name"); r.Err != nil || !strings.Contains(r.Output, `"previous":null`) {
		t.Fatalf("annotating: %v %s", r.Err, r.Output)
	}
	if text := pseudocode(); !strings.Contains(text, "int first_name(int first)") {
		t.Errorf("pseudocode after annotating: %s", text)
	}
	// The engine refuses a name with a space: nothing of it is kept anywhere.
	if r := annotate("no name"); r.Code != fault.ExecutionFailureCode {
		t.Errorf("a refused name: %v", r.Err)
	}
	if text := pseudocode(); !strings.Contains(text, "int first_name(int first)") {
		t.Errorf("pseudocode after a refusal: %s", text)
	}
	// Names that the analyst sets elsewhere are shown as well, and go again.
	if r := tools.Call(t, "set_names", `{"names":[{"address":"`+entry+`","name":"second_name"}]}`); r.Err != nil {
		t.Fatal(r.Err)
	}
	if text := pseudocode(); !strings.Contains(text, "int second_name(int first)") {
		t.Errorf("pseudocode after naming: %s", text)
	}
	if r := tools.Call(t, "set_names", `{"names":[{"address":"`+entry+`","name":""}]}`); r.Err != nil {
		t.Fatal(r.Err)
	}
	if text := pseudocode(); strings.Contains(text, "_name(int first)") {
		t.Errorf("pseudocode after the name was removed: %s", text)
	}
}

// TestDataTypes are described in the engine's words.
func TestDataTypes(t *testing.T) {
	tools := serve(t, newHarness(t, scripted.Behaviour{}, nil))
	r := tools.Call(t, "inspect_native_data_type", `{"name":"scripted_struct","pattern":"in"}`)
	if r.Err != nil || !strings.Contains(r.Output, `"kind":"struct","size":8`) || !strings.Contains(r.Output, `"bit_size":3`) || !strings.Contains(r.Output, `"names":["int"]`) {
		t.Errorf("%v %s", r.Err, r.Output)
	}
	r = tools.Call(t, "inspect_native_data_type", `{"name":"script"}`)
	if r.Code != fault.DataTypeNotFoundCode || !strings.Contains(r.Err.Error(), "script") {
		t.Errorf("an unknown type: %v", r.Err)
	}
}
