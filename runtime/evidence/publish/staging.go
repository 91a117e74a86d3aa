package publish

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	stagingPrefix = ".rea-staging-"
	chanceDigits  = 16
)

// stagingName is the name for 16 hex digits of chance.
func stagingName(chance string) string {
	sum := sha256.Sum256([]byte(stagingPrefix + chance))
	return stagingPrefix + chance + hex.EncodeToString(sum[:])[:16]
}

func isStagingName(name string) bool {
	digits, ok := strings.CutPrefix(name, stagingPrefix)
	return ok && len(digits) > chanceDigits && stagingName(digits[:chanceDigits]) == name
}

// A staging is a file that is being written.
type staging struct {
	dir  *os.Root
	name string
	file *os.File
}

// newStaging creates and locks a staging file. Between the two another process
// may take it for a left-over; then it is tried again under another name.
func newStaging(dir *os.Root) (*staging, error) {
	const attempts = 8
	var last error
	for range attempts {
		var chance [chanceDigits / 2]byte
		rand.Read(chance[:])
		name := stagingName(hex.EncodeToString(chance[:]))
		file, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			if errors.Is(err, fs.ErrExist) {
				last = err
				continue
			}
			return nil, err
		}
		s := &staging{dir: dir, name: name, file: file}
		if locked, err := lock(file); err == nil && locked && s.named() {
			return s, nil
		} else if err != nil {
			s.discard()
			return nil, err
		}
		file.Close()
		last = errors.New("its staging file was taken away")
	}
	return nil, last
}

// named reports whether the name still leads to the file.
func (s *staging) named() bool {
	held, err := s.file.Stat()
	if err != nil {
		return false
	}
	named, err := s.dir.Lstat(s.name)
	return err == nil && os.SameFile(held, named)
}

// publish gives the file its final name. Without overwrite the name must be
// free: a hard link fails when it is not, which a rename would not.
func (s *staging) publish(base string, overwrite bool) error {
	if !overwrite {
		err := s.dir.Link(s.name, base)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err // discard removes the other name
		}
		// The file system has no hard links.
		if _, err := s.dir.Lstat(base); err == nil {
			return fs.ErrExist
		}
	}
	return s.rename(base)
}

// discard closes the file and removes its staging name, if it still has it.
func (s *staging) discard() {
	if s.file == nil {
		return
	}
	if s.named() {
		remove(s.dir, s.name, s.file)
	} else {
		s.file.Close()
	}
	s.file = nil
}

// maxEntries bounds the search for left-overs in a large directory.
const maxEntries = 100_000

// removeLeftovers removes staging files that no living process holds. Failing
// to is no reason not to publish.
func removeLeftovers(dir *os.Root) {
	list, err := dir.Open(".")
	if err != nil {
		return
	}
	defer list.Close()
	for seen := 0; seen < maxEntries; {
		names, err := list.Readdirnames(1024)
		for _, name := range names {
			if isStagingName(name) {
				removeLeftover(dir, name)
			}
		}
		seen += len(names)
		if err == io.EOF || err != nil {
			return
		}
	}
}

func removeLeftover(dir *os.Root, name string) {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !ours(info) {
		return
	}
	file, err := dir.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	held, err := file.Stat()
	if err != nil || !os.SameFile(held, info) {
		file.Close()
		return
	}
	if locked, err := lock(file); err != nil || !locked {
		file.Close()
		return
	}
	remove(dir, name, file)
}
