package bundle

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

var (
	concatenatedPath = regexp.MustCompile(`^// (?:CONCATENATED MODULE: )?((?:\.{0,2}/|external |\.\./|webpack/|[\w@.-]+/)\S.*)$`)
	// betweenModules is code that webpack itself puts before, between and behind
	// modules.
	betweenModules = regexp.MustCompile(`^// (EXTERNAL MODULE|NAMESPACE OBJECT): (.+?)\s*$|^// (?:EXPORTS|ESM COMPAT FLAG|UNUSED EXPORTS.*)\s*$`)
)

// concatenated are the modules that were joined into one, where comments tell
// them apart. The last one is the one that loads the others.
func (d *detector) concatenated(m *Module, key string) (parts []Module) {
	body := d.bodyOf(m)
	statement := d.First(body)
	open := false
	var stop uint32
	namespaces := map[string]parse.Span{}
	var told []parse.Span
	end := func(at uint32) {
		if open {
			p := &parts[len(parts)-1]
			p.At.End, p.Source.End, open = at, at, false
		}
	}
	comments := d.commentsIn(m.Source)
	for i, c := range comments {
		text := d.Src[c.Start:c.End]
		if !strings.HasPrefix(text, "// ") {
			continue
		}
		between := betweenModules.FindStringSubmatch(text)
		var path []string
		if between == nil && (strings.HasPrefix(text, "// CONCATENATED MODULE: ") || d.afterSemicolon(c.Start)) {
			path = concatenatedPath.FindStringSubmatch(text)
		}
		if between == nil && path == nil {
			continue
		}
		for statement != 0 && d.At(statement).End <= c.Start {
			statement = d.Next(statement)
		}
		if statement != 0 && d.At(statement).Start < c.Start {
			continue // inside of a statement, so of a module
		}
		stop = c.Start
		if d.afterSemicolon(c.Start) {
			stop--
		}
		end(stop)
		if path != nil {
			at := parse.Span{Start: c.End, End: m.Source.End}
			parts = append(parts, Module{ID: key + "#" + path[1], Path: path[1], Kind: Region, At: at, Source: at})
			open = true
			continue
		}
		block := parse.Span{Start: c.End, End: m.Source.End}
		if i+1 < len(comments) {
			block.End = d.nextBlock(comments[i+1:], block.End)
		}
		switch {
		case between[1] == "NAMESPACE OBJECT":
			namespaces[between[2]] = block
		case between[1] == "":
			told = append(told, block)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	for i := range parts {
		if block, ok := namespaces[parts[i].Path]; ok {
			parts[i].Tells = append(parts[i].Tells, block)
			d.namespace(block)
		}
	}
	parts[len(parts)-1].TellsToo = told
	d.share(m, parts)
	return parts
}

// nextBlock is where the next comment between modules begins.
func (d *detector) nextBlock(comments []parse.Span, end uint32) uint32 {
	for _, c := range comments {
		text := d.Src[c.Start:c.End]
		if betweenModules.MatchString(text) || strings.HasPrefix(text, "// CONCATENATED MODULE: ") || d.afterSemicolon(c.Start) && concatenatedPath.MatchString(text) {
			return c.Start
		}
	}
	return end
}

// namespace notes the object in var a = {}; require.d(a, {…}) as one of exports.
func (d *detector) namespace(block parse.Span) {
	for _, b := range d.declaredIn(block) {
		if d.Kind(d.Parents[d.Scopes.Bindings[b].Decl]) == parse.Declarator {
			d.found.Roles[b] = ExportsRole
		}
	}
}

// bodyOf is the block whose statements are the code of a module: the body of its
// wrapper, or what encloses code without one, or the function that is called there
// and is all of it.
func (d *detector) bodyOf(m *Module) parse.Ref {
	if m.Func != 0 {
		return d.Kid(m.Func, 2)
	}
	body := d.enclosingBlock(m.Source)
	half := (min(m.Source.End, d.codeEnd()) - min(m.Source.Start, d.codeEnd())) / 2
	for s := d.First(body); s != 0; s = d.Next(s) {
		at := d.span(s)
		if !contains(m.Source, at) || d.Kind(s) != parse.ExprStmt {
			continue
		}
		call := d.First(s)
		if fn := d.First(call); d.Kind(call) == parse.Call && d.Kind(fn).IsFunction() && d.Kind(d.Kid(fn, 2)) == parse.Block && at.End-at.Start > half {
			return d.Kid(fn, 2)
		}
	}
	return body
}

// enclosingBlock is the innermost block or program around a range that has
// statements in it.
func (d *detector) enclosingBlock(at parse.Span) parse.Ref {
	body := d.Root
	for {
		next := parse.Ref(0)
		for s := d.First(body); s != 0 && next == 0; s = d.Next(s) {
			if n := d.span(s); n.Start < at.Start && at.End < n.End {
				next = d.blockIn(s, at)
			}
		}
		if next == 0 {
			return body
		}
		body = next
	}
}

// blockIn is the outermost block in r around a range, or 0.
func (d *detector) blockIn(r parse.Ref, at parse.Span) parse.Ref {
	for r != 0 {
		if d.Kind(r) == parse.Block {
			return r
		}
		next := parse.Ref(0)
		for k := d.First(r); k != 0; k = d.Next(k) {
			if n := d.span(k); n.Start <= at.Start && at.End <= n.End {
				next = k
				break
			}
		}
		r = next
	}
	return 0
}

// afterSemicolon reports whether a comment has its line for itself but for a
// semicolon before it.
func (d *detector) afterSemicolon(at uint32) bool {
	return at > 0 && d.Src[at-1] == ';' && (at == 1 || d.Src[at-2] == '\n' || d.Src[at-2] == '\t' || d.Src[at-2] == ' ')
}

// entryExports notes the object that holds what an entry without a wrapper
// exports: it is made outside of the function of the entry, or given to whoever
// loads the bundle. Objects that stand for modules as a whole look alike.
func (d *detector) entryExports(require scope.BindingID, tail parse.Span) {
	for _, use := range d.usesOf(require) {
		dot := d.Parents[use]
		call := d.Parents[dot]
		if !contains(tail, d.span(use)) || d.Kind(dot) != parse.Dot || d.First(dot) != use || d.Kind(call) != parse.Call || d.First(call) != dot {
			continue
		}
		object := d.Next(dot)
		b := d.Scopes.Of[object]
		if name := d.NameOf(d.Kid(dot, 1)); name != "d" && name != "r" || d.Kind(object) != parse.Ident || b == 0 {
			continue
		}
		decl := d.Scopes.Bindings[b].Decl
		if d.Kind(d.Parents[decl]) != parse.Declarator || !contains(tail, d.span(decl)) {
			continue
		}
		if d.enclosing(decl) != d.enclosing(call) || strings.HasSuffix(d.NameOf(object), "pack_exports__") || d.given(b) {
			d.found.Roles[b] = ExportsRole
		}
	}
}

// given reports whether a variable is returned, assigned to module.exports, gone
// through by name, or exported.
func (d *detector) given(b scope.BindingID) bool {
	for _, use := range d.usesOf(b) {
		r := use
		up := d.Parents[r]
		for d.Kind(up) == parse.Sequence && d.Last(up) == r {
			r, up = up, d.Parents[up]
		}
		switch d.Kind(up) {
		case parse.Return, parse.ExportName:
			return true
		case parse.ForIn:
			return d.Next(d.First(up)) == r
		case parse.Assign:
			if d.Next(d.First(up)) == r && d.Text(d.First(up)) == "module.exports" {
				return true
			}
		}
	}
	return false
}
