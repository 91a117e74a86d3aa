package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"rea/providers/embedded/program"
	"rea/runtime/engine"
	"rea/runtime/progress"
)

var errClosed = errors.New("the target was closed")

// analysis runs the whole-program analysis once and shares it. A run belongs
// to those who wait for it: it stops when the last of them gives up, and the
// next question starts it anew.
type analysis struct {
	start func(ctx context.Context, report func(phase string, done, total int)) (*program.Program, error)

	mu      sync.Mutex
	done    *program.Program
	current *run
	closed  bool
}

type run struct {
	cancel  context.CancelFunc
	ready   chan struct{}
	waiting int
	phase   string
	reports progress.Broadcast
	result  *program.Program
	err     error
}

func (a *analysis) get(ctx context.Context) (*program.Program, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	if a.done != nil || a.closed {
		defer a.mu.Unlock()
		if a.closed {
			return nil, errClosed
		}
		return a.done, nil
	}
	if a.current == nil {
		a.current = a.begin()
	}
	r := a.current
	r.waiting++
	a.mu.Unlock()

	unfollow := r.reports.Follow(ctx)
	defer unfollow()
	select {
	case <-r.ready:
		return r.result, r.err
	case <-ctx.Done():
		a.leave(r)
		return nil, ctx.Err()
	}
}

// leave gives up waiting; the last one out stops the run.
func (a *analysis) leave(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.waiting--; r.waiting == 0 && a.current == r {
		r.cancel()
		a.current = nil
	}
}

// begin starts a run; a.mu is held.
func (a *analysis) begin() *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, ready: make(chan struct{}), phase: "starting"}
	ctx = r.reports.Context(ctx)
	go func() {
		defer cancel()
		defer close(r.ready)
		defer func() {
			if p := recover(); p != nil {
				r.result, r.err = nil, fmt.Errorf("analysis panicked: %v", p)
			}
			a.finish(r)
		}()
		r.result, r.err = a.start(ctx, func(phase string, done, total int) {
			a.mu.Lock()
			r.phase = phase
			a.mu.Unlock()
			if total > 0 {
				progress.Reportf(ctx, "analysing: %s, %d of %d", phase, done, total)
				return
			}
			progress.Reportf(ctx, "analysing: %s", phase)
		})
	}()
	return r
}

func (a *analysis) finish(r *run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != r {
		return
	}
	a.current = nil
	if r.err == nil {
		a.done = r.result
	}
}

func (a *analysis) stop() {
	a.mu.Lock()
	a.closed = true
	r := a.current
	if r != nil {
		r.cancel()
	}
	a.mu.Unlock()
	if r != nil {
		<-r.ready
	}
}

func (a *analysis) activity() engine.Activity {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.current; r != nil {
		return engine.Activity{Status: "busy", Running: 1, Queued: max(0, r.waiting-1), Phase: r.phase}
	}
	return engine.Activity{Status: "idle"}
}
