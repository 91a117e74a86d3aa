package application

import (
	"cmp"
	"slices"
	"strings"

	"rea/providers/javascript/facts"
)

// A mounted router is one behind a prefix of another.
type mounted struct {
	parent routerAt
	prefix string
}

type routerAt struct{ file, index int }

const (
	maxPrefixes = 50 // under which one route is answered
	maxNesting  = 8  // routers in routers
)

// byMount is why a route is known that is written without its prefix.
const byMount = "the prefix is that with which its router is mounted"

// mountRoutes gives routes the prefixes under which their routers are mounted, which
// may be several.
func (s *settling) mountRoutes() {
	exported, parents := map[string]routerAt{}, map[routerAt][]mounted{}
	any := false
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for i := range u.routers {
			r := &u.routers[i]
			any = any || r.Prefix != ""
			if r.Export != nil {
				exported[wrapperKey(place{file, 1 + u.nest.Innermost(r.At.Start)}, r.Export)] = routerAt{file, i}
			}
		}
	}
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for i := range u.mounts {
			m := &u.mounts[i]
			child, ok := routerAt{file, m.Child}, m.Child >= 0
			if m.From != nil {
				s.steps = 0
				child, ok = exportedBy(s, place{file, 1 + u.nest.Innermost(m.At.Start)}, m.From, exported, maxHops)
			}
			if ok {
				parents[child] = append(parents[child], mounted{routerAt{file, m.Parent}, m.Prefix})
				any = true
			}
		}
	}
	if !any {
		return
	}
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for part := range u.parts {
			s.mountIn(place{file, part}, parents)
		}
	}
}

func (s *settling) mountIn(at place, parents map[routerAt][]mounted) {
	p := &s.units[at.file].parts[at.part]
	before := len(p.facts)
	for i := range before {
		f := &p.facts[i]
		if f.Kind != facts.Route || f.Router == 0 {
			continue
		}
		var prefixes []string
		s.prefixes(routerAt{at.file, f.Router - 1}, "", parents, maxNesting, &prefixes)
		path := f.Name
		for k, prefix := range prefixes {
			text := joinRoute(prefix, path)
			if text == path {
				continue
			}
			if k > 0 {
				more := *f
				more.Details = slices.Clone(f.Details)
				p.facts = append(p.facts, more)
				p.facts[len(p.facts)-1].Settle(text, byMount)
				f = &p.facts[i]
				continue
			}
			f.Settle(text, byMount)
		}
	}
	if len(p.facts) > before {
		slices.SortStableFunc(p.facts, func(x, y facts.Fact) int {
			return cmp.Or(cmp.Compare(x.At.Start, y.At.Start), cmp.Compare(x.At.End, y.At.End))
		})
	}
}

// prefixes are those under which a router answers, in order and each once.
func (s *settling) prefixes(r routerAt, below string, parents map[routerAt][]mounted, left int, out *[]string) {
	if left == 0 || len(*out) == maxPrefixes {
		return
	}
	if r.index >= 0 {
		below = joinRoute(s.units[r.file].routers[r.index].Prefix, below)
	}
	list := parents[r]
	if r.index < 0 || len(list) == 0 {
		if !slices.Contains(*out, below) {
			*out = append(*out, below)
		}
		return
	}
	for _, m := range list {
		s.prefixes(m.parent, joinRoute(m.prefix, below), parents, left-1, out)
	}
}

// joinRoute is a pattern behind a prefix.
func joinRoute(prefix, pattern string) string {
	switch {
	case prefix == "" || prefix == "/":
		return pattern
	case pattern == "" || pattern == "/":
		return prefix
	}
	return strings.TrimSuffix(prefix, "/") + "/" + strings.TrimPrefix(pattern, "/")
}
