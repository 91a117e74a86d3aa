// Package progress tells a waiting caller what a long call is doing.
//
// Code that may take long calls [Report] with its context and need not know
// whether anyone listens. Whoever starts the call attaches a [Reporter] with
// [With], and ends it with [Reporter.Finish]. Between the two sits the rate
// bound: at most one update per interval, the latest one when several were
// reported, and one terminal update whenever the call ends.
//
// The number of an update counts the updates that were emitted. It is not a
// share of the work: how much is left is unknown, and is not made up.
package progress

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Interval is the least time between two intermediate updates.
const Interval = 100 * time.Millisecond

// maxMessage bounds a message in bytes: it may quote names from a target.
const maxMessage = 400

// A Sink receives updates, one at a time, with n strictly increasing from 1.
type Sink func(n int64, message string)

type contextKey struct{}

// With attaches a reporter to a call.
func With(ctx context.Context, r *Reporter) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// Listening reports whether a report made with ctx can be seen, for callers
// whose message is expensive to make.
func Listening(ctx context.Context) bool {
	r, _ := ctx.Value(contextKey{}).(*Reporter)
	return r != nil
}

// Report tells the listener of ctx, if there is one, what is being done.
func Report(ctx context.Context, message string) {
	if r, _ := ctx.Value(contextKey{}).(*Reporter); r != nil {
		r.Report(message)
	}
}

// Reportf is [Report] with a format that is only applied for a listener.
func Reportf(ctx context.Context, format string, args ...any) {
	if Listening(ctx) {
		Report(ctx, fmt.Sprintf(format, args...))
	}
}

// A Reporter rate-bounds the updates of one call. It may be used concurrently.
type Reporter struct {
	sink Sink

	mu      sync.Mutex
	count   int64
	last    time.Time // of the latest emitted update
	pending string    // the latest held-back message
	timer   *time.Timer
	done    bool
}

// NewReporter reports to sink.
func NewReporter(sink Sink) *Reporter { return &Reporter{sink: sink} }

// Report emits message now, or at the end of the running interval unless a
// later message replaces it.
func (r *Reporter) Report(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return
	}
	wait := Interval - time.Since(r.last)
	if r.last.IsZero() || wait <= 0 {
		r.emit(message)
		return
	}
	r.pending = message
	if r.timer == nil {
		r.timer = time.AfterFunc(wait, r.flush)
	}
}

func (r *Reporter) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	if r.done || r.pending == "" {
		return
	}
	if wait := Interval - time.Since(r.last); wait > 0 { // an update overtook this one
		r.timer = time.AfterFunc(wait, r.flush)
		return
	}
	r.emit(r.pending)
}

// Finish emits the terminal update and ends the reporter. An update that was
// still held back is superseded by it; later reports are dropped.
func (r *Reporter) Finish(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return
	}
	r.done = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.emit(message)
}

// emit is called with the lock held, which keeps updates in order.
func (r *Reporter) emit(message string) {
	r.pending = ""
	r.count++
	r.last = time.Now()
	r.sink(r.count, clean(message))
}

// clean bounds a message and replaces what could steer a terminal.
func clean(message string) string {
	message = strings.Map(func(c rune) rune {
		if c < 0x20 || c >= 0x7f && c < 0xa0 || c == utf8.RuneError {
			return '\ufffd'
		}
		return c
	}, message)
	if len(message) <= maxMessage {
		return message
	}
	cut := maxMessage
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "…"
}
