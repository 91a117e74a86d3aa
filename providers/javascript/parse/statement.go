package parse

// statements reads up to a closing token, which is left standing.
func (p *parser) statements(until Tok, directives bool) (first Ref, strict bool) {
	var l list
	for p.tok != EOF && p.tok != until {
		if p.tok == BraceR && until == EOF {
			p.note(int(p.start), "unexpected \"}\"")
			p.next()
			continue
		}
		if until == KeyCase && (p.tok == KeyDefault || p.tok == BraceR) {
			break
		}
		at := p.start
		r := p.statement()
		if directives {
			directives = p.directive(r, &strict)
		}
		p.add(&l, r)
		if p.failing {
			p.f.Nodes[r].End = max(p.f.Nodes[r].Start, p.prevEnd)
			p.recover(at)
			if p.start == at && p.tok != EOF && p.tok != until { // no way forward was made
				p.next()
			}
		} else if p.start == at && p.tok != EOF {
			p.unexpected()
			p.recover(at)
			p.next()
		}
		if len(p.f.Nodes)&0xfff == 0 && p.ctx.Err() != nil {
			p.stop()
		}
	}
	return l.first, strict
}

// directive reports whether r is one, so that another may follow.
func (p *parser) directive(r Ref, strict *bool) bool {
	if p.f.Kind(r) != ExprStmt {
		return false
	}
	e := p.f.First(r)
	if p.f.Kind(e) != String || p.f.At(e).Flags&Paren != 0 {
		return false
	}
	if text := p.f.Text(e); text == `"use strict"` || text == `'use strict'` {
		*strict = true
	}
	return true
}

func (p *parser) statement() Ref {
	if !p.enter() {
		defer p.leave()
		return p.unexpected()
	}
	r := p.anyStatement()
	p.leave()
	return r
}

func (p *parser) anyStatement() Ref {
	start := p.start
	switch p.tok {
	case BraceL:
		return p.block()
	case Semicolon:
		p.next()
		return p.done(EmptyStmt, start)
	case KeyVar, KeyConst:
		r := p.declaration()
		p.semicolon()
		p.f.Nodes[r].End = p.prevEnd
		return r
	case KeyFunction:
		return p.function(FuncDecl, start, 0)
	case KeyClass, At:
		return p.class(ClassDecl)
	case KeyIf:
		return p.ifStatement()
	case KeyFor:
		return p.forStatement()
	case KeyWhile:
		p.next()
		test := p.parenthesized()
		return p.done(While, start, test, p.statement())
	case KeyDo:
		p.next()
		body := p.statement()
		p.expect(KeyWhile)
		test := p.parenthesized()
		p.accept(Semicolon)
		return p.done(DoWhile, start, body, test)
	case KeyReturn, KeyThrow:
		return p.leaveStatement()
	case KeyBreak, KeyContinue:
		kind := Break
		if p.tok == KeyContinue {
			kind = Continue
		}
		p.next()
		label := Ref(0)
		if p.tok == Identifier && !p.newline {
			label = p.word(Name)
		}
		p.semicolon()
		return p.done(kind, start, label)
	case KeyTry:
		return p.tryStatement()
	case KeySwitch:
		return p.switchStatement()
	case KeyWith:
		p.next()
		object := p.parenthesized()
		return p.done(With, start, object, p.statement())
	case KeyDebugger:
		p.next()
		p.semicolon()
		return p.done(Debugger, start)
	case KeyImport:
		if r := p.importStatement(); r != 0 {
			return r
		}
	case KeyExport:
		return p.exportStatement()
	case Identifier:
		if r := p.wordStatement(); r != 0 {
			return r
		}
	}
	e := p.expression()
	p.semicolon()
	return p.done(ExprStmt, start, e)
}

// wordStatement reads statements that begin with a word that is not reserved;
// 0 when it begins an expression.
func (p *parser) wordStatement() Ref {
	start := p.start
	m := p.mark()
	switch {
	case p.is(atomAsync):
		p.next()
		if p.tok == KeyFunction && !p.newline {
			return p.function(FuncDecl, start, Async)
		}
	case p.is(atomLet) || p.is(atomUsing) || p.is(atomAwait):
		if p.declares() {
			r := p.declaration()
			p.semicolon()
			p.f.Nodes[r].End = p.prevEnd
			return r
		}
		return 0
	}
	if p.start == m.start {
		if c := p.peek(); c != ':' && c != '/' {
			return 0
		}
		p.next()
	}
	label := p.tok == Colon
	p.reset(m)
	if !label {
		return 0
	}
	name := p.word(Name)
	p.next()
	return p.done(Labeled, start, name, p.statement())
}

// peek is the first byte of the next token, or a slash where a comment stands.
func (p *parser) peek() byte {
	for i := p.pos; i < len(p.f.Src); i++ {
		switch c := p.f.Src[i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// declares reports whether let, using or await using, at which reading stands,
// begins a declaration.
func (p *parser) declares() bool {
	m := p.mark()
	defer p.reset(m)
	word := p.atom
	p.next()
	switch word {
	case atomLet:
		return p.tok == Identifier || p.tok == BracketL || p.tok == BraceL
	case atomAwait:
		if !p.is(atomUsing) || p.newline {
			return false
		}
		p.next()
	}
	return p.tok == Identifier && !p.newline && !p.is(atomOf)
}

// declaration reads variables, without the semicolon.
func (p *parser) declaration() Ref {
	start, op := p.start, p.tok
	if op == Identifier {
		switch p.atom {
		case atomLet:
			op = KeyLet
		case atomUsing:
			op = KeyUsing
		default:
			op = KeyAwaitUsing
			p.next()
		}
	}
	p.next()
	var l list
	for {
		at := p.start
		target := p.bindingTarget()
		value := Ref(0)
		if p.accept(Equal) {
			value = p.assign()
		}
		p.add(&l, p.done(Declarator, at, target, value))
		if !p.accept(Comma) {
			break
		}
	}
	r := p.with(VarDecl, start, l)
	p.f.Nodes[r].Op = op
	return r
}

func (p *parser) parenthesized() Ref {
	p.expect(ParenL)
	e := p.expression()
	p.expect(ParenR)
	return e
}

func (p *parser) block() Ref {
	start := p.start
	p.expect(BraceL)
	first, _ := p.statements(BraceR, false)
	p.expect(BraceR)
	r := p.done(Block, start)
	p.f.Nodes[r].first = first
	return r
}

func (p *parser) ifStatement() Ref {
	start := p.start
	p.next()
	test := p.parenthesized()
	then := p.statement()
	otherwise := Ref(0)
	if p.accept(KeyElse) {
		otherwise = p.statement()
	}
	return p.done(If, start, test, then, otherwise)
}

func (p *parser) leaveStatement() Ref {
	start, kind := p.start, Return
	if p.tok == KeyThrow {
		kind = Throw
	}
	p.next()
	value := Ref(0)
	if p.tok != Semicolon && p.tok != BraceR && p.tok != EOF && !p.newline {
		value = p.expression()
	} else if kind == Throw {
		return p.unexpected()
	}
	p.semicolon()
	return p.done(kind, start, value)
}

func (p *parser) tryStatement() Ref {
	start := p.start
	p.next()
	body := p.block()
	handler, final := Ref(0), Ref(0)
	if p.tok == KeyCatch {
		at := p.start
		p.next()
		parameter := Ref(0)
		if p.accept(ParenL) {
			parameter = p.bindingTarget()
			p.expect(ParenR)
		}
		handler = p.done(Catch, at, parameter, p.block())
	}
	if p.accept(KeyFinally) {
		final = p.block()
	}
	if handler == 0 && final == 0 {
		p.unexpected()
	}
	return p.done(Try, start, body, handler, final)
}

func (p *parser) switchStatement() Ref {
	start := p.start
	p.next()
	on := p.parenthesized()
	p.expect(BraceL)
	var l list
	for p.tok == KeyCase || p.tok == KeyDefault {
		at := p.start
		test := Ref(0)
		if p.accept(KeyCase) {
			test = p.expression()
		} else {
			p.next()
		}
		p.expect(Colon)
		if test == 0 {
			test = p.empty(at)
		}
		first, _ := p.statements(KeyCase, false)
		c := p.done(Case, at, test)
		p.f.Nodes[test].Next = first
		p.add(&l, c)
	}
	p.expect(BraceR)
	return p.with(Switch, start, l, on)
}

func (p *parser) forStatement() Ref {
	start := p.start
	p.next()
	flags := Flags(0)
	if p.is(atomAwait) {
		flags = Async
		p.next()
	}
	p.expect(ParenL)
	head := Ref(0)
	at := p.start
	p.noIn = true
	switch {
	case p.tok == Semicolon:
	case p.tok == KeyVar || p.tok == KeyConst || (p.is(atomLet) || p.is(atomUsing) || p.is(atomAwait)) && p.declares():
		head = p.declaration()
	default:
		head = p.expression()
	}
	p.noIn = false
	if p.is(atomOf) || p.tok == KeyIn {
		return p.forEach(start, head, flags)
	}
	p.expect(Semicolon)
	test, update := Ref(0), Ref(0)
	if p.tok != Semicolon {
		test = p.expression()
	}
	p.expect(Semicolon)
	if p.tok != ParenR {
		update = p.expression()
	}
	p.expect(ParenR)
	if head == 0 {
		head = p.empty(at)
	}
	return p.done(For, start, head, test, update, p.statement())
}

func (p *parser) forEach(start uint32, head Ref, flags Flags) Ref {
	kind := ForOf
	if p.tok == KeyIn {
		kind = ForIn
	}
	if head == 0 {
		return p.unexpected()
	}
	p.toPattern(head)
	p.next()
	var object Ref
	if kind == ForOf {
		object = p.assign()
	} else {
		object = p.expression()
	}
	p.expect(ParenR)
	body := p.statement()
	r := p.done(kind, start, head, object, body)
	p.f.Nodes[r].Flags |= flags
	return r
}
