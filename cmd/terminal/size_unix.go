//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// size asks the terminal behind f for its width; not interactive when there is none.
func size(f *os.File) (width int, interactive bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	conn.Control(func(fd uintptr) {
		if ws, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			width, interactive = int(ws.Col), true
		}
	})
	return width, interactive
}
