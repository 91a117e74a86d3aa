package bundle

import (
	"regexp"
	"slices"
	"strings"

	"rea/providers/javascript/parse"
)

func sortedOnce(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

var (
	esbuildPath = regexp.MustCompile(`^// ((?:\.{0,2}/|[\w@$.+-]+(?::|/)|[\w$-]+\.)[^\s*]*(?:/[^\s*/][^*]*)?\.[\w]{1,6}|\(disabled\):.+|[\w-]+:[^\s/][^\s]*|\\0.+)$`)
	regionPath  = regexp.MustCompile(`^//#region (.+?)\s*$`)
)

// joined finds modules that share one scope and are told apart by comments: those
// of esbuild, one line with the path before each, and those of Rolldown, which
// writes regions.
func (d *detector) joined() {
	if d.regions() {
		return
	}
	d.esbuildComments()
}

func (d *detector) regions() bool {
	b := Bundle{Bundler: Rolldown, Basis: "comments that name regions"}
	var open []Module
	for _, c := range d.Comments {
		text := d.Src[c.Start:c.End]
		if m := regionPath.FindStringSubmatch(text); m != nil {
			at := parse.Span{Start: c.End, End: uint32(len(d.Src))}
			open = append(open, Module{ID: m[1], Path: m[1], Kind: Region, At: at, Source: at})
		} else if strings.HasPrefix(text, "//#endregion") && len(open) > 0 {
			m := open[len(open)-1]
			open = open[:len(open)-1]
			m.At.End, m.Source.End = c.Start, c.Start
			b.Modules = append(b.Modules, m)
		}
	}
	if len(b.Modules) == 0 || len(b.Modules) == 1 && !d.isWhole(&b.Modules[0]) || len(open) > 0 || !strings.Contains(d.Src, "\\0") && !anyPath(b.Modules) {
		return false
	}
	d.merge(&b, Rolldown)
	return true
}

// isWhole reports whether a region with the path of a file holds all of the code
// but imports and exports.
func (d *detector) isWhole(m *Module) bool {
	if !looksLikePath(m.Path) {
		return false
	}
	for s := d.First(d.Root); s != 0; s = d.Next(s) {
		switch k := d.Kind(s); {
		case k == parse.Import, k == parse.ExportNames, k == parse.EmptyStmt, contains(m.At, d.span(s)):
		default:
			return false
		}
	}
	return true
}

func anyPath(modules []Module) bool {
	return slices.ContainsFunc(modules, func(m Module) bool { return looksLikePath(m.Path) })
}

// esbuildComments splits the outermost statements at comments with paths.
func (d *detector) esbuildComments() {
	body, end := d.outermost()
	type start struct {
		at, end uint32
		path    string
	}
	var starts []start
	comments := d.Comments
	statement := d.First(body)
	for i, c := range comments {
		text := d.Src[c.Start:c.End]
		if !strings.HasPrefix(text, "// ") || len(text) > 500 {
			continue
		}
		m := esbuildPath.FindStringSubmatch(text)
		if m == nil || !alone(d.Src, c) {
			continue
		}
		for statement != 0 && d.At(statement).End <= c.Start {
			statement = d.Next(statement)
		}
		if statement != 0 && d.At(statement).Start < c.Start || c.Start < d.At(body).Start || c.Start >= end {
			continue // inside of a statement
		}
		// A comment of the source is followed by more of it; what esbuild writes
		// stands alone before code.
		if i+1 < len(comments) && alone(d.Src, comments[i+1]) && strings.TrimSpace(d.Src[c.End:comments[i+1].Start]) == "" &&
			strings.HasPrefix(d.Src[comments[i+1].Start:comments[i+1].End], "//") && esbuildPath.FindString(d.Src[comments[i+1].Start:comments[i+1].End]) == "" {
			continue
		}
		starts = append(starts, start{c.Start, c.End, m[1]})
	}
	packages := 0
	for _, s := range starts {
		if strings.Contains(s.path, "node_modules/") {
			packages++
		}
	}
	if len(starts) == 0 || !d.onlyHelpers(body, starts[0].at) && !(packages > 2 && packages > len(starts)/2 && int(starts[0].at) < len(d.Src)/4) || len(starts) == 1 && !d.isEsbuild() && !d.importsChunk() {
		return
	}
	b := Bundle{Bundler: d.esbuildOrRolldown(), Basis: "comments with the path of each module"}
	for i, s := range starts {
		stop := end
		if i+1 < len(starts) {
			stop = starts[i+1].at
		} else {
			stop = d.beforeExports(body, s.end, end)
		}
		at := parse.Span{Start: s.end, End: stop}
		b.Modules = append(b.Modules, Module{ID: s.path, Path: s.path, Kind: Region, At: at, Source: at})
	}
	d.merge(&b, b.Bundler)
}

func (d *detector) isEsbuild() bool {
	return slices.ContainsFunc(d.found.Bundles, func(b Bundle) bool { return b.Bundler == Esbuild || b.Bundler == Rolldown || b.Bundler == Bun })
}

// onlyHelpers reports whether what stands in a body before a place is what esbuild
// writes itself: every module of a bundle has its comment, so code of modules
// before the first one means that the comments came with a module that was once
// bundled for itself. (Rolldown leaves out the comment of a first module of which
// only an expression is left.)
func (d *detector) onlyHelpers(body parse.Ref, before uint32) bool {
	for s := d.First(body); s != 0 && d.At(s).End <= before; s = d.Next(s) {
		switch d.Kind(s) {
		case parse.Import, parse.EmptyStmt:
		case parse.VarDecl:
			for v := d.First(s); v != 0; v = d.Next(v) {
				name := d.First(v)
				if d.Kind(name) == parse.Ident && !strings.HasPrefix(d.NameOf(name), "__") && d.NameOf(name) != "require" && !d.loads(d.Next(name), 0) {
					return false
				}
			}
		case parse.ExprStmt:
			e := d.First(s)
			if d.Kind(e) == parse.Assign { // a = chunk.__toESM(a)
				if v := d.Next(d.First(e)); d.Kind(v) == parse.Call && d.Kind(d.First(v)) == parse.Dot && strings.HasPrefix(d.NameOf(d.Kid(d.First(v), 1)), "__") {
					continue
				}
			}
			if k := d.Kind(e); k != parse.String && !(k == parse.Assign && strings.HasPrefix(d.Text(d.First(e)), "module.exports")) &&
				!(k == parse.Call && (strings.HasPrefix(d.Text(d.First(e)), "__") || strings.HasPrefix(d.Text(e), "Object.defineProperty(exports,") || d.loads(e, 0))) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// loads reports whether an expression is what require gives, in helpers or not.
func (d *detector) loads(r parse.Ref, depth int) bool {
	if d.Kind(r) != parse.Call || depth > 3 {
		return false
	}
	if _, ok := d.Names.Required(r); ok {
		return true
	}
	return strings.HasPrefix(d.Text(d.First(r)), "__") && d.loads(d.Kid(r, 1), depth+1)
}

// importsChunk reports whether a file has something from a chunk of esbuild.
func (d *detector) importsChunk() bool {
	for s := d.First(d.Root); s != 0; s = d.Next(s) {
		if d.Kind(s) == parse.Import && chunkName.MatchString(d.StringValue(d.First(s))) {
			return true
		}
	}
	return false
}

// beforeExports is where the last module ends: before the exports of the bundle.
func (d *detector) beforeExports(body parse.Ref, from, end uint32) uint32 {
	for s := d.First(body); s != 0; s = d.Next(s) {
		if n := d.At(s); n.Start >= from && n.Kind == parse.ExportNames && d.Next(s) == 0 {
			return n.Start
		}
	}
	return end
}

// outermost is the block that holds the modules: the file, or the function that
// the file is.
func (d *detector) outermost() (body parse.Ref, end uint32) {
	body, end = d.Root, uint32(len(d.Src))
	for s := d.First(body); s != 0; s = d.Next(s) {
		var e parse.Ref
		switch d.Kind(s) {
		case parse.ExprStmt:
			e = d.First(s)
		case parse.VarDecl:
			e = d.Kid(d.First(s), 1)
		}
		if d.Kind(e) != parse.Call {
			continue
		}
		block := parse.Ref(0)
		for fn, most := d.First(e), d.codeEnd()/2; fn != 0; fn = d.Next(fn) { // called there, or handed to what knows how to load it
			if size := d.At(fn).End - d.At(fn).Start; d.Kind(fn).IsFunction() && d.Kind(d.Kid(fn, 2)) == parse.Block && size > most {
				block, most = d.Kid(fn, 2), size
			}
		}
		if block != 0 {
			return block, d.At(block).End - 1
		}
	}
	return body, end
}

// codeEnd is where the last statement of the file ends: a source map that the file holds
// itself is longer than its code.
func (d *detector) codeEnd() uint32 {
	if d.last == 0 {
		d.last = d.Last(d.Root)
	}
	return d.At(d.last).End
}

// alone reports whether a comment has its line for itself.
func alone(src string, c parse.Span) bool {
	for i := int(c.Start) - 1; i >= 0 && src[i] != '\n'; i-- {
		if src[i] != ' ' && src[i] != '\t' {
			return false
		}
	}
	return true
}

// merge joins regions with the wrapped modules of the same bundler that lie in
// them, which have the same path: the wrapper is what counts.
func (d *detector) merge(b *Bundle, bundler Bundler) {
	for i := range d.found.Bundles {
		held := &d.found.Bundles[i]
		if held.Bundler != bundler && !(bundler == Rolldown && held.Bundler == Esbuild) {
			continue
		}
		held.Bundler = bundler
		// The region of each wrapper, and the regions that are wrappers.
		nest, wrapped := nestOf(b.Modules), make([]bool, len(b.Modules))
		for j := range held.Modules {
			w := &held.Modules[j]
			r := nest.Innermost(w.At.Start)
			if r < 0 || !contains(b.Modules[r].At, w.At) {
				continue
			}
			if w.Path == "" {
				w.Path = b.Modules[r].Path
			}
			if w.Path == b.Modules[r].Path {
				wrapped[r] = true
				if w.Hoisted { // functions stand beside its wrapper
					w.At, w.Source = b.Modules[r].At, b.Modules[r].Source
				}
			}
		}
		var regions []Module
		for i, m := range b.Modules {
			if !wrapped[i] {
				regions = append(regions, m)
			}
		}
		held.Modules = append(held.Modules, regions...)
		d.link(held.Modules, d.whole())
		d.linkChunks(held.Modules)
		return
	}
	d.link(b.Modules, d.whole())
	d.linkChunks(b.Modules)
	d.add(*b)
}
