// Package rea is an analyst's workbench for compiled software, an MCP server and
// a command line made from one set of contracts.
//
// # Order of imports
//
// contracts/ are JSON Schema documents, the only place where a tool, a shared
// value or an error is described. gen/ turns them into generated/: types with
// encoders and decoders, handler interfaces, schemas as clients see them, error
// constructors, command-line tables, catalog data and tests. Then
//
//	generated ← runtime ← providers ← cmd
//	generated ← catalog ← cmd
//
// In generated/ the files named *.gen.* and *_gen_test.go are written by gen;
// the others hold what no contract changes and are kept by hand, beside what
// uses them, so that the packages read and build as one.
//
// # Order of a call
//
// The server frames and dispatches a request; dispatch decodes its arguments by
// the contract, compares what the contract requires with the session, calls the
// one handler, and seals or reports what it gave.
package rea

//go:generate go run ./gen
