package application

import "runtime"

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
// value, and is called by one who has a processor: it goes to others meanwhile.
func begin[T any](p processors, compute func() T) (wait func() T) {
	done := make(chan T, 1)
	go func() {
		p.take()
		defer p.giveUp()
		done <- compute()
	}()
	return func() T {
		select {
		case v := <-done:
			return v
		default:
		}
		p.giveUp()
		defer p.take()
		return <-done
	}
}
