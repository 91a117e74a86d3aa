package application

import (
	"runtime/debug"
	"sync"
)

// How much garbage may stand beside what is in use, in percent, while programs are
// read and after that. What is known of a program while it is read is a few long
// slices without pointers, which are cheap to look through and dear to keep twice.
const (
	thrift = 10
	ample  = 25
)

type collection struct {
	sync.Mutex
	analyses int
	before   int // percent outside of analyses
}

var collecting collection

// collect makes the collector thrifty until done is called, and less so from when
// read is called, after programs were read. The setting is one for the process;
// analyses at the same time share it.
func collect() (read, done func()) {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if c.analyses++; c.analyses == 1 {
		c.before = debug.SetGCPercent(-1)
		c.set(thrift)
	}
	read = func() {
		c.Lock()
		defer c.Unlock()
		if c.analyses == 1 {
			c.set(ample)
		}
	}
	done = func() {
		c.Lock()
		defer c.Unlock()
		if c.analyses--; c.analyses == 0 {
			debug.SetGCPercent(c.before)
		}
	}
	return read, done
}

// set sets the percentage, unless it is less already.
func (c *collection) set(percent int) {
	if c.before >= 0 {
		percent = min(percent, c.before)
	}
	debug.SetGCPercent(percent)
}
