// Package model holds the values that several tools share, one file for each
// contract in contracts/models.
//
// A property that may be absent is a pointer, or nil where the type has a nil;
// one that is null in JSON is nil too, and which of the two it is the contract
// decides, never both. Constants have no field: they are written and checked. A
// oneOf is a sealed interface whose values are pointers to its alternatives, so
// that a type switch over them is complete.
//
// Every struct has AppendJSON, which writes it, and DecodeJSON, which reads and
// checks it; every union X has ReadX. encoding/json knows neither constants nor
// unions nor the names of properties: it is of no use for these types.
package model

import "rea/generated/wire"

// An Address is a place in a target.
type Address = wire.Address

// An InvalidError says where a JSON value breaks its contract.
type InvalidError = wire.InvalidError
