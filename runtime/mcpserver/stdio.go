package mcpserver

import (
	"io"
	"os"
)

// Stdio is the pair of streams that a client talks over.
type Stdio struct {
	In  io.Reader
	Out io.Writer
	// Alive reports whether somebody may still read Out; nil means always.
	Alive func() bool
}

// TakeStdio takes stdin and stdout for the protocol. From then on the process's
// standard output is its standard error: whatever prints there, a library or a
// child process, does not reach the client.
func TakeStdio() (Stdio, error) {
	out, err := takeStdout()
	if err != nil {
		return Stdio{}, err
	}
	return Stdio{In: os.Stdin, Out: out, Alive: func() bool { return readable(out) }}, nil
}
