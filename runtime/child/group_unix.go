//go:build unix

package child

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of a child; its id is that of the child.
type group struct{ pid int }

func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.pid = cmd.Process.Pid
	return nil
}

// ask tells the group to end. The child has not been reaped, so its group is ours.
func (g *group) ask(pid int) error { return unix.Kill(-pid, unix.SIGTERM) }

// kill ends the group.
func (g *group) kill(pid int) error { return unix.Kill(-pid, unix.SIGKILL) }

// close does nothing: a process group is not a resource.
func (g *group) close() {}
