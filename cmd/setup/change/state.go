package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// State is the folder with the record, the journal and the backups. Its files
// are for their owner only, because settings hold secrets.
type State struct {
	Dir string
	// stop lets tests break off at a named point.
	stop func(point string) error
}

// A Record says which files were written, so that they can be restored.
type Record struct {
	Version int       `json:"version"`
	Files   []Written `json:"files"`
}

// Written is one file of a Record.
type Written struct {
	Path    string `json:"path"` // as people name it
	Target  string `json:"target"`
	Subject string `json:"subject"` // what was written: a client's id, or skill
	Scope   string `json:"scope"`
	// Digest is that of the bytes that were left there.
	Digest string `json:"written_sha256"`
	// Original is the digest of the bytes that were there before, "" for none.
	Original string `json:"original_sha256,omitempty"`
	Existed  bool   `json:"existed"`
	// Folders that were made for the file, the inner ones first.
	Folders []string `json:"folders,omitempty"`
	// Made counts the collections that were made around the entry.
	Made int `json:"made,omitempty"`
}

const recordVersion = 1

func (s State) recordFile() string  { return filepath.Join(s.Dir, "record.json") }
func (s State) journalFile() string { return filepath.Join(s.Dir, "journal.json") }
func (s State) backup(digest string) string {
	return filepath.Join(s.Dir, "backups", digest)
}

// Record reads what was written before; it is empty when nothing was.
func (s State) Record() (Record, error) {
	var r Record
	data, err := os.ReadFile(s.recordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Record{Version: recordVersion}, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s can't be read: %w", s.recordFile(), err)
	}
	if r.Version != recordVersion {
		return r, fmt.Errorf("%s was written by another version of rea", s.recordFile())
	}
	return r, nil
}

// Find returns the record of a target.
func (r Record) Find(target, subject string) (Written, bool) {
	for _, f := range r.Files {
		if f.Target == target && f.Subject == subject {
			return f, true
		}
	}
	return Written{}, false
}

// With replaces or adds what is said of a file.
func (r Record) With(f Written) Record {
	r = r.Without(f.Target, f.Subject)
	r.Files = append(r.Files, f)
	return r
}

// Without drops what is said of a file.
func (r Record) Without(target, subject string) Record {
	var files []Written
	for _, f := range r.Files {
		if f.Target != target || f.Subject != subject {
			files = append(files, f)
		}
	}
	r.Files = files
	return r
}

// Backup reads the bytes with a digest.
func (s State) Backup(sum string) ([]byte, error) {
	data, err := os.ReadFile(s.backup(sum))
	if err == nil && digest(data) != sum {
		return nil, fmt.Errorf("the backup %s was changed", s.backup(sum))
	}
	return data, err
}

// BackupFile is where the backup of bytes with a digest lies.
func (s State) BackupFile(sum string) string { return s.backup(sum) }

// Digest is the SHA-256 of bytes, as a Record has it.
func Digest(b []byte) string { return digest(b) }

// Blocked names a file that lies where the state folder or one around it should
// be, or is "".
func (s State) Blocked() string {
	for at := s.Dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return at
		case err == nil || at == filepath.Dir(at):
			return ""
		}
	}
}

// Tidy removes what a process that was killed left half written beside the
// files of the state folder. It does nothing while another change is under way.
func (s State) Tidy() {
	var left []string
	for _, path := range []string{s.journalFile() + staged, s.recordFile() + staged} {
		if _, err := os.Lstat(path); err == nil {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return
	}
	unlock, err := lock(filepath.Join(s.Dir, "lock"))
	if err != nil {
		return
	}
	defer unlock()
	for _, path := range left {
		_ = os.Remove(path)
	}
}

// Interrupted tells whether a change was broken off and must be undone.
func (s State) Interrupted() bool {
	_, err := os.Lstat(s.journalFile())
	return err == nil
}

func (s State) at(point string) error {
	if s.stop == nil {
		return nil
	}
	return s.stop(point)
}
