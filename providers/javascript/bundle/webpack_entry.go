package bundle

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// webpackEntry reads the code that stands in the bootstrap itself: modules that
// are run at start, and code of the entry that has no wrapper.
func (d *detector) webpackEntry(b *Bundle, table, call parse.Ref, require scope.BindingID) {
	b.Entries = d.entries(require, table)
	fn := d.enclosing(table)
	var body parse.Ref
	switch {
	case fn == 0:
		body = d.Root
	default:
		body = d.Kid(fn, 2)
	}
	if k := d.Kind(body); k != parse.Block && k != parse.Program {
		return
	}
	tail, ok := d.startup(body, table, require)
	if !ok {
		return
	}
	if require != 0 {
		d.found.Roles[require] = RequireRole
		d.entryExports(require, tail)
	}
	m := Module{ID: "entry", Kind: Group, At: tail, Source: tail}
	m.Requires = d.webpackRequires(require, tail)
	if parts := d.concatenated(&m, "entry"); len(parts) > 0 {
		b.Modules = append(b.Modules, parts...)
		return
	}
	if !d.onlyStarts(tail) {
		m.Path = d.soleComment(tail)
		if m.Path != "" {
			m.Kind, m.ID = Region, m.Path
		}
		b.Modules = append(b.Modules, m)
	}
}

// withoutRuntime reads files in which webpack put an entry that loads nothing, so that
// they have neither wrappers nor a loader: comments tell of the modules.
func (d *detector) withoutRuntime() {
	if len(d.found.Bundles) > 0 || !strings.Contains(d.Src, "!*** ") && !strings.Contains(d.Src, ";// ") && !strings.Contains(d.Src, "// CONCATENATED MODULE: ") {
		return
	}
	body, end := d.outermost()
	m := Module{ID: "entry", Kind: Group, At: parse.Span{Start: d.At(body).Start, End: end}}
	if d.Kind(body) == parse.Block {
		m.At.Start++
	}
	m.Source = m.At
	b := Bundle{Bundler: d.webpackOrRspack(), Basis: "comments that webpack writes before modules"}
	if b.Modules = d.concatenated(&m, m.ID); len(b.Modules) == 0 {
		if m.Path = d.soleComment(m.Source); m.Path == "" {
			return
		}
		m.Kind, m.ID = Region, m.Path
		b.Modules = []Module{m}
	}
	d.add(b)
}

// enclosing is the function around a node, 0 for the file.
func (d *detector) enclosing(r parse.Ref) parse.Ref {
	for up := d.Parents[r]; up != 0; up = d.Parents[up] {
		if d.Kind(up).IsFunction() {
			return up
		}
	}
	return 0
}

// startup is the code of a bootstrap behind its last helper.
func (d *detector) startup(body, table parse.Ref, require scope.BindingID) (parse.Span, bool) {
	end := d.At(body).End
	if d.Kind(body) == parse.Block {
		end--
	}
	last := d.At(table).End
	for s := d.First(body); s != 0; s = d.Next(s) {
		for _, part := range d.parts(s) {
			if d.helper(part, require) {
				last = max(last, d.At(part).End)
			}
		}
	}
	for last < end && strings.IndexByte(" \t\r\n;,", d.Src[last]) >= 0 {
		last++
	}
	return parse.Span{Start: last, End: end}, last < end
}

// parts are the expressions of a statement that is a sequence, or the statement.
func (d *detector) parts(s parse.Ref) []parse.Ref {
	if d.Kind(s) == parse.ExprStmt && d.Kind(d.First(s)) == parse.Sequence {
		var list []parse.Ref
		for k := d.First(d.First(s)); k != 0; k = d.Next(k) {
			list = append(list, k)
		}
		return list
	}
	if d.Kind(s) == parse.VarDecl {
		var list []parse.Ref
		for k := d.First(s); k != 0; k = d.Next(k) {
			list = append(list, k)
		}
		return list
	}
	return []parse.Ref{s}
}

// helper reports whether a part of a bootstrap is require, its cache, or gives
// require a property.
func (d *detector) helper(r parse.Ref, require scope.BindingID) bool {
	if require == 0 {
		return false
	}
	at := d.span(r)
	if decl := d.Scopes.Bindings[require].Decl; decl != 0 && contains(at, d.span(decl)) {
		return true
	}
	for _, use := range d.usesOf(require) {
		if !contains(at, d.span(use)) {
			continue
		}
		dot := d.Parents[use]
		if d.Kind(dot) != parse.Dot || d.First(dot) != use {
			continue
		}
		name := d.NameOf(d.Kid(dot, 1))
		assign := d.Parents[dot]
		for name != "g" && d.Kind(assign) == parse.Dot && d.First(assign) == dot { // require.f.j = …
			dot, assign = assign, d.Parents[assign]
		}
		if d.Kind(assign) == parse.Assign && d.First(assign) == dot && name != "s" {
			return true
		}
	}
	return false
}

var startNames = regexp.MustCompile(`^[\s;]*((var|let|const)\s+[\w$]+\s*=\s*(\{\}|[\w$]+\([^()]*(\([^()]*\))?[^()]*\))\s*[,;]?\s*)*$`)

// onlyStarts reports whether code does nothing but load modules.
func (d *detector) onlyStarts(at parse.Span) bool {
	text := d.withoutComments(at)
	if len(text) > 2000 {
		return false
	}
	text = strings.TrimSpace(text)
	if text == "" || startNames.MatchString(text) {
		return true
	}
	for _, s := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		s = strings.TrimSpace(s)
		if s == "" || startStatement.MatchString(s) {
			continue
		}
		return false
	}
	return true
}

var startStatement = regexp.MustCompile(`^((var|let|const)\s+)?([\w$]+(?:\.exports)?\s*=\s*)?([\w$.]+\((\s*[\w$.]+\s*=)?\s*("[^"]*"|'[^']*'|\d+|void 0|undefined|[\w$]+|\[[^\]]*\]|,|\(\)\s*=>\s*\(?[\w$]+\(\s*("[^"]*"|\d+)\s*\)\)?|\s)*\)|\{\}|module\.exports\s*=\s*[\w$]+|[\w$]+)$|^("use strict"|return [\w$.]+)$`)

// pathComment is the path that a comment before or in a wrapper tells.
func (d *detector) pathComment(start uint32, source parse.Span) string {
	for _, c := range d.commentsIn(parse.Span{Start: start, End: min(source.Start+2000, source.End)}) {
		if m := bannerPath.FindStringSubmatch(d.Src[c.Start:c.End]); m != nil {
			return m[1]
		}
	}
	for _, c := range d.commentsIn(parse.Span{Start: start - min(start, 400), End: start}) {
		if m := bannerPath.FindStringSubmatch(d.Src[c.Start:c.End]); m != nil && strings.TrimSpace(d.withoutComments(parse.Span{Start: c.End, End: start})) == "" {
			return m[1]
		}
	}
	return ""
}

// soleComment is the path that one banner at the begin of a region tells.
func (d *detector) soleComment(at parse.Span) string {
	path := ""
	for _, c := range d.commentsIn(at) {
		if m := bannerPath.FindStringSubmatch(d.Src[c.Start:c.End]); m != nil {
			if path != "" {
				return ""
			}
			path = m[1]
		}
	}
	return path
}

// commentsIn are the comments that lie in a range.
func (d *detector) commentsIn(at parse.Span) []parse.Span {
	return d.Comments[lower(d.Comments, at.Start):lower(d.Comments, at.End)]
}

// lower is the first comment that begins at or behind an offset.
func lower(list []parse.Span, at uint32) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].Start < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (d *detector) withoutComments(at parse.Span) string {
	var b strings.Builder
	from := at.Start
	for _, c := range d.commentsIn(at) {
		if c.Start > from {
			b.WriteString(d.Src[from:c.Start])
		}
		from = max(from, c.End)
	}
	if from < at.End {
		b.WriteString(d.Src[from:at.End])
	}
	return b.String()
}
