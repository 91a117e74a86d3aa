package msvcname

import (
	"strconv"
	"strings"
)

// typeName reads the name of a class or enum with its scopes.
func (p *parser) typeName() *qualified {
	p.enter()
	defer p.leave()
	var leaf part
	switch {
	case p.peek() >= '0' && p.peek() <= '9':
		leaf = p.nameReference()
	case strings.HasPrefix(p.rest, "?$"):
		leaf = p.template(true)
	case p.peek() == '?':
		return p.scopes(nil) // a type inside of a function
	default:
		leaf = p.plainName()
	}
	return p.scopes(leaf)
}

// scopes reads the scopes of a name, from the innermost up to the @ that ends
// them, and puts them before it.
func (p *parser) scopes(leaf part) *qualified {
	q := &qualified{}
	if leaf != nil {
		q.parts = append(q.parts, leaf)
	}
	for !p.eat("@") {
		q.parts = append(q.parts, p.scope())
	}
	if len(q.parts) == 0 {
		fail()
	}
	for i, j := 0, len(q.parts)-1; i < j; i, j = i+1, j-1 {
		q.parts[i], q.parts[j] = q.parts[j], q.parts[i]
	}
	return q
}

func (p *parser) scope() part {
	p.enter()
	defer p.leave()
	switch {
	case p.peek() >= '0' && p.peek() <= '9':
		return p.nameReference()
	case strings.HasPrefix(p.rest, "?$"):
		return p.template(true)
	case p.eat("?A"):
		i := strings.IndexByte(p.rest, '@')
		if i < 0 {
			fail()
		}
		n := &word{text: "`anonymous namespace'"}
		p.rememberKeyed(n, "?A"+p.rest[:i])
		p.rest = p.rest[i+1:]
		return n
	case p.peek() == '?':
		return p.localScope()
	}
	return p.plainName()
}

// rememberKeyed is remember for names that are written alike but differ.
func (p *parser) rememberKeyed(n part, key string) {
	p.remember(keyed{n, key})
}

type keyed struct {
	part
	is string
}

func (k keyed) key() string { return k.is }

// localScope is a block of a function: a number and the function's whole name.
func (p *parser) localScope() part {
	p.must("?")
	n, _ := p.number()
	p.must("?")
	s := p.symbol()
	w := &writer{}
	w.put("`")
	s.write(w)
	w.put("'::`", strconv.FormatUint(n, 10), "'")
	return &word{text: w.String()}
}

func (p *parser) nameReference() part {
	d := p.digit()
	if d >= len(p.refs.names) {
		fail()
	}
	if k, ok := p.refs.names[d].(keyed); ok {
		return k.part
	}
	return p.refs.names[d]
}

func (p *parser) plainName() part {
	n := &word{text: p.text()}
	p.remember(n)
	return n
}

// template reads the name of a template with its arguments, which have
// references of their own.
func (p *parser) template(remembered bool) part {
	p.enter()
	defer p.leave()
	p.must("?$")
	outer := p.refs
	p.refs = references{}
	n := p.unqualified(false)
	args := p.templateArguments()
	p.refs = outer
	switch n := n.(type) {
	case *word:
		n = &word{text: n.text, args: args, has: true}
		if remembered {
			p.remember(n)
		}
		return n
	case *structor:
		n.args = word{args: args, has: true}
	case *conversion:
		if remembered {
			fail()
		}
		n.args = word{args: args, has: true}
	default:
		fail()
	}
	return n
}

// unqualified reads the name of a function or variable.
func (p *parser) unqualified(templates bool) part {
	switch {
	case p.peek() >= '0' && p.peek() <= '9':
		return p.nameReference()
	case templates && strings.HasPrefix(p.rest, "?$"):
		return p.template(false)
	case p.peek() == '?':
		return p.operator()
	}
	return p.plainName()
}

// symbolName is the whole name of a function or variable.
func (p *parser) symbolName() *qualified {
	leaf := p.unqualified(true)
	q := p.scopes(leaf)
	if s, ok := leaf.(*structor); ok {
		if len(q.parts) < 2 {
			fail()
		}
		s.of = q.parts[len(q.parts)-2]
	}
	return q
}

func (p *parser) templateArguments() []node {
	var args []node
	for !p.eat("@") {
		if p.eat("$S") || p.eat("$$V") || p.eat("$$$V") || p.eat("$$Z") {
			continue // an empty pack, or the end of one
		}
		args = append(args, p.templateArgument())
	}
	return args
}

func (p *parser) templateArgument() node {
	p.enter()
	defer p.leave()
	switch {
	case p.eat("$$Y"):
		return &tagged{name: p.typeName()}
	case p.eat("$$B"):
		return p.typ(bare)
	case p.eat("$$C"):
		return p.typ(mangled)
	case p.eat("$M"):
		p.typ(bare) // the deduced type of an auto parameter
		p.eat("$")  // which some compilers leave out here
		return p.constant()
	case strings.HasPrefix(p.rest, "$") && !strings.HasPrefix(p.rest, "$$"):
		p.next()
		return p.constant()
	}
	return p.typ(bare)
}

// constant is an argument that is a value.
func (p *parser) constant() node {
	switch p.next() {
	case '0':
		return p.signed()
	case 'E':
		return &reference{symbol: p.symbol()}
	case '1':
		return &reference{symbol: p.symbol(), address: true}
	case 'H':
		return p.memberReference(1)
	case 'I':
		return p.memberReference(2)
	case 'J':
		return p.memberReference(3)
	case 'F':
		return &reference{address: true, offsets: []signed{p.signed(), p.signed()}}
	case 'G':
		return &reference{address: true, offsets: []signed{p.signed(), p.signed(), p.signed()}}
	}
	fail()
	return nil
}

// memberReference is a pointer to a method and the offsets to reach its this.
func (p *parser) memberReference(offsets int) node {
	r := &reference{address: true}
	if p.peek() == '?' {
		r.symbol = p.symbol()
	}
	for range offsets {
		r.offsets = append(r.offsets, p.signed())
	}
	return r
}

var operators = map[byte]string{
	'2': "operator new", '3': "operator delete", '4': "operator=", '5': "operator>>", '6': "operator<<", '7': "operator!",
	'8': "operator==", '9': "operator!=", 'A': "operator[]", 'C': "operator->", 'D': "operator*", 'E': "operator++",
	'F': "operator--", 'G': "operator-", 'H': "operator+", 'I': "operator&", 'J': "operator->*", 'K': "operator/",
	'L': "operator%", 'M': "operator<", 'N': "operator<=", 'O': "operator>", 'P': "operator>=", 'Q': "operator,",
	'R': "operator()", 'S': "operator~", 'T': "operator^", 'U': "operator|", 'V': "operator&&", 'W': "operator||",
	'X': "operator*=", 'Y': "operator+=", 'Z': "operator-=",
}

var operatorsUnder = map[byte]string{
	'0': "operator/=", '1': "operator%=", '2': "operator>>=", '3': "operator<<=", '4': "operator&=", '5': "operator|=",
	'6': "operator^=", 'D': "`vbase dtor'", 'E': "`vector deleting dtor'", 'F': "`default ctor closure'",
	'G': "`scalar deleting dtor'", 'H': "`vector ctor iterator'", 'I': "`vector dtor iterator'",
	'J': "`vector vbase ctor iterator'", 'K': "`virtual displacement map'", 'L': "`eh vector ctor iterator'",
	'M': "`eh vector dtor iterator'", 'N': "`eh vector vbase ctor iterator'", 'O': "`copy ctor closure'",
	'S': "`local vftable'", 'T': "`local vftable ctor closure'", 'U': "operator new[]", 'V': "operator delete[]",
}

var operatorsTwoUnder = map[byte]string{
	'A': "`managed vector ctor iterator'", 'B': "`managed vector dtor iterator'", 'C': "`EH vector copy ctor iterator'",
	'D': "`EH vector vbase copy ctor iterator'", 'G': "`vector copy ctor iterator'",
	'H': "`vector vbase copy constructor iterator'", 'I': "`managed vector vbase copy constructor iterator'",
	'L': "operator co_await", 'M': "operator<=>",
}

// operator reads the code of a function that has no plain name.
func (p *parser) operator() part {
	p.must("?")
	switch {
	case p.eat("__K"):
		return &word{text: `operator ""` + p.text()}
	case p.eat("__"):
		if s := operatorsTwoUnder[p.next()]; s != "" {
			return &word{text: s}
		}
	case p.eat("_"):
		if s := operatorsUnder[p.next()]; s != "" {
			return &word{text: s}
		}
	case p.eat("0"):
		return &structor{}
	case p.eat("1"):
		return &structor{destructor: true}
	case p.eat("B"):
		return &conversion{}
	default:
		if s := operators[p.next()]; s != "" {
			return &word{text: s}
		}
	}
	fail()
	return nil
}
