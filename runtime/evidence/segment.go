package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// A segment is a file without a name that holds record bytes back to back. It
// is appended to by one writer at a time, read by any number, and closed when
// the last holder lets go of it.
type segment struct {
	file *os.File
	dir  string
	size int64 // owned by the writer
	refs atomic.Int64
}

// newSegment makes a segment in dir ("" is the system's place for temporary
// files) with one holder. Only the owner can read it, and the system frees it
// when the process ends, in whatever way.
func newSegment(dir string) (*segment, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	file, err := openUnnamed(dir)
	if err != nil {
		return nil, &StorageError{Dir: dir, Err: err}
	}
	s := &segment{file: file, dir: dir}
	s.refs.Store(1)
	return s, nil
}

func (s *segment) hold() { s.refs.Add(1) }

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		s.file.Close()
	}
}

// write appends p and returns its offset. After an error the segment is as it was.
func (s *segment) write(p []byte) (int64, error) {
	at := s.size
	if _, err := s.file.WriteAt(p, at); err != nil {
		s.file.Truncate(at) // frees what a full disk took; the offset decides, not the size
		return 0, &StorageError{Dir: s.dir, Err: err}
	}
	s.size = at + int64(len(p))
	return at, nil
}

// read fills p from offset at.
func (s *segment) read(p []byte, at int64) error {
	if n, err := s.file.ReadAt(p, at); n < len(p) {
		return fmt.Errorf("reading stored evidence: %w", err)
	}
	return nil
}

// A StorageError is a failure to keep the bytes of records in a file.
type StorageError struct {
	Dir string // where the file is
	Err error
}

func (e *StorageError) Error() string {
	cause := e.Err
	if file := new(fs.PathError); errors.As(cause, &file) {
		cause = file.Err
	}
	return fmt.Sprintf("storing evidence in %q: %v", e.Dir, cause)
}

func (e *StorageError) Unwrap() error { return e.Err }
