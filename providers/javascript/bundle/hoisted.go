package bundle

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
)

// preloads is how Vite asks whether links preload modules.
var preloads = regexp.MustCompile("supports\\([\"'`]modulepreload[\"'`]\\)")

// hoisted tells of files whose modules share one scope, where neither wrappers nor
// comments tell them apart: by the helpers that bundlers leave there, and by names
// that were made apart. Their bundle has no modules.
func (d *detector) hoisted() {
	vite := strings.Contains(d.Src, "vite:preloadError") || strings.Contains(d.Src, "__vite__mapDeps") || preloads.MatchString(d.Src)
	if vite {
		for i := range d.found.Bundles {
			switch b := &d.found.Bundles[i]; b.Bundler {
			case Rollup, Rolldown, Esbuild:
				b.Bundler = Vite
			}
		}
	}
	if len(d.found.Bundles) > 0 {
		return
	}
	b := Bundle{Joins: true}
	switch {
	case vite:
		b.Bundler, b.Basis = Vite, "helpers that load chunks"
	case d.importsChunk():
		b.Bundler, b.Basis = Esbuild, "names of chunks"
	default:
		if b.Bundler, b.Basis = d.namespaces(); b.Basis == "" && d.shortened() {
			b.Bundler, b.Basis = Joined, "minified code, of one module or of several"
		}
	}
	if b.Basis != "" {
		d.found.Bundles = append(d.found.Bundles, b)
	}
}

// namespaces tells bundlers by how they make objects of what modules export, and of
// CommonJS modules what imports of them give:
//
//	(target, all) => { for (var name in all) define(target, name, {get: all[name], enumerable: true}) }
//	Object.freeze({__proto__: null, a: a})
//	x && x.__esModule && Object.prototype.hasOwnProperty.call(x, "default") ? x.default : x
func (d *detector) namespaces() (Bundler, string) {
	apart := 0
	for i := range d.Nodes {
		n := &d.Nodes[i]
		switch n.Kind {
		case parse.ForIn:
			if bundler := d.definesAll(parse.Ref(i)); bundler != "" {
				return bundler, "a function that makes objects of what modules export"
			}
		case parse.Call:
			if d.Text(n.First()) != "Object.freeze" {
				continue
			}
			object := d.Next(n.First())
			if d.Kind(object) == parse.Call && d.Text(d.First(object)) == "Object.defineProperty" {
				object = d.Kid(object, 1)
			}
			if p := d.First(object); d.Kind(object) == parse.Object && d.Kind(p) == parse.Property && d.Text(d.First(p)) == "__proto__" && d.Kind(d.Kid(p, 1)) == parse.Null {
				return Rollup, "objects that stand for modules"
			}
		case parse.Cond:
			if v := d.Kid(parse.Ref(i), 1); d.Kind(v) == parse.Dot && d.NameOf(d.Kid(v, 1)) == "default" {
				if text := d.Text(n.First()); strings.Contains(text, "__esModule") && strings.Contains(text, "Object.prototype.hasOwnProperty.call(") {
					return Rollup, "a function that gives what imports of CommonJS modules mean"
				}
			}
		case parse.FuncDecl, parse.ClassDecl, parse.Declarator: // a$1 beside a
			name := n.First()
			if d.Kind(name) != parse.Ident {
				continue
			}
			if base, number, ok := strings.Cut(d.NameOf(name), "$"); ok && base != "" && number != "" && strings.Trim(number, "0123456789") == "" && d.enclosing(parse.Ref(i)) == d.outer() {
				apart++
			}
		}
	}
	if apart > 2 {
		return Rollup, "names that were made apart by a number"
	}
	return "", ""
}

// outer is the function that the file is, 0 for the file itself.
func (d *detector) outer() parse.Ref {
	if !d.outerKnown {
		d.outerKnown = true
		if body, _ := d.outermost(); body != d.Root {
			d.outerFunc = d.Parents[body]
		}
	}
	return d.outerFunc
}

// definesAll tells by which bundler the function around for (name in all)
// define(target, name, {get: all[name], enumerable: true}) is, "" for none.
func (d *detector) definesAll(loop parse.Ref) Bundler {
	fn := d.enclosing(loop)
	name, all := d.First(loop), d.Kid(loop, 1)
	body := d.Kid(loop, 2)
	if fn == 0 || d.Kids(d.Kid(fn, 1)) != 2 || d.Kind(all) != parse.Ident || d.At(fn).End-d.At(fn).Start > 500 {
		return ""
	}
	if d.Kind(name) == parse.VarDecl {
		name = d.First(d.First(name))
	}
	for d.Kind(body) == parse.Block || d.Kind(body) == parse.ExprStmt {
		body = d.First(body)
	}
	object := d.Kid(body, 3)
	get := d.Kid(d.First(object), 1)
	if d.Kind(body) != parse.Call || d.Kind(object) != parse.Object || d.Kids(object) != 2 || d.Kind(get) != parse.Index || d.Kind(d.First(get)) != parse.Ident ||
		d.Scopes.Of[d.First(get)] != d.Scopes.Of[all] || d.Kind(d.Kid(body, 2)) != parse.Ident || d.Scopes.Of[d.Kid(body, 2)] != d.Scopes.Of[name] {
		return ""
	}
	first := d.First(d.Kid(fn, 1))
	if d.Kind(first) != parse.Ident || d.Kind(d.Next(first)) != parse.Ident {
		return ""
	}
	switch d.Scopes.Of[all] {
	case d.Scopes.Of[d.Next(first)]: // (target, all)
		return Esbuild
	case d.Scopes.Of[first]: // (all, flags), which makes the target
		return Rolldown
	}
	return ""
}

// shortened reports whether a minifier put a file of several functions into few long
// lines and gave them short names.
func (d *detector) shortened() bool {
	const line, enough, short = 300, 10, 3
	code := d.Src[:d.codeEnd()]
	if len(code) < 2*line || strings.Count(code, "\n") > len(code)/line {
		return false
	}
	body, _ := d.outermost()
	names, shorter := 0, 0
	note := func(r parse.Ref) {
		if d.Kind(r) == parse.Ident {
			if names++; len(d.NameOf(r)) <= short {
				shorter++
			}
		}
	}
	for s := d.First(body); s != 0; s = d.Next(s) {
		switch d.Kind(s) {
		case parse.FuncDecl, parse.ClassDecl:
			note(d.First(s))
		case parse.VarDecl:
			for v := d.First(s); v != 0; v = d.Next(v) {
				note(d.First(v))
			}
		}
	}
	return names >= enough && shorter*5 >= names*4
}
