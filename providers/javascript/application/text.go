package application

import (
	"strconv"
	"unsafe"
)

func itoa(n int) string { return strconv.Itoa(n) }

// text is the bytes of a file as a string, without a copy: contents are never
// written to once they were read, and there are many megabytes of them.
func text(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }
