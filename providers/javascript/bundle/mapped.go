package bundle

import (
	"strconv"

	"rea/providers/javascript/parse"
)

// A Place says of which source the code from a byte on is.
type Place struct {
	At     uint32
	Source int32 // -1 for none
}

// Split tells modules apart that share a scope by what a source map says of
// places, which are in order. What is divided is whole statements, declarations
// and parts of sequences, which is what minifiers leave together: each is of the
// source that its first place names, since what follows may have been moved there
// from where it was declared. A source whose code lies in several
// stretches gives a module for each. Modules in wrappers get the path of their
// source when it is not known.
func (f *File) Split(found *Found, places []Place, paths []string) {
	d := &detector{File: f, found: *found, taken: map[parse.Ref]bool{}}
	d.index()
	s := splitter{detector: d, places: places, paths: paths}
	joins := true
	for i := range found.Bundles {
		joins = joins && found.Bundles[i].Joins
	}
	for i := range found.Bundles {
		s.bundle(&found.Bundles[i])
	}
	if joins {
		s.file(found)
	}
}

type splitter struct {
	*detector
	places []Place
	paths  []string
	nest   *Nest
}

// A stretch is code of one source.
type stretch struct {
	source int32
	at     parse.Span
}

// bundle names wrapped modules and divides those that hold several.
func (s *splitter) bundle(b *Bundle) {
	s.nest = nestOf(b.Modules)
	var out []Module
	for i := range b.Modules {
		m := &b.Modules[i]
		if m.Eval != 0 {
			out = append(out, *m)
			continue
		}
		stretches := s.stretches(s.unitsIn(m), i, m.Source)
		if len(stretches) == 1 && m.Path == "" {
			m.Path = s.paths[stretches[0].source]
		}
		parts := s.modules(stretches)
		if len(parts) > 1 {
			for j := range parts {
				parts[j].ID = m.ID + "#" + parts[j].ID
			}
			s.share(m, parts)
			if m.Kind != Group {
				out = append(out, *m)
			}
			out = append(out, parts...)
			continue
		}
		out = append(out, *m)
	}
	b.Modules = out
}

// file divides the outermost code.
func (s *splitter) file(found *Found) {
	body, end := s.outermost()
	var known []Module
	for i := range found.Bundles {
		known = append(known, found.Bundles[i].Modules...)
	}
	s.nest = nestOf(known)
	parts := s.modules(s.stretches(s.units(nil, body), -1, parse.Span{Start: s.At(body).Start, End: end}))
	if len(parts)+len(known) < 2 {
		return
	}
	if len(found.Bundles) == 1 {
		held := &found.Bundles[0]
		held.Modules = append(held.Modules, parts...)
		s.link(held.Modules, s.whole())
		s.linkChunks(held.Modules)
		return
	}
	if len(parts) > 1 {
		s.link(parts, s.whole())
		s.linkChunks(parts)
		found.Bundles = append(found.Bundles, Bundle{Bundler: Joined, Basis: "the source map of the file", Modules: parts})
	}
}

// modules makes a module of each stretch whose source has a name.
func (s *splitter) modules(stretches []stretch) (list []Module) {
	seen := map[int32]int{}
	for _, t := range stretches {
		path := s.paths[t.source]
		if path == "" {
			continue
		}
		seen[t.source]++
		id := path
		if n := seen[t.source]; n > 1 {
			id += "#" + strconv.Itoa(n)
		}
		list = append(list, Module{ID: id, Path: path, Kind: Mapped, At: t.at, Source: t.at})
	}
	return list
}

// unitsIn are the units of a module's own code.
func (s *splitter) unitsIn(m *Module) []parse.Ref {
	if m.Func != 0 {
		return s.units(nil, s.Kid(m.Func, 2))
	}
	body, _ := s.outermost()
	return s.within(s.units(nil, body), m.Source)
}

// within are the units in a range. A function that is called where it stands and
// is most of the range is one that keeps names apart: its units count.
func (s *splitter) within(units []parse.Ref, in parse.Span) (list []parse.Ref) {
	for _, r := range units {
		at := s.span(r)
		if !contains(in, at) {
			continue
		}
		call := r
		for s.Kind(call) == parse.ExprStmt || s.Kind(call) == parse.Return || s.Kind(call) == parse.Unary {
			call = s.First(call)
		}
		if fn := s.First(call); s.Kind(call) == parse.Call && s.Kind(fn).IsFunction() && at.End-at.Start > (in.End-in.Start)/2 {
			list = append(list, s.units(nil, s.Kid(fn, 2))...)
			continue
		}
		list = append(list, r)
	}
	return list
}

// units are the statements in a block, those that hold several in parts.
func (s *splitter) units(list []parse.Ref, body parse.Ref) []parse.Ref {
	if k := s.Kind(body); k != parse.Block && k != parse.Program {
		return append(list, s.parts(body)...)
	}
	for r := s.First(body); r != 0; r = s.Next(r) {
		list = append(list, s.heads(r)...)
		list = append(list, s.parts(r)...)
	}
	return list
}

// heads are the expressions that a minifier moved into the head of a statement:
// all but the last of a sequence that is its test, value or the like.
func (s *splitter) heads(r parse.Ref) (list []parse.Ref) {
	e := s.First(r)
	switch s.Kind(r) {
	case parse.If, parse.Switch, parse.Return, parse.Throw, parse.For, parse.ForIn:
		if s.Kind(r) == parse.ForIn {
			e = s.Next(e)
		}
	case parse.VarDecl:
		e = s.Next(e)
	default:
		return nil
	}
	if s.Kind(e) != parse.Sequence {
		return nil
	}
	for k := s.First(e); s.Next(k) != 0; k = s.Next(k) {
		list = append(list, k)
	}
	return list
}

// stretches joins neighbouring units of one source. Units of which the map says
// nothing belong to none. owner is the module whose units they are, -1 for the
// file.
func (s *splitter) stretches(units []parse.Ref, owner int, in parse.Span) (list []stretch) {
	next := s.placeAt(in.Start)
	done := uint32(0) // where the unit before ended
	for _, r := range units {
		at := s.span(r)
		if !contains(in, at) {
			continue
		}
		at = s.stretched(r, at)
		at.Start = max(at.Start, done)
		for next < len(s.places) && s.places[next].At < at.Start {
			next++
		}
		best := int32(-1)
		for ; best < 0 && next < len(s.places) && s.places[next].At < at.End; next++ {
			if p := s.places[next]; p.Source >= 0 && s.nest.Innermost(p.At) == owner {
				best = p.Source
			}
		}
		done = at.End
		if best < 0 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].source == best {
			list[n-1].at.End = at.End
		} else {
			list = append(list, stretch{best, at})
		}
	}
	return list
}

// stretched is the range of a unit; the first and the last in a declaration or a
// sequence have its begin and its end.
func (s *splitter) stretched(r parse.Ref, at parse.Span) parse.Span {
	up := s.Parents[r]
	whole := s.span(up)
	switch s.Kind(up) {
	case parse.VarDecl:
	case parse.Sequence:
		if s.Kind(s.Parents[up]) == parse.ExprStmt {
			whole = s.span(s.Parents[up])
		}
	default:
		return at
	}
	if s.First(up) == r {
		at.Start = whole.Start
	}
	if s.Next(r) == 0 {
		at.End = whole.End
	}
	return at
}

func (s *splitter) placeAt(at uint32) int {
	lo, hi := 0, len(s.places)
	for lo < hi {
		if mid := (lo + hi) / 2; s.places[mid].At < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
