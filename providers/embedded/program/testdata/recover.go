// Functions that panic: one recovers and returns, the others do not.
package main

import "os"

//go:noinline
func safe(s string) {
	defer func() { recover() }()
	panic(s)
}

//go:noinline
func loop(n int) {
	for i := range n {
		defer func() { recover(); println(i) }()
	}
	panic("loop")
}

//go:noinline
func fatal(s string) { panic(s) }

func main() {
	safe(os.Args[0])
	loop(len(os.Args))
	println("wörld", "ähnlich", "plain text of the program", "日本語")
	if len(os.Args) > 5 {
		fatal("never")
	}
}
