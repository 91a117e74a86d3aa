package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// killStrays ends processes that have left the engine's group and still carry
// our place in their environment, which nobody else's process does. It reports
// how many it could not end.
func killStrays(root string) int {
	left := 0
	for range 20 {
		if left = strays(root); left == 0 {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}

// strays signals what it finds and counts it.
func strays(root string) (found int) {
	want := []byte(RootVariable + "=" + root)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !carries(pid, want) {
			continue
		}
		// The handle means the process of the look that follows it, whatever
		// becomes of the number.
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if carries(pid, want) && !errors.Is(unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0), unix.ESRCH) {
			found++
		}
		unix.Close(handle)
	}
	return found
}

// carries reports whether a process has the variable. A process that has ended
// and was not reaped has no environment any more.
func carries(pid int, want []byte) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, want) {
			return true
		}
	}
	return false
}
