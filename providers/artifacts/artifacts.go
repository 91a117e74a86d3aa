// Package artifacts is the family of tools over packages, archives, images and
// directories: what is in them, out of them, and between two of them.
package artifacts

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/artifacts/inventory"
	"rea/runtime/session"
)

// Handlers serve any session: they know no target.
type Handlers struct {
	attacher string // the program that attaches disk images, "" where there is none
}

// New makes the handlers.
func New() *Handlers {
	h := &Handlers{}
	if runtime.GOOS == "darwin" {
		h.attacher = hdiutil
	}
	return h
}

var _ tool.ArtifactsHandlers = (*Handlers)(nil)

// walkFailure is the fault for a walk that could not be made.
func walkFailure(path, operation string, err error) error {
	var bad *inventory.Mismatch
	if errors.As(err, &bad) {
		return mismatch(operation, bad)
	}
	kind := fault.ArtifactOperationFailedDetailsKindIo
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = fault.ArtifactOperationFailedDetailsKindMissing
	case errors.Is(err, fs.ErrPermission):
		kind = fault.ArtifactOperationFailedDetailsKindPermission
	case errors.Is(err, inventory.ErrNotRegular):
		return operationFailed("read", path, fault.ArtifactOperationFailedDetailsKindNotRegular, "it is neither a regular file nor a directory", nil)
	case errors.Is(err, syscall.ENOSPC):
		kind = fault.ArtifactOperationFailedDetailsKindNoSpace
	case !local(err):
		return err
	}
	reason := err.Error()
	if cause := new(fs.PathError); errors.As(err, &cause) {
		reason = cause.Err.Error()
	}
	return operationFailed("read", path, kind, reason, err)
}

// local reports whether an error comes from the file system.
func local(err error) bool {
	var p *fs.PathError
	var e syscall.Errno
	return errors.As(err, &p) || errors.As(err, &e)
}

func operationFailed(operation, path string, kind fault.ArtifactOperationFailedDetailsKind, reason string, cause error) error {
	return fault.ArtifactOperationFailed(fault.ArtifactOperationFailedDetails{
		Operation: operation, Path: session.Printable(path), Reason: reason, Kind: kind,
	}, cause)
}

func mismatch(operation string, bad *inventory.Mismatch) error {
	it := bad.Item
	cause := "the bytes were changed after the container declared them, or the declaration is wrong"
	if it.Unpacked {
		cause = inventory.CauseUnpacked
	}
	return fault.ArtifactIntegrityMismatch(fault.ArtifactIntegrityMismatchDetails{
		Path: it.Path, Algorithm: bad.Check.Algorithm, Declared: optional(bad.Check.Declared), Observed: optional(bad.Check.Observed),
		ObservedSHA256: optional(it.SHA256), Unpacked: it.Unpacked, Cause: cause, Operation: operation,
	}, bad)
}

// subject is what a finding is about, nil when its digest is not known.
func subject(path string, g *graph) *model.EvidenceSubject {
	if g.root.SHA256 == nil {
		return nil
	}
	s := &model.EvidenceSubject{Name: session.Printable(filepath.Base(path)), Format: optional(g.root.Format), Architecture: g.root.Architecture}
	s.Digest.SHA256 = *g.root.SHA256
	if abs, err := filepath.Abs(path); err == nil {
		abs = session.Printable(abs)
		s.LocalPath = &abs
	}
	return s
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// known is nil for a number that is not.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}
