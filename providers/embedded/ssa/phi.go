package ssa

// phiRounds bounds the passes over all phis. In reverse postorder nearly all
// that are superfluous go in the first few; one that stays is one value more.
const phiRounds = 32

// removePhis replaces phis whose operands are all one value (or the phi
// itself) by that value.
func (f *Func) removePhis() {
	to := make([]ID, len(f.Values)) // replacement, or 0
	find := func(v ID) ID {
		root := v
		for to[root] != 0 {
			root = to[root]
		}
		for to[v] != 0 {
			v, to[v] = to[v], root
		}
		return root
	}
	for range phiRounds {
		changed := false
		for b := range f.Blocks {
			for _, p := range f.Blocks[b].Phis {
				if to[p] != 0 {
					continue
				}
				if one := f.only(p, find); one != 0 {
					to[p] = one
					changed = true
				}
			}
		}
		if !changed {
			break
		}
	}
	f.replace(find)
	for b := range f.Blocks {
		kept := f.Blocks[b].Phis[:0]
		for _, p := range f.Blocks[b].Phis {
			if to[p] == 0 {
				kept = append(kept, p)
			}
		}
		f.Blocks[b].Phis = kept
	}
	for v := range to {
		if to[v] != 0 {
			f.Values[v] = Value{Var: NoVar}
		}
	}
}

// only is the one value besides itself that a phi has as operands, or 0.
func (f *Func) only(p ID, find func(ID) ID) ID {
	var one ID
	for _, a := range f.List(p) {
		a = find(a)
		switch {
		case a == p || a == one:
		case one == 0:
			one = a
		default:
			return 0
		}
	}
	return one
}

func (f *Func) replace(find func(ID) ID) {
	for v := range f.Values {
		for k, a := range f.Values[v].Args {
			if a != 0 {
				f.Values[v].Args[k] = find(a)
			}
		}
	}
	for k, a := range f.lists {
		if a != 0 {
			f.lists[k] = find(a)
		}
	}
	for p := range f.Points {
		for k, a := range f.Points[p].Regs {
			if a != 0 {
				f.Points[p].Regs[k] = find(a)
			}
		}
	}
	for k := range f.Accesses {
		if a := f.Accesses[k].Value; a != 0 {
			f.Accesses[k].Value = find(a)
		}
	}
}
