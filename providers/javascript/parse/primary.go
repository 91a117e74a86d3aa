package parse

func (p *parser) primary() Ref {
	start := p.start
	switch p.tok {
	case Identifier:
		return p.identifierExpression()
	case Num:
		return p.literal(Number)
	case Str:
		return p.literal(String)
	case Backquote:
		return p.template()
	case ParenL:
		return p.paren()
	case BracketL:
		return p.array()
	case BraceL:
		return p.object()
	case KeyFunction:
		return p.function(Func, start, 0)
	case KeyClass, At:
		return p.class(Class)
	case KeyThis:
		return p.literal(This)
	case KeySuper:
		return p.literal(Super)
	case KeyNull:
		return p.literal(Null)
	case KeyTrue:
		return p.literal(True)
	case KeyFalse:
		return p.literal(False)
	case KeyNew:
		return p.newExpression()
	case KeyImport:
		return p.importExpression()
	case Slash, SlashEqual:
		if p.regex() {
			return p.literal(Regex)
		}
		p.fuel -= p.pos - int(p.start)
		return p.fail("regular expression without end")
	case Private: // #a in b
		return p.word(PrivateName)
	case Less:
		return p.jsx()
	}
	return p.unexpected()
}

func (p *parser) identifierExpression() Ref {
	start := p.start
	async := p.is(atomAsync)
	r := p.word(Ident)
	if async && !p.newline {
		switch p.tok {
		case KeyFunction:
			return p.function(Func, start, Async)
		case Identifier: // async a => …
			m := p.mark()
			nodes := len(p.f.Nodes)
			parameter := p.word(Ident)
			if p.tok == FatArrow && !p.newline {
				params := p.node(Params, p.f.At(parameter).Start, p.f.At(parameter).End, parameter)
				return p.arrow(params, start, Async)
			}
			p.reset(m)
			p.f.Nodes = p.f.Nodes[:nodes]
			return r
		}
	}
	if p.tok == FatArrow && !p.newline {
		return p.arrow(p.node(Params, start, p.prevEnd, r), start, 0)
	}
	return r
}

// paren reads what stands in parentheses: an expression or parameters.
func (p *parser) paren() Ref {
	start := p.start
	in := p.noIn
	p.noIn = false
	p.next()
	var l list
	count, loose := 0, false // loose: only parameters look like this
	for p.tok != ParenR && p.tok != EOF {
		if p.tok == Ellipsis {
			loose = true
		}
		p.add(&l, p.element())
		count++
		if p.tok == ParenR {
			break
		}
		if !p.accept(Comma) {
			p.unexpected()
		} else if p.tok == ParenR {
			loose = true
		}
	}
	p.noIn = in
	inner := p.prevEnd
	p.expect(ParenR)
	if p.tok == FatArrow && !p.newline {
		for k := l.first; k != 0; k = p.f.Nodes[k].Next {
			p.toPattern(k)
		}
		params := p.with(Params, start, l)
		return p.arrow(params, start, 0)
	}
	switch {
	case count == 0 || loose:
		return p.unexpected()
	case count == 1:
		p.f.Nodes[l.first].Flags |= Paren
		return l.first
	}
	r := p.node(Sequence, p.f.Nodes[l.first].Start, inner)
	p.f.Nodes[r].first = l.first
	p.f.Nodes[r].Flags |= Paren
	return r
}

func (p *parser) array() Ref {
	start := p.start
	in := p.noIn
	p.noIn = false
	p.next()
	var l list
	for p.tok != BracketR && p.tok != EOF {
		if p.tok == Comma {
			p.add(&l, p.empty(p.start))
			p.next()
			continue
		}
		p.add(&l, p.element())
		if p.tok != BracketR && !p.accept(Comma) {
			p.unexpected()
		}
	}
	p.noIn = in
	p.expect(BracketR)
	return p.with(Array, start, l)
}

func (p *parser) newExpression() Ref {
	start := p.start
	p.next()
	if p.accept(Period) {
		if p.tok != Identifier || p.atom != atomTarget {
			return p.unexpected()
		}
		p.next()
		return p.done(NewTarget, start)
	}
	if !p.enter() {
		p.leave()
		return p.unexpected()
	}
	at := p.start
	callee := p.primary()
	if !p.bare(callee) {
		callee = p.postfix(callee, at, false)
	}
	p.leave()
	var l list
	if p.tok == ParenL {
		l = p.arguments()
	}
	return p.with(New, start, l, callee)
}

func (p *parser) importExpression() Ref {
	start := p.start
	p.next()
	if p.accept(Period) {
		switch {
		case p.tok == Identifier && p.atom == atomMeta:
			p.f.Module = true
			p.next()
			return p.done(ImportMeta, start)
		case p.is(atomDefer) || p.is(atomSource):
			p.next()
		default:
			return p.unexpected()
		}
	}
	if p.tok != ParenL {
		return p.unexpected()
	}
	l := p.arguments()
	if l.first == 0 {
		return p.unexpected()
	}
	return p.with(ImportCall, start, l)
}

func (p *parser) template() Ref {
	start := p.start
	in := p.noIn
	p.noIn = false
	var l list
	p.pos = int(p.start) + 1
	for {
		span, more, ok := p.chunk()
		p.add(&l, p.node(Chunk, span.Start, span.End))
		if !ok {
			p.start = start
			p.noIn = in
			p.fuel -= len(p.f.Src) - int(start)
			return p.fail("template without end")
		}
		if !more {
			break
		}
		p.next()
		p.add(&l, p.expression())
		if p.tok != BraceR {
			p.noIn = in
			return p.unexpected()
		}
		p.pos = int(p.end)
	}
	p.noIn = in
	p.end = uint32(p.pos)
	p.next()
	return p.with(Template, start, l)
}

func (p *parser) object() Ref {
	start := p.start
	in := p.noIn
	p.noIn = false
	p.next()
	var l list
	for p.tok != BraceR && p.tok != EOF {
		if p.tok == Ellipsis {
			p.add(&l, p.element())
		} else {
			p.add(&l, p.property())
		}
		if p.tok != BraceR && !p.accept(Comma) {
			p.unexpected()
		}
	}
	p.noIn = in
	p.expect(BraceR)
	return p.with(Object, start, l)
}

func (p *parser) property() Ref {
	start := p.start
	flags, how := Flags(0), Flags(0)
	if p.tok == Identifier {
		switch p.atom {
		case atomGet:
			flags = Getter
		case atomSet:
			flags = Setter
		case atomAsync:
			how = Async
		}
	}
	if flags|how != 0 {
		m := p.mark()
		p.next()
		switch p.tok {
		case Comma, Colon, ParenL, BraceR, Equal, EOF:
			flags, how = 0, 0
			p.reset(m)
		}
	}
	if p.tok == Star {
		how |= Generator
		p.next()
	}
	name, word := p.tok, p.mark()
	key, computed := p.propertyName()
	if computed {
		flags |= Computed
	}
	var value Ref
	switch {
	case flags&(Getter|Setter) != 0 || how != 0 || p.tok == ParenL:
		value = p.method(how)
		if flags&(Getter|Setter) == 0 {
			flags |= IsMethod
		}
	case p.accept(Colon):
		value = p.assign()
	case name == Identifier || name.reserved():
		flags |= Shorthand
		value = p.node(Ident, word.start, word.end)
		p.f.Nodes[value].first = Ref(word.atom)
		if p.tok == Equal {
			p.next()
			value = p.done(AssignPattern, word.start, value, p.assign())
		}
	default:
		return p.unexpected()
	}
	r := p.done(Property, start, key, value)
	p.f.Nodes[r].Flags |= flags
	return r
}

// propertyName reads the key of a property or member.
func (p *parser) propertyName() (key Ref, computed bool) {
	switch {
	case p.tok == Identifier || p.tok.reserved():
		return p.word(Name), false
	case p.tok == Str:
		return p.literal(String), false
	case p.tok == Num:
		return p.literal(Number), false
	case p.tok == Private:
		return p.word(PrivateName), false
	case p.tok == BracketL:
		in := p.noIn
		p.noIn = false
		p.next()
		key = p.assign()
		p.noIn = in
		p.expect(BracketR)
		return key, true
	}
	return p.unexpected(), false
}
