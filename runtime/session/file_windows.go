package session

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func openFile(path string) (*os.File, error) { return os.Open(path) }

// badPath reports whether the path itself cannot name anything.
func badPath(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_NAME) || errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE)
}
