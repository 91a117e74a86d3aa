package program

import (
	"context"
	"sync"
	"sync/atomic"
)

// each calls f(worker, i) for every i below n on up to workers goroutines, in
// chunks, and stops early when ctx ends. f must not depend on order.
func each(ctx context.Context, workers, n, chunk int, f func(worker, i int)) error {
	if workers <= 1 || n <= chunk {
		for i := range n {
			if i%chunk == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			f(0, i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				lo := int(next.Add(int64(chunk))) - chunk
				if lo >= n {
					return
				}
				for i := lo; i < min(n, lo+chunk); i++ {
					f(w, i)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
