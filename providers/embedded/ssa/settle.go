package ssa

import "rea/providers/embedded/ir"

// settle removes superfluous phis and simplifies what then can be simplified,
// which may make further phis superfluous.
func (b *builder) settle() {
	const rounds = 3
	for range rounds {
		b.f.removePhis()
		if !b.simplifyAgain() || b.err != nil {
			return
		}
	}
	b.f.removePhis()
}

// simplifyAgain builds all expressions anew from operands that changed. The
// operands of an expression have lower numbers than it has.
func (b *builder) simplifyAgain() (changed bool) {
	f := b.f
	clear(b.pure)
	n := len(f.Values)
	to := make([]ID, n)
	find := func(v ID) ID {
		for int(v) < n && to[v] != 0 && to[v] != v {
			v = to[v]
		}
		return v
	}
	for v := 1; v < n && b.err == nil; v++ {
		x := f.Values[v]
		if x.Kind != Const && x.Kind != Expr {
			continue
		}
		for k, a := range x.Args {
			if a != 0 {
				x.Args[k] = find(a)
			}
		}
		f.Values[v] = x
		if x.Kind == Const {
			if id, ok := b.pure[x]; ok {
				to[v] = id
			} else {
				b.pure[x] = ID(v)
			}
			continue
		}
		if id := b.again(&x, ID(v)); id != ID(v) {
			to[v] = id
			changed = true
		}
	}
	f.replace(find)
	return changed
}

// again is the simplest value equal to x, which is v when nothing is simpler.
func (b *builder) again(x *Value, v ID) ID {
	before := len(b.f.Values)
	var id ID
	if x.Op == ir.Extract {
		id = b.extract(x.Args[0], uint16(x.N), x.Bits)
	} else {
		id = b.expr(x.Op, x.Bits, x.Args[0], x.Args[1], x.Args[2])
	}
	if b.err == nil && int(id) == before && len(b.f.Values) == before+1 && b.f.Values[id] == *x { // a copy of itself
		b.f.Values = b.f.Values[:before]
		b.pure[*x] = v
		return v
	}
	return id
}
