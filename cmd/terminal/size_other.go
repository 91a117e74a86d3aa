//go:build !unix

package terminal

import "os"

func size(f *os.File) (width int, interactive bool) {
	info, err := f.Stat()
	return 0, err == nil && info.Mode()&os.ModeCharDevice != 0
}
