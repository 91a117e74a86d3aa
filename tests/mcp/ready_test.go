package mcp

import (
	"testing"
	"time"

	"rea/tests/built"
)

// BenchmarkReady is the time from starting the program until a client has the
// list of tools.
func BenchmarkReady(b *testing.B) {
	program := built.Rea(b)
	for b.Loop() {
		s := server(b, program, nil)
		if n := len(tools(b, s)); n < 50 {
			b.Fatalf("%d tools", n)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// BenchmarkStatus is a status call while a whole-program analysis runs.
func BenchmarkStatus(b *testing.B) {
	s := server(b, built.Rea(b), nil)
	call(b, s, "open_binary", object{"path": large(b)})
	done := make(chan struct{})
	go func() {
		defer close(done)
		call(b, s, "binary_overview", object{})
	}()
	time.Sleep(20 * time.Millisecond)
	for b.Loop() {
		call(b, s, "binary_session", object{"detail": "summary"})
	}
	b.StopTimer()
	<-done
}
