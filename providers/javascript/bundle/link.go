package bundle

import "rea/providers/javascript/parse"

// link adds the loads between modules that share a scope, which need no code of
// their own: one of them uses a name that another declares. A call of the name
// under which a wrapped module is held loads it; a variable outside of all
// modules that keeps what the call gave stands for that module. Names from
// another chunk of the bundle are loads of what declares them there.
func (d *detector) link(modules []Module) {
	places := nestOf(modules)
	owners, direct := d.owners(modules, places)
	type pair struct{ from, to int }
	known := map[pair]bool{}
	for b, to := range owners {
		if to < 0 {
			continue
		}
		for _, use := range d.uses[d.first[b]:d.first[b+1]] {
			at := d.span(use)
			if contains(modules[to].At, at) {
				continue
			}
			from := places.Innermost(at.Start)
			if from < 0 || from == int(to) || contains(modules[from].At, modules[to].At) || known[pair{from, int(to)}] ||
				modules[from].Kind == Wrapped && modules[to].Kind == Wrapped {
				continue
			}
			known[pair{from, int(to)}] = true
			q := Require{ID: modules[to].ID, Specifier: modules[to].Path, Shared: modules[to].Kind != Wrapped || !direct[b], At: at}
			if call := d.Parents[use]; !q.Shared && d.Kind(call) == parse.Call && d.First(call) == use {
				q.At, q.Dynamic = d.span(call), d.later(call)
			}
			modules[from].Requires = append(modules[from].Requires, q)
		}
	}
	d.linkChunks(modules, places)
}

// owners says, for every binding, which module declares it, -1 for none, and
// whether it does so itself.
func (d *detector) owners(modules []Module, places *Nest) (owners []int32, direct []bool) {
	owners, direct = make([]int32, len(d.Scopes.Bindings)), make([]bool, len(d.Scopes.Bindings))
	var free []int // declared outside of all modules
	for b := range owners {
		owners[b] = -1
		decl := d.Scopes.Bindings[b].Decl
		if decl == 0 {
			continue
		}
		to := places.Innermost(d.At(decl).Start)
		switch {
		case to < 0:
			free = append(free, b)
		case modules[to].Kind == Wrapped && contains(modules[to].Source, d.span(decl)): // its own
		default:
			owners[b], direct[b] = int32(to), true
		}
	}
	for range 3 {
		for _, b := range free {
			if decl := d.Scopes.Bindings[b].Decl; owners[b] < 0 && d.Kind(d.Parents[decl]) == parse.Declarator && d.First(d.Parents[decl]) == decl {
				owners[b] = d.ownerIn(d.Next(decl), owners, 0)
			}
		}
	}
	return owners, direct
}

// ownerIn is the owner of the first owned name in a call, -1 for none.
func (d *detector) ownerIn(r parse.Ref, owners []int32, depth int) int32 {
	switch d.Kind(r) {
	case parse.Ident:
		return owners[d.Scopes.Of[r]]
	case parse.Call, parse.Dot:
		for k := d.First(r); k != 0 && depth < 4; k = d.Next(k) {
			if o := d.ownerIn(k, owners, depth+1); o >= 0 {
				return o
			}
		}
	}
	return -1
}

// linkChunks adds loads of names that the file imports from other chunks.
func (d *detector) linkChunks(modules []Module, places *Nest) {
	for s := d.First(d.Root); s != 0; s = d.Next(s) {
		if d.Kind(s) != parse.Import {
			continue
		}
		source := d.StringValue(d.First(s))
		if len(source) == 0 || source[0] != '.' {
			continue
		}
		for k := d.Next(d.First(s)); k != 0; k = d.Next(k) {
			name, local := "default", d.First(k)
			switch d.Kind(k) {
			case parse.ImportName:
				name, _ = d.KeyOf(d.First(k), false)
				local = d.Kid(k, 1)
			case parse.ImportDef:
			default:
				continue
			}
			seen := map[int]bool{}
			for _, use := range d.usesOf(d.Scopes.Of[local]) {
				if from := places.Innermost(d.At(use).Start); from >= 0 && !seen[from] {
					seen[from] = true
					modules[from].Requires = append(modules[from].Requires, Require{Specifier: source, Name: name, Shared: true, At: d.span(use)})
				}
			}
		}
	}
}

// A Member is a module by the index of its bundle and its own.
type Member struct{ Bundle, Module int }

// Exported tells which module declares what the file exports, by name.
func (f *File) Exported(found *Found) map[string]Member {
	d := &detector{File: f}
	out := map[string]Member{}
	for i := range found.Bundles {
		modules := found.Bundles[i].Modules
		var owners []int32
		owner := func(name string, ident parse.Ref) {
			if owners == nil {
				owners, _ = d.owners(modules, nestOf(modules))
			}
			if _, known := out[name]; !known && owners[d.Scopes.Of[ident]] >= 0 {
				out[name] = Member{i, int(owners[d.Scopes.Of[ident]])}
			}
		}
		for s := d.First(d.Root); s != 0; s = d.Next(s) {
			switch d.Kind(s) {
			case parse.ExportNames:
				for k := d.Next(d.First(s)); k != 0 && d.Kind(d.First(s)) == parse.Empty; k = d.Next(k) {
					if name, ok := d.KeyOf(d.Kid(k, 1), false); ok && d.Kind(k) == parse.ExportName {
						owner(name, d.First(k))
					}
				}
			case parse.ExportDef:
				if e := d.First(s); d.Kind(e) == parse.Ident {
					owner("default", e)
				} else if d.Kind(e) == parse.Call && d.Kind(d.First(e)) == parse.Ident { // export default require_a()
					owner("default", d.First(e))
				}
			}
		}
	}
	return out
}
