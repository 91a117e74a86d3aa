package child

import "golang.org/x/sys/unix"

// sweep waits until the child has ended, without reaping it, and kills what is
// left of its group. Until the child is reaped, no other group can have its id.
func (g *group) sweep() {
	for {
		err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err == nil {
			g.kill(g.pid)
		}
		return
	}
}
