package inventory

import (
	"context"
	"sync"
)

// pool runs jobs on a fixed number of goroutines. A job that makes jobs hands
// them to idle goroutines or runs them itself, so that no job waits for one that
// has not begun.
type pool struct {
	jobs chan func()
	done sync.WaitGroup
}

// newPool starts n goroutines; with none, every job runs where it is made.
func newPool(n int) *pool {
	p := &pool{}
	if n <= 1 {
		return p
	}
	p.jobs = make(chan func())
	for range n {
		p.done.Go(func() {
			for job := range p.jobs {
				job()
			}
		})
	}
	return p
}

// give runs a job. wait is set by whoever is not a job itself.
func (p *pool) give(ctx context.Context, wait bool, job func()) {
	switch {
	case p.jobs == nil:
		job()
	case wait:
		select {
		case p.jobs <- job:
		case <-ctx.Done():
			job() // which sees that at once
		}
	default:
		select {
		case p.jobs <- job:
		default:
			job()
		}
	}
}

// close waits for the goroutines to end.
func (p *pool) close() {
	if p.jobs != nil {
		close(p.jobs)
		p.done.Wait()
	}
}
