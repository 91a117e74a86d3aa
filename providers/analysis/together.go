package analysis

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// together runs f(0) to f(n-1) on all processors and returns the first error by
// number. A panic fails the call, not the process.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	one := func(i int) {
		defer func() {
			if p := recover(); p != nil {
				errs[i] = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
			}
		}()
		errs[i] = f(i)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				one(i)
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}
