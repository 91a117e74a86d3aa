//go:build unix

package doctor

import "golang.org/x/sys/unix"

// writable asks the system, without writing.
func writable(path string) string {
	if unix.Access(path, unix.W_OK) == nil {
		return "yes"
	}
	return "no"
}
