package application

import (
	"runtime/debug"
	"sync"

	"rea/providers/javascript/tree"
)

// A thrift is how much garbage may stand beside what is in use, in percent, while
// programs are read and after that.
type thrift struct{ reading, after int }

var (
	// What is known of a large program while it is read is a few long slices
	// without pointers, which are cheap to look through and dear to keep twice.
	large = thrift{10, 25}
	// What is kept of many programs is looked through in full every time.
	many = thrift{30, 40}
)

// thriftOf the programs of a tree.
func thriftOf(t *tree.Tree) thrift {
	largest, all := int64(0), int64(0)
	for i := range t.Files {
		if f := &t.Files[i]; f.Kind == tree.JavaScript || f.Kind == tree.TypeScript {
			largest, all = max(largest, f.Size), all+f.Size
		}
	}
	if largest > all/3 {
		return large
	}
	return many
}

type collection struct {
	sync.Mutex
	analyses int
	before   int // percent outside of analyses
}

var collecting collection

// collect makes the collector thrifty until done is called, and less so from when
// read is called, after programs were read. The setting is one for the process;
// analyses at the same time share it.
func collect(t thrift) (read, done func()) {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if c.analyses++; c.analyses == 1 {
		c.before = debug.SetGCPercent(-1)
		c.set(t.reading)
	}
	read = func() {
		c.Lock()
		defer c.Unlock()
		if c.analyses == 1 {
			c.set(t.after)
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
