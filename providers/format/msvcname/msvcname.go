// Package msvcname reads the decorated names of Microsoft C++ compilers, which
// clang and others write for Windows too.
//
// A name is a grammar of one-letter codes with two kinds of back reference: a
// digit stands for one of the first ten names, or for one of the first ten
// parameter types that are longer than a letter. A template's arguments have
// lists of names of their own. References make short names that mean very long
// ones, so the length of what is written is bounded.
package msvcname

import (
	"errors"
	"strings"
)

// Limits of a name, its nesting and its readable form.
const (
	MaxName   = 4096
	maxDepth  = 96
	maxOutput = 16 << 10
)

// errName is how parsing gives up; it never leaves the package.
var errName = errors.New("not a decorated name")

// A Name is a name that was read.
type Name struct {
	Full      string // as written in a declaration, with types
	Qualified string // the scopes and the name alone, "" for names of types
}

// Is reports whether s begins like a decorated name.
func Is(s string) bool {
	return len(s) > 1 && s[0] == '?' || strings.HasPrefix(s, ".?A") || strings.HasPrefix(s, ".P")
}

// Demangle reads a decorated name; ok is false when it is none.
func Demangle(s string) (name Name, ok bool) {
	if !Is(s) || len(s) > MaxName {
		return Name{}, false
	}
	p := &parser{rest: s}
	defer func() {
		if r := recover(); r != nil {
			if r != errName {
				panic(r)
			}
			name, ok = Name{}, false
		}
	}()
	n := p.symbol()
	if p.rest != "" {
		return Name{}, false
	}
	full := &writer{}
	n.write(full)
	name.Full = full.String()
	if n.name != nil && n.trail == "" {
		w := &writer{}
		n.name.write(w)
		name.Qualified = w.String()
	}
	return name, true
}

// parser walks over the rest of a name. A failure is a panic with errName,
// caught in Demangle: every rule can fail and none can go on after that.
type parser struct {
	rest  string
	depth int
	refs  references
}

// references are what digits stand for.
type references struct {
	names []part
	types []node
}

func fail() { panic(errName) }

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		fail()
	}
}

func (p *parser) leave() { p.depth-- }

// eat takes a prefix away if it is there.
func (p *parser) eat(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) must(prefix string) {
	if !p.eat(prefix) {
		fail()
	}
}

// next takes one letter.
func (p *parser) next() byte {
	if p.rest == "" {
		fail()
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

func (p *parser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// digit takes a digit, -1 when there is none.
func (p *parser) digit() int {
	if c := p.peek(); c >= '0' && c <= '9' {
		p.rest = p.rest[1:]
		return int(c - '0')
	}
	return -1
}

// number reads a number: a digit is one less than it means, else letters A to P
// are hexadecimal digits up to an @.
func (p *parser) number() (n uint64, negative bool) {
	negative = p.eat("?")
	if d := p.digit(); d >= 0 {
		return uint64(d) + 1, negative
	}
	for i := 0; ; i++ {
		c := p.next()
		if c == '@' {
			return n, negative
		}
		if c < 'A' || c > 'P' || i >= 16 {
			fail()
		}
		n = n<<4 | uint64(c-'A')
	}
}

func (p *parser) unsigned() uint64 {
	n, negative := p.number()
	if negative {
		fail()
	}
	return n
}

// signed is a number as text.
func (p *parser) signed() signed {
	n, negative := p.number()
	return signed{n, negative && n != 0}
}

// text reads up to an @, which it takes.
func (p *parser) text() string {
	i := strings.IndexByte(p.rest, '@')
	if i <= 0 {
		fail()
	}
	s := p.rest[:i]
	p.rest = p.rest[i+1:]
	return s
}

// remember gives a name the next digit, unless it has one.
func (p *parser) remember(n part) {
	if len(p.refs.names) >= 10 {
		return
	}
	key := n.key()
	for _, have := range p.refs.names {
		if have.key() == key {
			return
		}
	}
	p.refs.names = append(p.refs.names, n)
}
