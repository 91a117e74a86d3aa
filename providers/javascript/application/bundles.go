package application

import (
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/resolve"
)

var fromBundle = graph.Source{
	Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityBundleStructure,
	State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact,
}

// sourceOf is how far the boundaries of a module can be relied on.
func sourceOf(m *bundle.Module) graph.Source {
	switch m.Kind {
	case bundle.Region:
		return inferred(fromBundle, model.ApplicationProvenanceConfidenceHigh, "comments tell the modules apart")
	case bundle.Mapped:
		return inferred(fromMap, model.ApplicationProvenanceConfidenceHigh, "the source map tells the modules apart")
	case bundle.Group:
		return inferred(fromBundle, model.ApplicationProvenanceConfidenceLow, "modules were joined and nothing tells them apart")
	}
	return fromBundle
}

// drawBundles draws the modules packed in a program and how they load each other.
func (a *analysis) drawBundles(file int) {
	u := a.units[file]
	nodes := make([]int64, len(u.parts))
	nodes[0] = a.fileNodes[file]
	a.b.Set(nodes[0], "module_format", format(u))
	byID := make([]map[string]int64, len(u.bundles))
	var bundlers []string
	for i := range u.bundles {
		byID[i] = map[string]int64{}
		bundlers = append(bundlers, string(u.bundles[i].Bundler))
	}
	if len(bundlers) > 0 {
		a.b.Set(nodes[0], "bundlers", bundlers)
	}
	a.drawJoined(file)
	for i := 1; i < len(u.parts); i++ {
		p := &u.parts[i]
		b := &u.bundles[p.bundle]
		m := &b.Modules[p.module]
		nodes[i] = a.drawModule(file, b, m, p)
		if _, twice := byID[p.bundle][m.ID]; !twice {
			byID[p.bundle][m.ID] = nodes[i]
		}
		for _, id := range m.Also {
			if _, twice := byID[p.bundle][id]; !twice {
				byID[p.bundle][id] = nodes[i]
			}
		}
		a.b.Edge(nodes[0], nodes[i], model.ApplicationRelationContains, a.b.From(sourceOf(m)), nil, nil)
	}
	a.partNodes[file] = nodes
	for i := range u.bundles {
		for _, id := range u.bundles[i].Entries {
			if to, ok := byID[i][id]; ok {
				a.b.Edge(nodes[0], to, model.ApplicationRelationLoads, a.b.From(fromBundle), nil, graph.Properties{"entry": true})
			}
		}
	}
	a.pending = append(a.pending, pending{file, byID})
}

// pending are the loads between the modules of a file, which may be in others.
type pending struct {
	file int
	byID []map[string]int64
}

func (a *analysis) drawModule(file int, b *bundle.Bundle, m *bundle.Module, p *part) int64 {
	kind := model.ApplicationNodeKindJavascriptModule
	if m.Kind == bundle.Group {
		kind = model.ApplicationNodeKindModuleGroup
	}
	label := m.Path
	if label == "" {
		label = m.ID
	}
	if label == "" { // the file is the module
		label = a.tree.Files[file].Path
	}
	properties := graph.Properties{
		"file": a.tree.Files[file].Path, "bundler": string(b.Bundler), "module_id": m.ID, "boundary": string(m.Kind),
		"size": int64(m.Source.End - m.Source.Start), "basis": b.Basis,
	}
	if m.Path != "" {
		properties["path"] = m.Path
	}
	if m.Eval != 0 {
		properties["compiled_at_run_time"] = true
	}
	if m.Hoisted {
		properties["hoisted"] = true
	}
	if m.Inlined {
		properties["inlined"] = true
	}
	id := graph.Identity{
		Strategy: model.ApplicationNodeIdentityStrategyArtifactLocalKey, SHA256: p.sha256,
		Key: a.tree.Files[file].Path + "#" + string(b.Bundler) + ":" + m.ID,
	}
	at := a.location(file, m.Source)
	return a.b.Node(kind, id, label, a.b.From(sourceOf(m)), at, properties)
}

// family of bundlers whose chunks are alike, so that a chunk does not tell by which
// of them it is.
func family(b bundle.Bundler) bundle.Bundler {
	switch b {
	case bundle.Rspack:
		return bundle.Webpack
	case bundle.Rolldown, bundle.Bun:
		return bundle.Esbuild
	}
	return b
}

// drawLoads draws the loads between packed modules. Chunks of one bundle are
// several files: an id that the file does not have is looked for in the others
// of the same bundler.
func (a *analysis) drawLoads() {
	for _, p := range a.pending {
		u := a.units[p.file]
		for i := range u.bundles {
			for _, id := range u.bundles[i].Entries {
				if _, ok := p.byID[i][id]; ok {
					continue
				}
				if to, count := a.elsewhere(p.file, i, id); count == 1 {
					source := inferred(fromBundle, model.ApplicationProvenanceConfidenceHigh, "another chunk has the module")
					a.b.Edge(a.fileNodes[p.file], a.partNodes[to.file][to.part], model.ApplicationRelationLoads, a.b.From(source), nil, graph.Properties{"entry": true})
				}
			}
		}
		for i := 1; i < len(u.parts); i++ {
			part := &u.parts[i]
			b := &u.bundles[part.bundle]
			for _, q := range b.Modules[part.module].Requires {
				if q.Name != "" {
					a.drawChunkLoad(p.file, a.partNodes[p.file][i], q)
					continue
				}
				from := loader{a.partNodes[p.file][i], part.bundle, sourceOf(&b.Modules[part.module])}
				if b.Modules[part.module].Kind == bundle.Group { // one of its modules does
					from.source = fromBundle
				}
				a.drawLoad(p.file, from, p.byID[part.bundle], q)
			}
		}
	}
}

// drawChunkLoad draws the load of what another chunk exports, when it is known
// which of its modules declares that; that the chunk is imported is drawn anyway.
func (a *analysis) drawChunkLoad(file int, from int64, q bundle.Require) {
	found := a.resolver.Resolve(a.tree.Files[file].Path, q.Specifier, resolve.How{})
	other, ok := a.byPath[found.Path]
	if !ok || a.units[other] == nil {
		return
	}
	u := a.units[other]
	m, ok := u.exported[q.Name]
	if !ok {
		return
	}
	part := 1 + m.Module
	for i := range m.Bundle {
		part += len(u.bundles[i].Modules)
	}
	source := inferred(fromBundle, model.ApplicationProvenanceConfidenceHigh, "it uses a name that the other module declares and its chunk exports")
	a.b.Edge(from, a.partNodes[other][part], model.ApplicationRelationImports, a.b.From(source), a.location(file, q.At),
		graph.Properties{"kind": "shared-scope", "specifier": address.Text(q.Specifier), "name": q.Name})
}

// drawFileLoad draws the load of a file by its path, which is the module that has no name
// of its own in it. It reports whether there is such a file.
func (a *analysis) drawFileLoad(file int, from loader, q bundle.Require, at *int64, properties graph.Properties) bool {
	switch a.units[file].bundles[from.bundle].Bundler {
	case bundle.SystemJS, bundle.AMD:
	default:
		return false
	}
	if !strings.HasPrefix(q.Specifier, "./") && !strings.HasPrefix(q.Specifier, "../") {
		return false
	}
	found := a.resolver.Resolve(a.tree.Files[file].Path, q.Specifier, resolve.How{})
	other, ok := a.byPath[found.Path]
	if !ok || found.Path == "" {
		return false
	}
	to := a.fileNodes[other]
	if u := a.units[other]; u != nil {
		for i := 1; i < len(u.parts); i++ {
			if p := &u.parts[i]; u.bundles[p.bundle].Modules[p.module].ID == "" {
				to = a.partNodes[other][i]
				break
			}
		}
	}
	a.b.Edge(from.node, to, model.ApplicationRelationImports, a.b.From(from.source), at, properties)
	return true
}

// A loader is a module that loads others, and how far its boundaries can be relied
// on: what it loads is no surer than that.
type loader struct {
	node   int64
	bundle int
	source graph.Source
}

func (a *analysis) drawLoad(file int, from loader, here map[string]int64, q bundle.Require) {
	properties := graph.Properties{"kind": "require"}
	if q.Dynamic {
		properties["kind"] = "dynamic-import"
	}
	if q.Specifier != "" {
		properties["specifier"] = address.Text(q.Specifier)
	}
	at := a.location(file, q.At)
	if to, ok := here[q.ID]; ok && !q.Unknown {
		source := from.source
		if q.Shared {
			properties["kind"] = "shared-scope"
			source = inferred(fromBundle, model.ApplicationProvenanceConfidenceHigh, "it uses a name that the other module declares")
		}
		a.b.Edge(from.node, to, model.ApplicationRelationImports, a.b.From(source), at, properties)
		return
	}
	source := unknown(fromBundle, "no bundle in the application has the module")
	key := q.ID
	to, count := place{}, 0
	if !q.Unknown {
		to, count = a.elsewhere(file, from.bundle, q.ID)
	}
	switch {
	case q.Unknown:
		source = unknown(fromBundle, "the module is only known when the program runs")
		key = a.tree.Files[file].Path + "@" + itoa(int(q.At.Start))
	case count == 1:
		source = inferred(fromBundle, model.ApplicationProvenanceConfidenceHigh, "another chunk has the module")
		a.b.Edge(from.node, a.partNodes[to.file][to.part], model.ApplicationRelationImports, a.b.From(source), at, properties)
		return
	case count > 1:
		source = unknown(fromBundle, "several chunks have the module")
	case a.drawFileLoad(file, from, q, at, properties):
		return
	case q.ID == "" && q.Specifier != "":
		key = address.Text(q.Specifier)
	}
	label := key
	if q.Unknown {
		label = ""
	}
	outside := a.b.Node(model.ApplicationNodeKindExternalModule, graph.Local("module "+key), label, a.b.From(source), nil, graph.Properties{"builtin": false})
	a.b.Edge(from.node, outside, model.ApplicationRelationImports, a.b.From(source), at, properties)
}
