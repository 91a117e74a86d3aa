package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/dispatch"
	"rea/runtime/engine"
	"rea/runtime/evidence"
	"rea/runtime/query"
	state "rea/runtime/session"
)

type provider struct {
	id      string
	version string
}

func (p *provider) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: p.id, Name: p.id}, Capabilities: []model.EngineCapability{model.EngineCapabilityNames}}
}
func (p *provider) Available(context.Context) engine.Availability {
	if p.id == "absent" {
		return engine.Availability{Reason: "not installed", Remediation: "install it"}
	}
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
	return engine.NewProfile(model.Provider{ID: e.provider.id, Name: e.provider.id, Version: &e.provider.version}, nil)
}
func (e *eng) Capabilities() []model.EngineCapability { return e.provider.Describe().Capabilities }
func (e *eng) Activity() engine.Activity              { return engine.Activity{Status: "idle"} }
func (e *eng) Close() error                           { return nil }

// native counts how often list_names is answered.
type native struct {
	tool.NativeHandlers
	calls  int
	cursor bool // the answer depends on the cursor
}

func (n *native) ListNames(ctx context.Context, _ *tool.ListNamesInput) (*tool.Finding[tool.ListNamesOutput], error) {
	n.calls++
	_, _, notes, err := state.Source(ctx)
	if err != nil {
		return nil, err
	}
	if n.cursor {
		notes.Cursor()
	}
	return &tool.Finding[tool.ListNamesOutput]{}, nil
}

type bench struct {
	t        *testing.T
	session  *state.Session
	dispatch *dispatch.Dispatcher
	native   *native
	engine   *provider
	families []string
}

func newBench(t *testing.T, families ...string) *bench {
	t.Helper()
	b := &bench{t: t, native: &native{}, engine: &provider{id: "embedded", version: "1"}, families: families}
	b.session = state.New(state.Config{
		Version:   "1.2.3",
		Providers: []engine.Provider{b.engine, &provider{id: "absent"}},
		Recognize: func(_ string, _ []byte, slice string) (state.Recognition, error) {
			return state.Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64, Slice: slice}, nil
		},
		DrainTimeout: 50 * time.Millisecond,
	})
	h := New(Config{
		Session:      b.session,
		Availability: func(ctx context.Context) []model.ToolAvailability { return b.dispatch.Availability(ctx) },
		Identity: Identity{
			Package: "rea", Version: "1.2.3", Server: "rea", ServerPath: os.Args[0], SDK: "sdk", SDKVersion: "v1",
			InputSchemaProfile: "full", CatalogDigest: func() string { return strings.Repeat("c", 64) },
		},
		Families: families, HowToShow: "how",
	})
	b.dispatch = dispatch.New(dispatch.Config{
		Session: b.session, Version: "1.2.3", Families: families,
		Bindings: tool.Bindings(tool.Families{Native: b.native, Session: h}),
	})
	return b
}

func (b *bench) call(name, args string) (string, error) {
	b.t.Helper()
	out, err := b.dispatch.Call(b.t.Context(), name, []byte(args))
	if err != nil {
		return "", err
	}
	return string(out.Document), nil
}

func (b *bench) must(name, args string) string {
	b.t.Helper()
	doc, err := b.call(name, args)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, args, err)
	}
	return doc
}

func (b *bench) status(args string) tool.BinarySessionOutputResult {
	b.t.Helper()
	var out tool.BinarySessionOutput
	doc := b.must("binary_session", args)
	if err := wire.Decode([]byte(doc), wire.RecordDepth, &out, (*tool.BinarySessionOutput).DecodeJSON); err != nil {
		b.t.Fatalf("%v in %s", err, doc)
	}
	return out.Result
}

func (b *bench) file(content string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "target")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func quoted(s string) string {
	doc, _ := json.Marshal(s)
	return string(doc)
}

func (b *bench) open(path, more string) string {
	b.t.Helper()
	return b.must("open_binary", `{"path":`+quoted(path)+more+`}`)
}

func TestBinarySession(t *testing.T) {
	b := newBench(t, "session", "native")
	r := b.status("{}")
	if r.View != "full" || r.Open || r.Target != nil || r.AnalysisRun != nil || r.AnalysisActivity.Status != "not_observed" || len(r.RecommendedActions) != 1 {
		t.Errorf("state is %+v", r)
	}
	if s := r.ServerIdentity; s == nil || s.Package.Version != "1.2.3" || s.SDK.Version != "v1" || s.Server.Path == nil ||
		s.NegotiatedProtocolVersion != nil || s.Client != nil || s.Catalog.Tools != int64(len(tool.Specs())) {
		t.Errorf("identity is %+v", s)
	}
	if c := r.AnalysisProviderCandidates; len(c) != 2 || c[0].Provider.ID != "absent" || c[0].Availability.State != "unavailable" ||
		c[1].TargetSupport.State != "unknown" || c[1].Selected {
		t.Errorf("candidates are %+v", c)
	}
	if ts := r.Toolsets; cmp.Diff([]string{"native", "session"}, ts.Shown) != "" || ts.HowToShow == nil || len(ts.Hidden) != len(tool.FamilyNames())-2 {
		t.Errorf("toolsets are %+v", ts)
	}
	if len(r.ToolAvailability) != len(tool.Specs()) || r.Tools.Total != int64(len(tool.Specs())) || r.Tools.NextCursor != nil {
		t.Errorf("%d tools, %+v", len(r.ToolAvailability), r.Tools)
	}
	b.session.SetClient(state.Client{Name: "c", Version: "9", Protocol: "2025-11-25", Features: model.ClientFeatures{Roots: true}})
	b.open(b.file("x"), "")
	r = b.status("{}")
	if !r.Open || r.Target == nil || r.AnalysisRun == nil || r.AnalysisProviderBinding == nil || r.AnalysisActivity.Status != "idle" || !r.ClientFeatures.Roots ||
		*r.ServerIdentity.NegotiatedProtocolVersion != "2025-11-25" || r.ServerIdentity.Client.Name != "c" || !r.AnalysisProviderCandidates[1].Selected {
		t.Errorf("state is %+v", r)
	}
	if r := b.status(`{"detail":"summary"}`); r.ServerIdentity != nil || r.ToolAvailability != nil || !r.Open {
		t.Errorf("summary is %+v", r)
	}
}

func TestBinarySession_pages(t *testing.T) {
	b := newBench(t)
	var names []string
	cursor := "0"
	for {
		r := b.status(`{"detail":"capabilities","family":"native","limit":10,"cursor":` + cursor + `}`)
		for _, a := range r.ToolAvailability {
			names = append(names, a.Name)
			if a.Family != "native" {
				t.Errorf("%s is of family %s", a.Name, a.Family)
			}
		}
		if r.Tools.NextCursor == nil {
			if r.Tools.Total != int64(len(names)) {
				t.Errorf("%d tools on the pages, total %d", len(names), r.Tools.Total)
			}
			break
		}
		cursor = strconv.FormatInt(*r.Tools.NextCursor, 10)
	}
	if r := b.status(`{"detail":"capabilities","cursor":5000}`); len(r.ToolAvailability) != 0 || r.Tools.NextCursor != nil {
		t.Errorf("beyond the end: %+v", r.Tools)
	}
	if _, err := b.call("binary_session", `{"family":"nonsense"}`); fault.CodeOf(err) != fault.InvalidRequestCode {
		t.Errorf("an unknown family gives %v", err)
	}
}

func TestBinarySession_alignment(t *testing.T) {
	b := newBench(t)
	digest := strings.Repeat("c", 64)
	for args, want := range map[string]model.AlignmentState{
		`{}`: "unknown",
		`{"expected_package_version":"1.2.3","expected_catalog_digest":"` + digest + `","expected_server_path":` + quoted(os.Args[0]) + `}`: "aligned",
		`{"expected_package_version":"1.2.4"}`: "mcp_server_restart_required",
		`{"expected_package_version":"1.2.3","expected_catalog_digest":"` + strings.Repeat("d", 64) + `"}`: "mcp_server_restart_required",
		`{"expected_server_path":"/nowhere/rea"}`:                                                          "mcp_server_restart_required",
	} {
		r := b.status(args)
		if r.Alignment.State != want || (len(r.Alignment.Reasons) > 0) != (want == "mcp_server_restart_required") || (r.Alignment.Remediation == nil) != (len(r.Alignment.Reasons) == 0) {
			t.Errorf("%s gives %+v", args, r.Alignment)
		}
		if r.ServerIdentity.Alignment.State != want {
			t.Errorf("%s: the identity says %s", args, r.ServerIdentity.Alignment.State)
		}
	}
}

func TestClose(t *testing.T) {
	b := newBench(t)
	b.open(b.file("x"), "")
	b.must("list_names", "{}")
	if doc := b.must("close_binary", "{}"); doc != `{"result":{"closed":true,"records_cleared":1,"snapshot":null}}` {
		t.Errorf("closing gives %s", doc)
	}
	if doc := b.must("close_binary", "{}"); doc != `{"result":{"closed":false,"records_cleared":0,"snapshot":null}}` {
		t.Errorf("closing again gives %s", doc)
	}
	snapshot := filepath.Join(t.TempDir(), "snap")
	if _, err := b.call("close_binary", `{"snapshot_path":`+quoted(snapshot)+`}`); fault.CodeOf(err) != fault.NoTargetOpenCode {
		t.Errorf("a snapshot of nothing gives %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	b := newBench(t)
	target, snapshot := b.file("x"), filepath.Join(t.TempDir(), "snap")
	save := `{"snapshot_path":` + quoted(snapshot) + `}`
	with := `,"snapshot_path":` + quoted(snapshot)
	b.open(target, "")
	first := b.must("list_names", `{"limit":7}`)
	b.native.cursor = true
	b.must("list_names", `{"limit":8}`)
	b.native.cursor = false
	if doc := b.must("close_binary", save); !strings.Contains(doc, `"entries":1`) {
		t.Fatalf("saving gives %s", doc)
	}
	if info, err := os.Stat(snapshot); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the snapshot: %v %v", info.Mode(), err)
	}
	if doc := b.open(target, with); !strings.Contains(doc, `"entries":1`) {
		t.Fatalf("opening gives %s", doc)
	}
	calls := b.native.calls
	if again := b.must("list_names", `{"limit":7}`); again != first || b.native.calls != calls {
		t.Errorf("the saved result was computed again (%d calls)", b.native.calls-calls)
	}
	if b.session.Ledger().Len() != 1 {
		t.Errorf("%d records are held", b.session.Ledger().Len())
	}
	b.must("list_names", `{"limit":8}`)
	if b.native.calls != calls+1 {
		t.Error("an answer that depends on the cursor was saved")
	}
	// What was loaded and what was made since are saved together.
	if _, err := b.call("close_binary", save); fault.CodeOf(err) != fault.ArtifactOperationFailedCode {
		t.Errorf("saving over a file gives %v", err)
	}
	if !b.status("{}").Open {
		t.Fatal("a failed save closed the target")
	}
	if doc := b.must("close_binary", `{"overwrite":true,"snapshot_path":`+quoted(snapshot)+`}`); !strings.Contains(doc, `"entries":2`) {
		t.Errorf("saving gives %s", doc)
	}
	// An edit makes earlier answers void.
	b.open(target, with)
	bound, release := b.session.Acquire()
	name := "renamed"
	if _, err := bound.Notes.Apply([]query.Change{{Address: 1, Kind: query.NameNote, Value: &name}}); err != nil {
		t.Fatal(err)
	}
	release()
	calls = b.native.calls
	b.must("list_names", `{"limit":7}`)
	if b.native.calls != calls+1 {
		t.Error("a saved answer was given after an edit")
	}
}

func TestSnapshot_refusals(t *testing.T) {
	b := newBench(t)
	target, dir := b.file("x"), t.TempDir()
	good := filepath.Join(dir, "good")
	b.open(target, "")
	b.must("list_names", `{}`)
	b.must("close_binary", `{"snapshot_path":`+quoted(good)+`}`)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	opening := func(path, snapshot string) error {
		_, err := b.call("open_binary", `{"path":`+quoted(path)+`,"snapshot_path":`+quoted(snapshot)+`}`)
		return err
	}
	// What else a file is, is said of it.
	for content, want := range map[string]string{
		"":                       "it is empty",
		"\x7fELF\x02\x01":        "it is a binary",
		"\x7fELF\n\x02\x01":      "it is a binary",
		"MZ\x90":                 "it is a binary",
		"hello":                  "close_binary writes",
		"rea-snapshot 2 abc\n{}": "version 2, of a newer rea",
		"rea-snapshot 1 abc\n{}": "damaged",
		`{"bundle_version":1,"manifest":{"ids_sha256":"` + strings.Repeat("0", 64): "it is an Evidence bundle",
	} {
		if err := opening(target, write("what", content)); fault.CodeOf(err) != fault.SnapshotMismatchCode || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q gives %v", content, err)
		}
	}
	for name, tt := range map[string]struct{ path, code, kind string }{
		"missing":   {filepath.Join(dir, "none"), "snapshot_unavailable", "missing"},
		"directory": {dir, "snapshot_unavailable", "not_regular"},
		"empty":     {write("empty", ""), "snapshot_mismatch", "not_a_snapshot"},
		"other":     {write("other", "hello\nworld"), "snapshot_mismatch", "not_a_snapshot"},
		"no_line":   {write("no_line", strings.Repeat("x", 1<<20)), "snapshot_mismatch", "not_a_snapshot"},
		"cut":       {write("cut", string(content[:len(content)-5])), "snapshot_mismatch", "damaged"},
		"flipped":   {write("flipped", strings.Replace(string(content), `"list_names"`, `"list_names2"`, 1)), "snapshot_mismatch", "damaged"},
	} {
		err := opening(target, tt.path)
		var f *fault.Error
		if !errors.As(err, &f) || string(f.Code) != tt.code || !strings.Contains(string(f.JSON()), `"kind":"`+tt.kind+`"`) || !strings.Contains(f.Message, tt.path) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if err := opening(b.file("y"), good); fault.CodeOf(err) != fault.SnapshotMismatchCode || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("other bytes give %v", err)
	}
	b.engine.version = "2"
	if err := opening(target, good); fault.CodeOf(err) != fault.SnapshotMismatchCode || !strings.Contains(err.Error(), "version") {
		t.Errorf("another engine version gives %v", err)
	}
	if b.status("{}").Open {
		t.Error("a refused opening opened something")
	}
	b.engine.version = "1"
	if err := opening(target, good); err != nil {
		t.Errorf("the good snapshot gives %v", err)
	}
}

// The answer of a snapshot names the file that is open, wherever the one was that
// the snapshot was made of.
func TestSnapshot_of_a_copy(t *testing.T) {
	b := newBench(t)
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	b.open(b.file("x"), "")
	first := b.must("list_names", `{}`)
	b.must("close_binary", `{"snapshot_path":`+quoted(snapshot)+`}`)
	elsewhere := filepath.Join(t.TempDir(), "renamed")
	if err := os.WriteFile(elsewhere, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.session.Ledger().Clear()
	b.must("open_binary", `{"path":`+quoted(elsewhere)+`,"snapshot_path":`+quoted(snapshot)+`}`)
	again := b.must("list_names", `{}`)
	var was, is struct {
		ID string `json:"evidence_id"`
	}
	if err := errors.Join(json.Unmarshal([]byte(first), &was), json.Unmarshal([]byte(again), &is)); err != nil {
		t.Fatal(err)
	}
	if is.ID != was.ID || !strings.Contains(again, `"name":"renamed"`) || !strings.Contains(again, quoted(elsewhere)) {
		t.Errorf("record %s, was %s:\n%s", is.ID, was.ID, again)
	}
	id, err := evidence.ParseID(is.ID)
	if err != nil {
		t.Fatal(err)
	}
	held, err := b.session.Ledger().Get(id)
	if err != nil || !strings.Contains(string(held.Bytes()), quoted(elsewhere)) {
		t.Errorf("what is kept is another record, %v", err)
	}
}

// Two slices of one file may be of one architecture, as arm64 and arm64e are.
func TestSnapshot_is_of_one_slice(t *testing.T) {
	b := newBench(t)
	target, snapshot := b.file("x"), filepath.Join(t.TempDir(), "snap")
	b.open(target, `,"architecture":"arm64"`)
	b.must("list_names", `{}`)
	b.must("close_binary", `{"snapshot_path":`+quoted(snapshot)+`}`)
	_, err := b.call("open_binary", `{"path":`+quoted(target)+`,"architecture":"arm64e","snapshot_path":`+quoted(snapshot)+`}`)
	if fault.CodeOf(err) != fault.SnapshotMismatchCode || !strings.Contains(err.Error(), "arm64e") {
		t.Errorf("another slice gives %v", err)
	}
	if doc := b.open(target, `,"architecture":"arm64","snapshot_path":`+quoted(snapshot)); !strings.Contains(doc, `"entries":1`) {
		t.Errorf("the slice itself gives %s", doc)
	}
}

// Overwriting is for what rea wrote: never for the open target, whatever its
// name, nor for files of others.
func TestSnapshot_overwrites_only_its_own(t *testing.T) {
	b := newBench(t)
	target, dir := b.file("x"), t.TempDir()
	b.open(target, "")
	b.must("list_names", `{}`)
	link := filepath.Join(dir, "link")
	if err := os.Link(target, link); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{target, link, write("notes.txt", "mine"), write("data.json", `{"bundle_version":"mine"}`), write("a.bundle", `{"bundle_version":1,"manifest":{"ids_sha256":"`)} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.call("close_binary", `{"overwrite":true,"snapshot_path":`+quoted(path)+`}`)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(string(f.JSON()), `"kind":"protected"`) {
			t.Errorf("%s gives %v", path, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed: %v", path, err)
		}
		if isTarget := path == target || path == link; isTarget != strings.Contains(f.Message, "the open target") {
			t.Errorf("%s is refused as %s", path, f.Message)
		}
	}
	if !b.status("{}").Open {
		t.Fatal("a refused save closed the target")
	}
	b.must("close_binary", `{"overwrite":true,"snapshot_path":`+quoted(write("empty", ""))+`}`)
}

// A snapshot is read with the eyes with which records are read that are given as
// inputs: one that is sealed well but claims an engine that it was not made by
// is not used.
func TestSnapshot_with_false_claims(t *testing.T) {
	b := newBench(t)
	target, dir := b.file("x"), t.TempDir()
	good, forged := filepath.Join(dir, "good"), filepath.Join(dir, "forged")
	b.open(target, "")
	b.must("list_names", `{}`)
	b.must("close_binary", `{"snapshot_path":`+quoted(good)+`}`)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	head, bundle, _ := bytes.Cut(content, []byte("\n"))
	l := evidence.NewLedger(t.TempDir(), 0)
	defer l.Clear()
	var sealed *evidence.Record
	if _, err := evidence.ReadBundle(t.Context(), bytes.NewReader(bundle), evidence.DefaultImportLimits, func(r *evidence.Record) error {
		sealed, err = evidence.Seal(bytes.Replace(r.Bytes(), []byte(`"authority":"shipped-artifact"`), []byte(`"authority":"controlled-replay"`), 1))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(sealed); err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(append(head, '\n'))
	view := l.View()
	defer view.Close()
	if _, err := view.WriteBundle(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(forged, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = b.call("open_binary", `{"path":`+quoted(target)+`,"snapshot_path":`+quoted(forged)+`}`)
	if fault.CodeOf(err) != fault.SnapshotMismatchCode || !strings.Contains(err.Error(), "/authority") {
		t.Errorf("gives %v", err)
	}
}
