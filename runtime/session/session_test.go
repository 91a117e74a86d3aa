package session

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// fakeProvider makes engines that only know their profile.
type fakeProvider struct {
	id      string
	opened  atomic.Int32
	closed  atomic.Int32
	failing error // of Open
	closing error // of Close
	ended   atomic.Bool
}

func (p *fakeProvider) Describe() engine.Description {
	return engine.Description{Provider: model.Provider{ID: p.id, Name: p.id}}
}
func (p *fakeProvider) Available(context.Context) engine.Availability {
	return engine.Availability{Available: true}
}
func (p *fakeProvider) Supports(*engine.Target) engine.Support {
	return engine.Support{Supported: true}
}
func (p *fakeProvider) Open(context.Context, *engine.Target, engine.Names) (engine.Engine, error) {
	if p.failing != nil {
		return nil, p.failing
	}
	p.opened.Add(1)
	return &fakeEngine{provider: p}, nil
}

type fakeEngine struct {
	engine.Engine
	provider *fakeProvider
}

func (e *fakeEngine) Profile() model.AnalysisProfile {
	return model.AnalysisProfile{Provider: model.Provider{ID: e.provider.id, Name: e.provider.id}}
}
func (e *fakeEngine) Ended() bool { return e.provider.ended.Load() }
func (e *fakeEngine) Close() error {
	e.provider.closed.Add(1)
	return e.provider.closing
}

func recognize(path string, data []byte, slice string) (Recognition, error) {
	if strings.HasPrefix(string(data), "bad") {
		return Recognition{}, fault.UnsupportedTarget(fault.UnsupportedTargetDetails{Path: path, Expected: "a binary", Reason: "bad"}, nil)
	}
	return Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64, Slice: slice}, nil
}

func newSession(t *testing.T, providers ...engine.Provider) *Session {
	t.Helper()
	return New(Config{Providers: providers, Recognize: recognize, MaxTarget: 1 << 20, DrainTimeout: 50 * time.Millisecond})
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, s *Session, path string) *Binding {
	t.Helper()
	b, err := s.Open(t.Context(), OpenRequest{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpen(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	path := file(t, "a b[1]\n", "one")
	b := open(t, s, path)
	m := b.TargetModel()
	if m.SHA256 != "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" || m.Size != 3 || filepath.Base(m.Path) != "a b[1]\n" {
		t.Errorf("target is %+v", m)
	}
	if b.Model() == nil || b.Model().SelectionSource != model.SelectionSourceDefault || !strings.HasPrefix(b.RunID, "run_") {
		t.Errorf("binding is %+v, run %q", b.Model(), b.RunID)
	}
	again := open(t, s, path)
	if again.RunID == b.RunID {
		t.Error("a new opening has the old run id")
	}
	if p.opened.Load() != 1 || p.closed.Load() != 0 || again.Notes != b.Notes {
		t.Errorf("the same bytes: %d engines opened, %d closed", p.opened.Load(), p.closed.Load())
	}
	other := open(t, s, file(t, "b", "two"))
	if p.opened.Load() != 2 || p.closed.Load() != 1 || other.Notes == b.Notes {
		t.Errorf("other bytes: %d engines opened, %d closed", p.opened.Load(), p.closed.Load())
	}
	closed, err := s.Close(t.Context(), nil)
	if err != nil || !closed.WasOpen || p.closed.Load() != 2 {
		t.Errorf("closing: %+v, %v, %d closed", closed, err, p.closed.Load())
	}
	if closed, err := s.Close(t.Context(), nil); err != nil || closed.WasOpen {
		t.Errorf("closing again: %+v, %v", closed, err)
	}
}

// TestOpen_after_the_engine_ended: opening again binds another engine, and the
// analyst loses nothing.
func TestOpen_after_the_engine_ended(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	path := file(t, "a", "one")
	b := open(t, s, path)
	p.ended.Store(true)
	again := open(t, s, path)
	if p.opened.Load() != 2 || p.closed.Load() != 1 || again.Engine == b.Engine {
		t.Errorf("%d engines opened, %d closed", p.opened.Load(), p.closed.Load())
	}
	if again.Notes != b.Notes || again.Target != b.Target {
		t.Error("the notes are gone")
	}
	if other := open(t, s, file(t, "b", "two")); other.Notes == b.Notes {
		t.Error("the notes are of other bytes")
	}
}

func TestOpen_refusals_keep_what_is_open(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	kept := open(t, s, file(t, "kept", "one"))
	dir := t.TempDir()
	unreadable := file(t, "unreadable", "x")
	if err := os.Chmod(unreadable, 0); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	os.Symlink("loop", loop)
	socket := filepath.Join(dir, "s")
	if l, err := net.Listen("unix", socket); err == nil {
		defer l.Close()
	} else {
		socket = ""
	}
	for _, tt := range []struct {
		name, path string
		code       fault.Code
		kind       fault.TargetUnavailableDetailsKind
	}{
		{"missing", filepath.Join(dir, "none"), fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindMissing},
		{"empty_path", "", fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindInvalidPath},
		{"nul", "a\x00b", fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindInvalidPath},
		{"too_long", strings.Repeat("x", 5000), fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindInvalidPath},
		{"below_a_file", kept.Target.Path + "/x", fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindInvalidPath},
		{"loop", loop, fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindInvalidPath},
		{"directory", dir, fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindNotRegular},
		{"device", os.DevNull, fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindNotRegular},
		{"socket", socket, fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindNotRegular},
		{"empty", file(t, "empty", ""), fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindEmpty},
		{"too_large", file(t, "large", strings.Repeat("x", 1<<20+1)), fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindTooLarge},
		{"permission", unreadable, fault.TargetUnavailableCode, fault.TargetUnavailableDetailsKindPermission},
		{"unsupported", file(t, "bad", "bad"), fault.UnsupportedTargetCode, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "permission" && os.Geteuid() <= 0 || runtime.GOOS == "windows" && tt.name != "missing" || tt.name == "socket" && socket == "" {
				t.Skip("not on this host")
			}
			_, err := s.Open(t.Context(), OpenRequest{Path: tt.path})
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("error is %v, want %s", err, tt.code)
			}
			if tt.kind != "" {
				var f *fault.Error
				errors.As(err, &f)
				if d := f.Details.(*fault.TargetUnavailableDetails); d.Kind != tt.kind || d.Reason == "" || tt.path != "" && d.Path == "" {
					t.Errorf("details are %+v, want kind %s", d, tt.kind)
				}
			}
		})
	}
	p.failing = errors.New("engine")
	if _, err := s.Open(t.Context(), OpenRequest{Path: file(t, "x", "x")}); !errors.Is(err, p.failing) {
		t.Errorf("error is %v", err)
	}
	if _, err := s.Open(t.Context(), OpenRequest{Path: kept.Target.Path, Provider: "none"}); fault.CodeOf(err) != fault.ProviderSelectionCode {
		t.Errorf("error is %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(cancelled, OpenRequest{Path: kept.Target.Path}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	b, release := s.Acquire()
	defer release()
	if b != kept || p.closed.Load() != 0 {
		t.Error("a refused opening changed what is open")
	}
}

func TestOpen_invalid_UTF8_name(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a\xffb")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Skipf("the file system takes no such name: %v", err)
	}
	b := open(t, newSession(t, &fakeProvider{id: "embedded"}), path)
	if m := b.TargetModel(); !strings.HasSuffix(m.Path, `a\xffb`) {
		t.Errorf("path is shown as %q", m.Path)
	}
	if b.Subject().Name != `a\xffb` {
		t.Errorf("subject is %q", b.Subject().Name)
	}
}

func TestOpen_file_that_changes(t *testing.T) {
	path := file(t, "growing", strings.Repeat("x", 1000))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{999, 1001} { // as if it had grown or shrunk since
		f.Seek(0, 0)
		if _, _, err := readAll(t.Context(), f, size); !errors.Is(err, errChanged) {
			t.Errorf("a size of %d gives %v", size, err)
		}
	}
}

func TestAcquire_keeps_a_replaced_target(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	open(t, s, file(t, "a", "one"))
	b, release := s.Acquire()
	open(t, s, file(t, "b", "two"))
	if p.closed.Load() != 0 {
		t.Fatal("the engine was closed under a running call")
	}
	if now, done := s.Acquire(); now == b {
		t.Error("a new call gets the old target")
	} else {
		done()
	}
	release()
	release()
	if p.closed.Load() != 1 {
		t.Errorf("%d engines closed after the last call", p.closed.Load())
	}
}

func TestClose_stops_calls_that_take_long(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	open(t, s, file(t, "a", "one"))
	b, release := s.Acquire()
	ctx, _, stop := With(t.Context(), "tool", b)
	defer stop()
	go func() {
		<-ctx.Done()
		release()
	}()
	if closed, err := s.Close(t.Context(), nil); err != nil || !closed.WasOpen {
		t.Errorf("closing: %+v, %v", closed, err)
	}
	if !errors.Is(context.Cause(ctx), errClosed) {
		t.Errorf("the call ended because of %v", context.Cause(ctx))
	}
}

func TestClose_tells_what_remains(t *testing.T) {
	p := &fakeProvider{id: "embedded", closing: errors.New("stuck")}
	s := newSession(t, p)
	open(t, s, file(t, "a", "one"))
	_, release := s.Acquire()
	_, err := s.Close(t.Context(), nil)
	if fault.CodeOf(err) != fault.CleanupIncompleteCode || !strings.Contains(err.Error(), "have not ended") {
		t.Errorf("with a call that does not end: %v", err)
	}
	release()
	open(t, s, file(t, "b", "two"))
	_, err = s.Close(t.Context(), nil)
	if fault.CodeOf(err) != fault.CleanupIncompleteCode || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("with an engine that does not close: %v", err)
	}
	p.closing = fault.CleanupIncomplete(fault.CleanupIncompleteDetails{Reason: "r", Remaining: []string{"socket"}}, nil)
	open(t, s, file(t, "c", "three"))
	if _, err = s.Close(t.Context(), nil); !errors.Is(err, p.closing) {
		t.Errorf("with an engine that knows what remains: %v", err)
	}
	if b, _ := s.Acquire(); b != nil {
		t.Error("the target is still open")
	}
}

func TestClose_does_nothing_when_saving_fails(t *testing.T) {
	p := &fakeProvider{id: "embedded"}
	s := newSession(t, p)
	want := open(t, s, file(t, "a", "one"))
	broken := errors.New("disk")
	if _, err := s.Close(t.Context(), func(b *Binding) error {
		if b != want {
			t.Errorf("saving gets %v", b)
		}
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	if b, release := s.Acquire(); b != want || p.closed.Load() != 0 {
		t.Error("the session was closed")
	} else {
		release()
	}
}

func TestSource(t *testing.T) {
	ctx, _, stop := With(t.Context(), "list_names", nil)
	defer stop()
	if _, _, _, err := Source(ctx); fault.CodeOf(err) != fault.NoTargetOpenCode || !strings.Contains(err.Error(), "list_names") {
		t.Errorf("error is %v", err)
	}
	s := newSession(t, &fakeProvider{id: "embedded"})
	b := open(t, s, file(t, "a", "one"))
	ctx, call, stop := With(t.Context(), "list_names", b)
	defer stop()
	target, eng, notes, err := Source(ctx)
	if err != nil || target != b.Target || eng != b.Engine {
		t.Fatalf("source is %v %v, %v", target, eng, err)
	}
	if call.UsedCursor() {
		t.Error("the cursor was not asked for")
	}
	notes.Cursor()
	if !call.UsedCursor() {
		t.Error("the cursor was asked for")
	}
}

func text(s string) *string { return &s }

func TestNotes(t *testing.T) {
	n := newNotes()
	n.limit = 4
	before, err := n.Apply([]query.Change{
		{Address: 0x10, Kind: query.NameNote, Value: text("main")},
		{Address: 0x20, Kind: query.NameNote, Value: text("main")},
		{Address: 0x10, Kind: query.CommentNote, Value: text("c")},
		{Address: 0x10, Kind: query.NameNote, Value: text("start")},
	})
	if err != nil || before[0] != nil || before[3] == nil || *before[3] != "main" || n.Count() != 3 || n.Edits() != 1 {
		t.Fatalf("before is %v, %v; %d notes", before, err, n.Count())
	}
	if addr, ok := n.AddressOf("main"); !ok || addr != 0x20 {
		t.Errorf("main is at %v, %v", addr, ok)
	}
	if addr, ok := n.AddressOf("start"); !ok || addr != 0x10 {
		t.Errorf("start is at %v, %v", addr, ok)
	}
	_, err = n.Apply([]query.Change{
		{Address: 0x10, Kind: query.NameNote, Value: nil},
		{Address: 0x30, Kind: query.BookmarkNote, Value: text("b")},
		{Address: 0x31, Kind: query.BookmarkNote, Value: text("b")},
	})
	if fault.CodeOf(err) != fault.AnnotationLimitCode {
		t.Errorf("beyond the limit: %v", err)
	}
	if name, ok := n.NameAt(0x10); !ok || name != "start" || n.Count() != 3 || len(n.Bookmarks()) != 0 {
		t.Errorf("a refused change did something: %q, %d notes", name, n.Count())
	}
	if _, err := n.Apply([]query.Change{
		{Address: 0x10, Kind: query.NameNote, Value: nil},
		{Address: 0x08, Kind: query.InlineNote, Value: text("i")},
	}); err != nil {
		t.Fatal(err)
	}
	if _, ok := n.NameAt(0x10); ok {
		t.Error("a removed name is still there")
	}
	items := n.Comments(0, 0)
	if len(items) != 2 || items[0].Text != "i" || items[0].Kind != model.CommentItemKindInline || items[1].Address != 0x10 {
		t.Errorf("comments are %+v", items)
	}
	if items := n.Comments(0x10, 0x11); len(items) != 1 {
		t.Errorf("comments in a range are %+v", items)
	}
	for addr, name := range n.AllNames() {
		if addr != 0x20 || name != "main" {
			t.Errorf("name %q at %v", name, addr)
		}
	}
	if _, ok := n.Cursor(); ok {
		t.Error("the cursor was not moved")
	}
	n.SetCursor(0x44)
	if addr, ok := n.Cursor(); !ok || addr != 0x44 {
		t.Errorf("cursor is at %v", addr)
	}
}
