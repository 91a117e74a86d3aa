package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

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

// errInterrupted is the cause of a context that a signal ended.
type errInterrupted struct{ signal os.Signal }

func (e errInterrupted) Error() string { return e.signal.String() }

// exitCode tells what the shell is told about err.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var stopped errInterrupted
	if errors.As(context.Cause(ctx), &stopped) {
		if s, ok := stopped.signal.(syscall.Signal); ok {
			return exitSignal + int(s)
		}
		return exitFailed
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
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
