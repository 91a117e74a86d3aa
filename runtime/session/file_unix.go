//go:build unix

package session

import (
	"errors"
	"os"
	"syscall"
)

// openFile does not wait for a writer should the path have become a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// badPath reports whether the path itself cannot name anything.
func badPath(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) ||
		err.Error() == "EvalSymlinks: too many links"
}
