package application

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/wire"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/semantic"
	"rea/providers/javascript/sourcemap"
	"rea/providers/javascript/symbol"
)

// A unit is what was read from one program. It keeps no syntax tree.
type unit struct {
	module  bool // it is a module by its own syntax
	umd     bool // it looks for a loader of AMD, and is a script without one
	errors  []parse.Error
	failed  int
	lines   lines
	parts   []part // the program itself first, then the modules of its bundles
	bundles []bundle.Bundle
	spans   []parse.Span // by part
	nest    *bundle.Nest // of the parts but the first
	whole   bool         // its source map says that it is one module
	// exported tells which packed module declares what the file exports.
	exported map[string]bundle.Member

	chunkName *facts.ChunkName // of a runtime, nil without one

	routers []facts.Router // until facts of all files were settled
	mounts  []facts.Mount

	mapAddress string // declared source map
	banners    []banner
	graph      *semantic.Unit
}

// A part is code with imports of its own: the program, or a module packed in it.
type part struct {
	bundle  int // index of the bundle, -1 for the program
	module  int // index in the bundle
	sha256  string
	print   print
	facts   []facts.Fact
	imports []facts.Import
	exports []facts.Export
	// constants are values of exports, until facts of all files were settled.
	constants []facts.Constant
	shapes    jsontext.Value // of exports, by name; nil for none
	globals   []facts.Global
	calls     []facts.Call // until facts of all files were settled
	wrappers  []facts.Fact // of functions that hand on what they are given, likewise
}

// A print is what a part is recognized by.
type print struct {
	normal   string // digest of its normal form
	features string // digest of what minification keeps, "" for too little of it
	sketch   string
	count    int // features
}

// lines are the offsets at which lines begin.
type lines []uint32

func newLines(src string) lines {
	out := lines{0}
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			return out
		}
		at += i + 1
		out = append(out, uint32(at))
	}
}

// of is the line of an offset, from 1.
func (l lines) of(at uint32) int {
	return sort.Search(len(l), func(i int) bool { return l[i] > at })
}

// readUnit reads the program of a file; code is its text, or that of the scripts
// in it. mapOf gives the source map at the address that the program declares.
//
// The caller has one of the processors.
func readUnit(ctx context.Context, busy processors, code, digest string, isModule bool, mapOf func(address string) *sourcemap.Map) (*unit, error) {
	u, drawn, err := newUnit(ctx, busy, code, digest, isModule, mapOf)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u.graph = drawn.Finish() // when nothing holds the tree, which is many times larger
	return u, ctx.Err()
}

func newUnit(ctx context.Context, busy processors, code, digest string, isModule bool, mapOf func(address string) *sourcemap.Map) (_ *unit, drawn *semantic.Draft, err error) {
	file, err := parse.Parse(ctx, code, parse.Options{Module: isModule})
	if err != nil {
		return nil, nil, err
	}
	parents := begin(busy, file.Parents)
	table := scope.Resolve(file)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	functions := begin(busy, func() semantic.Prints { return semantic.NewPrints(file, table) })
	p := &bundle.File{File: file, Scopes: table, Names: symbol.New(file, table)}
	p.Parents = parents()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	packed := bundle.Detect(p)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	u := &unit{module: file.Module, errors: file.Errors, failed: file.Failed, lines: newLines(code)}
	u.mapAddress = sourcemap.Declared(code)
	if m := mapOf(u.mapAddress); m != nil {
		u.mapped(p, packed, m)
	}
	u.bundles, u.exported, u.whole = packed.Bundles, p.Exported(packed), packed.Whole
	u.layout(code, digest)
	u.umd = u.asksForAMD(p)
	p.Names.Loads = newExternals(p, packed.Roles, u)
	// What a program is recognized by, what flows in it and what it says are read at
	// the same time.
	prints := begin(busy, func() struct{} { u.printParts(p, packed.Roles); return struct{}{} })
	printed := sync.OnceFunc(func() { prints() })
	defer printed()
	inside := &bundle.File{File: file, Scopes: table, Names: p.Names.Fork(), Parents: p.Parents}
	flows := begin(busy, func() *semantic.Draft { return semantic.Extract(inside, u.spans[1:], packed.Roles, functions) })
	defer func() { drawn = flows() }()
	found := extract(p, packed.Roles, u.wrapped(p))
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	evaluated, err := u.readEvals(ctx, p, found)
	if err != nil {
		return nil, nil, err
	}
	if len(evaluated) > 0 {
		printed()
		u.printEvaluates(p, packed.Roles, evaluated)
	}
	u.routers, u.mounts = found.Routers, found.Mounts
	if len(u.bundles) > 0 && family(u.bundles[0].Bundler) == bundle.Webpack {
		u.chunkName = facts.NameOfChunks(&facts.Program{File: p.File, Scopes: p.Scopes, Names: p.Names, Roles: packed.Roles, Parents: p.Parents})
	}
	u.divide(found)
	u.readShapes(p)
	u.banners = banners(file)
	return u, nil, ctx.Err()
}

func extract(p *bundle.File, roles map[scope.BindingID]bundle.Role, wrapped func(parse.Ref) (int, bool)) *facts.Found {
	return facts.Extract(&facts.Program{File: p.File, Scopes: p.Scopes, Names: p.Names, Roles: roles, Parents: p.Parents, Wrapped: wrapped})
}

// wrapped tells the part whose wrapper a variable holds.
func (u *unit) wrapped(p *bundle.File) func(parse.Ref) (int, bool) {
	if len(u.parts) == 1 {
		return nil
	}
	return func(variable parse.Ref) (int, bool) {
		b := p.Scopes.Binding(variable)
		if b == nil || b.Decl == 0 {
			return 0, false
		}
		at := p.At(b.Decl).Start
		part := 1 + u.nest.Innermost(at)
		if part == 0 {
			return 0, false
		}
		m := &u.bundles[u.parts[part].bundle].Modules[u.parts[part].module]
		return part, m.Kind == bundle.Wrapped && (at < m.Source.Start || at >= m.Source.End)
	}
}

// readEvals reads modules whose code is compiled at run time. What they say has
// the place of the text that holds it. It gives what they are recognized by, by number of
// their parts.
func (u *unit) readEvals(ctx context.Context, p *bundle.File, found *facts.Found) (map[int]print, error) {
	var prints map[int]print
	number := 0
	found.Facts = slices.DeleteFunc(found.Facts, func(f facts.Fact) bool {
		part := 1 + u.nest.Innermost(f.At.Start)
		return f.Kind == facts.Compiled && part > 0 && u.bundles[u.parts[part].bundle].Modules[u.parts[part].module].Eval != 0
	})
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			m := &u.bundles[i].Modules[j]
			number++
			if m.Eval == 0 {
				continue
			}
			file, err := parse.Parse(ctx, p.EvalWrapper(m), parse.Options{})
			if err != nil {
				return nil, err
			}
			table := scope.Resolve(file)
			inner := &bundle.File{File: file, Scopes: table, Names: symbol.New(file, table), Parents: file.Parents()}
			roles := bundle.ReadEval(inner, m).Roles
			if prints == nil {
				prints = map[int]print{}
			}
			prints[number] = printEvaluated(inner, roles)
			more := extract(inner, roles, nil)
			for _, v := range more.Facts {
				v.At, v.Router = m.Source, 0
				found.Facts = append(found.Facts, v)
			}
			for _, v := range more.Imports {
				v.At = m.Source
				found.Imports = append(found.Imports, v)
			}
			for _, v := range more.Exports {
				v.At = m.Source
				found.Exports = append(found.Exports, v)
			}
			for _, v := range more.Constants {
				v.At = m.Source
				found.Constants = append(found.Constants, v)
			}
		}
	}
	return prints, nil
}

// layout makes the parts.
func (u *unit) layout(src, digest string) {
	u.parts = []part{{bundle: -1, sha256: digest}}
	u.spans = []parse.Span{{Start: 0, End: uint32(len(src))}}
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			m := &u.bundles[i].Modules[j]
			sum := sumOf(src[m.Source.Start:m.Source.End])
			u.parts = append(u.parts, part{bundle: i, module: j, sha256: sum})
			u.spans = append(u.spans, m.At)
		}
	}
	u.nest = bundle.NewNest(u.spans[1:])
}

// divide gives each part what lies in it and in no part inside of it.
func (u *unit) divide(found *facts.Found) {
	at := func(s parse.Span) *part { return &u.parts[1+u.nest.Innermost(s.Start)] }
	for _, v := range found.Facts {
		p := at(v.At)
		p.facts = append(p.facts, v)
	}
	for _, v := range found.Imports {
		p := at(v.At)
		p.imports = append(p.imports, v)
	}
	for _, v := range found.Globals {
		p := at(v.At)
		p.globals = append(p.globals, v)
	}
	for _, v := range found.Wrappers {
		p := at(v.At)
		p.wrappers = append(p.wrappers, v)
	}
	for _, v := range found.Calls {
		p := at(v.At)
		p.calls = append(p.calls, v)
	}
	told, parts := u.told(func(m *bundle.Module) []parse.Span { return m.Tells })
	also, too := u.told(func(m *bundle.Module) []parse.Span { return m.TellsToo })
	for _, v := range found.Exports {
		p := at(v.At)
		if i := told.Innermost(v.At.Start); i >= 0 {
			p = parts[i]
		}
		p.exports = append(p.exports, v)
		if i := also.Innermost(v.At.Start); i >= 0 {
			too[i].exports = append(too[i].exports, v)
		}
	}
	for _, v := range found.Constants {
		p := at(v.At)
		p.constants = append(p.constants, v)
	}
}

// asksForAMD reports whether the program, and not a module in it, looks for
// define.amd.
func (u *unit) asksForAMD(p *bundle.File) bool {
	if !strings.Contains(p.Src, "define.amd") {
		return false
	}
	for i := range p.Nodes {
		r := parse.Ref(i)
		if p.Kind(r) != parse.Dot || p.Text(r) != "define.amd" || p.Scopes.Of[p.First(r)] != 0 {
			continue
		}
		part := 1 + u.nest.Innermost(p.At(r).Start)
		if part == 0 || u.bundles[u.parts[part].bundle].Modules[u.parts[part].module].Kind != bundle.Wrapped {
			return true
		}
	}
	return false
}

// told are the places that say what modules export in whose code they are not, and
// the parts that those modules are.
func (u *unit) told(of func(*bundle.Module) []parse.Span) (*bundle.Nest, []*part) {
	var spans []parse.Span
	var parts []*part
	for i := 1; i < len(u.parts); i++ {
		p := &u.parts[i]
		for _, at := range of(&u.bundles[p.bundle].Modules[p.module]) {
			spans, parts = append(spans, at), append(parts, p)
		}
	}
	return bundle.NewNest(spans), parts
}

// exportNames are the names that a part exports, each once.
func (p *part) exportNames() []string {
	names := []string{}
	for i := range p.exports {
		names = append(names, p.exports[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sumOf is the digest of a text, made piece by piece.
func sumOf(text string) string {
	h := sha256.New()
	for len(text) > wire.Piece {
		h.Write([]byte(text[:wire.Piece]))
		text = text[wire.Piece:]
	}
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}
