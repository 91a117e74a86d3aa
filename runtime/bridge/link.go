package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/child"
	"rea/runtime/engine"
	"rea/runtime/progress"
)

// Config says which engine is run, and how.
type Config struct {
	Provider model.Provider // whose version, when known, the script must state
	SHA256   string         // of the bytes the engine must have imported
	// Prepare fills the place of a new process and says what to run. It looks at
	// its context where it takes long.
	Prepare func(ctx context.Context, p *Place) (child.Command, error)
	// Companion, unless nil, says what is run beside the engine, from before
	// Prepare until the engine is gone, such as a display. The first line that it
	// writes to its standard output is in the place when Prepare is called.
	Companion func(p *Place) (child.Command, error)
	// StartTimeout is how long a start may take.
	StartTimeout time.Duration
	// StartSetting names the environment variable that sets StartTimeout.
	StartSetting string
	// HandsOver says that the launcher may end well and leave the engine to
	// another process, which need not be ours.
	HandsOver bool
	// Pending tells what may still be going on while a start takes long.
	Pending string
	// Base is where places are made; "" is the directory for temporary files.
	Base string
	// Grace is how long a process may take to end when it is asked; 0 is a second.
	Grace time.Duration
	// Queue is how many questions may wait; 0 is 64.
	Queue int
	// Waiting is the time between two reports on a start that takes long; 0 is
	// ten seconds.
	Waiting time.Duration
	// Handshake is how long a connected script may take to say who it is; 0 is
	// ten seconds.
	Handshake time.Duration
	// Answer is how long a question may take that names no time of its own; 0
	// is two minutes.
	Answer time.Duration
	// List is how long a question may take that goes over the whole program; 0
	// is ten minutes.
	List time.Duration

	removeAll func(string) error // removePlace but for tests of what it cannot do
}

func (c *Config) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.Grace, time.Second)
	set(&c.Waiting, 10*time.Second)
	set(&c.Handshake, 10*time.Second)
	set(&c.Answer, 2*time.Minute)
	set(&c.List, 10*time.Minute)
	if c.Queue <= 0 {
		c.Queue = 64
	}
	if c.removeAll == nil {
		c.removeAll = removePlace
	}
}

// A Link is one engine process at a time, started by the first question. Its
// methods may be called concurrently.
type Link struct {
	config Config

	mu       sync.Mutex
	current  *run
	dead     error // of an engine that ended once it was ready
	closed   bool
	queued   int
	lineage  []observation
	leftover []string       // kinds that earlier processes left behind
	cleaning sync.WaitGroup // of the ends of all processes
}

// New makes a link; nothing is started.
func New(config Config) *Link {
	config.defaults()
	return &Link{config: config}
}

var errClosed = errors.New("the target was closed")

// get is the ready engine process. The first caller starts it.
func (l *Link) get(ctx context.Context) (*run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	switch {
	case l.closed:
		l.mu.Unlock()
		return nil, errClosed
	case l.dead != nil:
		defer l.mu.Unlock()
		return nil, l.dead
	case l.current == nil:
		l.current = l.begin()
	}
	r := l.current
	r.waiting++
	l.mu.Unlock()

	if !isClosed(r.ready) { // what a start reported is no news once it has settled
		unfollow := r.reports.Follow(ctx)
		defer unfollow()
	}
	select {
	case <-r.ready:
		l.mu.Lock()
		r.waiting--
		l.mu.Unlock()
		return r, r.err
	case <-ctx.Done():
		l.leave(r)
		return nil, ctx.Err()
	}
}

// leave gives up waiting for a start; the last one out ends it.
func (l *Link) leave(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.waiting--
	select {
	case <-r.ready:
		return
	default:
	}
	if r.waiting == 0 && l.current == r {
		l.current = nil
		r.cancel(context.Canceled)
	}
}

// begin starts a run; l.mu is held.
func (l *Link) begin() *run {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{
		link: l, cancel: cancel, phase: "starting",
		ready: make(chan struct{}), broken: make(chan struct{}), lane: make(chan struct{}, 1),
	}
	l.cleaning.Add(1)
	go func() {
		defer l.cleaning.Done()
		if err := r.start(ctx); err != nil {
			remaining := r.end()
			l.startFailed(r, err, remaining)
			return
		}
		close(r.ready)
		r.read()
		// The reader ends when the engine does or when it was told to.
		err := r.why(ctx)
		remaining := r.end()
		l.ended(r, err, remaining)
		r.setBroken(err)
	}()
	return r
}

// startFailed makes the failure of a start known to those who wait for it.
func (l *Link) startFailed(r *run, err error, remaining []string) {
	l.mu.Lock()
	if l.current == r {
		l.current = nil
	}
	l.leftover = append(l.leftover, remaining...)
	closed := l.closed
	l.mu.Unlock()
	if len(remaining) > 0 && !closed {
		err = cleanupIncomplete("the engine did not start and could not be removed: "+err.Error(), remaining, err)
	}
	r.err = err
	close(r.ready)
}

// ended records that a process that was ready has ended.
func (l *Link) ended(r *run, err error, remaining []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == r {
		l.current = nil
		l.dead = err
	}
	l.leftover = append(l.leftover, remaining...)
}

// Close ends the engine and waits until it is gone. It fails with
// cleanup_incomplete when something of it remains. Calling it again does nothing.
func (l *Link) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	r := l.current
	l.current = nil
	l.mu.Unlock()
	if r != nil {
		r.quit()
	}
	l.cleaning.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.leftover) == 0 {
		return nil
	}
	return cleanupIncomplete("the engine left something behind", l.leftover, nil)
}

func cleanupIncomplete(reason string, remaining []string, cause error) error {
	kinds := slices.Compact(slices.Sorted(slices.Values(remaining)))
	return fault.CleanupIncomplete(fault.CleanupIncompleteDetails{Reason: reason, Remaining: kinds}, cause)
}

// Start starts the engine unless it runs, and waits until it is ready.
func (l *Link) Start(ctx context.Context) error {
	_, err := l.get(ctx)
	return err
}

// Started reports whether an engine process is ready or on its way.
func (l *Link) Started() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current != nil
}

// Ended reports whether an engine that was ready has ended: no other is started.
func (l *Link) Ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead != nil
}

// Activity tells what the engine does now; it never blocks for long.
func (l *Link) Activity() engine.Activity {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.current
	if r == nil {
		if l.dead != nil {
			return engine.Activity{Status: "ended"}
		}
		return engine.Activity{Status: "idle"}
	}
	select {
	case <-r.ready:
	default:
		return engine.Activity{Status: "busy", Running: 1, Queued: max(0, r.waiting-1), Phase: r.phase}
	}
	a := engine.Activity{Status: "idle", Queued: l.queued}
	if op, abandoned, busy := r.doing(); busy {
		a.Status, a.Running, a.Phase = "busy", 1, op
		if abandoned {
			a.Status = "timed_out_busy"
		}
	}
	return a
}

// Processes are what was observed of the processes that were started.
func (l *Link) Processes() []model.AnalysisRunProcessLineageSnapshotsProvider {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]model.AnalysisRunProcessLineageSnapshotsProvider, len(l.lineage))
	for i := range l.lineage {
		out[i] = l.lineage[i].row
	}
	return out
}

// An observation is what was seen last of the process of a run.
type observation struct {
	run *run
	row model.AnalysisRunProcessLineageSnapshotsProvider
}

// observe looks at a process and keeps what it saw, in place of what it saw before.
func (l *Link) observe(r *run) {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	row := model.AnalysisRunProcessLineageSnapshotsProvider{Provider: l.config.Provider}
	if row.Provider.Version == nil && r.version != "" {
		row.Provider.Version = &r.version
	}
	if s, err := r.process.Snapshot(); err != nil {
		row.Observation = &model.AnalysisRunProcessLineageSnapshotsProviderObservationUnavailable{ObservedAt: now, Reason: err.Error()}
	} else {
		seen := &model.AnalysisRunProcessLineageSnapshotsProviderObservationVerified{
			ObservedAt: now, LauncherPID: int64(s.PID), ParentPID: int64(s.Parent), ProcessGroup: int64(s.Group), Descendants: []int64{},
		}
		for _, pid := range s.Descendants {
			seen.Descendants = append(seen.Descendants, int64(pid))
		}
		row.Observation = seen
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.lineage {
		if l.lineage[i].run == r {
			l.lineage[i].row = row
			return
		}
	}
	const kept = 32 // starts of one target
	if len(l.lineage) == kept {
		l.lineage = l.lineage[1:]
	}
	l.lineage = append(l.lineage, observation{r, row})
}

// wait reports on a start that takes long, until it has settled.
func (l *Link) wait(ctx context.Context) {
	begun := time.Now()
	ticker := time.NewTicker(l.config.Waiting)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			progress.Reportf(ctx, "waiting for %s for %d s; %s", l.config.Provider.Name, int(time.Since(begun).Round(time.Second).Seconds()), l.config.Pending)
		}
	}
}

// unavailable is the fault of an engine that did not start.
func (l *Link) unavailable(format string, args ...any) error {
	id := l.config.Provider.ID
	return fault.Advise(fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
		ProviderID: id, Reason: fmt.Sprintf(format, args...), Candidates: []string{},
	}, nil), "Find out more with rea doctor --provider "+id+" --verify FILE, or open the target with another engine.")
}

// over is the fault of an engine that was ready and is no more.
func (l *Link) over(format string, args ...any) error {
	return fault.Advise(fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
		ProviderID: l.config.Provider.ID, Reason: fmt.Sprintf(format, args...), Candidates: []string{}, Ended: true,
	}, nil), "Open the target again, which starts another engine, and retry.")
}

func (l *Link) timeout(limit time.Duration, phase string) error {
	return fault.ProviderTimeout(fault.ProviderTimeoutDetails{
		ProviderID: l.config.Provider.ID, TimeoutMs: limit.Milliseconds(), Phase: phase,
	}, nil)
}

// late is the fault of a start that took too long.
func (l *Link) late(limit time.Duration, phase string) error {
	setting := l.config.StartSetting
	if setting == "" {
		return l.timeout(limit, phase)
	}
	err := fault.ProviderTimeout(fault.ProviderTimeoutDetails{
		ProviderID: l.config.Provider.ID, TimeoutMs: limit.Milliseconds(), Phase: phase, Setting: &setting,
	}, nil)
	return fault.Advise(err, fmt.Sprintf("Allow it more than %d ms with %s in the environment of rea, or open the target with another engine.",
		limit.Milliseconds(), setting))
}
