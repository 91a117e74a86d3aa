// Package session is the state of one connection: what is open, which engine is
// bound to it, what the analyst has said about it, which Evidence was made, and
// who the client is.
//
// # What is open
//
// A [Binding] is one opened target with its engine. It does not change while it
// lives; opening another file replaces it in one step. Calls hold the binding
// they began with, so that a replaced one keeps serving them and is released
// when the last of them ends.
//
// Reading the state never waits for an opening, a closing or a running call.
package session
