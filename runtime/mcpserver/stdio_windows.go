package mcpserver

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// takeStdout keeps the handle of standard output and points the process's
// standard output at standard error.
func takeStdout() (*os.File, error) {
	out := os.Stdout
	if err := windows.SetHandleInformation(windows.Handle(out.Fd()), windows.HANDLE_FLAG_INHERIT, 0); err != nil {
		return nil, fmt.Errorf("taking standard output: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("redirecting standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return out, nil
}

// readable cannot be asked here; a failed write tells.
func readable(*os.File) bool { return true }
