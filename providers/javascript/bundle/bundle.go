// Package bundle takes apart what bundlers put together: it finds the modules in
// a parsed file, the ids they have there, the exact bytes of each, and which of
// them load which.
//
// A bundler either wraps each module in a function of its own, which is kept by
// minification, or joins modules into one scope, where only comments (and source
// maps, which are not read here) still tell them apart. Where nothing tells them
// apart, the joined code is one [Module] of kind Group: how many modules it was
// made of is unknown.
//
// Detection goes by structure, the shape of wrappers and of the code that calls
// them, and not by names, which minification changes.
package bundle

import (
	"cmp"
	"slices"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// A Bundler is a program that makes bundles.
type Bundler string

// Bundlers.
const (
	Webpack    Bundler = "webpack"
	Rspack     Bundler = "rspack"
	Browserify Bundler = "browserify"
	Parcel     Bundler = "parcel"
	Esbuild    Bundler = "esbuild"
	Rollup     Bundler = "rollup"
	Rolldown   Bundler = "rolldown"
	Vite       Bundler = "vite"
	Bun        Bundler = "bun"
	Metro      Bundler = "metro"
	Turbopack  Bundler = "turbopack"
	SystemJS   Bundler = "systemjs"
	AMD        Bundler = "amd"
	// Joined stands for whatever joined modules: only a source map tells of them, or
	// nothing does.
	Joined Bundler = "unknown"
)

// Kind says how a module is kept apart.
type Kind string

// Kinds of module.
const (
	Wrapped Kind = "wrapped"    // in a function of its own
	Region  Kind = "region"     // between comments
	Group   Kind = "group"      // several modules whose boundaries are gone
	Mapped  Kind = "source-map" // by a source map
)

// A Module is a part of a bundle.
type Module struct {
	ID     string
	Also   []string // ids of modules that were joined into it
	Path   string   // of the original file, where the bundle tells it
	Kind   Kind
	At     parse.Span // with its wrapper
	Source parse.Span // its code
	Func   parse.Ref  // the wrapper, 0 when there is none
	// Eval is the String that holds the code where it is compiled at run time.
	Eval parse.Ref
	// Hoisted modules have functions that stand outside of the wrapper, among those
	// of others.
	Hoisted bool
	inlined bool // stands where it is loaded
	// Inlined modules are what a minifier put into code of others; At is the longest
	// of several such places.
	Inlined bool
	// Tells is code outside of the module that says what it exports; TellsToo says it
	// also of the module around.
	Tells, TellsToo []parse.Span
	// Requires are the modules it loads, in order of place.
	Requires []Require
}

// A Require is one module loading another.
type Require struct {
	ID        string // as the bundle names it; "" when Unknown
	Specifier string // as the source named it, where the bundle tells
	Dynamic   bool   // loaded later
	Unknown   bool   // which one is only known when the program runs
	Shared    bool   // seen by a name that the other declares in a scope of both
	// Name is what is had from the chunk that Specifier names, "" for other loads.
	Name string
	At   parse.Span
}

// A Bundle is one table of modules. It may have none where all of its modules share
// one scope, and where it is but the runtime of others.
type Bundle struct {
	Bundler Bundler
	Basis   string // what it was recognized by
	Modules []Module
	Entries []string // ids of modules that are run at start
	Chunks  []string
	// Loader is what chunks of one bundle share: the name of the list that they are
	// pushed to, "require" for those that are required, "" when it is not known.
	Loader string
	// Joins: code outside of the modules is other modules, in one scope.
	Joins bool
}

func (b *Bundle) start() uint32 {
	if len(b.Modules) == 0 {
		return 0
	}
	return b.Modules[0].At.Start
}

// A Role of a name in a module wrapper.
type Role uint8

// Roles.
const (
	NoRole Role = iota
	RequireRole
	ExportsRole
	ModuleRole
	ContextRole // of Turbopack: an object whose methods load and export
)

// A File is what detection reads.
type File struct {
	*parse.File
	Scopes  *scope.Table
	Names   *symbol.Namer
	Parents []parse.Ref
}

// Found is what detection found.
type Found struct {
	Bundles []Bundle
	// Roles of the parameters of wrappers.
	Roles map[scope.BindingID]Role
	// Whole files are one module by their source map.
	Whole bool
}

// Detect finds the bundles in a file.
func Detect(f *File) *Found {
	d := &detector{File: f, found: Found{Roles: map[scope.BindingID]Role{}}, taken: map[parse.Ref]bool{}}
	d.index()
	for i := range f.Nodes {
		if i%parse.Stride == 0 && f.Stopped() {
			return &d.found
		}
		d.node(parse.Ref(i), &f.Nodes[i])
	}
	d.registrations()
	d.withoutRuntime()
	d.wrappers()
	d.joined()
	d.hoisted()
	for i := range d.found.Bundles {
		b := &d.found.Bundles[i]
		for j := range b.Modules {
			slices.SortStableFunc(b.Modules[j].Requires, func(x, y Require) int { return cmp.Compare(x.At.Start, y.At.Start) })
		}
	}
	slices.SortStableFunc(d.found.Bundles, func(x, y Bundle) int {
		return cmp.Compare(x.start(), y.start())
	})
	return &d.found
}

type detector struct {
	*File
	found  Found
	taken  map[parse.Ref]bool // tables that belong to a bundle
	loader *string            // see chunkLoader, nil until it was looked for

	// References of a binding are uses[first[b]:first[b+1]].
	first []int32
	uses  []parse.Ref

	origin func(at uint32) string // by a source map, of the name at a place; nil without one
	last   parse.Ref              // statement of the file, 0 until it was asked for

	registered  []registration
	declared    []scope.BindingID // by place of declaration, nil until asked for
	forgets     bool              // a helper drops the functions that it ran
	outerKnown  bool
	outerFunc   parse.Ref
	parcelKnown int8 // 0 until it was looked whether the file is Parcel's, then 1 or 2
}

// index sorts references by binding.
func (d *detector) index() {
	d.first = make([]int32, len(d.Scopes.Bindings)+1)
	for i := range d.Scopes.References {
		d.first[d.Scopes.References[i].Binding]++
	}
	total := int32(0)
	for i := range d.first {
		n := d.first[i]
		d.first[i] = total
		total += n
	}
	d.uses = make([]parse.Ref, total)
	fill := slices.Clone(d.first)
	for i := range d.Scopes.References {
		r := &d.Scopes.References[i]
		d.uses[fill[r.Binding]] = r.Node
		fill[r.Binding]++
	}
}

func (d *detector) usesOf(b scope.BindingID) []parse.Ref {
	if b == 0 {
		return nil
	}
	return d.uses[d.first[b]:d.first[b+1]]
}

func (d *detector) span(r parse.Ref) parse.Span {
	n := d.At(r)
	return parse.Span{Start: n.Start, End: n.End}
}

func (d *detector) node(r parse.Ref, n *parse.Node) {
	switch n.Kind {
	case parse.Declarator:
		if value := d.Next(n.First()); d.Kind(n.First()) == parse.Ident {
			d.webpackTable(n.First(), value)
		}
	case parse.Assign:
		if n.Op != parse.Equal {
			return
		}
		value := d.Next(n.First())
		switch d.Kind(n.First()) {
		case parse.Ident:
			d.webpackTable(n.First(), value)
		case parse.Dot:
			d.webpackNodeChunk(r, n.First(), value)
			if d.Kind(value) == parse.Array && d.Text(n.First()) == "module.exports" {
				d.turbopack(value)
			}
		}
	case parse.Call:
		d.call(r, n)
	}
}

func (d *detector) call(r parse.Ref, n *parse.Node) {
	callee := n.First()
	arg := d.Next(callee)
	if arg == 0 {
		return
	}
	if d.Kind(callee) == parse.Call {
		d.turbopackStart(r, callee)
	}
	switch d.Kind(arg) {
	case parse.Object, parse.Array:
		switch k := d.Kind(callee); {
		case k.IsFunction() || k == parse.Call || k == parse.Assign: // a bootstrap, called with the modules
			d.packed(r, callee, arg)
			d.webpackBootstrap(r, callee, arg)
		case k == parse.Dot && d.NameOf(d.Kid(callee, 1)) == "push":
			d.webpackChunk(arg)
			d.turbopack(arg)
		case k == parse.Dot || k == parse.Ident:
			d.packed(r, callee, arg)
			d.register(r, callee)
		}
	case parse.Func, parse.Arrow, parse.String, parse.Number:
		d.register(r, callee)
	}
}

// functions of a table: objects and arrays whose values are all functions. ok is
// false for anything else.
func (d *detector) functions(table parse.Ref, each func(key string, keyed, value parse.Ref)) (ok bool) {
	count := 0
	switch d.Kind(table) {
	case parse.Object:
		for k := d.First(table); k != 0; k = d.Next(k) {
			n := d.At(k)
			if n.Kind != parse.Property || n.Flags&(parse.Getter|parse.Setter) != 0 || !d.Kind(d.Next(n.First())).IsFunction() {
				return false
			}
			key, known := d.KeyOf(n.First(), n.Flags&parse.Computed != 0)
			if !known {
				return false
			}
			count++
			if each != nil {
				each(key, k, d.Next(n.First()))
			}
		}
	case parse.Array:
		i := 0
		for k := d.First(table); k != 0; k = d.Next(k) {
			switch kind := d.Kind(k); {
			case kind.IsFunction():
				count++
				if each != nil {
					each(parse.FormatNumber(float64(i)), k, k)
				}
			case kind != parse.Empty:
				return false
			}
			i++
		}
	}
	return count > 0
}

// wrapped makes a module of a function.
func (d *detector) wrapped(id string, at, fn parse.Ref) Module {
	m := Module{ID: id, Kind: Wrapped, At: d.span(at), Func: fn, Source: d.body(fn)}
	if !contains(m.At, m.Source) { // a broken text
		m.Source = parse.Span{Start: m.At.End, End: m.At.End}
	}
	if looksLikePath(id) {
		m.Path = id
	}
	return m
}

// body is the code inside the braces of a function, or its expression.
func (d *detector) body(fn parse.Ref) parse.Span {
	b := d.Kid(fn, 2)
	s := d.span(b)
	if d.Kind(b) == parse.Block && s.End >= s.Start+2 {
		return parse.Span{Start: s.Start + 1, End: s.End - 1}
	}
	return s
}

// roles gives the parameters of a wrapper their roles.
func (d *detector) roles(fn parse.Ref, roles ...Role) (bindings []scope.BindingID) {
	k := d.First(d.Kid(fn, 1))
	for _, role := range roles {
		b := scope.BindingID(0)
		if k != 0 && d.Kind(k) == parse.Ident {
			b = d.Scopes.Of[k]
			if role != NoRole && b != 0 {
				d.found.Roles[b] = role
			}
		}
		bindings = append(bindings, b)
		if k != 0 {
			k = d.Next(k)
		}
	}
	return bindings
}

// looksLikePath reports whether an id is the path of a file.
func looksLikePath(id string) bool {
	if strings.HasPrefix(id, "./") || strings.HasPrefix(id, "../") || strings.HasPrefix(id, "/") {
		return true
	}
	i := strings.LastIndexByte(id, '/')
	return strings.IndexByte(id[i+1:], '.') > 0 && !strings.ContainsAny(id, " ")
}

func (d *detector) add(b Bundle) {
	if len(b.Modules) > 0 {
		switch b.Bundler {
		case Rollup, Esbuild, Rolldown, Bun:
			b.Joins = true
		}
		d.found.Bundles = append(d.found.Bundles, b)
	}
}

// contains reports whether inner lies in outer.
func contains(outer, inner parse.Span) bool {
	return outer.Start <= inner.Start && inner.End <= outer.End
}

// later reports whether r runs in a callback of then, and so later.
func (d *detector) later(r parse.Ref) bool {
	for up := d.Parents[r]; up != 0; up = d.Parents[up] {
		switch k := d.Kind(up); {
		case k == parse.Func || k == parse.Arrow:
			call := d.Parents[up]
			callee := d.First(call)
			return d.Kind(call) == parse.Call && d.Kind(callee) == parse.Dot && d.NameOf(d.Kid(callee, 1)) == "then"
		case k == parse.FuncDecl || k == parse.Block:
			return false
		}
	}
	return false
}

// EvalWrapper is the text of a module that is compiled at run time, put into a
// function with the parameters of its wrapper.
func (f *File) EvalWrapper(m *Module) string {
	code := f.StringValue(m.Eval)
	names := [3]string{"module", "exports", "require"}
	i := 0
	for k := f.First(f.Kid(m.Func, 1)); k != 0 && i < 3; k = f.Next(k) {
		if f.Kind(k) == parse.Ident {
			names[i] = f.NameOf(k)
		}
		i++
	}
	return "(function(" + names[0] + "," + names[1] + "," + names[2] + "){" + code + "\n})"
}

// ReadEval reads a module from the text that EvalWrapper made. What it loads gets
// the place at.
func ReadEval(f *File, m *Module) *Found {
	d := &detector{File: f, found: Found{Roles: map[scope.BindingID]Role{}}, taken: map[parse.Ref]bool{}}
	d.index()
	fn := d.First(d.First(d.Root))
	if !d.Kind(fn).IsFunction() {
		return &d.found
	}
	params := d.roles(fn, ModuleRole, ExportsRole, RequireRole)
	inner := Module{Func: fn, Requires: d.webpackRequires(params[2], d.body(fn))}
	d.context(&inner)
	m.Requires = m.Requires[:0]
	at := m.Source
	for _, q := range inner.Requires {
		q.At = at
		m.Requires = append(m.Requires, q)
	}
	if i := strings.LastIndex(f.Src, "//# sourceURL="); i >= 0 {
		line, _, _ := strings.Cut(f.Src[i+len("//# sourceURL="):], "\n")
		line, _, _ = strings.Cut(strings.TrimSpace(line), "?")
		if _, rest, ok := strings.Cut(line, "://"); ok {
			if _, p, ok := strings.Cut(rest, "/"); ok {
				m.Path = p
			}
		}
	}
	return &d.found
}
