package application

import (
	"slices"

	"rea/providers/javascript/bundle"
)

// A place is a part of a file.
type place struct{ file, part int }

// A packing tells the modules of bundles by the ids that they have there.
type packing struct {
	byID   [][]map[string]int // by file and bundle: parts
	others map[bundle.Bundler]map[string][]place
}

// pack makes the packing of an application.
func (a *analysis) pack() {
	p := &packing{byID: make([][]map[string]int, len(a.units)), others: map[bundle.Bundler]map[string][]place{}}
	for file, u := range a.units {
		if u == nil {
			continue
		}
		p.byID[file] = make([]map[string]int, len(u.bundles))
		for i := 1; i < len(u.parts); i++ {
			part := &u.parts[i]
			b := &u.bundles[part.bundle]
			id := b.Modules[part.module].ID
			if p.byID[file][part.bundle] == nil {
				p.byID[file][part.bundle] = map[string]int{}
			}
			if _, twice := p.byID[file][part.bundle][id]; twice {
				continue
			}
			p.byID[file][part.bundle][id] = i
			of := family(b.Bundler)
			if p.others[of] == nil {
				p.others[of] = map[string][]place{}
			}
			alike := func(o place) bool { return a.units[o.file].parts[o.part].sha256 == part.sha256 }
			if list := p.others[of][id]; len(list) < 2 && !slices.ContainsFunc(list, alike) {
				p.others[of][id] = append(list, place{file, i})
			}
		}
	}
	a.packing = p
}

// module is the one that code in a part of a bundle means by an id: of the same
// file, or the only one of another chunk.
func (a *analysis) module(file, part int, id string) (place, bool) {
	p := &a.units[file].parts[part]
	if i, ok := a.packing.byID[file][p.bundle][id]; ok {
		return place{file, i}, true
	}
	if list := a.packing.others[family(a.units[file].bundles[p.bundle].Bundler)][id]; len(list) == 1 {
		return list[0], true
	}
	return place{}, false
}
