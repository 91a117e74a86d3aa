package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Recover undoes a change that was broken off. It tells which files it restored.
func (s State) Recover() (restored []string, err error) {
	if !s.Interrupted() {
		return nil, nil
	}
	unlock, err := lock(filepath.Join(s.Dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	data, err := os.ReadFile(s.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("the journal %s can't be read: %w", s.journalFile(), err)
	}
	for _, f := range j.Files {
		if now, err := stateOf(f.Target); err == nil && now == f.After && now != f.Before {
			restored = append(restored, f.Target)
		}
	}
	return restored, s.undo(&j)
}

// undo brings back the state before a change, in reverse order, and removes the
// journal when nothing is left to be undone.
func (s State) undo(j *journal) error {
	var problems []error
	for _, f := range slices.Backward(j.Files) {
		if err := s.undoFile(f); err != nil {
			problems = append(problems, fmt.Errorf("restoring %s: %w", f.Target, err))
		}
	}
	for _, dir := range slices.Backward(j.Folders) {
		_ = os.Remove(dir) // fails when it holds something else
	}
	if err := s.undoRecord(j); err != nil {
		problems = append(problems, fmt.Errorf("restoring the record: %w", err))
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return os.Remove(s.journalFile())
}

func (s State) undoFile(f journalFile) error {
	if err := os.Remove(f.Staging); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, err := stateOf(f.Target)
	if err != nil {
		return err
	}
	switch {
	case now == f.Before:
		return nil
	case now != f.After:
		return fmt.Errorf("it holds neither what was there nor what was written; its backup is %s", s.backup(f.Before))
	case !f.Existed:
		return os.Remove(f.Target)
	}
	before, err := s.Backup(f.Before)
	if err != nil {
		return err
	}
	info, err := os.Lstat(f.Target)
	if err != nil {
		info = nil // it was removed
	}
	if err := writeStaging(f.Staging, before, info, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(f.Staging, fs.FileMode(f.Mode).Perm()); err != nil {
		return err
	}
	return os.Rename(f.Staging, f.Target)
}

func (s State) undoRecord(j *journal) error {
	if j.Record == nil {
		if err := os.Remove(s.recordFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return writeFile(s.recordFile(), []byte(*j.Record))
}
