package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killStrays ends processes that have left the engine's group and still carry
// our place in their environment, which nobody else's process does. It reports
// how many it could not end.
func killStrays(root string) int {
	want := []byte(RootVariable + "=" + root)
	born := age(os.Getpid())
	unsure := 0
	for begun := time.Now(); ; {
		found, starting := strays(want, born)
		switch {
		case found > 0:
			unsure = 0
		case starting == 0 || unsure == maxUnsure:
			return 0
		default:
			unsure++
		}
		if time.Since(begun) > killPatience {
			return found
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// maxUnsure is how often one looks again at processes without an environment.
const maxUnsure = 20

// strays signals what it finds and counts it. It counts as well what has no
// environment yet: a process that is being started shows none for a moment.
func strays(want []byte, born uint64) (found, starting int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, 0
	}
	room := make([]byte, 0, usualEnvironment)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		switch env := environment(pid, room); {
		case env == nil:
			continue
		case len(env) == 0:
			if begins(pid, born) {
				starting++
			}
			continue
		case !carries(env, want):
			continue
		}
		// The handle means the process of the look that follows it, whatever
		// becomes of the number.
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if !carries(environment(pid, room), want) {
			starting++ // it ended, or has begun to run another program meanwhile
		} else if !errors.Is(unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0), unix.ESRCH) {
			found++
		}
		unix.Close(handle)
	}
	return found, starting
}

// environment of a process; nil when it cannot be read. A process that has ended
// and was not reaped has none any more. Of one that begins to run another program
// between two reads only the first is seen, so that one read must hold what is
// usual: room is where it goes.
func environment(pid int, room []byte) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	env := room[:0]
	for {
		n, err := f.Read(env[len(env):cap(env)])
		env = env[:len(env)+n]
		switch {
		case err == io.EOF || n == 0 && err == nil:
			return env
		case err != nil:
			return nil
		}
		env = slices.Grow(env, 1)
	}
}

const usualEnvironment = 128 << 10

func carries(env, want []byte) bool {
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, want) {
			return true
		}
	}
	return false
}

// begins tells whether a process without an environment may be one that is being
// started by what we have started: it is of this user, younger than this process,
// and runs a program, which one that has ended or belongs to the kernel does not.
func begins(pid int, born uint64) bool {
	dir := fmt.Sprintf("/proc/%d", pid)
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() {
		return false
	}
	_, err = os.Readlink(dir + "/exe")
	return err == nil && age(pid) >= born
}

// age is when a process was started, in ticks since the system was; 0 when that
// cannot be read. It is the twenty-second field of /proc/<pid>/stat.
func age(pid int) uint64 {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is a name in parentheses, which may hold anything.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	const started = 22 - 3
	if len(fields) <= started {
		return 0
	}
	n, err := strconv.ParseUint(string(fields[started]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
