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

// A handing is a call that hands on what callers of its function give it.
type handing struct {
	at   place
	call facts.Call
}

// maxRounds bounds the modules through which names are handed on.
const maxRounds = 4

// callers adds the facts that calls of wrappers in other modules and pages are: of
// functions that modules export, and of members of exposed APIs.
func (s *settling) callers() {
	exported, members := map[string][]wrapped{}, map[string][]wrapped{}
	var handings []handing
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for part := range u.parts {
			p, at := &u.parts[part], place{file, part}
			var apis []*facts.Fact
			for i := range p.facts {
				if api := &p.facts[i]; api.Kind == facts.BridgeAPI && !api.Dynamic {
					apis = append(apis, api)
				}
			}
			for _, list := range [][]facts.Fact{p.facts, p.wrappers} {
				for i := range list {
					f := &list[i]
					if f.Wrapper == nil {
						continue
					}
					w := wrapped{at, *f}
					for _, path := range f.Wrapper.Exports {
						key := wrapperKey(w.at, path)
						exported[key] = append(exported[key], w)
					}
					for _, api := range apis {
						if f.Wrapper.Member != "" && api.Within == f.Wrapper.Object {
							key := api.Name + "." + f.Wrapper.Member
							members[key] = append(members[key], w)
						}
					}
				}
			}
			for i := range p.calls {
				if w := p.calls[i].Wrapper; w != nil && len(w.Exports) > 0 {
					handings = append(handings, handing{at, p.calls[i]})
				}
			}
		}
	}
	if len(exported)+len(members) == 0 {
		return
	}
	s.handOver(exported, handings)
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
				s.add(at, list, c, before)
			}
			for i := range p.globals {
				g := &p.globals[i]
				s.add(at, members[g.Name+"."+g.Member], &facts.Call{Texts: g.Texts, At: g.At}, before)
			}
			if len(p.facts) > before {
				slices.SortStableFunc(p.facts, func(x, y facts.Fact) int {
					return cmp.Or(cmp.Compare(x.At.Start, y.At.Start), cmp.Compare(x.At.End, y.At.End))
				})
			}
		}
	}
}

// handOver makes wrappers of functions that hand what they are given to wrappers of other
// modules.
func (s *settling) handOver(exported map[string][]wrapped, handings []handing) {
	type pair struct {
		handing int
		to      *facts.Wrapper
	}
	done := map[pair]bool{}
	for range maxRounds {
		added := map[string][]wrapped{}
		for i := range handings {
			h := &handings[i]
			s.steps = 0
			list, ok := exportedBy(s, h.at, h.call.From, exported, maxHops)
			if !ok {
				continue
			}
			for k := range list {
				if id := (pair{i, list[k].fact.Wrapper}); !done[id] {
					done[id] = true
					w := *h.call.Wrapper
					w.Pieces = facts.Instantiate(s.texts(list[k].at, list[k].fact.Wrapper.Pieces), func(p *facts.Piece) []facts.Piece { return s.given(h.at, h.call.Given(p)) })
					made := wrapped{h.at, list[k].fact}
					made.fact.Wrapper, made.fact.At = &w, h.call.At
					for _, path := range w.Exports {
						key := wrapperKey(h.at, path)
						added[key] = append(added[key], made)
					}
				}
			}
		}
		if len(added) == 0 {
			return
		}
		for key, list := range added {
			if exported[key] = append(exported[key], list...); len(exported[key]) > maxWrapped {
				exported[key] = exported[key][:maxWrapped]
			}
		}
	}
}

// maxWrapped bounds the facts of one function.
const maxWrapped = 50

// given are pieces that a module hands on, nil for none.
func (s *settling) given(at place, pieces []facts.Piece) []facts.Piece {
	if pieces == nil {
		return nil
	}
	return s.texts(at, pieces)
}

// texts are pieces in which the values of modules that are known stand as text.
func (s *settling) texts(at place, pieces []facts.Piece) []facts.Piece {
	out := slices.Clone(pieces)
	for i := range out {
		if out[i].From == nil {
			continue
		}
		s.steps = 0
		if text, ok := s.value(at, out[i].From, maxHops); ok {
			out[i] = facts.Piece{Text: text}
		} else {
			out[i] = facts.Piece{Unknown: true}
		}
	}
	return out
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
func (s *settling) add(at place, list []wrapped, c *facts.Call, from int) {
	for i := range list {
		w := &list[i]
		told := false
		pieces := facts.Instantiate(s.texts(w.at, w.fact.Wrapper.Pieces), func(p *facts.Piece) []facts.Piece {
			given := s.given(at, c.Given(p))
			told = told || facts.Told(given)
			return given
		})
		if !told {
			continue
		}
		name, ok := s.text(at, pieces, w.fact.Kind == facts.Endpoint, maxHops)
		if !ok && w.fact.Kind != facts.Endpoint {
			continue
		}
		f := facts.Fact{At: c.At, Kind: w.fact.Kind, Via: w.fact.Via, Details: slices.Clone(w.fact.Details), Base: w.fact.Base, Dynamic: true}
		if f.Settle(name, byCaller); f.Dynamic {
			continue
		}
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
