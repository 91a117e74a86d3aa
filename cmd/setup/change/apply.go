package change

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A journal is the change that is under way.
type journal struct {
	Version int           `json:"version"`
	Files   []journalFile `json:"files"`
	// Folders that were made, outer before inner.
	Folders []string `json:"folders"`
	// Record is the text of the record before the change; null for none.
	Record *string `json:"record"`
}

type journalFile struct {
	Target  string `json:"target"`
	Staging string `json:"staging"`
	Existed bool   `json:"existed"`
	Mode    uint32 `json:"mode"`          // of what existed
	Before  string `json:"before_sha256"` // "" when it didn't exist
	After   string `json:"after_sha256"`  // "" when it is removed
}

// Apply makes a change. record is the record after it.
func (s State) Apply(ctx context.Context, files []*File, record Record) (err error) {
	if err := os.MkdirAll(filepath.Join(s.Dir, "backups"), 0o700); err != nil {
		return fmt.Errorf("making the folder of backups: %w", err)
	}
	unlock, err := lock(filepath.Join(s.Dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if s.Interrupted() {
		return errors.New("an earlier change was broken off and is not undone yet")
	}
	j, err := s.begin(files)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if undo := s.undo(j); undo != nil {
			err = errors.Join(err, undo)
		}
	}()
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := s.stage(f, j.Files[i]); err != nil {
			return fmt.Errorf("preparing %s: %w", f.Path, err)
		}
	}
	// From here on the change is finished or undone; a signal waits.
	for i, f := range files {
		if err := s.at("replace"); err != nil {
			return err
		}
		if err := s.replace(f, j.Files[i]); err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	if err := s.at("read back"); err != nil {
		return err
	}
	for i, f := range files {
		if got, err := stateOf(f.Target); err != nil || got != j.Files[i].After {
			return fmt.Errorf("%s doesn't hold what was written to it", f.Path)
		}
	}
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(s.recordFile(), append(data, '\n')); err != nil {
		return fmt.Errorf("writing the record: %w", err)
	}
	if err := s.at("commit"); err != nil {
		return err
	}
	return os.Remove(s.journalFile())
}

// begin writes the journal.
func (s State) begin(files []*File) (*journal, error) {
	j := &journal{Version: recordVersion}
	if data, err := os.ReadFile(s.recordFile()); err == nil {
		text := string(data)
		j.Record = &text
	}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Target] {
			return nil, fmt.Errorf("%s would be changed twice", f.Target)
		}
		seen[f.Target] = true
		e := journalFile{
			Target: f.Target, Existed: f.Exists,
			Staging: filepath.Join(filepath.Dir(f.Target), ".rea-setup-"+rand.Text()),
		}
		if f.Exists {
			e.Before, e.Mode = digest(f.Before), uint32(f.info.Mode().Perm())
		}
		if !f.Delete {
			e.After = digest(f.After)
		}
		j.Files = append(j.Files, e)
		for _, dir := range missingFolders(filepath.Dir(f.Target)) {
			if !slices.Contains(j.Folders, dir) {
				j.Folders = append(j.Folders, dir)
			}
		}
	}
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if err := writeFile(s.journalFile(), data); err != nil {
		return nil, fmt.Errorf("writing the journal: %w", err)
	}
	return j, nil
}

// missingFolders lists the folders that have to be made, outer before inner.
func missingFolders(dir string) []string {
	var out []string
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		out = append(out, dir)
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	slices.Reverse(out)
	return out
}

// stage writes the backup and the new bytes.
func (s State) stage(f *File, e journalFile) error {
	if f.Exists {
		if _, err := os.Lstat(s.backup(e.Before)); err != nil {
			if err := writeFile(s.backup(e.Before), f.Before); err != nil {
				return fmt.Errorf("writing its backup: %w", err)
			}
		}
	}
	if err := s.at("backup"); err != nil {
		return err
	}
	if f.Delete {
		return nil
	}
	mode, folder := fs.FileMode(0o600), fs.FileMode(0o700)
	if f.Shared {
		mode, folder = 0o666, 0o777 // less what the umask takes
	}
	if err := os.MkdirAll(filepath.Dir(f.Target), folder); err != nil {
		return err
	}
	if err := writeStaging(e.Staging, f.After, f.info, mode); err != nil {
		return err
	}
	return s.at("stage")
}

// writeStaging writes bytes with the mode and owner of the file they replace,
// or as a new file.
func writeStaging(path string, data []byte, like fs.FileInfo, mode fs.FileMode) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	if like != nil {
		// Nobody may read it before it belongs to whom it should.
		if err := out.Chmod(0o600); err != nil {
			return err
		}
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	if like != nil {
		if err := sameOwner(out, like); err != nil {
			return fmt.Errorf("keeping its owner: %w", err)
		}
		if err := out.Chmod(like.Mode().Perm()); err != nil {
			return err
		}
	}
	return out.Sync()
}

// replace puts the staging file in the target's place, unless somebody else
// changed the target since the plan was made.
func (s State) replace(f *File, e journalFile) error {
	now, err := stateOf(f.Target)
	if err != nil {
		return err
	}
	if now != e.Before {
		return errors.New("the file was changed by somebody else in the meantime")
	}
	if f.Delete {
		err = os.Remove(f.Target)
	} else {
		err = os.Rename(e.Staging, f.Target)
	}
	if err != nil {
		return err
	}
	syncDir(filepath.Dir(f.Target))
	return nil
}

// stateOf is the digest of a file, "" when there is none.
func stateOf(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return digest(data), nil
}

// staged is the end of the name of a file that is being written.
const staged = ".new"

// writeFile replaces a file of the state folder in one step.
func writeFile(path string, data []byte) error {
	staging := path + staged
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.Remove(staging); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeStaging(staging, data, nil, 0o600); err != nil {
		return err
	}
	if err := os.Rename(staging, path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// syncDir makes a new name durable where the system can.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
