package bundle

import (
	"cmp"
	"slices"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// share gives modules that were joined into one the loads of that one: a load in a
// module is one of that module; a load outside of them, whose result a variable
// keeps, is one of the modules that use the variable, or one that was made of it.
// Then it links them.
func (d *detector) share(m *Module, parts []Module) {
	at := d.locate(parts)
	nest := at.nest
	keepers := d.keepers(m.Source, nest)
	type pair struct {
		part int
		load uint32
	}
	given := map[pair]bool{}
	for _, q := range m.Requires {
		if to := at.at(q.At.Start); to >= 0 {
			parts[to].Requires = append(parts[to].Requires, q)
			continue
		}
		// The variables that keep the load, directly or not.
		var kept []scope.BindingID
		seen := map[scope.BindingID]bool{}
		note := func(place uint32) {
			if b := keepers.at(place); b != 0 && !seen[b] {
				seen[b] = true
				kept = append(kept, b)
			}
		}
		note(q.At.Start)
		for i := 0; i < len(kept); i++ {
			for _, use := range d.usesOf(kept[i]) {
				place := d.At(use).Start
				to := at.at(place)
				if to < 0 {
					note(place)
					continue
				}
				if p := (pair{to, q.At.Start}); use != d.Scopes.Bindings[kept[i]].Decl && !given[p] {
					given[p] = true
					parts[to].Requires = append(parts[to].Requires, q)
				}
			}
		}
	}
	d.link(parts, m.Source)
}

// keepers are the declarations of variables and functions outside of modules, in
// order of place.
type keepers []keeper

type keeper struct {
	at parse.Span
	b  scope.BindingID
}

func (d *detector) keepers(in parse.Span, nest *Nest) (list keepers) {
	done := uint32(0)
	for _, b := range d.declaredIn(in) {
		decl := d.Scopes.Bindings[b].Decl
		up := d.Parents[decl]
		if k := d.Kind(up); k != parse.Declarator && k != parse.FuncDecl || d.First(up) != decl || nest.Innermost(d.At(decl).Start) >= 0 {
			continue
		}
		// Those inside of another are part of it.
		if at := d.span(up); at.Start >= done {
			list = append(list, keeper{at, b})
			done = at.End
		}
	}
	return list
}

// at is the variable in whose declaration a place is, or 0.
func (k keepers) at(place uint32) scope.BindingID {
	i, ok := slices.BinarySearchFunc(k, place, func(e keeper, place uint32) int { return cmp.Compare(e.at.Start, place) })
	if !ok {
		i--
	}
	if i < 0 || place >= k[i].at.End {
		return 0
	}
	return k[i].b
}
