package bundle

import (
	"slices"
	"strconv"
	"strings"

	"rea/providers/javascript/parse"
)

// A Place says of which source the code from a byte on is.
type Place struct {
	At     uint32
	Source int32 // -1 for none
}

// Split tells modules apart that share a scope by what a source map says of
// places, which are in order. What is divided is whole statements, declarations
// and parts of sequences, which is what minifiers leave together; code of another
// source in them was moved there from where it was declared. A source whose code lies in several
// stretches gives a module for each. Modules in wrappers get the path of their
// source when it is not known.
func (f *File) Split(found *Found, places []Place, paths []string) {
	d := &detector{File: f, found: *found, taken: map[parse.Ref]bool{}}
	d.index()
	s := splitter{detector: d, places: places, paths: paths}
	d.origin = s.originOf
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

const mapBasis = "the source map of the file"

type splitter struct {
	*detector
	places []Place
	paths  []string
	nest   *Nest

	from      uint32     // where the unit begins in which fragments are looked for
	changes   []int32    // by place: the next one of another source
	fragments []fragment // found by stretches
}

// origin is the path of the source of the name at a place, "" when the map does not
// tell it.
func (s *splitter) originOf(at uint32) string {
	i := s.placeAt(at)
	if i == len(s.places) || s.places[i].At != at || s.places[i].Source < 0 {
		return ""
	}
	return s.paths[s.places[i].Source]
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
	gone := map[string]bool{}
	for i := range b.Modules {
		m := &b.Modules[i]
		if m.Eval != 0 {
			out = append(out, *m)
			continue
		}
		s.fragments = nil
		stretches := s.stretches(s.unitsIn(m), i, m.Source)
		if len(stretches) > 0 && !slices.ContainsFunc(stretches, func(t stretch) bool { return t.source != stretches[0].source }) {
			if m.Path == "" {
				m.Path = s.paths[stretches[0].source]
			}
			out = append(out, s.withFragments(m, b.Modules)...)
			continue
		}
		parts := s.apart(s.modules(stretches), b.Modules)
		if len(parts) > 1 {
			for j := range parts {
				parts[j].ID = m.ID + "#" + parts[j].ID
			}
			s.share(m, parts)
			s.linkFragments(parts)
			// A region with code of others lacks their comments.
			if m.Kind == Wrapped || m.Kind == Region && !slices.ContainsFunc(parts, func(p Module) bool { return sameFile(p.Path, m.Path) }) {
				out = append(out, *m)
			} else {
				gone[m.ID] = true
			}
			out = append(out, parts...)
			continue
		}
		out = append(out, *m)
	}
	b.Modules = out
	if len(gone) == 0 {
		return
	}
	for i := range out {
		out[i].Requires = slices.DeleteFunc(out[i].Requires, func(q Require) bool { return q.Shared && q.Name == "" && gone[q.ID] })
	}
	s.link(out, s.whole())
}

// sameFile reports whether two paths, which may have different beginnings, end
// alike.
func sameFile(a, b string) bool {
	for strings.HasPrefix(b, "../") || strings.HasPrefix(b, "./") {
		_, b, _ = strings.Cut(b, "/")
	}
	return a == b || strings.HasSuffix(a, "/"+b)
}

// file divides the outermost code.
func (s *splitter) file(found *Found) {
	body, end := s.outermost()
	var known []Module
	for i := range found.Bundles {
		known = append(known, found.Bundles[i].Modules...)
	}
	s.nest, s.fragments = nestOf(known), nil
	parts := s.modules(s.stretches(s.units(nil, body), -1, parse.Span{Start: s.At(body).Start, End: end}))
	parts = s.apart(parts, known)
	if len(parts) == 1 && len(known) == 0 && (len(found.Bundles) == 0 || found.Bundles[0].Bundler == Joined) {
		found.Bundles, found.Whole = nil, true
		return
	}
	if len(parts)+len(known) == 0 || len(parts)+len(known) == 1 && len(found.Bundles) == 0 {
		return
	}
	if len(found.Bundles) == 1 {
		held := &found.Bundles[0]
		if held.Bundler == Joined {
			held.Basis = mapBasis
		}
		held.Modules = append(held.Modules, parts...)
		s.link(held.Modules, s.whole())
		s.linkFragments(held.Modules)
		s.linkChunks(held.Modules)
		return
	}
	if len(parts) > 1 {
		s.link(parts, s.whole())
		s.linkFragments(parts)
		s.linkChunks(parts)
		found.Bundles = append(found.Bundles, Bundle{Bundler: Joined, Basis: mapBasis, Modules: parts})
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
		return s.executed(s.units(nil, s.Kid(m.Func, 2)))
	}
	body, _ := s.outermost()
	return s.within(s.units(nil, body), m.Source)
}

// executed puts what a module of SystemJS does in the place of what it returns:
// return {setters: […], execute: function () {…}}.
func (s *splitter) executed(units []parse.Ref) []parse.Ref {
	if len(units) == 0 {
		return units
	}
	last := units[len(units)-1]
	object := s.First(last)
	if s.Kind(last) != parse.Return || s.Kind(object) != parse.Object {
		return units
	}
	for p := s.First(object); p != 0; p = s.Next(p) {
		if name, ok := s.KeyOf(s.First(p), false); ok && name == "execute" && s.Kind(p) == parse.Property && s.Kind(s.Kid(p, 1)).IsFunction() {
			return s.units(units[:len(units)-1], s.Kid(s.Kid(p, 1), 2))
		}
	}
	return units
}

// within are the units in a range. A function that is called where it stands and
// is most of the range is one that keeps names apart: its units count.
func (s *splitter) within(units []parse.Ref, in parse.Span) (list []parse.Ref) {
	half := (min(in.End, s.codeEnd()) - min(in.Start, s.codeEnd())) / 2
	for _, r := range units {
		at := s.span(r)
		if !contains(in, at) {
			continue
		}
		call := r
		for s.Kind(call) == parse.ExprStmt || s.Kind(call) == parse.Return || s.Kind(call) == parse.Unary {
			call = s.First(call)
		}
		if fn := s.First(call); s.Kind(call) == parse.Call && s.Kind(fn).IsFunction() && at.End-at.Start > half {
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
// nothing belong to none. A variable that is only declared may be what a minifier
// made of a parameter: it counts only beside a unit of its source. owner is the
// module whose units they are, -1 for the file.
func (s *splitter) stretches(units []parse.Ref, owner int, in parse.Span) (list []stretch) {
	next := s.placeAt(in.Start)
	done := in.Start // where the unit before ended
	waiting := stretch{source: -1}
	apart := false // something that belongs to none stands between
	for _, r := range units {
		at := s.span(r)
		if !contains(in, at) {
			continue
		}
		at = s.stretched(r, at)
		at.Start = s.described(max(at.Start, done), done)
		for next < len(s.places) && s.places[next].At < at.Start {
			next++
		}
		from := next
		for next < len(s.places) && s.places[next].At < at.End {
			next++
		}
		done = at.End
		source := s.source(r, s.places[from:next], owner)
		if source < 0 {
			apart, waiting.source = true, -1
			continue
		}
		s.fragmentsIn(r, at.Start, source, owner)
		n := len(list)
		switch {
		case n > 0 && !apart && list[n-1].source == source:
			list[n-1].at.End = at.End
		case s.Kind(r) == parse.Declarator && s.Kind(s.Next(s.First(r))) == parse.Empty:
			if waiting.source != source {
				waiting = stretch{source, at}
			}
			continue
		default:
			if waiting.source == source {
				at.Start = waiting.at.Start
			}
			list = append(list, stretch{source, at})
		}
		waiting.source, apart = -1, false
	}
	return list
}

// source of a unit: that of the name it declares, assigns or calls, or of most of
// what it does itself and not in functions, or else of what comes first.
func (s *splitter) source(r parse.Ref, places []Place, owner int) int32 {
	if s.nest.Innermost(s.span(r).Start) != owner { // it is a module of its own
		return -1
	}
	name := s.head(r)
	inner := s.functionsIn(r)
	first, best := int32(-1), int32(-1)
	votes := map[int32]int{}
	for _, p := range places {
		if p.Source < 0 || s.nest.Innermost(p.At) != owner {
			continue
		}
		if name != 0 && p.At == s.span(name).Start {
			return p.Source
		}
		if first < 0 {
			first = p.Source
		}
		for len(inner) > 0 && inner[0].End <= p.At {
			inner = inner[1:]
		}
		if len(inner) > 0 && inner[0].Start <= p.At {
			continue
		}
		if votes[p.Source]++; best < 0 || votes[p.Source] > votes[best] {
			best = p.Source
		}
	}
	if best < 0 || votes[best] == votes[first] {
		return first
	}
	return best
}

// head is the name that a unit declares, assigns or calls, or 0.
func (s *splitter) head(r parse.Ref) parse.Ref {
	for r != 0 {
		switch s.Kind(r) {
		case parse.Ident, parse.Name:
			return r
		case parse.Declarator, parse.FuncDecl, parse.ClassDecl, parse.ExprStmt, parse.Assign, parse.Call, parse.New, parse.Unary, parse.Await:
			r = s.First(r)
		case parse.Dot:
			r = s.Kid(r, 1)
		case parse.Sequence:
			r = s.Last(r)
		default:
			return 0
		}
	}
	return 0
}

// functionsIn are the outermost functions in r, in order of place.
func (s *splitter) functionsIn(r parse.Ref) (list []parse.Span) {
	if s.Kind(r).IsFunction() {
		return []parse.Span{s.span(r)}
	}
	for k := s.First(r); k != 0; k = s.Next(k) {
		list = append(list, s.functionsIn(k)...)
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

// described is where the comments before a unit begin, which are of the same
// source; those that end the line of the unit before are not.
func (s *splitter) described(at, done uint32) uint32 {
	start := at
	comments := s.commentsIn(parse.Span{Start: done, End: at})
	for i := len(comments) - 1; i >= 0; i-- {
		c := comments[i]
		if strings.TrimSpace(s.Src[min(c.End, start):start]) != "" || done > 0 && !strings.Contains(s.Src[done:c.Start], "\n") {
			break
		}
		start = c.Start
	}
	return start
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
