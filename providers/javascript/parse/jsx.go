package parse

// jsx reads an element; reading stands at its "<".
func (p *parser) jsx() Ref {
	p.pos = int(p.start) + 1
	r := p.jsxElement(p.start)
	if p.failing {
		return r
	}
	p.end = uint32(p.pos)
	p.next()
	return r
}

// jsxElement reads an element from behind its "<" to behind its last ">". The
// text of elements has no tokens, so it works on bytes.
func (p *parser) jsxElement(start uint32) Ref {
	if !p.enter() {
		p.leave()
		return p.unexpected()
	}
	defer p.leave()
	name := p.jsxName()
	var l list
	for !p.failing {
		p.space()
		switch c := p.byte(); {
		case c == '/':
			p.pos++
			p.space()
			if p.byte() != '>' {
				return p.jsxFail()
			}
			p.pos++
			return p.jsxDone(JSXElement, start, l, name)
		case c == '>':
			p.pos++
			p.add(&l, p.jsxBody())
			return p.jsxDone(JSXElement, start, l, name)
		case c == '{':
			at := uint32(p.pos)
			p.pos++
			p.next()
			p.expect(Ellipsis)
			e := p.assign()
			p.jsxClose()
			p.add(&l, p.node(Spread, at, uint32(p.pos), e))
		default:
			p.add(&l, p.jsxAttribute())
		}
	}
	return p.unexpected()
}

func (p *parser) jsxDone(kind Kind, start uint32, l list, name Ref) Ref {
	r := p.node(kind, start, uint32(p.pos), name)
	p.f.Nodes[p.f.Nodes[r].first].Next = l.first
	return r
}

func (p *parser) byte() byte {
	if p.pos < len(p.f.Src) {
		return p.f.Src[p.pos]
	}
	return 0
}

func (p *parser) jsxFail() Ref {
	p.start, p.end = uint32(p.pos), uint32(min(p.pos+1, len(p.f.Src)))
	if p.pos >= len(p.f.Src) {
		p.tok = EOF
	} else {
		p.tok = Bad
	}
	return p.unexpected()
}

// jsxClose ends an expression in braces: the closing brace is the current token.
func (p *parser) jsxClose() {
	if p.tok != BraceR {
		p.unexpected()
		return
	}
	p.pos = int(p.end)
}

func (p *parser) jsxWord() (Span, bool) {
	p.space()
	start := p.pos
	for p.pos < len(p.f.Src) {
		c := p.f.Src[p.pos]
		if class[c] == 0 && c < 0x80 && c != '-' && c != ':' {
			break
		}
		p.pos++
	}
	return Span{uint32(start), uint32(p.pos)}, p.pos > start
}

// jsxName reads the name of an element: a name of HTML, a reference, or nothing.
func (p *parser) jsxName() Ref {
	span, ok := p.jsxWord()
	if !ok {
		return p.empty(span.Start)
	}
	text := p.f.Src[span.Start:span.End]
	kind := Ident
	if c := text[0]; c >= 'a' && c <= 'z' && p.byte() != '.' {
		kind = Name
	}
	r := p.node(kind, span.Start, span.End)
	p.f.Nodes[r].first = Ref(p.intern(text))
	if kind == Ident && text == "this" {
		p.f.Nodes[r].Kind, p.f.Nodes[r].first = This, 0
	}
	for p.byte() == '.' {
		p.pos++
		part, ok := p.jsxWord()
		if !ok {
			return p.jsxFail()
		}
		name := p.node(Name, part.Start, part.End)
		p.f.Nodes[name].first = Ref(p.intern(p.f.Src[part.Start:part.End]))
		r = p.node(Dot, span.Start, part.End, r, name)
	}
	return r
}

func (p *parser) jsxAttribute() Ref {
	span, ok := p.jsxWord()
	if !ok {
		return p.jsxFail()
	}
	name := p.node(Name, span.Start, span.End)
	p.f.Nodes[name].first = Ref(p.intern(p.f.Src[span.Start:span.End]))
	value := Ref(0)
	p.space()
	if p.byte() == '=' {
		p.pos++
		p.space()
		value = p.jsxValue()
	}
	return p.node(JSXAttribute, span.Start, uint32(p.pos), name, value)
}

func (p *parser) jsxValue() Ref {
	at := uint32(p.pos)
	switch c := p.byte(); c {
	case '"', '\'':
		for p.pos++; p.pos < len(p.f.Src) && p.f.Src[p.pos] != c; p.pos++ {
		}
		if p.pos >= len(p.f.Src) {
			p.fuel -= p.pos - int(at)
			return p.jsxFail()
		}
		p.pos++
		return p.node(JSXText, at+1, uint32(p.pos)-1)
	case '{':
		p.pos++
		p.next()
		e := p.assign()
		p.jsxClose()
		return e
	case '<':
		p.pos++
		return p.jsxElement(at)
	}
	return p.jsxFail()
}

// jsxBody reads what an element holds, and its closing tag.
func (p *parser) jsxBody() Ref {
	start := uint32(p.pos)
	var l list
	for !p.failing {
		at := uint32(p.pos)
		for p.pos < len(p.f.Src) && p.f.Src[p.pos] != '{' && p.f.Src[p.pos] != '<' {
			p.pos++
		}
		if uint32(p.pos) > at {
			p.add(&l, p.node(JSXText, at, uint32(p.pos)))
			at = uint32(p.pos)
		}
		switch p.byte() {
		case '{':
			p.pos++
			p.next()
			switch {
			case p.tok == BraceR:
			case p.tok == Ellipsis:
				p.add(&l, p.element())
			default:
				p.add(&l, p.expression())
			}
			p.jsxClose()
		case '<':
			p.pos++
			p.space()
			if p.byte() != '/' {
				p.add(&l, p.jsxElement(at))
				continue
			}
			p.pos++
			r := p.node(JSXBody, start, at)
			p.f.Nodes[r].first = l.first
			p.jsxName()
			p.space()
			if p.byte() != '>' {
				return p.jsxFail()
			}
			p.pos++
			return r
		default:
			return p.jsxFail()
		}
	}
	return p.unexpected()
}
