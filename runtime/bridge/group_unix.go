//go:build unix

package bridge

import "golang.org/x/sys/unix"

// inGroup reports whether pid is a process of the group.
func inGroup(pid, group int) bool {
	g, err := unix.Getpgid(pid)
	return err == nil && g == group
}
