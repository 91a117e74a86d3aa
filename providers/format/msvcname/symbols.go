package msvcname

import (
	"fmt"
	"strconv"
	"strings"
)

// symbol reads a whole decorated name.
func (p *parser) symbol() *symbol {
	p.enter()
	defer p.leave()
	if p.eat(".") {
		t := p.typ(forResult)
		return &symbol{decl: t, trail: "`RTTI Type Descriptor Name'"}
	}
	p.must("?")
	if strings.HasPrefix(p.rest, "?@") {
		return p.hashed()
	}
	if s := p.special(); s != nil {
		return s
	}
	q := p.symbolName()
	return p.encoding(q)
}

// hashed is a name that was too long and is now a checksum.
func (p *parser) hashed() *symbol {
	p.must("?@")
	s := p.text()
	if len(s) != 32 || strings.Trim(s, "0123456789abcdef") != "" {
		fail()
	}
	s = "??@" + s + "@"
	if p.eat("??_R4@") { // a locator that belongs to it
		s += "??_R4@"
	}
	return &symbol{lead: s}
}

// encoding reads what kind of thing the name is, and its type.
func (p *parser) encoding(q *qualified) *symbol {
	if c := p.peek(); c >= '0' && c <= '4' {
		return p.variable(q)
	}
	f := p.function()
	if c, ok := q.last().(*conversion); ok {
		c.to = f.result
	}
	return &symbol{decl: f, name: q}
}

var accesses = [...]string{"private", "protected", "public"}

func (p *parser) variable(q *qualified) *symbol {
	s := &symbol{name: q}
	if c := p.next(); c < '3' {
		s.lead = accesses[c-'0'] + ": static "
	}
	s.decl = p.typ(bare)
	t, ok := s.decl.(*pointer)
	if !ok {
		q, _ := p.qualifiers()
		qualify(s.decl, q)
		return s
	}
	t.q |= p.extended()
	inner, _ := p.qualifiers()
	if t.class != nil {
		p.typeName()
	}
	qualify(t.to, inner)
	return s
}

// function reads the kind of a function, the offsets of a thunk, and the type.
func (p *parser) function() *function {
	c := p.next()
	if c == '9' {
		return &function{storage: `extern "C" `, unlisted: true}
	}
	if c == '$' {
		return p.virtualThunk()
	}
	if c == 'Y' || c == 'Z' {
		return p.signature(false)
	}
	if c < 'A' || c > 'X' {
		fail()
	}
	kind := (c - 'A') % 8 / 2
	access := accesses[(c-'A')/8]
	thunk := ""
	if kind == 3 {
		thunk = "`adjustor{" + p.signed().text() + "}'"
	}
	f := p.signature(kind != 1)
	f.access = access
	switch kind {
	case 1:
		f.storage = "static "
	case 2:
		f.storage = "virtual "
	case 3:
		f.storage, f.isThunk, f.thunk = "virtual ", true, thunk
	}
	return f
}

func (p *parser) virtualThunk() *function {
	extended := p.eat("R")
	c := p.next()
	if c < '0' || c > '5' {
		fail()
	}
	count := 2
	name := "vtordisp"
	if extended {
		count, name = 4, "vtordispex"
	}
	var offsets []string
	for range count {
		n, negative := p.number()
		d := int32(uint32(n)) // offsets are written as 32 bits
		if negative {
			d = -d
		}
		offsets = append(offsets, strconv.Itoa(int(d)))
	}
	f := p.signature(true)
	f.access, f.storage, f.isThunk = accesses[(c-'0')/2], "virtual ", true
	f.thunk = "`" + name + "{" + strings.Join(offsets, ", ") + "}'"
	return f
}

// special reads the names that compilers make for tables, guards and helpers;
// nil when it is none of them.
func (p *parser) special() *symbol {
	switch {
	case p.eat("?_7"):
		return p.table("`vftable'")
	case p.eat("?_8"):
		return p.table("`vbtable'")
	case p.eat("?_S"):
		return p.table("`local vftable'")
	case p.eat("?_R4"):
		return p.table("`RTTI Complete Object Locator'")
	case p.eat("?_R0"):
		t := p.typ(forResult)
		p.must("@8")
		return &symbol{decl: t, trail: "`RTTI Type Descriptor'"}
	case p.eat("?_R1"):
		at := []string{}
		for range 4 {
			at = append(at, p.signed().text())
		}
		return p.untyped("`RTTI Base Class Descriptor at ("+strings.Join(at, ", ")+")'", "8")
	case p.eat("?_R2"):
		return p.untyped("`RTTI Base Class Array'", "8")
	case p.eat("?_R3"):
		return p.untyped("`RTTI Class Hierarchy Descriptor'", "8")
	case p.eat("?_9"):
		return p.virtualCall()
	case p.eat("?_B"):
		return p.guard("`local static guard'")
	case p.eat("?__J"):
		return p.guard("`local static thread guard'")
	case p.eat("?__E"):
		return p.initializer(false)
	case p.eat("?__F"):
		return p.initializer(true)
	case p.eat("?_C@_"):
		return p.literal()
	}
	return nil
}

func (p *parser) untyped(name, end string) *symbol {
	q := p.scopes(&word{text: name})
	p.must(end)
	return &symbol{name: q}
}

// table is a table of a class, for one of its bases.
func (p *parser) table(name string) *symbol {
	q := p.scopes(&word{text: name})
	if !p.eat("6") && !p.eat("7") {
		fail()
	}
	s := &symbol{name: q}
	if k, _ := p.qualifiers(); k&isConst != 0 {
		s.lead = "const "
	}
	if !p.eat("@") {
		s.for_ = p.typeName()
		p.eat("@")
	}
	return s
}

func (p *parser) virtualCall() *symbol {
	w := &word{}
	q := p.scopes(w)
	p.must("$B")
	w.text = fmt.Sprintf("`vcall'{%d, {flat}}", p.unsigned())
	p.must("A")
	f := &function{isThunk: true, unlisted: true, convention: conventions[p.next()]}
	if f.convention == "" {
		fail()
	}
	return &symbol{decl: f, name: q}
}

func (p *parser) guard(name string) *symbol {
	w := &word{text: name}
	q := p.scopes(w)
	switch {
	case p.eat("4IA"):
		if p.rest != "" {
			fail()
		}
	case p.eat("5"):
		if p.rest != "" {
			if n := p.unsigned(); n > 0 {
				w.text += fmt.Sprintf("{%d}", n)
			}
		}
	default:
		fail()
	}
	return &symbol{name: q}
}

func (p *parser) initializer(destructor bool) *symbol {
	n := &initializer{destructor: destructor}
	if p.peek() == '?' {
		known := p.eat("??") || p.eat("?")
		if !known {
			fail()
		}
		p.rest = "?" + p.rest
		n.variable = p.symbol()
		if !p.eat("@@") {
			p.must("@")
		}
		f := p.function()
		return &symbol{decl: f, name: &qualified{[]part{n}}}
	}
	n.name = p.symbolName()
	s := p.encoding(n.name)
	if _, ok := s.decl.(*function); ok {
		return &symbol{decl: s.decl, name: &qualified{[]part{n}}}
	}
	n.variable, n.name = s, nil
	p.must("@@")
	return &symbol{decl: p.function(), name: &qualified{[]part{n}}}
}

// literal is the name of a string constant: width, length, checksum, and as
// many of its bytes as fit.
func (p *parser) literal() *symbol {
	wide := false
	switch p.next() {
	case '0':
	case '1':
		wide = true
	default:
		fail()
	}
	size := p.unsigned()
	p.text() // the checksum
	var b []byte
	for !p.eat("@") {
		b = append(b, p.char())
	}
	return &symbol{lead: quoteLiteral(b, size, wide)}
}

// char is a byte of a string constant. A ? stands before codes.
func (p *parser) char() byte {
	c := p.next()
	if c != '?' {
		return c
	}
	c = p.next()
	switch {
	case c == '$':
		hi, lo := p.next(), p.next()
		if hi < 'A' || hi > 'P' || lo < 'A' || lo > 'P' {
			fail()
		}
		return (hi-'A')<<4 | (lo - 'A')
	case c >= '0' && c <= '9':
		return ",/\\:. \n\t'-"[c-'0']
	case c >= 'a' && c <= 'z':
		return c + 0x80
	case c >= 'A' && c <= 'Z':
		return c + 0x80
	}
	fail()
	return 0
}
