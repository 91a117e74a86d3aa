//go:build unix

package inventory

import "syscall"

// noFollow refuses a link in the place of a file, and a pipe without a writer
// does not block.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
