package session

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
	"rea/runtime/evidence"
)

// Recognition is what the bytes of a file say it is.
type Recognition struct {
	Kind         model.TargetKind
	Format       model.TargetFormat
	Architecture model.Architecture
	Slice        string   // chosen slice of a universal file, or ""
	Slices       []string // every slice that could be chosen
	// Parsed is what had to be parsed to tell, kept with the target under the
	// keys of [engine.Memo].
	Parsed map[string]any
}

// A Recognizer looks at the headers of a file. slice is the wanted slice of a
// universal file, or "". It fails with unsupported_target.
type Recognizer func(path string, data []byte, slice string) (Recognition, error)

// Config is what a session is made of.
type Config struct {
	Providers []engine.Provider
	Recognize Recognizer
	Ledger    *evidence.Ledger
	Version   string // of rea
	// Environment and Flag are the engine wishes of REA_ANALYSIS_PROVIDER and --provider.
	Environment, Flag string
	// MaxTarget is the largest file that is opened; 0 is [DefaultMaxTarget].
	MaxTarget int64
	// DrainTimeout is how long closing waits for running calls before it tells
	// them to stop, and again until it gives up; 0 is 2 seconds.
	DrainTimeout time.Duration
}

// Client is who is at the other end.
type Client struct {
	Name, Version string // empty when it did not say
	Protocol      string // negotiated version, empty outside of MCP
	Features      model.ClientFeatures
}

// A Session is the state of one connection. Its methods may be called
// concurrently; those that read the state return at once.
type Session struct {
	config Config
	client atomic.Pointer[Client]

	transition chan struct{} // held while a target is opened or closed

	mu      sync.Mutex
	current *Binding
}

// New makes a session with nothing open.
func New(config Config) *Session {
	if config.MaxTarget <= 0 {
		config.MaxTarget = DefaultMaxTarget
	}
	if config.DrainTimeout <= 0 {
		config.DrainTimeout = 2 * time.Second
	}
	if config.Ledger == nil {
		config.Ledger = evidence.NewLedger("", 0)
	}
	s := &Session{config: config, transition: make(chan struct{}, 1)}
	s.client.Store(&Client{})
	return s
}

// Ledger holds the Evidence of the connection.
func (s *Session) Ledger() *evidence.Ledger { return s.config.Ledger }

// Client is who is at the other end.
func (s *Session) Client() Client { return *s.client.Load() }

// SetClient records who is at the other end.
func (s *Session) SetClient(c Client) { s.client.Store(&c) }

// Acquire holds the current binding for a call. It is nil when nothing is open.
// The caller must release it.
func (s *Session) Acquire() (b *Binding, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b = s.current
	if b == nil {
		return nil, func() {}
	}
	b.calls++
	return b, sync.OnceFunc(func() { s.release(b) })
}

func (s *Session) release(b *Binding) {
	s.mu.Lock()
	b.calls--
	last := b.retired && b.calls == 0
	s.mu.Unlock()
	if last {
		s.finish(b)
	}
}

// retire takes a binding out of use: it is finished when its last call ends,
// which may be now.
func (s *Session) retire(b *Binding) {
	s.mu.Lock()
	b.retired = true
	idle := b.calls == 0
	s.mu.Unlock()
	if idle {
		s.finish(b)
	}
}

// finish lets go of what a retired binding without calls holds.
func (s *Session) finish(b *Binding) {
	b.cancel(errClosed)
	b.forgetSnapshot()
	if b.held != nil {
		s.mu.Lock()
		b.held.refs--
		last := b.held.refs == 0
		s.mu.Unlock()
		if last {
			b.err = b.held.engine.Close()
		}
	}
	close(b.drained)
}

var errClosed = errors.New("the target was closed")

// Candidates describes the engines, sorted by id; none is started.
func (s *Session) Candidates(ctx context.Context) []model.EngineCandidate {
	b, release := s.Acquire()
	defer release()
	var target *engine.Target
	selected := ""
	if b != nil {
		target = b.Target
		if p := b.Profile(); p != nil {
			selected = p.Provider.ID
		}
	}
	return engine.Candidates(ctx, s.config.Providers, target, selected)
}

// Providers are the engines the session can bind.
func (s *Session) Providers() []engine.Provider { return s.config.Providers }

// lock takes the right to open or close.
func (s *Session) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.transition <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Session) unlock() { <-s.transition }

// OpenRequest says what to open.
type OpenRequest struct {
	Path     string
	Provider string // engine id, auto, or "" for no wish
	Slice    string // of a universal file, or ""
	Snapshot string // path of earlier results, or ""
}

// Open opens a file in place of what is open. When it fails, what was open
// still is. The binding it returns is not held for the caller.
func (s *Session) Open(ctx context.Context, req OpenRequest) (*Binding, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	choice := engine.Choose(req.Provider, s.config.Environment, s.config.Flag)
	file, err := readFile(ctx, req.Path, s.config.MaxTarget)
	if err != nil {
		return nil, err
	}
	what, err := s.config.Recognize(Printable(file.path), file.data, req.Slice)
	if err != nil {
		return nil, err
	}
	b := &Binding{
		Target: &engine.Target{
			Path: file.path, Name: filepath.Base(file.path), SHA256: file.sha256, Data: file.data,
			Kind: what.Kind, Format: what.Format, Architecture: what.Architecture, Slice: what.Slice, Slices: what.Slices,
		},
		Notes:   newNotes(),
		RunID:   newRunID(),
		choice:  choice,
		reuse:   &reuse{},
		drained: make(chan struct{}),
	}
	for key, parsed := range what.Parsed {
		b.Target.Keep(key, parsed)
	}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	if err := s.bind(ctx, b); err != nil {
		b.cancel(err)
		return nil, err
	}
	if req.Snapshot != "" {
		if err := s.loadSnapshot(ctx, b, req.Snapshot); err != nil {
			s.retire(b)
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		s.retire(b)
		return nil, err
	}
	s.mu.Lock()
	old := s.current
	s.current = b
	s.mu.Unlock()
	if old != nil {
		s.retire(old)
	}
	return b, nil
}

// bind gives b its engine: the one that serves the same bytes already, or a new one.
func (s *Session) bind(ctx context.Context, b *Binding) error {
	provider, err := engine.Select(ctx, s.config.Providers, b.Target, b.choice)
	if err != nil {
		if b.choice.ID == "" && noneSupports(err) {
			b.Limitations = append(b.Limitations, "no engine analyses "+string(b.Target.Architecture)+
				" code; only what the file's own tables say can be had")
			return nil
		}
		return err
	}
	if s.share(b, provider.Describe().Provider.ID) {
		return nil
	}
	s.inherit(b)
	eng, err := provider.Open(ctx, b.Target, b.Notes)
	if err != nil {
		return err
	}
	b.Engine, b.profile, b.held = eng, eng.Profile(), &heldEngine{engine: eng, refs: 1}
	return nil
}

// noneSupports tells that an engine was looked for and none fits the target,
// which leaves what format tools read. A wish that can't be met is an error.
func noneSupports(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	d, ok := f.Details.(*fault.ProviderSelectionDetails)
	return ok && d.Kind == fault.ProviderSelectionDetailsKindUnsupported
}

// share lets b continue with the engine and the notes of the current binding
// when both mean the same bytes at the same path to the same engine.
func (s *Session) share(b *Binding, provider string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.current
	if old == nil || old.held == nil || old.profile.Provider.ID != provider || old.Ended() || !b.continues(old) {
		return false
	}
	b.Target, b.Notes, b.Engine, b.profile, b.held = old.Target, old.Notes, old.Engine, old.profile, old.held
	b.reuse.made = old.reuse.takeMade()
	b.held.refs++
	return true
}

// inherit lets b, which gets another engine because that of the current binding
// has ended, continue with the analyst's notes about the same bytes.
func (s *Session) inherit(b *Binding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.current; old != nil && old.Ended() && b.continues(old) {
		b.Target, b.Notes = old.Target, old.Notes
	}
}

// Closed says what closing did.
type Closed struct {
	WasOpen bool
	Records int // that were cleared
}

// Close closes what is open and clears the Evidence. before, unless nil, runs
// first with the binding that is about to be closed (nil when nothing is open);
// when it fails, nothing is closed. Close waits for calls that use the target,
// tells them to stop when they take long, and fails with cleanup_incomplete
// when something could not be released; the target is closed even then.
func (s *Session) Close(ctx context.Context, before func(*Binding) error) (Closed, error) {
	if err := s.lock(ctx); err != nil {
		return Closed{}, err
	}
	defer s.unlock()
	b, release := s.Acquire()
	if before != nil {
		if err := before(b); err != nil {
			release()
			return Closed{}, err
		}
	}
	s.mu.Lock()
	s.current = nil
	s.mu.Unlock()
	release()
	closed := Closed{WasOpen: b != nil}
	var err error
	if b != nil {
		s.retire(b)
		err = s.drain(ctx, b)
	}
	closed.Records = s.config.Ledger.Clear()
	return closed, err
}

// drain waits for the end of a retired binding.
func (s *Session) drain(ctx context.Context, b *Binding) error {
	if !wait(ctx, b.drained, s.config.DrainTimeout) {
		b.cancel(errClosed)
		if !wait(context.Background(), b.drained, s.config.DrainTimeout) {
			return fault.CleanupIncomplete(fault.CleanupIncompleteDetails{
				Reason: "calls that use the target have not ended", Remaining: []string{"call", "engine"},
			}, nil)
		}
	}
	if fault.CodeOf(b.err) == fault.CleanupIncompleteCode {
		return b.err // the engine knows what of it remains
	}
	if b.err != nil {
		return fault.CleanupIncomplete(fault.CleanupIncompleteDetails{
			Reason: "the engine could not be closed: " + b.err.Error(), Remaining: []string{"engine"},
		}, b.err)
	}
	return nil
}

func wait(ctx context.Context, done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
