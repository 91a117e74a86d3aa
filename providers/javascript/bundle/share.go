package bundle

import "rea/providers/javascript/parse"

// share gives modules that were joined into one the loads of that one: a load
// whose result a variable keeps is one of the modules that use the variable,
// another is one of the module in which it lies. Then it links them.
func (d *detector) share(m *Module, parts []Module) {
	nest := nestOf(parts)
	kept := map[uint32]int{} // loads by the place of their call
	for i, q := range m.Requires {
		kept[q.At.Start] = i
	}
	used := make([]bool, len(m.Requires))
	for _, b := range d.declaredIn(m.Source) {
		name := d.Scopes.Bindings[b].Decl
		if up := d.Parents[name]; d.Kind(up) != parse.Declarator || d.First(up) != name {
			continue
		}
		load, ok := kept[d.At(d.Next(name)).Start]
		if !ok {
			continue
		}
		seen := map[int]bool{}
		for _, use := range d.usesOf(b) {
			if to := nest.Innermost(d.At(use).Start); use != name && to >= 0 && !seen[to] {
				seen[to], used[load] = true, true
				parts[to].Requires = append(parts[to].Requires, m.Requires[load])
			}
		}
	}
	for i, q := range m.Requires {
		if to := nest.Innermost(q.At.Start); to >= 0 && !used[i] {
			parts[to].Requires = append(parts[to].Requires, q)
		}
	}
	d.link(parts, m.Source)
}
