package application

import (
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/graph"
)

// drawBanners draws the libraries that banners name.
func (a *analysis) drawBanners() {
	for i, u := range a.units {
		if u == nil {
			continue
		}
		for _, b := range u.banners {
			name := b.name
			if name == "" {
				continue
			}
			key, p := "library "+name, graph.Properties{"name": name}
			if b.version != "" {
				key += "@" + b.version
				p["version"] = b.version
			}
			if b.licence != "" {
				p["licence"] = b.licence
			}
			source := inferred(fromSyntax, model.ApplicationProvenanceConfidenceMedium, "a banner comment names it")
			label := name
			if b.version != "" {
				label += " " + b.version
			}
			node := a.b.Node(model.ApplicationNodeKindLibrary, graph.Local(key), label, a.b.From(source), nil, p)
			a.b.Edge(a.fileNodes[i], node, model.ApplicationRelationContains, a.b.From(source), a.location(i, b.at), nil)
		}
	}
}

// roleNames of the processes that run code.
var roleNames = map[model.ApplicationNodeKind]string{
	model.ApplicationNodeKindElectronMain:     "main",
	model.ApplicationNodeKindElectronPreload:  "preload",
	model.ApplicationNodeKindElectronRenderer: "renderer",
	model.ApplicationNodeKindElectronUtility:  "utility",
	model.ApplicationNodeKindWorker:           "worker",
	model.ApplicationNodeKindServiceWorker:    "service-worker",
	model.ApplicationNodeKindChildProcess:     "child-process",
}

// drawRoles gives code the names of the processes that reach it through loads
// and imports that are known.
func (a *analysis) drawRoles() {
	next := make([][]int64, len(a.b.Nodes))
	for i := range a.b.Edges {
		e := &a.b.Edges[i]
		switch e.Relation {
		case model.ApplicationRelationImports, model.ApplicationRelationLoads, model.ApplicationRelationContains:
		default:
			continue
		}
		if string(e.Properties["kind"]) == `"resolve"` { // the path alone is asked for
			continue
		}
		if code(a.b.Nodes[e.From].Kind) && code(a.b.Nodes[e.To].Kind) {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	reached := make([][]string, len(a.b.Nodes))
	starts := map[string][]int64{}
	if !a.electron {
		a.roles = append(a.roles, a.webRoles()...)
	}
	for _, r := range a.roles {
		name := r.name
		if name == "" {
			name = roleNames[r.kind]
		}
		if name != "" {
			starts[name] = append(starts[name], a.fileNodes[a.byPath[r.file]])
		}
	}
	for _, name := range []string{"child-process", "main", "node", "page", "preload", "renderer", "service-worker", "utility", "worker"} {
		queue := slices.Clone(starts[name])
		for len(queue) > 0 {
			n := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if slices.Contains(reached[n], name) {
				continue
			}
			reached[n] = append(reached[n], name)
			queue = append(queue, next[n]...)
		}
	}
	a.reached = reached
	for i, names := range reached {
		if len(names) > 0 {
			a.b.Set(int64(i), "processes", names)
		}
	}
}

// webRoles are the processes of an application without Electron: its pages, and the
// programs that its packages put into reach of a shell.
func (a *analysis) webRoles() (list []processRole) {
	for i, d := range a.documents {
		if d != nil {
			list = append(list, processRole{name: "page", file: a.tree.Files[i].Path})
		}
	}
	for _, file := range a.bins {
		list = append(list, processRole{name: "node", file: file})
	}
	return list
}

// code reports whether nodes of a kind are code or documents that load it.
func code(kind model.ApplicationNodeKind) bool {
	switch kind {
	case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup, model.ApplicationNodeKindHTMLDocument:
		return true
	}
	return false
}
