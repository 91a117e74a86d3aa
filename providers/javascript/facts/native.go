package facts

import (
	"slices"
	"strings"

	"rea/providers/javascript/parse"
)

// binds reads require("bindings")("name") and require("node-gyp-build")(folder).
func binds(e *extractor, c *call) {
	var fact *Fact
	switch c.path {
	case "bindings":
		name := c.args[0]
		if object := e.Names.Literal(name); object != 0 {
			name = e.Names.Member(object, "bindings")
		}
		fact = e.named(NativeBinding, name, c.path, c.r)
	case "node-gyp-build", "node-gyp-build-optional-packages", "prebuildify", "pkg-prebuilds", "@mapbox/node-pre-gyp.find", "node-pre-gyp.find":
		fact = e.located(NativeBinding, c.args[0], c.path, c.r, Value{"folder", true})
	default:
		return
	}
	if names := e.membersUsed(c.r); len(names) > 0 {
		fact.Details = append(fact.Details, Value{"names", names})
	}
}

// native reads a request for an add-on whose path has parts that the platform
// chooses, and one for a path that was looked for; it reports whether it is one.
func (e *extractor) native(r, specifier parse.Ref) bool {
	f := e.f
	if f.Kind(specifier) == parse.Call {
		switch e.Names.Path(f.First(specifier)) {
		case "@mapbox/node-pre-gyp.find", "node-pre-gyp.find": // read as itself
			at := e.span(specifier)
			for i := len(e.out.Facts) - 1; i >= 0; i-- {
				if fact := &e.out.Facts[i]; fact.Kind == NativeBinding && fact.At == at {
					fact.Details = append(fact.Details, Value{"names", e.membersUsed(r)})
					break
				}
			}
			return true
		}
	}
	pieces := e.pieces(specifier)
	if n := len(pieces); n < 2 || !strings.HasSuffix(pieces[n-1].Text, ".node") || !slices.ContainsFunc(pieces, func(p Piece) bool { return p.Unknown }) {
		return false
	}
	var pattern strings.Builder
	for _, p := range pieces {
		switch {
		case p.Text != "":
			pattern.WriteString(p.Text)
		case pattern.Len() == 0:
			return false
		default:
			pattern.WriteString(anyPart)
		}
	}
	fact := e.fact(NativeBinding, pattern.String(), "require", r, Value{"pattern", true})
	if names := e.membersUsed(r); len(names) > 0 {
		fact.Details = append(fact.Details, Value{"names", names})
	}
	return true
}

// anyPart stands in a pattern for what the platform chooses.
const anyPart = "*"

// addonNames are those that are used of an add-on which a call gives.
func (e *extractor) addonNames(r parse.Ref, specifier string) []string {
	if !strings.HasSuffix(specifier, ".node") {
		return nil
	}
	return e.membersUsed(r)
}

// membersUsed are the members that are used of what a call gives.
func (e *extractor) membersUsed(r parse.Ref) (names []string) {
	f := e.f
	add := func(name string) {
		if len(names) < maxNames {
			names = append(names, name)
		}
	}
	pattern := func(p parse.Ref) {
		for k := f.First(p); k != 0; k = f.Next(k) {
			if name, ok := f.KeyOf(f.First(k), f.At(k).Flags&parse.Computed != 0); ok && f.Kind(k) == parse.Property {
				add(name)
			}
		}
	}
	up := e.parents[r]
	for f.Kind(up) == parse.Await || f.Kind(up) == parse.Assign && f.First(up) != r && f.Kind(f.First(up)) != parse.Ident {
		r, up = up, e.parents[up]
	}
	target := f.First(up)
	switch f.Kind(up) {
	case parse.Dot, parse.Index:
		if name, ok := f.PropertyOf(up); ok && target == r {
			add(name)
		}
	case parse.Declarator, parse.Assign:
		switch f.Kind(target) {
		case parse.ObjectPattern:
			pattern(target)
		case parse.Ident:
			if e.Scopes.Of[target] == 0 {
				break
			}
			for _, use := range e.usesOf(e.Scopes.Of[target]) {
				switch outer := e.parents[use]; f.Kind(outer) {
				case parse.Dot, parse.Index:
					if name, ok := f.PropertyOf(outer); ok && f.First(outer) == use {
						add(name)
					}
				case parse.Declarator:
					if f.Kind(f.First(outer)) == parse.ObjectPattern && f.Kid(outer, 1) == use {
						pattern(f.First(outer))
					}
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
