package change

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock keeps other processes out until unlock is called or the process ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{}); err != nil {
		f.Close()
		return nil, errors.New("another rea setup or uninstall is running")
	}
	return func() { f.Close() }, nil
}

func links(fs.FileInfo) uint64 { return 1 }

func sameOwner(*os.File, fs.FileInfo) error { return nil }
