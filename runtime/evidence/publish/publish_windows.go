package publish

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file for this handle until it is closed, unless another holds
// it. What is locked is a byte far beyond the end, because locks are mandatory
// here. The system lets go of it when the process dies.
func lock(file *os.File) (bool, error) {
	far := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func openExisting(dir *os.Root, name string) (*os.File, error) { return dir.Open(name) }

// remove closes a file, since an open one cannot be removed, and removes its name.
func remove(dir *os.Root, name string, file *os.File) {
	file.Close()
	dir.Remove(name)
}

// rename moves the staging file over base; it has to be closed for that.
func (s *staging) rename(base string) error {
	err := s.file.Close()
	s.file = nil
	if err == nil {
		err = s.dir.Rename(s.name, base)
	}
	if err != nil {
		s.dir.Remove(s.name)
	}
	return err
}

// syncDir does nothing: directories cannot be flushed here.
func syncDir(*os.Root) {}

func ownedByRoot(fs.FileInfo) bool { return false }

func ours(fs.FileInfo) bool { return true }

func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
