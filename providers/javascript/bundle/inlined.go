package bundle

import (
	"cmp"
	"slices"

	"rea/providers/javascript/parse"
)

// A fragment is an expression of one source that a minifier put into code of
// another, where it was called.
type fragment struct {
	source, in int32
	at         parse.Span
	value      bool // more than a name or a constant
}

// fragmentsIn finds the fragments in a unit of a source, from a place on. Code of a source inside of
// code that stands in it already is what was handed to the call, and no fragment.
func (s *splitter) fragmentsIn(unit parse.Ref, from uint32, source int32, owner int) {
	s.from = from
	s.fragment(unit, []int32{source}, owner)
}

// fragment looks through a node; within are the sources around it, innermost last.
func (s *splitter) fragment(r parse.Ref, within []int32, owner int) {
	at := s.span(r)
	first := s.placeAt(at.Start)
	source := within[len(within)-1]
	if at.End <= s.from || first == len(s.places) || s.places[first].At >= at.End || s.oneSource(first, at.End, source) {
		return
	}
	if s.nest.Innermost(at.Start) != owner { // it is a module of its own
		return
	}
	if of := s.ownSource(r, at); of >= 0 && of != source && s.paths[of] != "" && s.isExpression(r) {
		if i := slices.Index(within, of); i >= 0 {
			within = within[:i+1]
		} else {
			if k := s.Kind(r); k != parse.Ident {
				value := k != parse.String && k != parse.Number && k != parse.Null && k != parse.True && k != parse.False && k != parse.Unary
				s.fragments = append(s.fragments, fragment{of, source, at, value})
			}
			within = append(slices.Clip(within), of)
		}
	}
	for k := s.First(r); k != 0; k = s.Next(k) {
		s.fragment(k, within, owner)
	}
}

// ownSource is the source of an expression: of the name that it calls or takes, of
// its begin, or of all of it, -1 when none of these tells.
func (s *splitter) ownSource(r parse.Ref, at parse.Span) int32 {
	i := s.placeAt(at.Start)
	if i == len(s.places) || s.places[i].At != at.Start {
		return -1
	}
	begin := s.places[i].Source
	for {
		switch s.Kind(r) {
		case parse.Call, parse.Tagged, parse.Index:
			r = s.First(r)
		case parse.Dot:
			name := s.span(s.Kid(r, 1)).Start
			if k := s.placeAt(name); k < len(s.places) && s.places[k].At == name && s.places[k].Source >= 0 {
				return s.places[k].Source
			}
			r = s.First(r)
		case parse.Ident, parse.String, parse.Number, parse.Template, parse.Object, parse.Array, parse.Func, parse.Arrow, parse.Class, parse.New, parse.Regex:
			return begin
		default:
			if begin >= 0 && s.oneSource(i, at.End, begin) {
				return begin
			}
			return -1
		}
	}
}

// isExpression reports whether a node is used for its value, and not a part of a
// declaration or a pattern.
func (s *splitter) isExpression(r parse.Ref) bool {
	k := s.Kind(r)
	if k < parse.Ident || k == parse.Name || k == parse.PrivateName || k == parse.Super {
		return false
	}
	switch up := s.Parents[r]; s.Kind(up) {
	case parse.Declarator, parse.ForIn, parse.ForOf:
		return s.First(up) != r
	case parse.Property, parse.FuncDecl, parse.ClassDecl, parse.Func, parse.Class, parse.Labeled, parse.ImportName, parse.ExportName:
		return s.First(up) != r
	case parse.Params, parse.Catch, parse.ArrayPattern, parse.ObjectPattern:
		return false
	}
	return true
}

// oneSource reports whether all places from the i-th to an offset are of a source.
func (s *splitter) oneSource(i int, end uint32, source int32) bool {
	if s.changes == nil {
		s.changes = make([]int32, len(s.places))
		for k := len(s.places) - 1; k >= 0; k-- {
			s.changes[k] = int32(k + 1)
			if k+1 < len(s.places) && s.places[k+1].Source == s.places[k].Source {
				s.changes[k] = s.changes[k+1]
			}
		}
	}
	for s.places[i].Source < 0 || s.places[i].Source == source {
		if i = int(s.changes[i]); i >= len(s.places) || s.places[i].At >= end {
			return true
		}
	}
	return false
}

// apart makes a module of each source of which nothing but fragments is left: the
// longest of them.
func (s *splitter) apart(parts []Module, known ...[]Module) []Module {
	has := map[string]bool{}
	for _, list := range append(known, parts) {
		for i := range list {
			has[list[i].Path] = true
		}
	}
	best := map[int32]fragment{}
	for _, f := range s.fragments {
		if b, ok := best[f.source]; !has[s.paths[f.source]] && (!ok || f.at.End-f.at.Start > b.at.End-b.at.Start) {
			best[f.source] = f
		}
	}
	list := make([]fragment, 0, len(best))
	for _, f := range best {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b fragment) int {
		return cmp.Or(cmp.Compare(a.at.Start, b.at.Start), cmp.Compare(b.at.End, a.at.End))
	})
	for _, f := range list {
		if path := s.paths[f.source]; f.value && !has[path] { // two sources may have one name
			has[path] = true
			parts = append(parts, Module{ID: path, Path: path, Kind: Mapped, At: f.at, Source: f.at, Inlined: true})
		}
	}
	return parts
}

// withFragments is a module of one source and those of which code stands in it.
func (s *splitter) withFragments(m *Module, known []Module) []Module {
	list := s.apart([]Module{*m}, known)
	if len(list) == 1 {
		return list
	}
	nest := nestOf(list[1:])
	for i := range list[1:] {
		list[1+i].ID = m.ID + "#" + list[1+i].ID
	}
	for _, q := range m.Requires {
		if in := nest.Innermost(q.At.Start); in >= 0 {
			list[1+in].Requires = append(list[1+in].Requires, q)
		}
	}
	s.link(list, m.Source)
	s.linkFragments(list)
	return list
}

// linkFragments adds the loads of modules of which code stands in others.
func (s *splitter) linkFragments(modules []Module) {
	byPath := pathsOf(modules)
	places := nestOf(modules)
	type pair struct{ from, to int }
	known := map[pair]bool{}
	for _, f := range s.fragments {
		to, ok := byPath[s.paths[f.source]]
		if !ok {
			continue
		}
		from := places.Innermost(f.at.Start)
		for from >= 0 && modules[from].Path != s.paths[f.in] {
			from = places.Around(from)
		}
		if from < 0 {
			if from, ok = byPath[s.paths[f.in]]; !ok {
				continue
			}
		}
		if from == to || known[pair{from, to}] || modules[from].Path == modules[to].Path {
			continue
		}
		known[pair{from, to}] = true
		if slices.ContainsFunc(modules[from].Requires, func(q Require) bool { return q.ID == modules[to].ID }) {
			continue
		}
		modules[from].Requires = append(modules[from].Requires, Require{ID: modules[to].ID, Specifier: modules[to].Path, Shared: true, At: f.at})
	}
}

// pathsOf are the first modules of each path.
func pathsOf(modules []Module) map[string]int {
	list := make(map[string]int, len(modules))
	for i := range modules {
		if _, twice := list[modules[i].Path]; !twice && modules[i].Path != "" {
			list[modules[i].Path] = i
		}
	}
	return list
}

// A locator tells in which of some modules a place is: in the innermost, or in that
// of which the name at the place is by a source map.
type locator struct {
	nest    *Nest
	modules []Module
	origin  func(at uint32) string
	byPath  map[string]int
}

func (d *detector) locate(modules []Module) *locator {
	l := &locator{nest: nestOf(modules), modules: modules, origin: d.origin}
	if d.origin != nil {
		l.byPath = pathsOf(modules)
	}
	return l
}

// at is the index of the module, or -1.
func (l *locator) at(place uint32) int {
	in := l.nest.Innermost(place)
	if l.origin == nil {
		return in
	}
	path := l.origin(place)
	if path == "" || in >= 0 && l.modules[in].Path == path {
		return in
	}
	for up := in; up >= 0; up = l.nest.Around(up) {
		if l.modules[up].Path == path {
			return up
		}
	}
	if of, ok := l.byPath[path]; ok {
		return of
	}
	return in
}
