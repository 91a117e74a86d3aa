package application

import (
	"unicode/utf8"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/sourcemap"
)

// mapped tells the modules of a program apart by its source map, where they share
// a scope.
func (u *unit) mapped(p *bundle.File, found *bundle.Found, m *sourcemap.Map) {
	at := newPositions(p.Src, u.lines)
	places := make([]bundle.Place, 0, len(m.Segments))
	for _, s := range m.Segments {
		if n := len(places); n == 0 || places[n-1].Source != s.Source || s.Source >= 0 {
			places = append(places, bundle.Place{At: at.offset(s.Line, s.Column), Source: s.Source})
		}
	}
	paths := make([]string, len(m.Sources))
	for i := range m.Sources {
		paths[i] = m.Sources[i].Path
	}
	p.Split(found, places, paths)
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
