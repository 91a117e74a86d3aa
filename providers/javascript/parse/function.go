package parse

// A place is where in functions reading stands.
type place struct {
	functions        int
	async, generator bool
	noIn             bool
}

func (p *parser) enterFunction(flags Flags) place {
	was := place{p.functions, p.async, p.generator, p.noIn}
	p.functions++
	p.async, p.generator, p.noIn = flags&Async != 0, flags&Generator != 0, false
	return was
}

func (p *parser) leaveFunction(was place) {
	p.functions, p.async, p.generator, p.noIn = was.functions, was.async, was.generator, was.noIn
}

// function reads a function whose async, if any, was read.
func (p *parser) function(kind Kind, start uint32, flags Flags) Ref {
	p.next()
	if p.accept(Star) {
		flags |= Generator
	}
	name := Ref(0)
	if p.tok == Identifier {
		name = p.word(Ident)
	}
	return p.functionRest(kind, start, flags, name)
}

// method reads the parameters and the body of a method.
func (p *parser) method(flags Flags) Ref {
	return p.functionRest(Func, p.start, flags, 0)
}

func (p *parser) functionRest(kind Kind, start uint32, flags Flags, name Ref) Ref {
	was := p.enterFunction(flags)
	at := p.start
	var l list
	p.expect(ParenL)
	for p.tok != ParenR && p.tok != EOF {
		if p.tok == At { // decorators of parameters say nothing about names
			p.decorators()
		}
		p.add(&l, p.parameter())
		if p.tok != ParenR && !p.accept(Comma) {
			p.unexpected()
		}
	}
	p.expect(ParenR)
	params := p.with(Params, at, l)
	body, strict := p.functionBody()
	p.leaveFunction(was)
	r := p.done(kind, start, name, params, body)
	if strict {
		flags |= Strict
	}
	p.f.Nodes[r].Flags |= flags
	return r
}

func (p *parser) functionBody() (body Ref, strict bool) {
	start := p.start
	p.expect(BraceL)
	first, strict := p.statements(BraceR, true)
	p.expect(BraceR)
	r := p.done(Block, start)
	p.f.Nodes[r].first = first
	return r, strict
}

func (p *parser) parameter() Ref {
	start := p.start
	if p.accept(Ellipsis) {
		return p.done(Rest, start, p.bindingTarget())
	}
	target := p.bindingTarget()
	if p.accept(Equal) {
		return p.done(AssignPattern, start, target, p.assign())
	}
	return target
}

// arrow reads the rest of an arrow function, from the arrow on.
func (p *parser) arrow(params Ref, start uint32, flags Flags) Ref {
	was := p.enterFunction(flags)
	p.noIn = was.noIn
	p.next()
	var body Ref
	if p.tok == BraceL {
		p.noIn = false
		strict := false
		body, strict = p.functionBody()
		if strict {
			flags |= Strict
		}
	} else {
		body = p.assign()
		flags |= ExprBody
	}
	p.leaveFunction(was)
	r := p.done(Arrow, start, 0, params, body)
	p.f.Nodes[r].Flags |= flags
	return r
}

// asyncHead reports whether r is a call async(…) that can be parameters.
func (p *parser) asyncHead(r Ref) bool {
	callee := p.f.Nodes[p.f.First(r)]
	return p.f.Kind(r) == Call && callee.Kind == Ident && callee.Atom() == atomAsync && callee.Flags&(Escaped|Paren) == 0
}

// asyncArrow makes an arrow function of a call async(…).
func (p *parser) asyncArrow(call Ref, start uint32) Ref {
	callee := p.f.First(call)
	first := p.f.Next(callee)
	for k := first; k != 0; k = p.f.Next(k) {
		p.toPattern(k)
	}
	params := p.node(Params, p.f.At(callee).End, p.f.At(call).End)
	p.f.Nodes[params].first = first
	// Those who go over all nodes must not see a call.
	for _, r := range []Ref{call, callee} {
		p.f.Nodes[r] = Node{Kind: Empty, Start: start, End: start}
	}
	return p.arrow(params, start, Async)
}

func (p *parser) decorators() (l list) {
	for p.tok == At {
		start := p.start
		p.next()
		at := p.start
		e := p.primary()
		if !p.bare(e) {
			e = p.postfixDecorator(e, at)
		}
		p.add(&l, p.done(Decorator, start, e))
		if p.failing {
			break
		}
	}
	return l
}

// postfixDecorator reads members and one call, but no index: @a [b] is a
// decorated computed member.
func (p *parser) postfixDecorator(e Ref, start uint32) Ref {
	for p.tok == Period {
		p.next()
		e = p.done(Dot, start, e, p.memberName())
	}
	if p.tok == ParenL {
		e = p.call(e, start)
	}
	return e
}

func (p *parser) class(kind Kind) Ref {
	start := p.start
	members := p.decorators()
	if p.tok == KeyExport { // @a export class B {}
		r := p.statement()
		return r
	}
	p.expect(KeyClass)
	name, super := Ref(0), Ref(0)
	if p.tok == Identifier {
		name = p.word(Ident)
	}
	if p.accept(KeyExtends) {
		at := p.start
		super = p.primary()
		if !p.bare(super) {
			super = p.postfix(super, at, true)
		}
	}
	p.expect(BraceL)
	for p.tok != BraceR && p.tok != EOF {
		if p.accept(Semicolon) {
			continue
		}
		p.add(&members, p.member())
	}
	p.expect(BraceR)
	return p.with(kind, start, members, name, super)
}

// member reads a member of a class.
func (p *parser) member() Ref {
	decorators := p.decorators()
	start := p.start
	flags, how := Flags(0), Flags(0)
	if p.modifier(atomStatic) {
		flags |= Static
		if p.tok == BraceL {
			return p.staticBlock(start)
		}
	}
	switch {
	case p.modifier(atomAccessor):
		flags |= IsAccessor
	case p.modifier(atomGet):
		flags |= Getter
	case p.modifier(atomSet):
		flags |= Setter
	case p.modifier(atomAsync):
		how |= Async
	}
	if p.accept(Star) {
		how |= Generator
	}
	key, computed := p.propertyName()
	if computed {
		flags |= Computed
	}
	value := Ref(0)
	if p.tok == ParenL {
		if flags&(Getter|Setter) == 0 {
			flags |= IsMethod
		}
		value = p.method(how)
	} else {
		if p.accept(Equal) {
			was := p.enterFunction(0)
			value = p.assign()
			p.leaveFunction(was)
		}
		p.semicolon()
	}
	if value == 0 {
		value = p.empty(p.prevEnd)
	}
	r := p.with(Member, start, decorators, key, value)
	p.f.Nodes[r].Flags |= flags
	return r
}

// modifier steps over a word before a member, unless it is the member's name.
func (p *parser) modifier(word Atom) bool {
	if !p.is(word) {
		return false
	}
	m := p.mark()
	p.next()
	switch p.tok {
	case ParenL, Equal, Semicolon, BraceR, EOF:
		p.reset(m)
		return false
	case BraceL:
		if word != atomStatic {
			p.reset(m)
			return false
		}
	}
	if p.newline && (word == atomAsync || word == atomAccessor) || p.tok == Star && (word == atomGet || word == atomSet) {
		p.reset(m)
		return false
	}
	return true
}

func (p *parser) staticBlock(start uint32) Ref {
	was := p.enterFunction(0)
	p.next()
	first, _ := p.statements(BraceR, false)
	p.leaveFunction(was)
	p.expect(BraceR)
	r := p.done(StaticBlock, start)
	p.f.Nodes[r].first = first
	return r
}
