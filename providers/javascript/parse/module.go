package parse

// importStatement reads an import; 0 when import begins an expression.
func (p *parser) importStatement() Ref {
	start := p.start
	m := p.mark()
	p.next()
	if p.tok == ParenL || p.tok == Period {
		p.reset(m)
		return 0
	}
	p.f.Module = true
	if p.is(atomDefer) || p.is(atomSource) { // import defer * as a, import source a
		phase := p.mark()
		p.next()
		if p.tok == Comma || p.is(atomFrom) {
			p.reset(phase)
		}
	}
	var l list
	if p.tok != Str {
		p.importClause(&l)
		if !p.is(atomFrom) {
			return p.unexpected()
		}
		p.next()
	}
	if p.tok != Str {
		return p.unexpected()
	}
	source := p.literal(String)
	if a := p.attributes(); a != 0 {
		p.add(&l, a)
	}
	p.semicolon()
	return p.with(Import, start, l, source)
}

func (p *parser) importClause(l *list) {
	if p.tok == Identifier {
		at := p.start
		p.add(l, p.done(ImportDef, at, p.word(Ident)))
		if !p.accept(Comma) {
			return
		}
	}
	if p.tok == Star {
		at := p.start
		p.next()
		if !p.is(atomAs) {
			p.unexpected()
			return
		}
		p.next()
		if p.tok != Identifier {
			p.unexpected()
			return
		}
		local := p.word(Ident)
		p.add(l, p.done(ImportAll, at, local))
		return
	}
	p.expect(BraceL)
	for p.tok != BraceR && p.tok != EOF {
		at := p.start
		isWord := p.tok == Identifier
		atom, from, to := p.atom, p.start, p.end
		imported := p.moduleName()
		local := Ref(0)
		switch {
		case p.is(atomAs):
			p.next()
			if p.tok != Identifier {
				p.unexpected()
				return
			}
			local = p.word(Ident)
		case isWord:
			local = p.node(Ident, from, to)
			p.f.Nodes[local].first = Ref(atom)
		default:
			p.unexpected()
			return
		}
		p.add(l, p.done(ImportName, at, imported, local))
		if !p.accept(Comma) {
			break
		}
	}
	p.expect(BraceR)
}

// moduleName reads an imported or exported name.
func (p *parser) moduleName() Ref {
	switch {
	case p.tok == Str:
		return p.literal(String)
	case p.tok == Identifier || p.tok.reserved():
		return p.word(Name)
	}
	return p.unexpected()
}

// attributes reads with {…} or assert {…} behind a source; 0 for none.
func (p *parser) attributes() Ref {
	if p.tok == KeyWith || p.tok == Identifier && !p.newline && p.f.Atoms[p.atom] == "assert" {
		p.next()
		if p.tok == BraceL {
			return p.object()
		}
		return p.unexpected()
	}
	return 0
}

func (p *parser) exportStatement() Ref {
	start := p.start
	p.f.Module = true
	p.next()
	switch {
	case p.tok == KeyDefault:
		return p.exportDefault(start)
	case p.tok == Star:
		p.next()
		name := Ref(0)
		if p.is(atomAs) {
			p.next()
			name = p.moduleName()
		}
		if !p.is(atomFrom) {
			return p.unexpected()
		}
		p.next()
		if p.tok != Str {
			return p.unexpected()
		}
		source := p.literal(String)
		var l list
		p.add(&l, name)
		if a := p.attributes(); a != 0 {
			p.add(&l, a)
		}
		p.semicolon()
		return p.with(ExportAll, start, l, source)
	case p.tok == BraceL:
		return p.exportNames(start)
	case p.tok == KeyVar, p.tok == KeyConst, p.tok == KeyFunction, p.tok == KeyClass, p.tok == At, p.is(atomLet), p.is(atomAsync), p.is(atomUsing), p.is(atomAwait):
		d := p.statement()
		return p.done(ExportDecl, start, d)
	}
	return p.unexpected()
}

func (p *parser) exportDefault(start uint32) Ref {
	p.next()
	var d Ref
	at := p.start
	switch {
	case p.tok == KeyFunction:
		d = p.function(FuncDecl, at, 0)
	case p.tok == KeyClass || p.tok == At:
		d = p.class(ClassDecl)
	default:
		if p.is(atomAsync) {
			m := p.mark()
			p.next()
			if p.tok == KeyFunction && !p.newline {
				return p.done(ExportDef, start, p.function(FuncDecl, at, Async))
			}
			p.reset(m)
		}
		d = p.assign()
		p.semicolon()
	}
	return p.done(ExportDef, start, d)
}

func (p *parser) exportNames(start uint32) Ref {
	var l list
	p.next()
	for p.tok != BraceR && p.tok != EOF {
		at := p.start
		string, atom, from, to := p.tok == Str, p.atom, p.start, p.end
		local := p.moduleName()
		exported := Ref(0)
		switch {
		case p.is(atomAs):
			p.next()
			exported = p.moduleName()
		case string:
			exported = p.node(String, from, to)
		default:
			exported = p.node(Name, from, to)
			p.f.Nodes[exported].first = Ref(atom)
		}
		p.add(&l, p.done(ExportName, at, local, exported))
		if !p.accept(Comma) {
			break
		}
	}
	p.expect(BraceR)
	source := Ref(0)
	if p.is(atomFrom) {
		p.next()
		if p.tok != Str {
			return p.unexpected()
		}
		source = p.literal(String)
		if a := p.attributes(); a != 0 {
			p.add(&l, a)
		}
	}
	p.semicolon()
	if source == 0 {
		source = p.empty(start)
	}
	return p.with(ExportNames, start, l, source)
}
