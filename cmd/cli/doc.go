// Package cli is the command line of rea: the tools as commands, the server,
// and the few commands that only people need.
//
// A command line goes the way of every call: its arguments become the JSON
// input of a tool (see the table in generated/cli), dispatch runs it in a
// session of its own, and the result is printed as text or exactly as it is.
//
// This package also holds the wiring (wire.go), the one place that lists every
// family of tools and every engine.
package cli
