package ssa

// removePhis replaces phis whose operands are all one value (or the phi
// itself) by that value, until none is left.
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
	users := map[ID][]ID{} // phis that have a phi as operand
	var work []ID
	for b := range f.Blocks {
		for _, p := range f.Blocks[b].Phis {
			work = append(work, p)
			for _, a := range f.List(p) {
				if a != p && f.Values[a].Kind == Phi {
					users[a] = append(users[a], p)
				}
			}
		}
	}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if to[p] != 0 {
			continue
		}
		var one ID
		trivial := true
		for _, a := range f.List(p) {
			a = find(a)
			switch {
			case a == p || a == one:
			case one == 0:
				one = a
			default:
				trivial = false
			}
		}
		if !trivial || one == 0 {
			continue
		}
		to[p] = one
		work = append(work, users[p]...)
		if f.Values[one].Kind == Phi {
			users[one] = append(users[one], users[p]...)
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
