// Package enginetest tests engines and what is built on them.
//
// [Run] is the conformance suite: every engine answers it in ten lines of its
// own tests. [Fake] is an engine that knows what it was told, for tests of
// handlers, and [Sample] is a small program told to it. [Harness] serves tools
// on a real session that has a fake engine bound.
package enginetest
