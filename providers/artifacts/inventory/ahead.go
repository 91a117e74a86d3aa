package inventory

import (
	"io"
	"sync"
)

// ahead reads in a goroutine of its own, a few buffers ahead, so that decoding
// and hashing happen at the same time.
type ahead struct {
	full, free chan []byte
	stop       chan struct{}
	done       sync.WaitGroup
	current    []byte
	whole      []byte // buffer that current is of
	err        error  // set before full is closed
}

const (
	aheadBuffers = 4
	aheadSize    = 256 << 10
)

func newAhead(r io.Reader) *ahead {
	a := &ahead{full: make(chan []byte, aheadBuffers), free: make(chan []byte, aheadBuffers), stop: make(chan struct{})}
	for range aheadBuffers {
		a.free <- make([]byte, aheadSize)
	}
	a.done.Add(1)
	go func() {
		defer a.done.Done()
		defer close(a.full)
		for {
			var b []byte
			select {
			case b = <-a.free:
			case <-a.stop:
				a.err = io.ErrClosedPipe
				return
			}
			n, err := fill(r, b[:cap(b)])
			if n > 0 {
				select {
				case a.full <- b[:n]:
				case <-a.stop:
					a.err = io.ErrClosedPipe
					return
				}
			}
			if err != nil {
				a.err = err
				return
			}
		}
	}()
	return a
}

// fill reads until b is full or r fails.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}

func (a *ahead) Read(p []byte) (int, error) {
	for len(a.current) == 0 {
		if a.whole != nil {
			a.free <- a.whole // never blocks: it has room for every buffer
			a.whole = nil
		}
		b, ok := <-a.full
		if !ok {
			return 0, a.err
		}
		a.current, a.whole = b, b
	}
	n := copy(p, a.current)
	a.current = a.current[n:]
	return n, nil
}

// Close ends the goroutine.
func (a *ahead) Close() error {
	close(a.stop)
	a.done.Wait()
	return nil
}
