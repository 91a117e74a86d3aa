// Package fault holds the errors a caller can meet, one file for each contract in
// contracts/errors: its code, its details and its constructor.
//
// Constructors return error. What is not made by one of them is a fault of ours,
// and dispatch reports it as execution_failure.
package fault

import (
	"errors"

	"rea/generated/wire"
)

// A Code names an error; the set is closed.
type Code string

// A Category groups codes by what the caller can do about them.
type Category string

const (
	InvalidInput        Category = "invalid_input"
	UnsupportedProvider Category = "unsupported_provider"
	IntegrityMismatch   Category = "integrity_mismatch"
	Truncated           Category = "truncated"
	CategoryCancelled   Category = "cancelled"
	Timeout             Category = "timeout"
	Unavailable         Category = "unavailable"
	Execution           Category = "execution_failure"
)

// A Remediation says what to do next.
type Remediation struct {
	Action          string
	RestartRequired bool
}

// An Error is a diagnostic with everything its document shows.
type Error struct {
	Code        Code
	Category    Category
	Message     string
	Retryable   bool
	Remediation Remediation
	Details     wire.Appender // pointer to the details type of the code
	Cause       error         // for logs; never shown to callers
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Cause }

// Advise puts another action into a fault that was just made, where the one of
// its code would mislead.
func Advise(err error, action string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Remediation.Action = action
	}
	return err
}

// CodeOf is the code of the first Error in the chain of err, or "".
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// AppendJSON appends the diagnostic document, {"error": {…}}.
func (e *Error) AppendJSON(b []byte) []byte {
	b = append(b, `{"error":{"code":`...)
	b = wire.AppendString(b, e.Code)
	b = append(b, `,"category":`...)
	b = wire.AppendString(b, e.Category)
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, e.Message)
	b = append(b, `,"retryable":`...)
	b = wire.AppendBool(b, e.Retryable)
	b = append(b, `,"remediation":{"action":`...)
	b = wire.AppendString(b, e.Remediation.Action)
	b = append(b, `,"restart_required":`...)
	b = wire.AppendBool(b, e.Remediation.RestartRequired)
	b = append(b, `},"details":`...)
	b = wire.AppendUnion(b, e.Details)
	return append(b, "}}"...)
}

// JSON is the diagnostic document.
func (e *Error) JSON() []byte { return e.AppendJSON(nil) }
