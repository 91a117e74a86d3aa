package application

import (
	"path"
	"strings"

	"rea/providers/javascript/bundle"
)

// A place is a part of a file.
type place struct{ file, part int }

// maxAlike bounds the chunks that are looked at for a module that many have.
const maxAlike = 64

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
			m := &b.Modules[part.module]
			p.add(place{file, i}, part.bundle, family(b.Bundler), m.ID)
			for _, id := range m.Also {
				p.add(place{file, i}, part.bundle, family(b.Bundler), id)
			}
		}
	}
	a.packing = p
}

func (p *packing) add(at place, in int, of bundle.Bundler, id string) {
	if p.byID[at.file][in] == nil {
		p.byID[at.file][in] = map[string]int{}
	}
	if _, twice := p.byID[at.file][in][id]; twice {
		return
	}
	p.byID[at.file][in][id] = at.part
	if p.others[of] == nil {
		p.others[of] = map[string][]place{}
	}
	if list := p.others[of][id]; len(list) < maxAlike {
		p.others[of][id] = append(list, at)
	}
}

// module is the one that code in a part of a bundle means by an id: of the same
// file, or of another chunk.
func (a *analysis) module(file, part int, id string) (place, bool) {
	p := &a.units[file].parts[part]
	if i, ok := a.packing.byID[file][p.bundle][id]; ok {
		return place{file, i}, true
	}
	to, count := a.elsewhere(file, p.bundle, id)
	return to, count == 1
}

// elsewhere is the module of another chunk that code of a bundle means by an id, and how
// many it may be. Chunks of one bundle have one module by an id, though
// each may have its own copy of it: the nearest counts.
func (a *analysis) elsewhere(file, in int, id string) (found place, count int) {
	of := &a.units[file].bundles[in]
	list := a.packing.others[family(of.Bundler)][id]
	same, near := false, -1
	seen := map[string]bool{}
	for _, p := range list {
		u := a.units[p.file]
		its := u.bundles[u.parts[p.part].bundle].Loader == of.Loader && of.Loader != ""
		if same && !its {
			continue
		}
		if its && !same {
			same, near = true, -1
			clear(seen)
		}
		seen[u.parts[p.part].sha256] = true
		if n := shared(a.tree.Files[file].Path, a.tree.Files[p.file].Path); n > near {
			found, near = p, n
		}
	}
	if same && len(seen) > 1 {
		return found, 1
	}
	return found, len(seen)
}

// shared are the folders that two paths begin with.
func shared(a, b string) int {
	a, b = path.Dir(a), path.Dir(b)
	n := 0
	for {
		x, restA, moreA := strings.Cut(a, "/")
		y, restB, moreB := strings.Cut(b, "/")
		if x != y {
			return n
		}
		n++
		if !moreA || !moreB {
			return n
		}
		a, b = restA, restB
	}
}
