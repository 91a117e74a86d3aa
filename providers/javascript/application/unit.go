package application

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
	"rea/providers/javascript/tree"
)

// A unit is what was read from one program. It keeps no syntax tree.
type unit struct {
	module  bool // it is a module by its own syntax
	errors  []parse.Error
	failed  int
	lines   lines
	parts   []part // the program itself first, then the modules of its bundles
	bundles []bundle.Bundle
}

// A part is code with imports of its own: the program, or a module packed in it.
type part struct {
	bundle  int // index of the bundle, -1 for the program
	module  int // index in the bundle
	sha256  string
	facts   []facts.Fact
	imports []facts.Import
	exports []facts.Export
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

func readUnit(ctx context.Context, f *tree.File, isModule bool) (*unit, error) {
	src := string(f.Data)
	file, err := parse.Parse(ctx, src, parse.Options{Module: isModule})
	if err != nil {
		return nil, err
	}
	table := scope.Resolve(file)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names := symbol.New(file, table)
	parents := file.Parents()
	packed := bundle.Detect(&bundle.File{File: file, Scopes: table, Names: names, Parents: parents})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u := &unit{module: file.Module, errors: file.Errors, failed: file.Failed, lines: newLines(src), bundles: packed.Bundles}
	found := facts.Extract(&facts.Program{File: file, Scopes: table, Names: names, Roles: packed.Roles, Parents: parents})
	u.divide(src, f.SHA256, found)
	return u, ctx.Err()
}

// divide gives each part what lies in it and in no part inside of it.
func (u *unit) divide(src, digest string, found *facts.Found) {
	u.parts = []part{{bundle: -1, sha256: digest}}
	var spans []parse.Span
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			m := &u.bundles[i].Modules[j]
			sum := sha256.Sum256([]byte(src[m.Source.Start:m.Source.End]))
			u.parts = append(u.parts, part{bundle: i, module: j, sha256: hex.EncodeToString(sum[:])})
			spans = append(spans, m.At)
		}
	}
	nest := bundle.NewNest(spans)
	at := func(s parse.Span) *part { return &u.parts[1+nest.Innermost(s.Start)] }
	for _, v := range found.Facts {
		p := at(v.At)
		p.facts = append(p.facts, v)
	}
	for _, v := range found.Imports {
		p := at(v.At)
		p.imports = append(p.imports, v)
	}
	for _, v := range found.Exports {
		p := at(v.At)
		p.exports = append(p.exports, v)
	}
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
