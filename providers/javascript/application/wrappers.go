package application

import (
	"cmp"
	"slices"
	"strings"

	"rea/providers/javascript/facts"
)

// A wrapped fact is one whose name is chosen by the callers of a function.
type wrapped struct {
	at   place
	fact facts.Fact
}

// callers adds the facts that calls of wrappers in other modules and pages are: of
// functions that modules export, and of members of exposed APIs.
func (s *settling) callers() {
	exported, members := map[string][]wrapped{}, map[string][]wrapped{}
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for part := range u.parts {
			list := u.parts[part].facts
			for i := range list {
				f := &list[i]
				if f.Wrapper == nil || !f.Dynamic {
					continue
				}
				w := wrapped{place{file, part}, *f}
				if f.Wrapper.Export != nil {
					key := wrapperKey(w.at, f.Wrapper.Export)
					exported[key] = append(exported[key], w)
				}
				for k := range list {
					if api := &list[k]; f.Wrapper.Member != "" && api.Kind == facts.BridgeAPI && !api.Dynamic && api.Within == f.Wrapper.Object {
						key := api.Name + "." + f.Wrapper.Member
						members[key] = append(members[key], w)
					}
				}
			}
		}
	}
	if len(exported)+len(members) == 0 {
		return
	}
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for part := range u.parts {
			p, at := &u.parts[part], place{file, part}
			before := len(p.facts)
			for i := range p.calls {
				c := &p.calls[i]
				s.steps = 0
				list, _ := exportedBy(s, at, c.From, exported, maxHops)
				s.add(at, list, c.Texts, facts.Fact{At: c.At}, before)
			}
			for i := range p.globals {
				g := &p.globals[i]
				s.add(at, members[g.Name+"."+g.Member], g.Texts, facts.Fact{At: g.At}, before)
			}
			if len(p.facts) > before {
				slices.SortStableFunc(p.facts, func(x, y facts.Fact) int {
					return cmp.Or(cmp.Compare(x.At.Start, y.At.Start), cmp.Compare(x.At.End, y.At.End))
				})
			}
		}
	}
}

func wrapperKey(at place, path []string) string {
	return itoa(at.file) + separator + itoa(at.part) + separator + strings.Join(path, separator)
}

// exportedBy is what a reference means, in a table of what parts export.
func exportedBy[T any](s *settling, from place, r *facts.Reference, exported map[string]T, hops int) (found T, ok bool) {
	if s.steps++; s.steps > maxSteps || hops <= 0 || len(exported) == 0 {
		return found, false
	}
	for _, to := range s.loads(from, r) {
		if found, ok = exported[wrapperKey(to, r.Path)]; ok {
			return found, true
		}
		if len(r.Path) > 0 && r.Path[0] == "default" { // what stands in for the default of a module that has none
			if found, ok = exported[wrapperKey(to, r.Path[1:])]; ok {
				return found, true
			}
		}
		if len(r.Path) == 0 { // require("a") of a module with a default alone
			if found, ok = exported[wrapperKey(to, []string{"default"})]; ok {
				return found, true
			}
		}
		t := s.table(to)
		for n := len(r.Path); n >= 0; n-- {
			for _, key := range []string{strings.Join(r.Path[:n], separator), strings.Join(append(slices.Clone(r.Path[:n]), "*"), separator)} {
				for _, c := range t[key] {
					if c.From == nil || c.From.Own {
						continue
					}
					inner := *c.From
					inner.Path = append(slices.Clone(inner.Path), r.Path[n:]...)
					if found, ok = exportedBy(s, to, &inner, exported, hops-1); ok {
						return found, true
					}
				}
			}
		}
	}
	return found, false
}

// add gives a part the facts that a call of wrappers is.
//
// Facts from the index from on were added for the same call or others.
func (s *settling) add(at place, list []wrapped, texts facts.Texts, f facts.Fact, from int) {
	for i := range list {
		w := &list[i]
		n := w.fact.Wrapper.Parameter
		if n >= len(texts) || texts[n] == nil {
			continue
		}
		name, ok := s.text(at, texts[n], false, maxHops)
		if !ok {
			continue
		}
		f.Kind, f.Via, f.Details = w.fact.Kind, w.fact.Via, slices.Clone(w.fact.Details)
		f.Settle(name, byCaller)
		p := &s.units[at.file].parts[at.part]
		if !slices.ContainsFunc(p.facts[from:], same(&f)) && !hasFact(p.facts[:from], &f) {
			p.facts = append(p.facts, f)
		}
	}
}

// same reports facts that are another at the same place.
func same(f *facts.Fact) func(facts.Fact) bool {
	return func(o facts.Fact) bool { return o.At == f.At && o.Kind == f.Kind && o.Exact == f.Exact }
}

// hasFact reports whether a list in order of place has the same fact.
func hasFact(list []facts.Fact, f *facts.Fact) bool {
	at, _ := slices.BinarySearchFunc(list, f.At.Start, func(o facts.Fact, start uint32) int { return cmp.Compare(o.At.Start, start) })
	for ; at < len(list) && list[at].At.Start == f.At.Start; at++ {
		if same(f)(list[at]) {
			return true
		}
	}
	return false
}
