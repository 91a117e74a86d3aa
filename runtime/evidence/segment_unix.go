//go:build unix

package evidence

import (
	"errors"
	"os"
)

// openUnlinked opens a temporary file and removes its name.
func openUnlinked(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "rea-evidence-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
