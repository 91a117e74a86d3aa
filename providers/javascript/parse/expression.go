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
			return p.fail(TooDeep)
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
			return p.fail(TooDeep)
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
