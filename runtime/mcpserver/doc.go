// Package mcpserver serves one MCP client over a pair of byte streams. It is
// the only importer of the MCP SDK.
//
// # Division of work
//
// The SDK keeps the protocol: versions, handshake, correlation, cancellation,
// notifications. This package keeps what a client must be able to rely on:
//
//   - conn.go is the transport. It reads lines through package framing, so that
//     a bad line is answered and the session goes on, holds the end of input
//     back until running calls are answered, and writes large results piece by
//     piece.
//   - calls.go runs tools: a panic fence, a cap on calls that run at once, from
//     which the tools of the session family are exempt so that status is never
//     stuck behind work, progress, and delivery within the client's buffer.
//   - tools.go lists the tools from precomputed schemas.
//   - resources.go shows retained Evidence as rea://evidence/{id}; prompts.go
//     has the investigations one usually begins with.
//   - stdio*.go makes sure that nothing but protocol lines reaches stdout.
//
// # Results past the SDK
//
// The SDK marshals results several times over and escapes <, > and & for HTML.
// Results of tools and lists therefore do not pass through it: a handler answers
// with an empty result and gives the connection the members that stand in the
// place of the empty ones (see payload). Everything else of the message, such
// as _meta, stays the SDK's.
package mcpserver
