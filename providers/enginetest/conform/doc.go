// Package conform checks that engines keep the promises of engine.Engine and
// that their facts are those of nm, objdump and readelf.
//
// [Suite] is for tests; package enginetest wraps it. [Verify] is for programs: it
// runs the same checks on an engine of the user and returns what differs.
// [Compare] needs no tools: it compares an engine with another on any file.
package conform
