package parse

// expression reads expressions joined by commas.
func (p *parser) expression() Ref {
	start := p.start
	e := p.assign()
	if p.tok != Comma {
		return e
	}
	var l list
	p.add(&l, e)
	for p.accept(Comma) {
		p.add(&l, p.assign())
	}
	return p.with(Sequence, start, l)
}

// bare reports whether r is an arrow function that nothing may follow.
func (p *parser) bare(r Ref) bool {
	n := &p.f.Nodes[r]
	return n.Kind == Arrow && n.Flags&Paren == 0
}

func (p *parser) assign() Ref {
	if !p.enter() {
		defer p.leave()
		return p.unexpected()
	}
	r := p.anyAssign()
	p.leave()
	return r
}

func (p *parser) anyAssign() Ref {
	start := p.start
	if p.generator && p.is(atomYield) {
		return p.yield()
	}
	left := p.unary()
	if p.bare(left) {
		return left
	}
	left = p.binary(left, start, 0)
	switch {
	case p.tok == Question:
		p.next()
		in := p.noIn
		p.noIn = false
		then := p.assign()
		p.noIn = in
		p.expect(Colon)
		return p.done(Cond, start, left, then, p.assign())
	case p.tok.assigns():
		op := p.tok
		if op == Equal {
			p.toPattern(left)
		}
		p.next()
		r := p.done(Assign, start, left, p.assign())
		p.f.Nodes[r].Op = op
		return r
	}
	return left
}

func (p *parser) yield() Ref {
	start := p.start
	p.next()
	flags := Flags(0)
	value := Ref(0)
	if p.tok == Star && !p.newline {
		flags = Delegate
		p.next()
		value = p.assign()
	} else if !p.newline {
		switch p.tok {
		case ParenR, BracketR, BraceR, Comma, Semicolon, Colon, EOF, KeyIn:
		default:
			if !p.is(atomOf) {
				value = p.assign()
			}
		}
	}
	r := p.done(Yield, start, value)
	p.f.Nodes[r].Flags |= flags
	return r
}

// binary reads operators that bind tighter than above, behind left.
func (p *parser) binary(left Ref, start uint32, above int) Ref {
	tail := Ref(0) // last operand of left, while left is a chain that was begun here
	for links := 0; ; {
		op := p.tok
		prec := op.precedence()
		if prec <= above || op == KeyIn && p.noIn {
			return left
		}
		if links > MaxChain {
			return p.fail("nested too deeply")
		}
		p.next()
		at := p.start
		right := p.unary()
		if p.bare(right) {
			return p.unexpected()
		}
		if next := p.tok.precedence(); next > prec || op == Power && next == prec {
			if !p.enter() {
				p.leave()
				return left
			}
			if op == Power {
				right = p.binary(right, at, prec-1)
			} else {
				right = p.binary(right, at, prec)
			}
			p.leave()
		}
		if tail != 0 && p.f.Nodes[left].Op == op && op != Power {
			p.f.Nodes[tail].Next = right
			p.f.Nodes[left].End = p.prevEnd
		} else {
			kind := Binary
			if op == Land || op == Lor || op == Nullish {
				kind = Logical
			}
			left = p.done(kind, start, left, right)
			p.f.Nodes[left].Op = op
			links++
		}
		tail = right
	}
}

func (p *parser) unary() Ref {
	start := p.start
	switch p.tok {
	case Not, Tilde, Plus, Minus, KeyTypeof, KeyVoid, KeyDelete:
		op := p.tok
		if !p.enter() {
			p.leave()
			return p.unexpected()
		}
		p.next()
		r := p.done(Unary, start, p.unary())
		p.leave()
		p.f.Nodes[r].Op = op
		return r
	case Increment, Decrement:
		op := p.tok
		if !p.enter() {
			p.leave()
			return p.unexpected()
		}
		p.next()
		r := p.done(Update, start, p.unary())
		p.leave()
		p.f.Nodes[r].Op = op
		p.f.Nodes[r].Flags |= Prefix
		return r
	case Identifier:
		if p.is(atomAwait) && p.awaits() {
			if !p.enter() {
				p.leave()
				return p.unexpected()
			}
			p.next()
			r := p.done(Await, start, p.unary())
			p.leave()
			return r
		}
	}
	r := p.primary()
	if p.bare(r) {
		return r
	}
	r = p.postfix(r, start, true)
	if (p.tok == Increment || p.tok == Decrement) && !p.newline {
		op := p.tok
		p.next()
		r = p.done(Update, start, r)
		p.f.Nodes[r].Op = op
	}
	return r
}

// awaits reports whether await, at which reading stands, is an operator. Outside
// of functions only what follows can tell.
func (p *parser) awaits() bool {
	if p.async {
		return true
	}
	if p.functions > 0 {
		return false
	}
	m := p.mark()
	p.next()
	operand := false
	if !p.newline {
		switch p.tok {
		case Identifier, Num, Str, BraceL, KeyNew, KeyThis, KeyFunction, KeyClass, KeySuper, KeyNull, KeyTrue, KeyFalse, KeyTypeof, KeyVoid, Not, Tilde:
			operand = !p.is(atomOf)
		case KeyImport:
			operand = true
		case ParenL, BracketL, Backquote:
			operand = p.f.Module
		}
	}
	p.reset(m)
	if operand {
		p.f.Module = true
	}
	return operand
}

// postfix reads members, calls and templates behind an expression.
func (p *parser) postfix(r Ref, start uint32, calls bool) Ref {
	for links := 0; ; links++ {
		if links > MaxChain {
			return p.fail("nested too deeply")
		}
		switch p.tok {
		case Period:
			p.next()
			r = p.done(Dot, start, r, p.memberName())
		case QuestionDot:
			if !calls {
				return p.unexpected()
			}
			p.next()
			switch p.tok {
			case ParenL:
				r = p.call(r, start)
			case BracketL:
				r = p.index(r, start)
			default:
				r = p.done(Dot, start, r, p.memberName())
			}
			p.f.Nodes[r].Flags |= Optional
		case BracketL:
			r = p.index(r, start)
		case ParenL:
			if !calls {
				return r
			}
			r = p.call(r, start)
			if p.tok == FatArrow && !p.newline && p.asyncHead(r) {
				return p.asyncArrow(r, start)
			}
		case Backquote:
			r = p.done(Tagged, start, r, p.template())
		default:
			return r
		}
	}
}

func (p *parser) memberName() Ref {
	switch {
	case p.tok == Identifier || p.tok.reserved():
		return p.word(Name)
	case p.tok == Private:
		return p.word(PrivateName)
	}
	return p.unexpected()
}

func (p *parser) index(object Ref, start uint32) Ref {
	in := p.noIn
	p.noIn = false
	p.next()
	property := p.expression()
	p.noIn = in
	p.expect(BracketR)
	return p.done(Index, start, object, property)
}

func (p *parser) call(callee Ref, start uint32) Ref {
	l := p.arguments()
	return p.with(Call, start, l, callee)
}

func (p *parser) arguments() (l list) {
	in := p.noIn
	p.noIn = false
	p.next()
	for p.tok != ParenR && p.tok != EOF {
		p.add(&l, p.element())
		if p.tok != ParenR && !p.accept(Comma) {
			p.unexpected()
		}
	}
	p.noIn = in
	p.expect(ParenR)
	return l
}

// element reads an expression that may be spread.
func (p *parser) element() Ref {
	if p.tok != Ellipsis {
		return p.assign()
	}
	start := p.start
	p.next()
	return p.done(Spread, start, p.assign())
}

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
	p.f.Nodes[r].First = l.first
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
		p.f.Nodes[value].Atom = word.atom
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
