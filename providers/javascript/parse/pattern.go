package parse

// bindingTarget reads a name or a pattern that declares names.
func (p *parser) bindingTarget() Ref {
	switch p.tok {
	case Identifier:
		return p.word(Ident)
	case BracketL:
		if !p.enter() {
			p.leave()
			return p.unexpected()
		}
		r := p.array()
		p.leave()
		p.toPattern(r)
		return r
	case BraceL:
		if !p.enter() {
			p.leave()
			return p.unexpected()
		}
		r := p.object()
		p.leave()
		p.toPattern(r)
		return r
	}
	return p.unexpected()
}

// toPattern makes a pattern of an expression that was read where a pattern may
// stand. What cannot be one is left as it is.
func (p *parser) toPattern(r Ref) {
	n := &p.f.Nodes[r]
	switch n.Kind {
	case Array:
		n.Kind = ArrayPattern
	case Object:
		n.Kind = ObjectPattern
	case Spread:
		n.Kind = Rest
	case Assign:
		if n.Op != Equal {
			return
		}
		n.Kind, n.Op = AssignPattern, EOF
		return // its target was made a pattern when it was read
	case Property:
		if value := p.f.Next(n.first); value != 0 {
			p.toPattern(value)
		}
		return
	default:
		return
	}
	for k := n.First(); k != 0; k = p.f.Nodes[k].Next {
		p.toPattern(k)
	}
}
