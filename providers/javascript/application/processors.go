package application

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Processors are what computations of one analysis share: as many of them run at the
// same time as there are processors, however many were begun. A server has one more
// than that in its scheduler, so that short questions never queue behind them.
type processors chan struct{}

func newProcessors() processors {
	return make(processors, min(runtime.NumCPU(), runtime.GOMAXPROCS(0)))
}

func (p processors) take()    { p <- struct{}{} }
func (p processors) giveUp()  { <-p }
func (p processors) len() int { return cap(p) }

// begin computes a value as soon as there is a processor. What it gives waits for the
// value, and is called by one who has a processor: it goes to others meanwhile. A
// panic of the computation becomes one of who waits.
func begin[T any](p processors, compute func() T) (wait func() T) {
	type result struct {
		value  T
		failed error
	}
	done := make(chan result, 1)
	go func() {
		p.take()
		defer p.giveUp()
		var r result
		defer func() { done <- r }()
		defer fence(&r.failed)
		r.value = compute()
	}()
	return func() T {
		var r result
		select {
		case r = <-done:
		default:
			p.giveUp()
			r = <-done
			p.take()
		}
		if r.failed != nil {
			panic(r.failed)
		}
		return r.value
	}
}

// fence keeps a panic for the goroutine that answers for the analysis: elsewhere it
// would end the process.
func fence(failed *error) {
	if r := recover(); r != nil {
		*failed = fmt.Errorf("%v\n%s", r, debug.Stack())
	}
}
