// Package inventory walks an artifact: a file, whatever containers it holds, or
// a directory. It lists every entry, hashes every content once, and expands
// containers in containers.
//
// # Order
//
// A directory is listed by name, a container in its own order, and what a
// container holds stands right behind it. The same bytes give the same
// inventory. Contents are read in parallel, so that a limit which counts over
// all of them would cut at a place that depends on timing: a walk that runs into
// one is done again, in order, by one goroutine. Only the time limit remains
// what it is.
//
// # Trust
//
// What a container declares is compared with what was observed and is never
// believed. Content that contradicts a declared digest is not expanded; if that
// is known only after it was, what was found in it is dropped.
package inventory
