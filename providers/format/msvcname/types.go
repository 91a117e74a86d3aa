package msvcname

// mangling says where a type stands, which decides whether qualifiers come
// before it.
type mangling int

const (
	bare      mangling = iota // no qualifiers
	mangled                   // qualifiers always
	forResult                 // qualifiers after a ?
)

// typ reads a type.
func (p *parser) typ(m mangling) node {
	p.enter()
	defer p.leave()
	var q quals
	if m == mangled || m == forResult && p.eat("?") {
		q, _ = p.qualifiers()
	}
	t := p.plainType()
	switch t := t.(type) {
	case *primitive:
		t.q |= q
	case *tagged:
		t.q |= q
	case *pointer:
		t.q |= q
	case *array:
		t.q |= q
	case *function:
		t.q |= q
	}
	return t
}

func (p *parser) plainType() node {
	switch p.peek() {
	case 'T', 'U', 'V', 'W':
		return p.tag()
	case 'A', 'B', 'P', 'Q', 'R', 'S':
		return p.pointer()
	case 'Y':
		return p.array()
	case '?':
		p.next()
		return &tagged{name: p.typeName()}
	}
	switch {
	case p.eat("$$Q"):
		return p.pointee("&&", 0)
	case p.eat("$$R"):
		return p.pointee("&&", isVolatile)
	case p.eat("$$A8@@"):
		return p.signature(true)
	case p.eat("$$A6"):
		return p.signature(false)
	case p.eat("$$T"):
		return &primitive{word: "std::nullptr_t"}
	case p.eat("_"):
		if w := wideWords[p.next()]; w != "" {
			return &primitive{word: w}
		}
	default:
		if w := words[p.next()]; w != "" {
			return &primitive{word: w}
		}
	}
	fail()
	return nil
}

var words = map[byte]string{
	'X': "void", 'D': "char", 'C': "signed char", 'E': "unsigned char", 'F': "short", 'G': "unsigned short", 'H': "int",
	'I': "unsigned int", 'J': "long", 'K': "unsigned long", 'M': "float", 'N': "double", 'O': "long double",
}

var wideWords = map[byte]string{
	'N': "bool", 'J': "__int64", 'K': "unsigned __int64", 'W': "wchar_t", 'Q': "char8_t", 'S': "char16_t", 'U': "char32_t",
	'L': "__int128", 'M': "unsigned __int128", 'P': "auto", 'T': "decltype(auto)",
}

func (p *parser) tag() node {
	t := &tagged{}
	switch p.next() {
	case 'T':
		t.keyword = "union "
	case 'U':
		t.keyword = "struct "
	case 'V':
		t.keyword = "class "
	case 'W':
		p.must("4")
		t.keyword = "enum "
	}
	t.name = p.typeName()
	return t
}

// qualifiers also tell whether the type is a member's.
func (p *parser) qualifiers() (q quals, member bool) {
	c := p.next()
	switch {
	case c >= 'A' && c <= 'D':
		c -= 'A'
	case c >= 'Q' && c <= 'T':
		c, member = c-'Q', true
	default:
		fail()
	}
	if c&1 != 0 {
		q |= isConst
	}
	if c&2 != 0 {
		q |= isVolatile
	}
	return q, member
}

// extended reads the qualifiers of a pointer itself; that of 64-bit pointers
// is not written.
func (p *parser) extended() (q quals) {
	p.eat("E")
	if p.eat("I") {
		q |= isRestrict
	}
	if p.eat("F") {
		q |= isUnaligned
	}
	return q
}

func (p *parser) pointer() node {
	var q quals
	mark := "*"
	switch p.next() {
	case 'A':
		mark = "&"
	case 'B':
		mark, q = "&", isVolatile
	case 'Q':
		q = isConst
	case 'R':
		q = isVolatile
	case 'S':
		q = isConst | isVolatile
	}
	return p.pointee(mark, q)
}

func (p *parser) pointee(mark string, q quals) node {
	t := &pointer{mark: mark, q: q}
	if p.eat("6") {
		t.to = p.signature(false)
		return t
	}
	t.q |= p.extended()
	switch c := p.peek(); {
	case c == '8':
		p.next()
		t.class = p.typeName()
		t.to = p.signature(true)
	case c >= 'Q' && c <= 'T':
		q, _ := p.qualifiers()
		t.class = p.typeName()
		t.to = p.typ(bare)
		qualify(t.to, q)
	default:
		t.to = p.typ(mangled)
	}
	return t
}

// qualify adds qualifiers to a type that was read.
func qualify(n node, q quals) {
	switch t := n.(type) {
	case *primitive:
		t.q |= q
	case *tagged:
		t.q |= q
	case *pointer:
		t.q |= q
	case *array:
		t.q |= q
	}
}

func (p *parser) array() node {
	p.must("Y")
	rank := p.unsigned()
	if rank == 0 || rank > uint64(len(p.rest)) {
		fail()
	}
	t := &array{}
	for range rank {
		t.dims = append(t.dims, p.unsigned())
	}
	if p.eat("$$C") {
		t.q, _ = p.qualifiers()
	}
	t.of = p.typ(bare)
	return t
}

var conventions = map[byte]string{
	'A': "__cdecl", 'B': "__cdecl", 'C': "__pascal", 'D': "__pascal", 'E': "__thiscall", 'F': "__thiscall", 'G': "__stdcall",
	'H': "__stdcall", 'I': "__fastcall", 'J': "__fastcall", 'M': "__clrcall", 'N': "__clrcall", 'O': "__eabi", 'P': "__eabi",
	'Q': "__vectorcall", 'S': "__attribute__((__swiftcall__)) ", 'W': "__attribute__((__swiftasynccall__)) ", 'w': "__regcall",
}

// signature reads a function's type; a method's begins with the qualifiers of
// this.
func (p *parser) signature(method bool) *function {
	p.enter()
	defer p.leave()
	f := &function{}
	if method {
		f.q = p.extended()
		switch {
		case p.eat("G"):
			f.ref = "&"
		case p.eat("H"):
			f.ref = "&&"
		}
		q, _ := p.qualifiers()
		f.q |= q
	}
	if f.convention = conventions[p.next()]; f.convention == "" {
		fail()
	}
	if !p.eat("@") {
		f.result = p.typ(forResult)
	}
	f.params, f.variadic = p.parameters()
	switch {
	case p.eat("_E"):
		f.noexcept = true
	default:
		p.must("Z")
	}
	return f
}

func (p *parser) parameters() (params []node, variadic bool) {
	if p.eat("X") {
		return nil, false
	}
	for {
		switch {
		case p.eat("@"):
			return params, false
		case p.eat("Z"):
			return params, true
		}
		if d := p.digit(); d >= 0 {
			if d >= len(p.refs.types) {
				fail()
			}
			params = append(params, p.refs.types[d])
			continue
		}
		before := len(p.rest)
		t := p.typ(bare)
		params = append(params, t)
		if before-len(p.rest) > 1 && len(p.refs.types) < 10 {
			p.refs.types = append(p.refs.types, t)
		}
	}
}
