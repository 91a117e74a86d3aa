// Package catalog holds the types of the product catalog, the document that
// documentation sites are made from, its schema, and what of its content no other
// generated package has.
//
// The types come from go-jsonschema, which does plain structs that are only
// written well; their fields are sorted by name. Tools, values and errors are not
// made with it: it has no unions, takes null, constants and 64-bit bounds lightly,
// checks no unknown properties and forgets the order of the known ones.
package catalog
