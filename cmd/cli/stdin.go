package cli

import (
	"context"
	"io"
)

// interruptible is an input whose reads end with ctx, which those of a pipe or
// a terminal don't. A read that was given up goes on until something arrives.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buffer := make([]byte, len(p))
	done := make(chan result, 1)
	go func() {
		n, err := r.in.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return copy(p, buffer[:got.n]), got.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
}
