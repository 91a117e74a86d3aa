package application

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/sourcemap"
)

// mapped finds the modules of a program by its source map, where they were joined
// into one scope: each is the range in which the map names its source. Ranges
// that cut through modules that are known otherwise are left out.
func (u *unit) mapped(code string, m *sourcemap.Map) {
	for i := range u.bundles {
		switch u.bundles[i].Bundler {
		case bundle.Rollup, bundle.Esbuild, bundle.Rolldown:
		default:
			return // the bundler keeps boundaries itself
		}
	}
	type extent struct {
		start, end uint32
		runs       int
	}
	extents := make([]extent, len(m.Sources))
	at := newPositions(code, u.lines)
	for _, r := range m.Runs() {
		start, end := at.offset(r.Line, r.Column), uint32(len(code))
		if r.EndLine >= 0 {
			end = at.offset(r.EndLine, r.EndColumn)
		}
		if end <= start {
			continue
		}
		e := &extents[r.Source]
		if e.runs == 0 {
			e.start = start
		}
		e.end = max(e.end, end)
		e.runs++
	}
	type region struct {
		source int
		at     parse.Span
	}
	var regions []region
	for i, e := range extents {
		if e.runs > 0 && m.Sources[i].Path != "" {
			regions = append(regions, region{i, parse.Span{Start: e.start, End: e.end}})
		}
	}
	slices.SortFunc(regions, func(x, y region) int {
		return cmp.Or(cmp.Compare(x.at.Start, y.at.Start), cmp.Compare(x.at.End, y.at.End))
	})
	if len(regions) < 2 {
		return
	}
	known := u.knownSpans()
	b := bundle.Bundle{Bundler: bundle.Joined, Basis: "the source map of the file"}
	for i, r := range regions {
		if i > 0 && r.at.Start < regions[i-1].at.End || i+1 < len(regions) && regions[i+1].at.Start < r.at.End || slices.ContainsFunc(known, func(k parse.Span) bool { return cuts(k, r.at) }) {
			continue // code of the two is mixed
		}
		path := m.Sources[r.source].Path
		b.Modules = append(b.Modules, bundle.Module{ID: path, Path: path, Kind: bundle.Mapped, At: r.at, Source: r.at})
	}
	if len(b.Modules) > 0 {
		u.bundles = append(u.bundles, b)
	}
}

func (u *unit) knownSpans() (list []parse.Span) {
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			list = append(list, u.bundles[i].Modules[j].At)
		}
	}
	return list
}

// cuts reports whether two ranges overlap without one holding the other.
func cuts(a, b parse.Span) bool {
	if a.End <= b.Start || b.End <= a.Start {
		return false
	}
	inside := func(x, y parse.Span) bool { return x.Start >= y.Start && x.End <= y.End }
	return !inside(a, b) && !inside(b, a)
}

// positions turns lines and columns into offsets.
type positions struct {
	code  string
	lines lines
	// The last answer, from which the next is counted: columns of one line are
	// asked for in order.
	line, column int32
	at           uint32
}

func newPositions(code string, l lines) *positions { return &positions{code: code, lines: l, line: -1} }

// offset of a place; columns are UTF-16 code units.
func (p *positions) offset(line, column int32) uint32 {
	if int(line) >= len(p.lines) {
		return uint32(len(p.code))
	}
	if line != p.line || column < p.column {
		p.line, p.column, p.at = line, 0, p.lines[line]
	}
	end := uint32(len(p.code))
	if int(line)+1 < len(p.lines) {
		end = p.lines[line+1]
	}
	for p.column < column && p.at < end {
		if c := p.code[p.at]; c < utf8.RuneSelf {
			p.at++
			p.column++
			continue
		}
		r, n := utf8.DecodeRuneInString(p.code[p.at:])
		p.at += uint32(n)
		p.column++
		if r > 0xffff {
			p.column++
		}
	}
	return min(p.at, end)
}
