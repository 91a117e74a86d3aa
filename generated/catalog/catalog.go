// Package catalog holds the types of the product catalog, the document that
// documentation sites are made from, and what of its content no other generated
// package has.
//
// The types come from go-jsonschema, which does plain structs well. Its fields
// are sorted by name.
package catalog
