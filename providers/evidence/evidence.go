// Package evidence is the family of tools over records that exist: it lists,
// moves, views and compares them, and starts no engine. How records are made
// and kept is the business of runtime/evidence.
package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"rea/generated/fault"
	"rea/generated/tool"
	store "rea/runtime/evidence"
	"rea/runtime/session"
)

// Config is what the family is told by whoever puts the program together.
type Config struct {
	Session *session.Session
	// Budget is the client's receive buffer in bytes; 0 means that results have
	// no bound, as on the command line.
	Budget int64
}

// Handlers serve one session.
type Handlers struct{ config Config }

// New makes the handlers.
func New(config Config) *Handlers { return &Handlers{config} }

var _ tool.EvidenceHandlers = (*Handlers)(nil)

func (h *Handlers) ledger() *store.Ledger { return h.config.Session.Ledger() }

// openBundle opens a bundle for reading.
func openBundle(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, unreadable(path, fault.ArtifactOperationFailedDetailsKindNotRegular, "it is not a regular file", nil)
	}
	if err == nil && info.Size() > store.DefaultImportLimits.Bundle {
		return nil, unreadable(path, fault.ArtifactOperationFailedDetailsKindTooLarge, "it is larger than a bundle may be", nil)
	}
	if err != nil {
		return nil, readFailure(path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, readFailure(path, err)
	}
	return file, nil
}

// readError explains what reading a bundle failed with: the disk, or the bundle,
// of which the fault then names the file.
func readError(path string, err error) error {
	if stored := new(store.StorageError); errors.As(err, &stored) {
		return err
	}
	if e, ok := store.AsIntegrity(err); ok {
		named := *e
		named.Reason = fmt.Sprintf("%s, in file %q", e.Reason, session.Printable(path))
		return &named
	}
	if cause := new(fs.PathError); errors.As(err, &cause) {
		return readFailure(path, err)
	}
	return err
}

func readFailure(path string, err error) error {
	kind := fault.ArtifactOperationFailedDetailsKindIo
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = fault.ArtifactOperationFailedDetailsKindMissing
	case errors.Is(err, fs.ErrPermission):
		kind = fault.ArtifactOperationFailedDetailsKindPermission
	}
	reason := err.Error()
	if cause := new(fs.PathError); errors.As(err, &cause) {
		reason = cause.Err.Error()
	}
	return unreadable(path, kind, reason, err)
}

func unreadable(path string, kind fault.ArtifactOperationFailedDetailsKind, reason string, cause error) error {
	return fault.Advise(fault.ArtifactOperationFailed(fault.ArtifactOperationFailedDetails{
		Operation: "read", Path: session.Printable(path), Reason: reason, Kind: kind,
	}, cause), "Give the path of a bundle that export_evidence_bundle wrote, on the machine that rea runs on; nothing was changed.")
}
