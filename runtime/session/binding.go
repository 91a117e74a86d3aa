package session

import (
	"context"
	"crypto/rand"
	"slices"
	"sync/atomic"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// A Binding is one opened target with its engine. It is immutable but for the
// notes, and lives until the target was closed or replaced and the last call
// that holds it has ended.
type Binding struct {
	Target *engine.Target
	Engine engine.Engine // nil when no engine is bound
	Notes  *Notes
	RunID  string
	// Limitations are what opening already knows can't be had.
	Limitations []string

	choice  engine.Choice
	profile model.AnalysisProfile // of Engine
	held    *heldEngine
	reuse   *reuse

	ctx     context.Context // ends when calls must give up the target
	cancel  context.CancelCauseFunc
	calls   int           // guarded by Session.mu
	retired bool          // guarded by Session.mu
	drained chan struct{} // closed when retired and without calls
	err     error         // of closing the engine; set before drained is closed
}

// heldEngine is an engine that successive bindings of the same bytes share.
type heldEngine struct {
	engine engine.Engine
	refs   int // guarded by Session.mu
}

// newRunID names a run. It never enters Evidence.
func newRunID() string { return "run_" + rand.Text() }

// Model describes the bound engine; nil when there is none.
func (b *Binding) Model() *model.EngineBinding {
	if b.Engine == nil {
		return nil
	}
	return &model.EngineBinding{
		Provider:        b.profile.Provider,
		SelectionSource: b.choice.Source,
		AnalysisProfile: b.profile,
	}
}

// Profile is the exact configuration of the bound engine, nil when there is
// none. It is asked for once, when the engine is bound.
func (b *Binding) Profile() *model.AnalysisProfile {
	if b.Engine == nil {
		return nil
	}
	profile := b.profile
	return &profile
}

// Ended reports whether the bound engine has ended by itself.
func (b *Binding) Ended() bool {
	e, ok := b.Engine.(engine.Ender)
	return ok && e.Ended()
}

// continues reports whether b means the same bytes at the same path as old.
func (b *Binding) continues(old *Binding) bool {
	t, o := b.Target, old.Target
	return t.SHA256 == o.SHA256 && t.Path == o.Path && t.Slice == o.Slice
}

// Subject is the target as Evidence names it.
func (b *Binding) Subject() *model.EvidenceSubject {
	t := b.Target
	format, architecture, path := string(t.Format), string(t.Architecture), Printable(t.Path)
	s := &model.EvidenceSubject{Name: Printable(t.Name), Format: &format, Architecture: &architecture, LocalPath: &path}
	s.Digest.SHA256 = t.SHA256
	return s
}

// TargetModel describes the target.
func (b *Binding) TargetModel() model.Target {
	t := b.Target
	m := model.Target{
		Path: Printable(t.Path), SHA256: t.SHA256, Size: int64(len(t.Data)),
		Kind: t.Kind, Format: t.Format, Architecture: t.Architecture, Slices: slices.Clone(t.Slices),
	}
	if t.Slice != "" {
		m.Slice = &t.Slice
	}
	return m
}

// ProcessOwner is implemented by engines that run processes of their own.
type ProcessOwner interface {
	// Processes are what was observed of them, newest last; it never blocks.
	Processes() []model.AnalysisRunProcessLineageSnapshotsProvider
}

// Run describes the run of the binding.
func (b *Binding) Run() *model.AnalysisRun {
	run := &model.AnalysisRun{RunID: b.RunID, ProcessLineage: &model.AnalysisRunProcessLineageNotObserved{}}
	if owner, ok := b.Engine.(ProcessOwner); ok {
		if seen := owner.Processes(); len(seen) > 0 {
			run.ProcessLineage = &model.AnalysisRunProcessLineageSnapshots{Providers: seen}
		}
	}
	return run
}

// A Call is one running call of a tool, as its context carries it.
type Call struct {
	tool    string
	binding *Binding
	notes   *callNotes
	engine  atomic.Bool // the handler asked for the engine
}

// callNotes are the notes of the target as one call uses them.
type callNotes struct {
	*Notes
	cursor atomic.Bool // the answer depends on where the cursor is
}

func (n *callNotes) Cursor() (model.Address, bool) {
	n.cursor.Store(true)
	return n.Notes.Cursor()
}

type callKey struct{}

// With begins a call of a tool on a binding, which may be nil. The context that
// is returned ends when the binding has to be given up; stop releases what
// watches for that.
func With(ctx context.Context, tool string, b *Binding) (_ context.Context, c *Call, stop func()) {
	c = &Call{tool: tool, binding: b}
	stop = func() {}
	if b != nil {
		c.notes = &callNotes{Notes: b.Notes}
		inner, cancel := context.WithCancelCause(ctx)
		unwatch := context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })
		ctx, stop = inner, func() { unwatch(); cancel(nil) }
	}
	return context.WithValue(ctx, callKey{}, c), c, stop
}

// UsedCursor reports whether the call asked where the cursor is.
func (c *Call) UsedCursor() bool { return c.notes != nil && c.notes.cursor.Load() }

// UsedEngine reports whether the call asked for the engine: then its profile is
// part of what the finding depends on.
func (c *Call) UsedEngine() bool { return c.engine.Load() }

// Bound is the binding of the call in ctx, or nil.
func Bound(ctx context.Context) *Binding {
	if c, _ := ctx.Value(callKey{}).(*Call); c != nil {
		return c.binding
	}
	return nil
}

// Target is the target of the call in ctx, for tools that need no engine; it
// fails with no_target_open.
func Target(ctx context.Context) (*engine.Target, error) {
	c, _ := ctx.Value(callKey{}).(*Call)
	if c == nil || c.binding == nil {
		return nil, noTarget(c)
	}
	return c.binding.Target, nil
}

// Source is what handlers of native facts work on: a [query.Source].
func Source(ctx context.Context) (*engine.Target, engine.Engine, query.Notes, error) {
	c, _ := ctx.Value(callKey{}).(*Call)
	if c == nil || c.binding == nil {
		return nil, nil, nil, noTarget(c)
	}
	if c.binding.Engine == nil {
		return nil, nil, nil, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: c.tool, Reason: "no engine is bound to the target", Missing: []string{"engine"}, Providers: []string{},
		}, nil)
	}
	c.engine.Store(true)
	return c.binding.Target, c.binding.Engine, c.notes, nil
}

var _ query.Source = Source

func noTarget(c *Call) error {
	d := fault.NoTargetOpenDetails{}
	if c != nil {
		d.Tool = c.tool
	}
	return fault.NoTargetOpen(d, nil)
}
