package session

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rea/generated/fault"
	"rea/generated/wire"
	"rea/runtime/evidence"
	"rea/runtime/evidence/claims"
	"rea/runtime/evidence/publish"
)

// # Snapshots
//
// A snapshot keeps exact results of one target for a later session. The file is
// one line
//
//	rea-snapshot 1 <SHA-256 of the target> [<slice of a universal file>]
//
// and after it the Evidence bundle of the results. A result is used in place of
// a call when operation, parameters, bytes, architecture, provider and analysis
// profile are all the same. Answers that depend on the cursor or on what the
// analyst has said are never in a snapshot.

const (
	snapshotMark = "rea-snapshot " // and its version
	snapshotHead = snapshotMark + "1 "
)

// A Snapshot describes a snapshot file.
type Snapshot struct {
	Path    string
	Bytes   int64
	Entries int
}

// reuse is what a binding knows of results that may be used again.
type reuse struct {
	mu       sync.Mutex
	loaded   *evidence.Ledger // of the snapshot that was opened; nil without one
	snapshot *Snapshot
	found    map[question]evidence.ID // in loaded
	made     map[question]evidence.ID // in this session's ledger
}

// question is a call that always has the same answer for one target and engine.
type question [sha256.Size]byte

func newQuestion(operation string, parameters []byte) question {
	h := sha256.New()
	io.WriteString(h, operation)
	h.Write([]byte{0})
	h.Write(parameters)
	return question(h.Sum(nil))
}

// Reusable is the result of a call that a snapshot holds, or nil. parameters
// are canonical.
func (b *Binding) Reusable(operation string, parameters []byte) *evidence.Record {
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	if b.reuse.loaded == nil || b.Notes.Edits() > 0 {
		return nil
	}
	id, ok := b.reuse.found[newQuestion(operation, parameters)]
	if !ok {
		return nil
	}
	record, err := b.reuse.loaded.Get(id)
	if err != nil {
		return nil // what cannot be read is computed
	}
	return record
}

// Remember makes a result part of the next snapshot.
func (b *Binding) Remember(operation string, parameters []byte, id evidence.ID) {
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	if b.reuse.made == nil {
		b.reuse.made = map[question]evidence.ID{}
	}
	b.reuse.made[newQuestion(operation, parameters)] = id
}

// Unsaved is how many reusable results the binding has that are in no snapshot
// it was opened with.
func (b *Binding) Unsaved() int {
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	n := 0
	for q := range b.reuse.made {
		if _, ok := b.reuse.found[q]; !ok {
			n++
		}
	}
	return n
}

// takeMade is a copy of what was made, for a binding that goes on.
func (r *reuse) takeMade() map[question]evidence.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.made)
}

// Snapshot is the snapshot that was opened with the target, or nil.
func (b *Binding) Snapshot() *Snapshot { return b.reuse.snapshot }

func (b *Binding) forgetSnapshot() {
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	if b.reuse.loaded != nil {
		b.reuse.loaded.Clear()
		b.reuse.loaded = nil
	}
}

// openSnapshot opens a file that has to be a regular one. It fails with
// snapshot_unavailable.
func openSnapshot(path string) (*os.File, error) {
	refuse := func(kind fault.SnapshotUnavailableDetailsKind, reason string, cause error) (*os.File, error) {
		return nil, fault.SnapshotUnavailable(fault.SnapshotUnavailableDetails{Path: Printable(path), Reason: reason, Kind: kind}, cause)
	}
	file, err := openFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(fault.SnapshotUnavailableDetailsKindMissing, reason(err), err)
	case errors.Is(err, fs.ErrPermission):
		return refuse(fault.SnapshotUnavailableDetailsKindPermission, reason(err), err)
	case err != nil:
		return refuse(fault.SnapshotUnavailableDetailsKindIo, reason(err), err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return refuse(fault.SnapshotUnavailableDetailsKindNotRegular, "it is not a regular file", err)
	}
	return file, nil
}

// loadSnapshot reads the snapshot at path for b. It fails with
// snapshot_unavailable, or with snapshot_mismatch when the file is no snapshot
// or one of something else.
func (s *Session) loadSnapshot(ctx context.Context, b *Binding, path string) error {
	mismatch := func(kind fault.SnapshotMismatchDetailsKind, format string, args ...any) error {
		return fault.SnapshotMismatch(fault.SnapshotMismatchDetails{Path: Printable(path), Reason: fmt.Sprintf(format, args...), Kind: kind}, nil)
	}
	const damaged, producer = fault.SnapshotMismatchDetailsKindDamaged, fault.SnapshotMismatchDetailsKindProducer
	file, err := openSnapshot(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<16)
	line, err := readLine(in)
	about, ok := strings.CutPrefix(line, snapshotHead)
	digest, slice, _ := strings.Cut(about, " ")
	switch {
	case err != nil || !ok || len(digest) != 2*sha256.Size:
		start, _ := in.Peek(64)
		return mismatch(fault.SnapshotMismatchDetailsKindNotASnapshot, "%s", notSnapshot(line, start))
	case digest != b.Target.SHA256:
		return mismatch(fault.SnapshotMismatchDetailsKindTarget, "it was made from a file with SHA-256 %s, and this one has %s", digest, b.Target.SHA256)
	case slice != b.Target.Slice:
		return mismatch(fault.SnapshotMismatchDetailsKindTarget, "it was made from slice %q of the file, and %q is open", slice, b.Target.Slice)
	}
	ledger := evidence.NewLedger("", 0)
	found := map[question]evidence.ID{}
	_, err = evidence.ReadBundle(ctx, in, evidence.DefaultImportLimits, func(r *evidence.Record) error {
		if why := s.unfit(b, r); why != "" {
			return mismatch(producer, "%s", why)
		}
		found[newQuestion(r.Operation(), r.Member("parameters"))] = r.ID()
		_, err := ledger.Append(r)
		return err
	})
	if err != nil {
		ledger.Clear()
		if e, ok := evidence.AsIntegrity(err); ok {
			return mismatch(damaged, "it is damaged at %q: %s", e.Pointer, e.Reason)
		}
		return err
	}
	b.reuse.loaded, b.reuse.found = ledger, found
	b.reuse.snapshot = &Snapshot{Path: Printable(absolute(path)), Bytes: ledger.Size(), Entries: len(found)}
	return nil
}

// notSnapshot says what a file is instead, by its first line, if that is short,
// and by the bytes that were not read as a line.
func notSnapshot(line string, start []byte) string {
	first := line + string(start)
	version, ok := strings.CutPrefix(line, snapshotMark)
	number, _, _ := strings.Cut(version, " ")
	n, err := strconv.Atoi(number)
	switch {
	case ok && err == nil && n > 1:
		return fmt.Sprintf("it is a snapshot of version %d, of a newer rea; this one reads version 1", n)
	case ok:
		return "its first line is not that of a snapshot: it is damaged"
	case first == "":
		return "it is empty, and not a snapshot"
	case evidence.IsBundle(start):
		return "it is an Evidence bundle, not a snapshot; import_evidence_bundle reads it"
	case strings.HasPrefix(first, "\x7fELF"), strings.HasPrefix(first, "MZ"):
		return "it is a binary, not a snapshot"
	}
	return "it is not a snapshot, which close_binary writes with snapshot_path"
}

// readLine reads a line of at most some hundred bytes, without its end.
func readLine(in *bufio.Reader) (string, error) {
	const longest = 256
	start, err := in.Peek(longest)
	end := bytes.IndexByte(start, '\n')
	if end < 0 {
		return "", cmp.Or(err, errors.New("the line is longer"))
	}
	line := string(start[:end])
	_, err = in.Discard(end + 1)
	return line, err
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// unfit says why a record cannot stand for a call on b, or "".
func (s *Session) unfit(b *Binding, r *evidence.Record) string {
	m, err := r.Decode()
	if err != nil {
		return "a record cannot be read"
	}
	if e := claims.Check(m); e != nil {
		return fmt.Sprintf("record %s is not sound at %s: %s", r.ID(), e.Pointer, e.Reason)
	}
	switch {
	case m.Subject == nil || m.Subject.Digest.SHA256 != b.Target.SHA256:
		return "a record is about other bytes"
	case m.Subject.Architecture == nil || *m.Subject.Architecture != string(b.Target.Architecture):
		return "a record is about another architecture"
	case m.AnalysisProfile == nil:
		if m.Provider.Version == nil || *m.Provider.Version != s.config.Version {
			return "a record was made by another version of rea"
		}
		return ""
	case b.Engine == nil:
		return "a record was made by an engine, and none is bound"
	}
	if !sameJSON(m.AnalysisProfile, &b.profile) || !sameJSON(&m.Provider, &b.profile.Provider) {
		return fmt.Sprintf("a record was made by engine %s with another version or profile", m.Provider.ID)
	}
	return ""
}

func sameJSON(a, b wire.Appender) bool {
	x, errX := evidence.Canonical(a.AppendJSON(nil))
	y, errY := evidence.Canonical(b.AppendJSON(nil))
	return errX == nil && errY == nil && string(x) == string(y)
}

// SaveSnapshot writes the reusable results of b to path, readable by the owner
// only.
func (s *Session) SaveSnapshot(ctx context.Context, b *Binding, path string, overwrite bool) (Snapshot, error) {
	ledger := evidence.NewLedger("", 0)
	defer ledger.Clear()
	if err := s.collect(b, ledger); err != nil {
		return Snapshot{}, err
	}
	view := ledger.View()
	defer view.Close()
	snapshot := Snapshot{Entries: view.Len()}
	abs, err := publish.File(ctx, path, publish.Options{Overwrite: overwrite, Keep: s.KeepUnlessSnapshot}, func(w io.Writer) error {
		n, err := io.WriteString(w, b.snapshotLine())
		if err != nil {
			return err
		}
		info, err := view.WriteBundle(ctx, w)
		snapshot.Bytes = int64(n) + info.Bytes
		return err
	})
	snapshot.Path = Printable(abs)
	return snapshot, err
}

// snapshotLine is the first line of a snapshot of the target.
func (b *Binding) snapshotLine() string {
	line := snapshotHead + b.Target.SHA256
	if b.Target.Slice != "" {
		line += " " + b.Target.Slice
	}
	return line + "\n"
}

// collect gathers what was made in this session and what was loaded.
func (s *Session) collect(b *Binding, into *evidence.Ledger) error {
	b.reuse.mu.Lock()
	defer b.reuse.mu.Unlock()
	for _, source := range []struct {
		ids    map[question]evidence.ID
		ledger *evidence.Ledger
	}{{b.reuse.made, s.config.Ledger}, {b.reuse.found, b.reuse.loaded}} {
		if source.ledger == nil {
			continue
		}
		for _, id := range sortedIDs(source.ids) {
			record, err := source.ledger.Get(id)
			if errors.Is(err, evidence.ErrNotHeld) {
				continue
			}
			if err != nil {
				return err
			}
			if _, err := into.Append(record); err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedIDs(ids map[question]evidence.ID) []evidence.ID {
	out := make([]evidence.ID, 0, len(ids))
	for _, id := range ids {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b evidence.ID) int { return slices.Compare(a[:], b[:]) })
	return out
}
