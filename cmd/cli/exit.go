package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"rea/generated/fault"
)

// Exit codes, as README.md documents them.
const (
	exitOK          = 0
	exitFailed      = 1   // the operation failed
	exitUsage       = 2   // the command line or an input is wrong
	exitUnavailable = 3   // target, engine or capability is not to be had
	exitIntegrity   = 4   // bytes are not the ones that were expected
	exitTimeout     = 124 // as timeout(1)
	exitSignal      = 128 // and the number of the signal
)

// usageError is a command line that can't be understood.
type usageError struct {
	message string
	hint    string
}

func (e *usageError) Error() string { return e.message }

func usagef(hint, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), hint}
}

// advised is a failure with a way out.
type advised struct {
	error
	action string
}

func (e advised) Unwrap() error { return e.error }

// errInterrupted is the cause of a context that a signal ended.
type errInterrupted struct{ signal os.Signal }

func (e errInterrupted) Error() string { return e.signal.String() }

// errTimeout is the cause of a context that --timeout ended.
type errTimeout struct{ after time.Duration }

func (e errTimeout) Error() string { return "gave up after " + e.after.String() }

// within bounds ctx by --timeout, unless it is 0. It cancels instead of setting
// a deadline, so that whoever is stopped tells the end of the call from a
// deadline of its own. failed replaces an error that comes from the stop.
func within(ctx context.Context, limit time.Duration) (_ context.Context, failed func(error) error, stop func()) {
	if limit <= 0 {
		return ctx, func(err error) error { return err }, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errTimeout{limit}) })
	failed = func(err error) error {
		var timeout errTimeout
		if err != nil && errors.As(context.Cause(ctx), &timeout) {
			return timeout
		}
		return err
	}
	return ctx, failed, func() {
		timer.Stop()
		cancel(nil)
	}
}

// exitCode tells what the shell is told about err.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var stopped errInterrupted
	if errors.As(context.Cause(ctx), &stopped) || errors.As(err, &stopped) {
		if s, ok := stopped.signal.(syscall.Signal); ok {
			return exitSignal + int(s)
		}
		return exitFailed
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	var timeout errTimeout
	if errors.As(err, &timeout) {
		return exitTimeout
	}
	var e *fault.Error
	if !errors.As(err, &e) {
		return exitFailed
	}
	switch e.Category {
	case fault.InvalidInput:
		return exitUsage
	case fault.Unavailable, fault.UnsupportedProvider:
		return exitUnavailable
	case fault.IntegrityMismatch:
		return exitIntegrity
	case fault.Timeout:
		return exitTimeout
	}
	return exitFailed
}
