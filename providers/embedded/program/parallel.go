package program

import (
	"cmp"
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

// crew runs f(0) to f(workers-1) at the same time. f leaves early when stop
// says that another one broke down.
func crew(workers int, f func(worker int, stop func() bool)) error {
	var bad fault
	stop := func() bool { return bad.err.Load() != nil }
	run := func(w int) {
		defer bad.catch()
		f(w, stop)
	}
	if workers <= 1 {
		run(0)
		return bad.get()
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { run(w) })
	}
	wg.Wait()
	return bad.get()
}

// each calls f(worker, i) for every i below n on up to workers goroutines, in
// chunks, and stops early when ctx ends. f must not depend on order.
func each(ctx context.Context, workers, n, chunk int, f func(worker, i int)) error {
	var next atomic.Int64
	err := crew(min(workers, (n+chunk-1)/chunk), func(w int, stop func() bool) {
		for ctx.Err() == nil && !stop() {
			lo := int(next.Add(int64(chunk))) - chunk
			if lo >= n {
				return
			}
			for i := lo; i < min(n, lo+chunk); i++ {
				f(w, i)
			}
		}
	})
	return cmp.Or(err, ctx.Err())
}

// shardSize is how many items one goroutine takes at a time when their order is
// kept: few enough to share evenly, many enough to make few lists.
const shardSize = 128

// shards is the number of shards of n items.
func (r *recovery) shards(n int) int { return (n + shardSize - 1) / shardSize }

// eachShard calls f for every run of shardSize items, [lo, hi).
func (r *recovery) eachShard(n int, f func(worker, shard, lo, hi int)) error {
	return each(r.ctx, r.workers, r.shards(n), 1, func(w, s int) { f(w, s, s*shardSize, min(n, (s+1)*shardSize)) })
}

// together runs the functions at the same time, or one after the other where
// there is one worker.
func together(workers int, fs ...func()) error {
	return each(context.Background(), workers, len(fs), 1, func(_, i int) { fs[i]() })
}
