package application

import (
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/fingerprint"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// printParts makes what each part is recognized by, but for modules that are compiled at
// run time and the files that have them.
func (u *unit) printParts(p *bundle.File, roles map[scope.BindingID]bundle.Role) {
	sets := make([]fingerprint.Set, len(u.parts))
	for i := range p.Nodes {
		if i%parse.Stride == 0 && p.Stopped() {
			return
		}
		r := parse.Ref(i)
		switch p.Nodes[i].Kind {
		case parse.Name, parse.String, parse.Chunk, parse.Regex, parse.Ident:
			part := 1 + u.nest.Innermost(p.Nodes[i].Start)
			fingerprint.Feature(&sets[part], p.File, p.Scopes, r, p.Kind(p.Parents[r]))
		case parse.ExportDecl, parse.ExportDef:
			fingerprint.Exported(&sets[1+u.nest.Innermost(p.Nodes[i].Start)], p.File, r)
		}
	}
	normal := fingerprint.NewNormalizer(p.File, p.Scopes)
	require := func(b scope.BindingID) bool { return b != 0 && roles[b] == bundle.RequireRole }
	var last parse.Ref
	for i := range u.parts {
		part := &u.parts[i]
		part.print = print{features: sets[i].Digest(), sketch: sets[i].Sketch(), count: sets[i].Len()}
		if i == 0 {
			if !u.evaluates() {
				part.print.normal = normal.Code(p.First(p.Root), u.spans[0], require)
			}
			continue
		}
		m := &u.bundles[part.bundle].Modules[part.module]
		if m.Eval != 0 {
			continue
		}
		if m.Kind == bundle.Wrapped {
			part.print.normal = normal.Code(statementAt(p, m, &last), m.Source, require)
		} else {
			part.print.normal = normal.Joined(statementAt(p, m, &last), m.Source)
		}
	}
}

// evaluates reports whether modules of a file are compiled at run time.
func (u *unit) evaluates() bool {
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			if u.bundles[i].Modules[j].Eval != 0 {
				return true
			}
		}
	}
	return false
}

// printEvaluated makes what a module is recognized by whose code is compiled at run time
// and was read from its text.
func printEvaluated(p *bundle.File, roles map[scope.BindingID]bundle.Role) print {
	var set fingerprint.Set
	fn := p.First(p.First(p.Root))
	body := p.Kid(fn, 2)
	if p.Kind(body) != parse.Block {
		return print{}
	}
	for i := range p.Nodes {
		r := parse.Ref(i)
		fingerprint.Feature(&set, p.File, p.Scopes, r, p.Kind(p.Parents[r]))
	}
	require := func(b scope.BindingID) bool { return b != 0 && roles[b] == bundle.RequireRole }
	at := parse.Span{Start: p.At(body).Start, End: p.At(body).End}
	normal := fingerprint.NewNormalizer(p.File, p.Scopes).Code(p.First(body), at, require)
	return print{normal: normal, features: set.Digest(), sketch: set.Sketch(), count: set.Len()}
}

// printEvaluates gives modules that are compiled at run time, by number of their parts,
// what they are recognized by, and their file: the code in its texts counts as code.
func (u *unit) printEvaluates(p *bundle.File, roles map[scope.BindingID]bundle.Role, prints map[int]print) {
	if len(prints) == 0 {
		return
	}
	compiled := make(map[parse.Ref]string, len(prints))
	for i := range u.parts {
		if v, ok := prints[i]; ok {
			u.parts[i].print = v
			compiled[u.bundles[u.parts[i].bundle].Modules[u.parts[i].module].Eval] = v.normal
		}
	}
	normal := fingerprint.NewNormalizer(p.File, p.Scopes)
	normal.Compiled = compiled
	u.parts[0].print.normal = normal.Code(p.First(p.Root), u.spans[0], func(b scope.BindingID) bool { return b != 0 && roles[b] == bundle.RequireRole })
}

// statementAt is the first statement of a module. Modules that follow each other
// are looked for from the last one on.
func statementAt(p *bundle.File, m *bundle.Module, last *parse.Ref) parse.Ref {
	if m.Func != 0 {
		body := p.Kid(m.Func, 2)
		if p.Kind(body) == parse.Block {
			return p.First(body)
		}
		return body
	}
	r := p.First(p.Root)
	if *last != 0 {
		if up := p.At(p.Parents[*last]); p.At(*last).Start <= m.Source.Start && m.Source.End <= up.End {
			r = *last
		}
	}
	for r != 0 {
		n := p.At(r)
		switch {
		case n.End <= m.Source.Start:
			r = p.Next(r)
		case n.Start <= m.Source.Start && n.End >= m.Source.End && n.First() != 0:
			r = n.First()
		default:
			*last = r
			return r
		}
	}
	return 0
}
