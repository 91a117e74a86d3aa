package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/evidence"
	"rea/runtime/evidence/publish"
	"rea/runtime/session"
)

// explain turns whatever a call failed with into a fault.
func (d *Dispatcher) explain(ctx context.Context, spec *tool.Spec, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		if !slices.Contains(spec.Errors, known.Code) {
			d.config.Log.Warn("error that the contract does not declare", "tool", spec.Name, "code", known.Code)
		}
		return d.engineFault(ctx, known)
	}
	if errors.Is(err, context.Canceled) || ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return cancelled(ctx)
	}
	if _, ok := evidence.AsIntegrity(err); ok {
		return integrity("", err)
	}
	var file *publish.Error
	if errors.As(err, &file) {
		return fault.Advise(fault.ArtifactOperationFailed(fault.ArtifactOperationFailedDetails{
			Operation: "write", Path: session.Printable(file.Path), Reason: file.Reason,
			Kind: fault.ArtifactOperationFailedDetailsKind(file.Kind),
		}, err), wayOut(file.Kind))
	}
	var stored *evidence.StorageError
	if errors.Is(err, evidence.ErrFull) || errors.As(err, &stored) {
		return storage(err)
	}
	var argument *model.InvalidError
	if errors.As(err, &argument) {
		return failure(spec.Name, errors.New("a stored value breaks its contract at "+argument.Error()))
	}
	d.config.Log.Warn("unexplained error", "tool", spec.Name, "error", err)
	return failure(spec.Name, err)
}

// wayOut says what to do when a file was not written; nothing of what was there
// has changed.
func wayOut(kind publish.Kind) string {
	switch kind {
	case publish.Exists:
		return "Choose another path, or have the file replaced with overwrite."
	case publish.Protected:
		return "Choose another path; the file was not changed."
	case publish.NoSpace:
		return "Free space on the file system of the path, or choose a path on another; nothing was changed."
	case publish.Symlink:
		return "Give the path that the link leads to; nothing was changed."
	case publish.Missing:
		return "Make the directory first, or choose another path."
	case publish.Permission:
		return "Choose a path in a directory that you may write to; nothing was changed."
	}
	return "Choose another path; nothing was changed."
}

func cancelled(ctx context.Context) error {
	var details fault.CancelledDetails
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		text := bounded(cause.Error())
		details.Phase = &text
	}
	return fault.Cancelled(details, context.Canceled)
}

// failure is the fault of an operation that failed for no reason with a code.
func failure(operation string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("a deadline passed")
	}
	return fault.ExecutionFailure(fault.ExecutionFailureDetails{
		Operation: operation, Reason: bounded(err.Error()),
	}, err)
}

// bounded cuts a text of unknown origin.
func bounded(text string) string {
	const limit = 1000
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
