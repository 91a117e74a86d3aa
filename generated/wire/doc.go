// Package wire reads and writes the JSON form of contract values. It holds
// everything about that form which no contract changes; the generated types
// call it.
//
// # Writing
//
// Encoders append to a byte slice. Properties are in contract order, map keys
// are sorted by bytes, strings and numbers are written as RFC 8785 writes them
// (integers keep all 64 bits), and invalid UTF-8, which targets are free to
// contain, becomes U+FFFD.
//
// # Reading
//
// Decoders make one pass over the tokens of [jsontext], check every constraint
// on the way and stop at the first failure, an [*InvalidError] that names the
// place by JSON pointer. Duplicate and unknown names, invalid UTF-8 and nesting
// beyond the limit of the [Decoder] are refused. A decoder accepts exactly what
// the canonical schema of the type accepts.
package wire
