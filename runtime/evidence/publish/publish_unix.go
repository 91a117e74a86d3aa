//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock takes the file for this open description until it is closed, unless
// another holds it. The system lets go of it when the process dies.
func lock(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// openExisting does not wait for a writer should the name have become a pipe.
func openExisting(dir *os.Root, name string) (*os.File, error) {
	return dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// remove removes a name whose file is held, then lets go of it.
func remove(dir *os.Root, name string, file *os.File) {
	dir.Remove(name)
	file.Close()
}

// rename moves the staging file over base.
func (s *staging) rename(base string) error { return s.dir.Rename(s.name, base) }

// syncDir makes the new name durable, as far as the file system can.
func syncDir(dir *os.Root) {
	if d, err := dir.Open("."); err == nil {
		d.Sync()
		d.Close()
	}
}

func owner(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func ownedByRoot(info fs.FileInfo) bool {
	uid, ok := owner(info)
	return ok && uid == 0
}

func ours(info fs.FileInfo) bool {
	uid, ok := owner(info)
	return ok && uid == os.Geteuid()
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
