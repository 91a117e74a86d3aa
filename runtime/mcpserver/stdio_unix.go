//go:build unix

package mcpserver

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout moves file descriptor 1 to a new one that children do not inherit,
// and points 1 at standard error.
func takeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("taking standard output: %w", err)
	}
	if err := redirect(2, 1); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("redirecting standard output: %w", err)
	}
	out := os.NewFile(uintptr(fd), "stdout")
	os.Stdout = os.Stderr
	return out, nil
}

// readable reports whether a pipe still has a reader.
func readable(out *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(out.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n == 0 || fds[0].Revents&(unix.POLLERR|unix.POLLNVAL) == 0
}
