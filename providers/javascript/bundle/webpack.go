package bundle

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// webpackTable reads var modules = {id: function …}, when something calls
// modules[id](module, module.exports, require).
func (d *detector) webpackTable(ident, table parse.Ref) {
	runtime := d.Kind(table) == parse.Object && d.First(table) == 0 // of modules that are all in chunks
	if d.taken[table] || !runtime && !d.functions(table, nil) {
		return
	}
	for _, use := range d.usesOf(d.Scopes.Of[ident]) {
		index := d.Parents[use]
		if d.Kind(index) != parse.Index || d.First(index) != use {
			continue
		}
		call, require, ok := d.moduleCall(index)
		if !ok {
			continue
		}
		d.taken[table] = true
		b := d.webpackModules(table)
		b.Basis, b.Loader = "a function that runs modules of a table by id", d.chunkLoader()
		if runtime && require == 0 {
			return
		}
		d.webpackEntry(&b, table, call, require)
		if runtime && len(b.Modules) == 0 {
			d.found.Bundles = append(d.found.Bundles, b)
			return
		}
		d.add(b)
		return
	}
	if runtime {
		return
	}
	if chunkModules.MatchString(d.exportedAs(ident)) || d.NameOf(ident) == "modules" && d.Kind(d.Parents[d.Parents[d.Parents[ident]]]) == parse.ExportDecl {
		d.taken[table] = true
		b := d.webpackModules(table)
		b.Basis, b.Loader = "a chunk that exports its modules", "import"
		d.add(b)
	}
}

// chunkModules are the names under which chunks that are modules export theirs.
var chunkModules = regexp.MustCompile(`^__(?:webpack|rspack)(?:_esm)?_modules(?:__)?$`)

// exportedAs is the name under which the file exports a variable, or the variable's
// own.
func (d *detector) exportedAs(ident parse.Ref) string {
	for _, use := range d.usesOf(d.Scopes.Of[ident]) {
		if up := d.Parents[use]; d.Kind(up) == parse.ExportName && d.First(up) == use {
			if name, ok := d.KeyOf(d.Kid(up, 1), false); ok {
				return name
			}
		}
	}
	return d.NameOf(ident)
}

// moduleCall reads table[id](module, module.exports, require) and
// table[id].call(module.exports, module, module.exports, require).
func (d *detector) moduleCall(index parse.Ref) (call parse.Ref, require scope.BindingID, ok bool) {
	up := d.Parents[index]
	skip := 0
	if d.Kind(up) == parse.Dot && d.NameOf(d.Kid(up, 1)) == "call" {
		up, skip = d.Parents[up], 1
	}
	if d.Kind(up) != parse.Call || !contains(d.span(up), d.span(index)) || d.span(d.First(up)).End < d.span(index).End {
		return 0, 0, false
	}
	var args []parse.Ref
	for k := d.Next(d.First(up)); k != 0; k = d.Next(k) {
		args = append(args, k)
	}
	if len(args) < 2+skip {
		return 0, 0, false
	}
	args = args[skip:]
	exports := args[1]
	if d.Kind(exports) != parse.Dot || d.NameOf(d.Kid(exports, 1)) != "exports" {
		return 0, 0, false
	}
	if len(args) > 2 && d.Kind(args[2]) == parse.Ident {
		require = d.Scopes.Of[args[2]]
	}
	return up, require, true
}

// chunkList is the list that chunks are pushed to: a property of what stands for all
// globals.
var chunkList = regexp.MustCompile(`\b(?:self|window|globalThis|global|this)(?:\.|\[["'])([\w$-]+)`)

// chunkLists are lists of the names that webpack gives.
var chunkLists = regexp.MustCompile(`\b(?:self|window|globalThis|global|this)(?:\.|\[["'])((?:webpack|rspack)(?:Chunk|Jsonp)[\w$-]*)`)

// maxListName bounds the name of a list of chunks.
const maxListName = 200

// chunkLoader is how the runtime in the file gets chunks, see Bundle.Loader.
func (d *detector) chunkLoader() string {
	if d.loader == nil { // files may have thousands of bundles
		text := d.findChunkLoader()
		d.loader = &text
	}
	return *d.loader
}

func (d *detector) findChunkLoader() string {
	first, found := len(d.Src), ""
	for _, name := range []string{"webpackChunk", "webpackJsonp", "rspackChunk", "rspackJsonp"} {
		for at := 0; ; at++ {
			i := strings.Index(d.Src[at:first], name)
			if i < 0 {
				break
			}
			at += i
			// Expressions are slow: this one looks at the surroundings of a name only.
			from := max(0, at-len(`globalThis[" `))
			m := chunkLists.FindStringSubmatchIndex(d.Src[from:min(len(d.Src), at+maxListName)])
			if m != nil && from+m[2] == at {
				first, found = at, d.Src[at:from+m[3]]
				break
			}
		}
	}
	if found != "" {
		return found
	}
	if strings.Contains(d.Src, "require(") && strings.Contains(d.Src, ".ids") && strings.Contains(d.Src, ".modules") {
		return "require"
	}
	return ""
}

// webpackModules makes the modules of a table.
func (d *detector) webpackModules(table parse.Ref) Bundle {
	b := Bundle{Bundler: d.webpackOrRspack()}
	d.functions(table, func(key string, at, fn parse.Ref) {
		b.Modules = append(b.Modules, d.webpackModule(key, at, fn)...)
	})
	return b
}

func (d *detector) webpackOrRspack() Bundler {
	if strings.Contains(d.Src, "bundler=rspack") || strings.Contains(d.Src, "rspack_version") || strings.Contains(d.Src, "__rspack") {
		return Rspack
	}
	return Webpack
}

// webpackModule makes the module of a wrapper, and those that were joined in it.
func (d *detector) webpackModule(key string, at, fn parse.Ref) []Module {
	m := d.wrapped(key, at, fn)
	params := d.roles(fn, ModuleRole, ExportsRole, RequireRole)
	m.Requires = d.webpackRequires(params[2], m.Source)
	d.context(&m)
	if m.Path == "" {
		m.Path = d.pathComment(d.At(at).Start, m.Source)
	}
	d.webpackEval(&m, fn)
	if m.Eval != 0 {
		return []Module{m}
	}
	return append([]Module{m}, d.concatenated(&m, key)...)
}

// webpackRequires reads the uses of require in a region.
func (d *detector) webpackRequires(require scope.BindingID, in parse.Span) (out []Require) {
	for _, use := range d.usesOf(require) {
		if !contains(in, d.span(use)) {
			continue
		}
		up := d.Parents[use]
		switch d.Kind(up) {
		case parse.Call:
			if d.First(up) == use {
				out = d.require(out, up, d.Next(use), false)
			}
		case parse.Dot:
			if d.First(up) == use {
				out = d.webpackMethod(out, up)
			}
		}
	}
	return out
}

// webpackMethod reads require.bind(require, id), require.t(id, mode) and
// require.t.bind(require, id, mode).
func (d *detector) webpackMethod(out []Require, dot parse.Ref) []Require {
	name := d.NameOf(d.Kid(dot, 1))
	call := d.Parents[dot]
	if name == "t" && d.Kind(call) == parse.Dot && d.NameOf(d.Kid(call, 1)) == "bind" {
		name, dot, call = "bind", call, d.Parents[call]
	}
	if d.Kind(call) != parse.Call || d.First(call) != dot {
		return out
	}
	switch name {
	case "bind":
		if id := d.Kid(call, 2); id != 0 {
			return d.require(out, call, id, true)
		}
	case "t":
		return d.require(out, call, d.Kid(call, 1), d.later(call))
	}
	return out
}

// require adds a load of the module that an expression names.
func (d *detector) require(out []Require, at, id parse.Ref, dynamic bool) []Require {
	if id == 0 {
		return out
	}
	if d.Kind(id) == parse.Assign { // require(require.s = 1)
		id = d.Kid(id, 1)
	}
	text, ok := d.Names.Constant(id)
	r := Require{ID: text, Unknown: !ok, Dynamic: dynamic || d.later(at), At: d.span(at)}
	if comment, ok := d.requestComment(d.span(at)); ok {
		r.Specifier = comment
	}
	return append(out, r)
}

// requestComment is the request in /*! ./a */ inside a call.
func (d *detector) requestComment(at parse.Span) (string, bool) {
	for _, c := range d.commentsIn(at) {
		if text := d.Src[c.Start:c.End]; strings.HasPrefix(text, "/*! ") {
			return strings.TrimSpace(strings.TrimSuffix(text[4:], "*/")), true
		}
	}
	return "", false
}

// webpackBootstrap reads (function (modules) {…})({id: function …}).
func (d *detector) webpackBootstrap(r, callee, table parse.Ref) {
	if !d.Kind(callee).IsFunction() || d.taken[table] || !d.functions(table, nil) {
		return
	}
	param := d.First(d.Kid(callee, 1))
	if param == 0 || d.Kind(param) != parse.Ident {
		return
	}
	for _, use := range d.usesOf(d.Scopes.Of[param]) {
		index := d.Parents[use]
		if d.Kind(index) != parse.Index || d.First(index) != use {
			continue
		}
		_, require, ok := d.moduleCall(index)
		if !ok {
			continue
		}
		d.taken[table] = true
		b := d.webpackModules(table)
		b.Basis, b.Loader = "a bootstrap called with the modules", d.chunkLoader()
		b.Entries = d.entries(require, table)
		d.add(b)
		return
	}
}

// entries are the modules that the code around a table loads.
func (d *detector) entries(require scope.BindingID, table parse.Ref) (ids []string) {
	for _, use := range d.usesOf(require) {
		if contains(d.span(table), d.span(use)) {
			continue
		}
		up := d.Parents[use]
		if d.Kind(up) != parse.Call || d.First(up) != use {
			if bound := d.bound(use); bound != "" {
				ids = append(ids, bound)
			}
			continue
		}
		id := d.Next(use)
		if id == 0 {
			continue
		}
		if d.Kind(id) == parse.Assign {
			id = d.Kid(id, 1)
		}
		if text, ok := d.Names.Constant(id); ok {
			ids = append(ids, text)
		}
	}
	return ids
}

// bound is the id in require.O(…, () => require("a")) and the like, which are
// calls of their own; here only require.s = "a" is left.
func (d *detector) bound(use parse.Ref) string {
	dot := d.Parents[use]
	assign := d.Parents[dot]
	if d.Kind(dot) == parse.Dot && d.NameOf(d.Kid(dot, 1)) == "s" && d.Kind(assign) == parse.Assign && d.First(assign) == dot {
		if text, ok := d.Names.Constant(d.Kid(assign, 1)); ok && d.Kind(d.Parents[assign]) != parse.Call {
			return text
		}
	}
	return ""
}

// webpackChunk reads x.push([[ids], {id: function …}, runtime?]).
func (d *detector) webpackChunk(list parse.Ref) {
	ids := d.First(list)
	if d.Kind(list) != parse.Array || d.Kind(ids) != parse.Array {
		return
	}
	table := d.Next(ids)
	if table == 0 || d.taken[table] || !d.functions(table, nil) {
		return
	}
	var chunks []string
	for k := d.First(ids); k != 0; k = d.Next(k) {
		id, ok := d.Names.Constant(k)
		if !ok {
			return
		}
		chunks = append(chunks, id)
	}
	d.taken[table] = true
	b := d.webpackModules(table)
	b.Basis, b.Chunks = "a chunk that is pushed to the loader", chunks
	callee := d.span(d.First(d.Parents[list]))
	if m := chunkList.FindStringSubmatch(d.Src[callee.Start:min(callee.End, callee.Start+400)]); m != nil {
		b.Loader = m[1]
	}
	d.chunkEntries(&b, d.Next(table))
	d.add(b)
}

// chunkEntries reads what a chunk starts: [[id, chunk…], …] or a function that
// takes require.
func (d *detector) chunkEntries(b *Bundle, r parse.Ref) {
	switch k := d.Kind(r); {
	case r == 0:
	case k == parse.Array:
		for e := d.First(r); e != 0; e = d.Next(e) {
			if id, ok := d.Names.Constant(d.First(e)); ok && d.Kind(e) == parse.Array {
				b.Entries = append(b.Entries, id)
			}
		}
	case k.IsFunction():
		params := d.roles(r, RequireRole)
		for _, q := range d.startRequires(params[0], d.body(r)) {
			if !q.Unknown {
				b.Entries = append(b.Entries, q.ID)
			}
		}
	}
}

// startRequires are requires, and those through a local function that hands its
// parameter on: var run = (id) => require(require.s = id).
func (d *detector) startRequires(require scope.BindingID, in parse.Span) (out []Require) {
	for _, q := range d.webpackRequires(require, in) {
		if !q.Unknown {
			out = append(out, q)
		}
	}
	for _, use := range d.usesOf(require) {
		call := d.Parents[use]
		if d.Kind(call) != parse.Call || d.First(call) != use || !contains(in, d.span(call)) {
			continue
		}
		arg := d.Next(use)
		if d.Kind(arg) == parse.Assign {
			arg = d.Kid(arg, 1)
		}
		b := d.Scopes.Binding(arg)
		if d.Kind(arg) != parse.Ident || b == nil || b.How != scope.Parameter {
			continue
		}
		fn := d.Scopes.Scopes[b.Scope].Node
		target := d.First(d.Parents[fn])
		if k := d.Kind(d.Parents[fn]); k != parse.Declarator && k != parse.Assign || d.Kind(target) != parse.Ident {
			continue
		}
		for _, run := range d.usesOf(d.Scopes.Of[target]) {
			if c := d.Parents[run]; d.Kind(c) == parse.Call && d.First(c) == run {
				out = d.require(out, c, d.Next(run), false)
			}
		}
	}
	return out
}

// webpackNodeChunk reads exports.modules = {…} of chunks that are required.
func (d *detector) webpackNodeChunk(r, target, table parse.Ref) {
	if d.NameOf(d.Kid(target, 1)) != "modules" || d.taken[table] || !d.functions(table, nil) {
		return
	}
	object := d.First(target)
	if d.Kind(object) != parse.Ident || d.NameOf(object) != "exports" && d.Scopes.Of[object] == 0 {
		return
	}
	var chunks []string
	found := false
	for i := range d.Nodes { // exports.ids = [1]
		n := &d.Nodes[i]
		if n.Kind != parse.Assign || d.Kind(n.First()) != parse.Dot || d.NameOf(d.Kid(n.First(), 1)) != "ids" {
			continue
		}
		if list := d.Next(n.First()); d.Kind(list) == parse.Array {
			found = true
			for k := d.First(list); k != 0; k = d.Next(k) {
				if id, ok := d.Names.Constant(k); ok {
					chunks = append(chunks, id)
				}
			}
			break
		}
	}
	if !found {
		return
	}
	d.taken[table] = true
	b := d.webpackModules(table)
	b.Basis, b.Chunks, b.Loader = "a chunk that is required", chunks, "require"
	d.add(b)
}

// webpackEval notes code in eval("…"), as development builds have it.
func (d *detector) webpackEval(m *Module, fn parse.Ref) {
	body := d.Kid(fn, 2)
	if d.Kind(body) != parse.Block {
		return
	}
	for s := d.First(body); s != 0; s = d.Next(s) {
		if d.Kind(s) != parse.ExprStmt {
			continue
		}
		call := d.First(s)
		if d.Kind(call) != parse.Call || d.Kind(d.First(call)) != parse.Ident || d.NameOf(d.First(call)) != "eval" {
			continue
		}
		text := d.Kid(call, 1)
		for d.Kind(text) == parse.Call && text != 0 { // eval(trusted("…"))
			text = d.Kid(text, 1)
		}
		if d.Kind(text) == parse.String {
			m.Eval = text
			m.Source = d.span(text)
		}
	}
}

var bannerPath = regexp.MustCompile(`^/\*!\*+!\*\\\s*\n\s*!\*\*\* (.+?) \*\*\*!\s*\n\s*\\\*+/$`)

// path of an expression, as [symbol.Namer.Path].
func (d *detector) path(r parse.Ref) string { return d.Names.Path(r) }
