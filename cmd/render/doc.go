// Package render writes results of tools for people.
//
// It knows shapes, not tools: an object is a list of fields, a list of objects
// a table, a list of lines a listing. What the contract says is shown in the
// order in which the contract says it; nothing is left out but fields that
// repeat what the reader sees anyway. JSON output exists for everything else.
package render
