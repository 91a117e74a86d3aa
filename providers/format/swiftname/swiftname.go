// Package swiftname reads the mangled names of the Swift compiler: those that
// begin with $s (since Swift 4.2 $S, before _T0), and the older names of types
// that the Objective-C runtime sees, which begin with _Tt.
//
// A name is a program for a stack machine: letters and identifiers push nodes,
// operators take nodes and push the larger one they make. Types and contexts
// that were made before can be pushed again by number, and words of identifiers
// too, so that short names can mean very long ones: what is written is bounded.
package swiftname

import (
	"errors"
	"strings"
)

// Limits of a name, its nesting and its readable form.
const (
	MaxName   = 4096
	maxDepth  = 200
	maxNodes  = 1 << 15
	maxOutput = 16 << 10
)

// errName is how parsing gives up; it never leaves the package.
var errName = errors.New("not a mangled name")

func fail() { panic(errName) }

var prefixes = []string{"$s", "$S", "$e", "_T0"}

// payload is what follows the prefix; Mach-O puts an underscore before it.
func payload(s string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	if rest, ok := strings.CutPrefix(s, "_"); ok {
		for _, p := range prefixes {
			if rest, ok := strings.CutPrefix(rest, p); ok {
				return rest, true
			}
		}
	}
	return "", false
}

// Is reports whether s begins like a mangled Swift name.
func Is(s string) bool {
	_, ok := payload(s)
	return ok || strings.HasPrefix(s, "_Tt")
}

// Demangle reads a mangled name; ok is false when it is none, or uses a form
// that is not known here.
func Demangle(s string) (out string, ok bool) {
	if len(s) > MaxName {
		return "", false
	}
	defer func() {
		if r := recover(); r != nil {
			if r != errName {
				panic(r)
			}
			out, ok = "", false
		}
	}()
	if rest, ok := strings.CutPrefix(s, "_Tt"); ok {
		return runtimeName(rest), true
	}
	rest, ok := payload(s)
	if !ok || rest == "" {
		return "", false
	}
	d := &demangler{text: rest}
	root := d.symbol()
	p := &printer{}
	p.print(root)
	return p.out.String(), true
}

// runtimeName reads the old form of a class, struct, enum or protocol.
func runtimeName(s string) string {
	kinds := strings.TrimLeft(s, "COV")
	n := len(s) - len(kinds)
	end := ""
	if n == 0 {
		if s == "" || s[0] != 'P' {
			fail()
		}
		n, kinds, end = 1, s[1:], "_"
	}
	d := &demangler{text: kinds}
	var parts []string
	if d.eat('s') {
		parts = append(parts, "Swift")
	} else {
		n++
	}
	for range n {
		private := d.eat('P')
		name := d.oldIdentifier()
		if private {
			name = "(" + d.oldIdentifier() + " in " + name + ")"
		}
		parts = append(parts, name)
	}
	if d.rest() != end {
		fail()
	}
	return strings.Join(parts, ".")
}

func (d *demangler) oldIdentifier() string {
	n := d.natural()
	if n <= 0 || n > len(d.rest()) {
		fail()
	}
	s := d.rest()[:n]
	d.at += n
	return s
}
