package bundle

import (
	"cmp"
	"slices"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// link adds the loads between modules that share a scope, which need no code of
// their own: one of them uses a name that another declares. A call of the name
// under which a wrapped module is held loads it; a variable outside of all
// modules that keeps what the call gave stands for that module. Names from
// another chunk of the bundle are loads of what declares them there. All of them
// lie in a range.
func (d *detector) link(modules []Module, in parse.Span) {
	at := d.locate(modules)
	declared := d.declaredIn(in)
	owners := d.owners(declared, modules, at.nest)
	type pair struct{ from, to int }
	known := map[pair]bool{} // what is a load already
	byID := make(map[string]int, len(modules))
	for i := range modules {
		byID[modules[i].ID] = i
	}
	for i := range modules {
		for _, q := range modules[i].Requires {
			if to, ok := byID[q.ID]; ok && q.Shared && q.Name == "" {
				known[pair{i, to}] = true
			}
		}
	}
	for _, b := range declared {
		o, ok := owners[b]
		if !ok {
			continue
		}
		to := o.module
		for _, use := range d.uses[d.first[b]:d.first[b+1]] {
			span := d.span(use)
			if contains(modules[to].At, span) { // its own, or handed to code of another that stands in it
				continue
			}
			from := at.at(span.Start)
			if from < 0 || from == to || contains(modules[from].At, modules[to].At) || known[pair{from, to}] ||
				modules[from].Kind == Wrapped && modules[to].Kind == Wrapped || sameSource(&modules[from], &modules[to]) {
				continue
			}
			known[pair{from, to}] = true
			q := Require{ID: modules[to].ID, Specifier: modules[to].Path, Shared: modules[to].Kind != Wrapped || !o.direct, At: span}
			if call := d.Parents[use]; !q.Shared && d.Kind(call) == parse.Call && d.First(call) == use {
				q.At, q.Dynamic = d.span(call), d.later(call)
			}
			modules[from].Requires = append(modules[from].Requires, q)
		}
	}
}

// sameSource reports whether two modules are pieces of one source.
func sameSource(a, b *Module) bool { return a.Kind == Mapped && b.Kind == Mapped && a.Path == b.Path }

// declaredIn are the bindings whose declaration begins in a range, by place.
func (d *detector) declaredIn(in parse.Span) []scope.BindingID {
	if d.declared == nil {
		d.declared = make([]scope.BindingID, 0, len(d.Scopes.Bindings))
		for b := range d.Scopes.Bindings {
			if d.Scopes.Bindings[b].Decl != 0 {
				d.declared = append(d.declared, scope.BindingID(b))
			}
		}
		slices.SortFunc(d.declared, func(a, b scope.BindingID) int { return cmp.Compare(d.declStart(a), d.declStart(b)) })
	}
	at := func(place uint32) int {
		i, _ := slices.BinarySearchFunc(d.declared, place, func(b scope.BindingID, place uint32) int {
			if d.declStart(b) < place {
				return -1
			}
			return 1
		})
		return i
	}
	return d.declared[at(in.Start):at(in.End)]
}

func (d *detector) declStart(b scope.BindingID) uint32 { return d.At(d.Scopes.Bindings[b].Decl).Start }

// An owner is the module that declares a name: itself, or by the value that a
// variable outside of all modules keeps.
type owner struct {
	module int
	direct bool
}

// owners says which module declares a binding, for those that one does.
func (d *detector) owners(declared []scope.BindingID, modules []Module, places *Nest) map[scope.BindingID]owner {
	owners := map[scope.BindingID]owner{}
	var free []scope.BindingID // declared outside of all modules
	var tells []parse.Span
	var told []int
	for i := range modules {
		for _, at := range modules[i].Tells {
			tells, told = append(tells, at), append(told, i)
		}
	}
	telling := NewNest(tells)
	for _, b := range declared {
		decl := d.Scopes.Bindings[b].Decl
		to := places.Innermost(d.At(decl).Start)
		switch {
		case to < 0:
			if i := telling.Innermost(d.At(decl).Start); i >= 0 {
				owners[b] = owner{told[i], false}
				continue
			}
			free = append(free, b)
		case modules[to].Kind == Wrapped && contains(modules[to].Source, d.span(decl)): // its own
		default:
			owners[b] = owner{to, true}
		}
	}
	for range 3 {
		for _, b := range free {
			decl := d.Scopes.Bindings[b].Decl
			if _, known := owners[b]; known || d.Kind(d.Parents[decl]) != parse.Declarator || d.First(d.Parents[decl]) != decl {
				continue
			}
			if o, ok := d.ownerIn(d.Next(decl), owners, 0); ok {
				owners[b] = owner{o.module, false}
			}
		}
	}
	return owners
}

// ownerIn is the owner of the first owned name in a call.
func (d *detector) ownerIn(r parse.Ref, owners map[scope.BindingID]owner, depth int) (owner, bool) {
	switch d.Kind(r) {
	case parse.Ident:
		o, ok := owners[d.Scopes.Of[r]]
		return o, ok
	case parse.Call, parse.Dot:
		for k := d.First(r); k != 0 && depth < 4; k = d.Next(k) {
			if o, ok := d.ownerIn(k, owners, depth+1); ok {
				return o, true
			}
		}
	}
	return owner{}, false
}

// linkChunks adds loads of names that the file imports from other chunks.
func (d *detector) linkChunks(modules []Module) {
	at := d.locate(modules)
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
				if from := at.at(d.At(use).Start); from >= 0 && !seen[from] {
					seen[from] = true
					modules[from].Requires = append(modules[from].Requires, Require{Specifier: source, Name: name, Shared: true, At: d.span(use)})
				}
			}
		}
	}
}

func has(members map[string]Member, name string) bool { _, ok := members[name]; return ok }

// whole is the range of the file.
func (d *detector) whole() parse.Span { return parse.Span{Start: 0, End: uint32(len(d.Src)) + 1} }

// A Member is a module by the index of its bundle and its own.
type Member struct{ Bundle, Module int }

// Exported tells which module declares what the file exports, by name.
func (f *File) Exported(found *Found) map[string]Member {
	d := &detector{File: f}
	out := map[string]Member{}
	for i := range found.Bundles {
		modules := found.Bundles[i].Modules
		var owners map[scope.BindingID]owner
		exported := func(name string, ident parse.Ref) {
			if owners == nil {
				owners = d.owners(d.declaredIn(d.whole()), modules, nestOf(modules))
			}
			if o, ok := owners[d.Scopes.Of[ident]]; ok && !has(out, name) {
				out[name] = Member{i, o.module}
			}
		}
		for s := d.First(d.Root); s != 0; s = d.Next(s) {
			switch d.Kind(s) {
			case parse.ExportNames:
				for k := d.Next(d.First(s)); k != 0 && d.Kind(d.First(s)) == parse.Empty; k = d.Next(k) {
					if name, ok := d.KeyOf(d.Kid(k, 1), false); ok && d.Kind(k) == parse.ExportName {
						exported(name, d.First(k))
					}
				}
			case parse.ExportDef:
				if e := d.First(s); d.Kind(e) == parse.Ident {
					exported("default", e)
				} else if d.Kind(e) == parse.Call && d.Kind(d.First(e)) == parse.Ident { // export default require_a()
					exported("default", d.First(e))
				}
			}
		}
	}
	return out
}
