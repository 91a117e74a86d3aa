package evidence

import (
	"os"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file that never has a name, or, where the file system
// cannot do that, one that loses its name at once.
func openUnnamed(dir string) (*os.File, error) {
	file, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE|unix.O_EXCL, 0o600)
	if err == nil {
		return file, nil
	}
	return openUnlinked(dir)
}
