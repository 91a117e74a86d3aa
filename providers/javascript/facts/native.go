package facts

import (
	"path"
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
	pattern := e.platformPattern(specifier)
	if pattern == "" {
		return false
	}
	fact := e.fact(NativeBinding, pattern, "require", r, Value{"pattern", true})
	if names := e.membersUsed(r); len(names) > 0 {
		fact.Details = append(fact.Details, Value{"names", names})
	}
	return true
}

// anyPart stands in a pattern for what the platform chooses.
const anyPart = "*"

// platformPattern is the pattern of a path or package of which the platform chooses
// parts, "" for what is none: an add-on, or a package named by the platform alone.
func (e *extractor) platformPattern(r parse.Ref) string {
	p := patterned{extractor: e}
	p.add(r, maxHops)
	text := p.text.String()
	switch {
	case p.failed || !strings.Contains(text, anyPart) || strings.HasPrefix(text, anyPart):
	case strings.HasSuffix(text, ".node"), p.platform && !p.others && !strings.HasPrefix(text, "."):
		return relativeWhere(text, p.joined)
	}
	return ""
}

func relativeWhere(text string, joined bool) string {
	if joined {
		return relative(path.Clean(text))
	}
	return text
}

// patterned is the text of an expression with anyPart for what varies.
type patterned struct {
	*extractor
	text             strings.Builder
	platform, others bool // of what kind varies
	joined, failed   bool
}

func (p *patterned) add(r parse.Ref, hops int) {
	f := p.f
	if hops <= 0 || p.text.Len() > maxText {
		p.failed = true
		return
	}
	if text, ok := p.Names.Constant(r); ok {
		p.text.WriteString(text)
		return
	}
	switch k := f.Kind(r); {
	case k == parse.Binary && f.At(r).Op == parse.Plus, k == parse.Template:
		for part := f.First(r); part != 0; part = f.Next(part) {
			if f.Kind(part) == parse.Chunk {
				p.text.WriteString(f.ChunkValue(part))
			} else {
				p.add(part, hops-1)
			}
		}
		return
	case k == parse.Ident && f.NameOf(r) == "__dirname" && p.Scopes.Of[r] == 0:
		p.joined = true
		p.text.WriteByte('.')
		return
	case k == parse.Call:
		switch callee := f.First(r); p.Names.Path(callee) {
		case "path.join", "path.resolve":
			p.joined = true
			for arg := f.Next(callee); arg != 0; arg = f.Next(arg) {
				p.add(arg, hops-1)
				if f.Next(arg) != 0 {
					p.text.WriteByte('/')
				}
			}
			return
		case "os.platform", "os.arch":
			p.platform = true
		default:
			p.others = true
		}
		p.text.WriteString(anyPart)
		return
	}
	if path := p.Names.Path(r); path == "process.platform" || path == "process.arch" {
		p.platform = true
	} else if value, ok := p.Names.Origin(p.Scopes.Of[r]); ok && f.Kind(r) == parse.Ident && p.Scopes.Of[r] != 0 {
		p.add(value, hops-1)
		return
	} else {
		p.others = true
	}
	p.text.WriteString(anyPart)
}

// listed are the elements of the list that a loop gives a variable, nil for none.
func (e *extractor) listed(r parse.Ref) (list []parse.Ref) {
	f := e.f
	b := e.Scopes.Binding(r)
	if f.Kind(r) != parse.Ident || b == nil || b.Decl == 0 || f.Kind(e.parents[b.Decl]) != parse.Declarator {
		return nil
	}
	declared := e.parents[e.parents[b.Decl]]
	loop := e.parents[declared]
	if f.Kind(loop) != parse.ForOf || f.First(loop) != declared {
		return nil
	}
	array := e.made(f.Kid(loop, 1))
	if f.Kind(array) != parse.Array {
		return nil
	}
	for k := f.First(array); k != 0 && len(list) < maxChosen; k = f.Next(k) {
		list = append(list, k)
	}
	return list
}

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
