// Package query holds what handlers ask of any engine in the same way: which
// document and address a call means, which rows of a list belong on its page,
// which text matches, what is named where, and what an answer leaves out.
//
// It knows engines only through engine.Engine. Nothing here keeps a whole list
// where a stream is enough, and every loop over rows looks at its context.
package query
