//go:build unix && !linux

package evidence

import "os"

func openUnnamed(dir string) (*os.File, error) { return openUnlinked(dir) }
