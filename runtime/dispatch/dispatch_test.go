package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// native answers list_documents as a test wishes; its other methods panic.
type native struct {
	tool.NativeHandlers
	documents func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error)
	names     func(context.Context, *tool.ListNamesInput) (*tool.Finding[tool.ListNamesOutput], error)
}

func (n *native) ListDocuments(ctx context.Context, _ *tool.ListDocumentsInput) (*tool.Finding[tool.ListDocumentsOutput], error) {
	return n.documents(ctx)
}

func (n *native) ListNames(ctx context.Context, in *tool.ListNamesInput) (*tool.Finding[tool.ListNamesOutput], error) {
	return n.names(ctx, in)
}

type analysis struct {
	tool.AnalysisHandlers
	left, right model.EvidenceInput
}

func (a *analysis) CompareFunctions(_ context.Context, in *tool.CompareFunctionsInput) (*tool.Finding[tool.CompareFunctionsOutput], error) {
	a.left, a.right = in.Left, in.Right
	return &tool.Finding[tool.CompareFunctionsOutput]{}, nil
}

type provider struct {
	id           string
	capabilities []model.EngineCapability
}

func (p *provider) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: p.id, Name: p.id}, Capabilities: p.capabilities}
}
func (p *provider) Available(context.Context) engine.Availability {
	return engine.Availability{Available: true}
}
func (p *provider) Supports(*engine.Target) engine.Support { return engine.Support{Supported: true} }
func (p *provider) Open(context.Context, *engine.Target, engine.Names) (engine.Engine, error) {
	return &eng{provider: p}, nil
}

type eng struct {
	engine.Engine
	provider *provider
}

func (e *eng) Profile() model.AnalysisProfile {
	version := "7"
	return engine.NewProfile(model.Provider{ID: e.provider.id, Name: e.provider.id, Version: &version}, nil)
}
func (e *eng) Capabilities() []model.EngineCapability { return e.provider.capabilities }
func (e *eng) Close() error                           { return nil }

// bench is a dispatcher with what a test needs of it.
type bench struct {
	*Dispatcher
	native   *native
	analysis *analysis
	provider *provider
}

func newBench(t *testing.T, families ...string) *bench {
	t.Helper()
	b := &bench{
		native: &native{}, analysis: &analysis{},
		provider: &provider{id: "embedded", capabilities: []model.EngineCapability{
			model.EngineCapabilityFunctions, model.EngineCapabilityBody, model.EngineCapabilityNames,
		}},
	}
	s := session.New(session.Config{
		Providers: []engine.Provider{b.provider},
		Recognize: func(string, []byte, string) (session.Recognition, error) {
			return session.Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64}, nil
		},
		Ledger: evidence.NewLedger(t.TempDir(), 0),
	})
	b.Dispatcher = New(Config{
		Session: s, Version: "1.2.3", Families: families,
		Bindings: tool.Bindings(tool.Families{Native: b.native, Analysis: b.analysis}),
	})
	b.native.documents = func(ctx context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		if _, _, _, err := session.Source(ctx); err != nil {
			return nil, err
		}
		return &tool.Finding[tool.ListDocumentsOutput]{Result: tool.ListDocumentsOutput{Documents: []string{"a"}}, Limitations: []string{"l"}}, nil
	}
	return b
}

func (b *bench) open(t *testing.T, content string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Session().Open(t.Context(), session.OpenRequest{Path: path}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) call(t *testing.T, name, args string) *Outcome {
	t.Helper()
	out, err := b.Call(t.Context(), name, []byte(args))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

func TestCall_seals(t *testing.T) {
	b := newBench(t)
	b.open(t, "content")
	out := b.call(t, "list_documents", "")
	if out.Record == nil || b.Session().Ledger().Len() != 1 {
		t.Fatal("nothing was recorded")
	}
	var doc struct {
		SchemaVersion int    `json:"schema_version"`
		EvidenceID    string `json:"evidence_id"`
		Operation     string
		Result        struct{ Documents []string } `json:"normalized_result"`
		Provider      struct{ ID, Version string }
		Subject       struct {
			Name   string
			Digest struct{ SHA256 string }
			Path   string `json:"local_path"`
		}
		Profile     *struct{ Digest string } `json:"analysis_profile"`
		Limitations []string
		Links       []string `json:"evidence_links"`
		Environment struct {
			Version string `json:"rea_version"`
		}
	}
	if err := json.Unmarshal(out.Document, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.SchemaVersion != 2 || doc.EvidenceID != out.Record.ID().String() || doc.Operation != "list_documents" ||
		len(doc.Result.Documents) != 1 || doc.Subject.Name != "target" || len(doc.Subject.Digest.SHA256) != 64 ||
		!filepath.IsAbs(doc.Subject.Path) || len(doc.Limitations) != 1 || doc.Links == nil || doc.Environment.Version != "1.2.3" {
		t.Errorf("document is %s", out.Document)
	}
	if doc.Profile == nil || doc.Provider.ID != "embedded" || doc.Provider.Version != "7" {
		t.Errorf("provenance is %+v %+v", doc.Provider, doc.Profile)
	}
	if _, err := evidence.Verify(out.Document); err != nil {
		t.Errorf("the document does not verify: %v", err)
	}
	again := b.call(t, "list_documents", "{}")
	if again.Record.ID() != out.Record.ID() || b.Session().Ledger().Len() != 1 {
		t.Error("the same finding is another record")
	}
}

func TestCall_seals_without_an_engine(t *testing.T) {
	b := newBench(t)
	b.open(t, "content")
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	r := b.call(t, "list_documents", "").Record
	if string(r.Member("analysis_profile")) != "null" || !strings.Contains(string(r.Member("provider")), `"id":"rea"`) {
		t.Errorf("a finding that no engine took part in has %s %s", r.Member("analysis_profile"), r.Member("provider"))
	}
}

func TestCall_identity_is_not_of_the_place(t *testing.T) {
	one, two := newBench(t), newBench(t)
	one.open(t, "same bytes")
	two.open(t, "same bytes")
	if one.call(t, "list_documents", "").Record.ID() != two.call(t, "list_documents", "").Record.ID() {
		t.Error("equal bytes at two paths give two identities")
	}
}

func TestCall_refuses(t *testing.T) {
	b := newBench(t, "session", "native")
	for _, tt := range []struct {
		name, tool, args string
		code             fault.Code
		text             string
	}{
		{"unknown", "list_dokuments", "{}", fault.ToolNotFoundCode, "list_dokuments"},
		{"hidden", "get_call_graph", "{}", fault.ToolNotFoundCode, "get_call_graph"},
		{"no_target", "list_documents", "{}", fault.NoTargetOpenCode, "list_documents"},
		{"unknown_argument", "list_documents", `{"x":1}`, fault.InvalidRequestCode, "/x"},
		{"not_an_object", "list_documents", `[]`, fault.InvalidRequestCode, "object"},
		{"no_json", "list_documents", `{`, fault.InvalidRequestCode, ""},
		{"wrong_type", "list_names", `{"limit":"many"}`, fault.InvalidRequestCode, "/limit"},
		{"invalid_before_unavailable", "list_names", `{"limit":-1}`, fault.InvalidRequestCode, "/limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.Call(t.Context(), tt.tool, []byte(tt.args))
			if fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v (%s), want %s", err, fault.CodeOf(err), tt.code)
			}
		})
	}
	_, err := b.Call(t.Context(), "list_dokuments", nil)
	var f *fault.Error
	errors.As(err, &f)
	if nearest := f.Details.(*fault.ToolNotFoundDetails).Nearest; len(nearest) == 0 || nearest[0] != "list_documents" {
		t.Errorf("nearest names are %v", nearest)
	}
}

func TestCall_needs_capabilities(t *testing.T) {
	b := newBench(t)
	b.provider.capabilities = nil
	b.open(t, "x")
	_, err := b.Call(t.Context(), "list_names", nil)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.CapabilityUnavailableCode {
		t.Fatalf("error is %v", err)
	}
	if d := f.Details.(*fault.CapabilityUnavailableDetails); len(d.Missing) != 1 || d.Missing[0] != "names" || !strings.Contains(d.Reason, "embedded") {
		t.Errorf("details are %+v", d)
	}
}

func TestCall_maps_errors(t *testing.T) {
	b := newBench(t)
	b.open(t, "x")
	own := fault.DocumentNotFound(fault.DocumentNotFoundDetails{Document: "d", Documents: []string{}}, nil)
	for _, tt := range []struct {
		name string
		err  error
		code fault.Code
	}{
		{"fault", own, fault.DocumentNotFoundCode},
		{"wrapped_fault", fmt.Errorf("reading: %w", own), fault.DocumentNotFoundCode},
		{"cancelled", fmt.Errorf("reading: %w", context.Canceled), fault.CancelledCode},
		{"deadline", context.DeadlineExceeded, fault.ExecutionFailureCode},
		{"storage", fmt.Errorf("keeping: %w", &evidence.StorageError{Dir: "/full", Err: syscall.ENOSPC}), fault.ResourceConstraintCode},
		{"integrity", &evidence.IntegrityError{Pointer: "/x", Reason: "r"}, fault.EvidenceIntegrityMismatchCode},
		{"other", errors.New(strings.Repeat("long ", 1000)), fault.ExecutionFailureCode},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) { return nil, tt.err }
			out, err := b.Call(t.Context(), "list_documents", nil)
			if out != nil || fault.CodeOf(err) != tt.code || len(err.Error()) > 1200 {
				t.Errorf("error is %v, want %s", err, tt.code)
			}
		})
	}
	if b.Session().Ledger().Len() != 0 {
		t.Error("a failed call was recorded")
	}
	// A full disk is told with its place and a way out.
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		return nil, &evidence.StorageError{Dir: "/full", Err: &os.PathError{Op: "write", Path: "/full/#1", Err: syscall.ENOSPC}}
	}
	_, err := b.Call(t.Context(), "list_documents", nil)
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	for _, want := range []string{`"resource":"storage"`, `no space left on device`, "Free space in /full", "TMPDIR"} {
		if doc := string(f.JSON()); !strings.Contains(doc, want) {
			t.Errorf("a full disk gives %s, without %s", doc, want)
		}
	}
}

// What does not fit into a response leads to what can be asked for in its place.
func TestFollowUp(t *testing.T) {
	b := newBench(t)
	b.config.Viewed = []string{"list_documents"}
	b.open(t, "x")
	listed := b.call(t, "list_documents", "")
	viewed := b.FollowUp(listed)
	if viewed.EvidenceID != listed.Record.ID().String() || !strings.Contains(viewed.Action, "inspect_analysis_view with this reference") {
		t.Errorf("a record with views leads to %+v", viewed)
	}
	b.config.Viewed = []string{"analyze_function"}
	if other := b.FollowUp(listed); other.EvidenceID != listed.Record.ID().String() || !strings.Contains(other.Action, "inspect_analysis_view takes records of analyze_function, not of list_documents") {
		t.Errorf("a record without views leads to %+v", other)
	}
	parent := evidence.ID{7}.String()
	view := &Outcome{
		Spec: &tool.Spec{Name: "inspect_analysis_view"}, Record: listed.Record,
		Output: &tool.InspectAnalysisViewOutput{ParentEvidenceID: parent},
	}
	if next := b.FollowUp(view); next.EvidenceID != parent || !strings.Contains(next.Action, "smaller limit") {
		t.Errorf("a view leads to %+v", next)
	}
	if next := b.FollowUp(&Outcome{Spec: &tool.Spec{Name: "get_evidence_bundle"}}); next.EvidenceID != "" || !strings.Contains(next.Action, "export_evidence_bundle") {
		t.Errorf("what is not recorded leads to %+v", next)
	}
}

func TestCall_fences_panics(t *testing.T) {
	b := newBench(t)
	b.open(t, "x")
	_, err := b.Call(t.Context(), "list_segments", nil) // is not implemented by the test's handlers
	if fault.CodeOf(err) != fault.CapabilityUnavailableCode && fault.CodeOf(err) != fault.ExecutionFailureCode {
		t.Errorf("error is %v", err)
	}
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) { panic("boom") }
	_, err = b.Call(t.Context(), "list_documents", nil)
	if fault.CodeOf(err) != fault.ExecutionFailureCode || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error is %v", err)
	}
	// The target is not held by the call that panicked.
	if closed, err := b.Session().Close(t.Context(), nil); err != nil || !closed.WasOpen {
		t.Errorf("closing: %v", err)
	}
}

func TestCall_cancelled_publishes_nothing(t *testing.T) {
	b := newBench(t)
	b.open(t, "x")
	ctx, cancel := context.WithCancel(t.Context())
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		cancel() // the result is there, but nobody wants it any more
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	if _, err := b.Call(ctx, "list_documents", nil); fault.CodeOf(err) != fault.CancelledCode {
		t.Errorf("error is %v", err)
	}
	called := false
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		called = true
		return &tool.Finding[tool.ListDocumentsOutput]{}, nil
	}
	if _, err := b.Call(ctx, "list_documents", nil); fault.CodeOf(err) != fault.CancelledCode || called {
		t.Errorf("error is %v, called %v", err, called)
	}
	if b.Session().Ledger().Len() != 0 {
		t.Error("a cancelled call was recorded")
	}
}

func TestCall_result_that_cannot_be_sealed(t *testing.T) {
	b := newBench(t)
	b.open(t, "x")
	b.native.documents = func(context.Context) (*tool.Finding[tool.ListDocumentsOutput], error) {
		return &tool.Finding[tool.ListDocumentsOutput]{Raw: []byte(`9007199254740993`)}, nil
	}
	if _, err := b.Call(t.Context(), "list_documents", nil); fault.CodeOf(err) != fault.ExecutionFailureCode || !strings.Contains(err.Error(), "not exact") {
		t.Errorf("error is %v", err)
	}
}

func TestCall_evidence_inputs(t *testing.T) {
	b := newBench(t)
	b.open(t, "x")
	record := b.call(t, "list_documents", "").Record
	reference := fmt.Sprintf(`{"kind":"retained-evidence","evidence_id":%q}`, record.ID())
	byReference := b.call(t, "compare_functions", fmt.Sprintf(`{"left":%s,"right":%s}`, reference, reference))
	left, ok := b.analysis.left.(*model.EvidenceRecord)
	if !ok || left.EvidenceID != record.ID().String() || left.Operation != "list_documents" {
		t.Fatalf("the handler got %+v", b.analysis.left)
	}
	inline := b.call(t, "compare_functions", fmt.Sprintf(`{"left":%s,"right":%s}`, record.Bytes(), reference))
	if inline.Record.ID() != byReference.Record.ID() {
		t.Error("the same comparison has two identities, by how the record came")
	}
	if parameters := string(inline.Record.Member("parameters")); strings.Contains(parameters, "normalized_result") || !strings.Contains(parameters, record.ID().String()) {
		t.Errorf("parameters are %.200s", parameters)
	}
	forged := strings.Replace(string(record.Bytes()), `"documents":["a"]`, `"documents":["b"]`, 1)
	_, err := b.Call(t.Context(), "compare_functions", fmt.Appendf(nil, `{"left":%s,"right":%s}`, reference, forged))
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.EvidenceIntegrityMismatchCode {
		t.Fatalf("a forged record gives %v", err)
	}
	if d := f.Details.(*fault.EvidenceIntegrityMismatchDetails); d.Pointer != "/right/evidence_id" || d.EvidenceID == nil || *d.EvidenceID != record.ID().String() {
		t.Errorf("details are %+v", d)
	}
	missing := evidence.ID{1}.String()
	_, err = b.Call(t.Context(), "compare_functions", fmt.Appendf(nil, `{"left":{"kind":"retained-evidence","evidence_id":%q},"right":%s}`, missing, reference))
	if !errors.As(err, &f) || f.Code != fault.EvidenceNotFoundCode || !strings.Contains(string(f.JSON()), missing) || !strings.Contains(string(f.JSON()), `"reason":"missing"`) {
		t.Errorf("a missing record gives %v", err)
	}
	// A command has no earlier records, and says what it takes.
	b.config.Ephemeral = true
	_, err = b.Call(t.Context(), "compare_functions", fmt.Appendf(nil, `{"left":{"kind":"retained-evidence","evidence_id":%q},"right":%s}`, missing, reference))
	if !errors.As(err, &f) || f.Code != fault.EvidenceNotFoundCode || !strings.Contains(f.Remediation.Action, "@FILE") {
		t.Errorf("on the command line a missing record gives %v", err)
	}
	b.config.Ephemeral = false
	// What is sealed well but was not made so is refused in both forms.
	forgery, err := evidence.Seal(bytes.Replace(record.Bytes(), []byte(`"authority":"shipped-artifact"`), []byte(`"authority":"external-service"`), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Session().Ledger().Append(forgery); err != nil {
		t.Fatal(err)
	}
	for _, right := range []string{string(forgery.Bytes()), fmt.Sprintf(`{"kind":"retained-evidence","evidence_id":%q}`, forgery.ID())} {
		_, err = b.Call(t.Context(), "compare_functions", fmt.Appendf(nil, `{"left":%s,"right":%s}`, reference, right))
		if !errors.As(err, &f) || f.Code != fault.EvidenceIntegrityMismatchCode || f.Details.(*fault.EvidenceIntegrityMismatchDetails).Pointer != "/right/authority" {
			t.Errorf("false authority gives %v", err)
		}
	}
	if _, err := b.Session().Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Call(t.Context(), "compare_functions", fmt.Appendf(nil, `{"left":%s,"right":%s}`, reference, reference)); fault.CodeOf(err) != fault.EvidenceNotFoundCode {
		t.Errorf("after closing: %v", err)
	}
}

func TestAvailability(t *testing.T) {
	b := newBench(t, "session", "native")
	find := func(name string) model.ToolAvailability {
		for _, a := range b.Availability(t.Context()) {
			if a.Name == name {
				return a
			}
		}
		t.Fatalf("%s is not listed", name)
		return model.ToolAvailability{}
	}
	if all := b.Availability(t.Context()); len(all) != len(tool.Specs()) {
		t.Errorf("%d tools of %d are listed", len(all), len(tool.Specs()))
	}
	if a := find("open_binary"); !a.Available || a.Reason != nil || !a.Effects.ChangesSession {
		t.Errorf("open_binary is %+v", a)
	}
	if a := find("get_call_graph"); a.Available || !strings.Contains(*a.Remediation, ToolsetsSetting) {
		t.Errorf("a hidden tool is %+v", a)
	}
	if a := find("list_names"); a.Available || !strings.Contains(*a.Remediation, "open_binary") {
		t.Errorf("without a target, list_names is %+v", a)
	}
	b.open(t, "x")
	if a := find("list_names"); !a.Available {
		t.Errorf("with a target, list_names is %+v", a)
	}
	if a := find("procedure_pseudo_code"); a.Available || a.Reason == nil || !strings.Contains(*a.Reason, "pseudocode") {
		t.Errorf("without the capability, procedure_pseudo_code is %+v", a)
	}
}

func TestParseToolsets(t *testing.T) {
	for value, want := range map[string]string{"": "", " , ": "", "all": "", "native,all": "", "native": "native session", " analysis , native,native": "analysis native session", "session": "session"} {
		got, err := ParseToolsets(ToolsetsSetting, value)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q gives %v, %v", value, got, err)
		}
	}
	_, err := ParseToolsets("--toolsets", "native,nonsense")
	if fault.CodeOf(err) != fault.ConfigurationInvalidCode || !strings.Contains(err.Error(), "--toolsets") || !strings.Contains(err.Error(), strings.Join(tool.FamilyNames(), ", ")) {
		t.Errorf("error is %v", err)
	}
}

func TestWithoutPaths(t *testing.T) {
	for _, tt := range []struct {
		doc, want string
		pointers  []string
	}{
		{`{"a":1,"path":"/x","b":{"path":"/y"}}`, `{"a":1,"b":{"path":"/y"}}`, []string{"/path"}},
		{`{"items":[{"p":1,"q":[1,"p"]},{"p":{"x":[]}}],"p":2}`, `{"items":[{"q":[1,"p"]},{}],"p":2}`, []string{"/items/*/p"}},
		{`{"a":{"b":"c"}}`, `{"a":{}}`, []string{"/none", "/a/b"}},
		{`{}`, `{}`, []string{"/path"}},
	} {
		got, err := withoutPaths([]byte(tt.doc), tt.pointers)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s without %v is %s, %v", tt.doc, tt.pointers, got, err)
		}
	}
}
