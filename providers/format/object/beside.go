package object

import (
	"fmt"
	"runtime/debug"
)

// Beside runs f while its caller goes on. The caller calls wait, which returns
// when f has ended and panics if f did, so that a file that breaks f fails like
// any other and does not end the process.
func Beside(f func()) (wait func()) {
	done := make(chan struct{})
	var broken any
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				broken = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		f()
	}()
	return func() {
		if <-done; broken != nil {
			panic(broken)
		}
	}
}
