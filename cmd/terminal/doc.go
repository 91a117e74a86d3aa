// Package terminal knows what a screen shows: how wide text is on it, which
// bytes would steer it instead of being seen, and whether there is one at all.
//
// Everything that came out of a target passes through [Escape] before it is
// printed: names and strings of hostile files are data, never commands.
package terminal
