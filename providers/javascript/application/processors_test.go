package application

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"rea/providers/javascript/tree"
)

// Computations that wait for each other get along with one processor, and never are
// more at once than there are processors.
func TestProcessors(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		p := make(processors, n)
		var running, most atomic.Int64
		counted := func(f func() int) func() int {
			return func() int {
				now := running.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				defer running.Add(-1)
				return f()
			}
		}
		p.take()
		inner := begin(p, counted(func() int { return 1 }))
		outer := begin(p, counted(func() int {
			running.Add(-1) // it waits
			v := inner()
			running.Add(1)
			return 2 + v
		}))
		others := make([]func() int, 10)
		for i := range others {
			others[i] = begin(p, counted(func() int { return i }))
		}
		sum := outer()
		for _, wait := range others {
			sum += wait()
		}
		p.giveUp()
		if sum != 48 || most.Load() > int64(n) || len(p) != 0 {
			t.Errorf("with %d: %d, %d at once, %d left", n, sum, most.Load(), len(p))
		}
	}
}

// A panic of a computation comes to who waits for it, and no processor is lost.
func TestProcessors_panic(t *testing.T) {
	p := make(processors, 1)
	p.take()
	wait := begin(p, func() int { panic("deep inside") })
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "deep inside") {
				t.Errorf("what was waited for panics with %v", r)
			}
		}()
		wait()
	}()
	if len(p) != 1 {
		t.Error("who waits has no processor")
	}
	a := &analysis{ctx: t.Context(), tree: &tree.Tree{Files: make([]tree.File, 5)}, busy: make(processors, 2)}
	defer func() {
		if r := recover(); r == nil || len(a.busy) != 0 {
			t.Errorf("a file panics with %v, %d processors are taken", r, len(a.busy))
		}
	}()
	a.each(func(i int) error {
		if i == 3 {
			panic("third")
		}
		return nil
	})
}
