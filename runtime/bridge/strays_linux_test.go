package bridge

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

func carrying(root string) (pids []string) {
	entries, _ := os.ReadDir("/proc")
	room := make([]byte, 0, usualEnvironment)
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && carries(environment(pid, room), []byte(RootVariable+"="+root)) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// TestKillStrays ends processes in whatever session, at whatever moment of their
// start, and the children that they have started meanwhile.
func TestKillStrays(t *testing.T) {
	root := t.TempDir()
	for range 20 {
		cmd := exec.Command("sh", "-c", "trap '' TERM HUP INT; sleep 60 & exec sleep 60")
		cmd.Env = append(os.Environ(), RootVariable+"="+root)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go cmd.Wait()
		if n := killStrays(root); n != 0 {
			t.Errorf("%d could not be ended", n)
		}
		if pids := carrying(root); len(pids) != 0 {
			t.Errorf("%v are left", pids)
		}
	}
}

// TestAge orders processes by their start.
func TestAge(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	self, child := age(os.Getpid()), age(cmd.Process.Pid)
	if self == 0 || child < self || age(0) != 0 {
		t.Errorf("this process is of %d, its child of %d", self, child)
	}
	if !begins(cmd.Process.Pid, self) || begins(cmd.Process.Pid, child+1) || begins(0, 0) {
		t.Error("a young process of ours is not told from others")
	}
}
