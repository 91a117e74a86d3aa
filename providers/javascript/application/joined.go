package application

import (
	"regexp"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/resolve"
)

// joined is the bundle by which code outside of the known modules is itself several
// modules whose boundaries are gone, nil for none.
func (u *unit) joined() *bundle.Bundle {
	var by *bundle.Bundle
	for i := range u.bundles {
		b := &u.bundles[i]
		if b.Joins && by == nil {
			by = b
		}
		for j := range b.Modules {
			switch k := b.Modules[j].Kind; {
			case b.Joins && (k == bundle.Region || k == bundle.Mapped), k == bundle.Group && b.Bundler == bundle.SystemJS:
				return nil
			}
		}
	}
	return by
}

// drawJoined draws the modules of a file that share one scope as one group: how many
// they are is unknown.
func (a *analysis) drawJoined(file int) {
	u := a.units[file]
	b := u.joined()
	if b == nil {
		return
	}
	name := a.tree.Files[file].Path
	reason := "the bundler joins modules into one scope, and neither comments nor a source map tell them apart"
	if b.Bundler == bundle.Joined {
		reason = "the code is minified, and nothing tells whether it is one module or several"
	}
	a.b.Set(a.fileNodes[file], "joined_modules", "unknown")
	a.b.Gap("modules joined in "+name, -1, reason)
	source := inferred(fromBundle, model.ApplicationProvenanceConfidenceLow, reason)
	id := graph.Identity{
		Strategy: model.ApplicationNodeIdentityStrategyArtifactLocalKey, SHA256: u.parts[0].sha256, Key: name + "#" + string(b.Bundler) + ":joined",
	}
	node := a.b.Node(model.ApplicationNodeKindModuleGroup, id, name, a.b.From(source), a.location(file, u.spans[0]), graph.Properties{
		"file": name, "bundler": string(b.Bundler), "module_id": "joined", "boundary": string(bundle.Group), "basis": b.Basis,
		"size": int64(u.spans[0].End), "features": int64(u.parts[0].print.count),
	})
	a.b.Edge(a.fileNodes[file], node, model.ApplicationRelationContains, a.b.From(source), nil, nil)
}

// joinChunks follows the imports of files whose modules are joined: what they import
// beside them is of the same bundler, though it may have none of its helpers.
func (a *analysis) joinChunks() error {
	var todo []int
	for file, u := range a.units {
		if u == nil {
			continue
		}
		if b := u.joined(); b != nil && b.Bundler == bundle.Joined && strings.Contains("/"+a.tree.Files[file].Path, "/node_modules/") {
			u.bundles = u.bundles[:0] // how a package is written is not of this application
		}
		if u.hoists() != "" {
			todo = append(todo, file)
		}
	}
	for len(todo) > 0 {
		file := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := a.ctx.Err(); err != nil {
			return err
		}
		by := a.units[file].hoists()
		for part := range a.units[file].parts {
			for i := range a.units[file].parts[part].imports {
				m := &a.units[file].parts[part].imports[i]
				if m.Unknown || m.Kind == facts.Require || m.Kind == facts.Resolve || !strings.HasPrefix(m.Specifier, "./") && !strings.HasPrefix(m.Specifier, "../") {
					continue
				}
				found := a.resolver.Resolve(a.tree.Files[file].Path, m.Specifier, resolve.How{})
				to, ok := a.byPath[found.Path]
				if !ok || a.units[to] == nil || strings.Contains("/"+found.Path, "/node_modules/") {
					continue
				}
				if a.units[to].chunkOf(by, hashed(found.Path)) {
					todo = append(todo, to)
				}
			}
		}
	}
	return nil
}

// hoists is the bundler that joined modules of a unit, "" for none or an unknown one.
func (u *unit) hoists() bundle.Bundler {
	for i := range u.bundles {
		switch b := u.bundles[i].Bundler; b {
		case bundle.Vite, bundle.Rollup, bundle.Rolldown, bundle.Esbuild, bundle.Bun:
			return b
		}
	}
	return ""
}

var hash = regexp.MustCompile(`[.-]([A-Za-z0-9_-]{6,12})\.[cm]?js$`)

// hashed reports whether the name of a file ends with a digest, as bundlers name chunks.
func hashed(name string) bool {
	m := hash.FindStringSubmatch(name)
	return m != nil && strings.ContainsAny(m[1], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// chunkOf makes a unit one that a bundler made, and reports whether it was not known
// to be. One of which nothing else tells that a bundler made it has a name that does.
func (u *unit) chunkOf(by bundle.Bundler, named bool) bool {
	if len(u.bundles) == 0 {
		if u.whole || !named {
			return false
		}
		u.bundles = []bundle.Bundle{{Bundler: by, Basis: "a chunk that another file of the bundle loads", Joins: true}}
		return true
	}
	changed := false
	for i := range u.bundles {
		b := &u.bundles[i]
		switch {
		case b.Bundler == bundle.Joined, by == bundle.Vite && (b.Bundler == bundle.Rollup || b.Bundler == bundle.Rolldown || b.Bundler == bundle.Esbuild),
			(by == bundle.Rolldown || by == bundle.Bun) && b.Bundler == bundle.Esbuild:
			b.Bundler, changed = by, true
		}
	}
	return changed
}
