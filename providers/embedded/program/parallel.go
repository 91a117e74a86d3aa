package program

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// fault is the first panic among goroutines that work together. A panic ends
// the analysis with an error, not the process.
type fault struct{ err atomic.Pointer[error] }

// catch is deferred by every goroutine.
func (p *fault) catch() {
	if v := recover(); v != nil {
		err := broken(v)
		p.err.CompareAndSwap(nil, &err)
	}
}

func (p *fault) get() error {
	if e := p.err.Load(); e != nil {
		return *e
	}
	return nil
}

// broken is the error for a panic.
func broken(v any) error { return fmt.Errorf("analysis broke down: %v\n%s", v, debug.Stack()) }

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
	var bad fault
	for w := range workers {
		wg.Go(func() {
			defer bad.catch()
			for ctx.Err() == nil && bad.get() == nil {
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
	if err := bad.get(); err != nil {
		return err
	}
	return ctx.Err()
}

// together runs the functions at the same time.
func together(fs ...func()) error {
	var wg sync.WaitGroup
	var bad fault
	for _, f := range fs {
		wg.Go(func() {
			defer bad.catch()
			f()
		})
	}
	wg.Wait()
	return bad.get()
}
