package application

import (
	"runtime/debug"
	"sync"
)

// thrift is how much garbage may stand beside what is in use, in percent, while
// an application is analysed. What is known of a program while it is read is a few
// long slices without pointers, which are cheap to look through and dear to keep
// twice.
const thrift = 20

var collecting struct {
	sync.Mutex
	analyses int
	before   int // percent outside of analyses
}

// collect makes the collector thrifty until the function that it gives is called.
// The setting is one for the process; analyses at the same time share it.
func collect() (done func()) {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if c.analyses++; c.analyses == 1 {
		if c.before = debug.SetGCPercent(thrift); c.before >= 0 && c.before < thrift {
			debug.SetGCPercent(c.before)
		}
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.analyses--; c.analyses == 0 {
			debug.SetGCPercent(c.before)
		}
	}
}
