package application

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/tree"
)

// fromPath is what the place of a file says, in a framework that makes routes of it.
var fromPath = graph.Source{Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityPackageMetadata, State: model.ApplicationProvenanceStateInferred, Confidence: model.ApplicationProvenanceConfidenceHigh, Reason: "Next.js makes a route of the place of a file"}

// drawPages draws the routes that Next.js makes of files, in the folders pages and app of
// sources and of what it builds.
func (a *analysis) drawPages() {
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		if f.Kind != tree.JavaScript && f.Kind != tree.TypeScript || strings.Contains("/"+f.Path, "/node_modules/") {
			continue
		}
		folder, kind, rest := pagesFolder(f.Path)
		if kind == "" || !a.nextIn(folder) {
			continue
		}
		route, side, ok := routeOfFile(kind, rest)
		if !ok {
			continue
		}
		node := a.b.Node(model.ApplicationNodeKindRoute, graph.Local(route), route, a.b.From(fromPath), nil, nil)
		edge := graph.Properties{"via": "next " + kind, "side": side, "use": "definition"}
		if methods := a.methodsOf(i); side == "server" && kind == "app" && len(methods) > 0 {
			edge["methods"] = methods
		}
		a.b.Edge(a.fileNodes[i], node, model.ApplicationRelationHandles, a.b.From(fromPath), nil, edge)
	}
}

// pagesFolder divides the path of a file of an application of Next.js: the folder of the
// application, "pages" or "app", and what comes behind. The kind is "" for other files.
func pagesFolder(p string) (folder, kind, rest string) {
	steps := strings.Split(p, "/")
	for i, s := range steps[:len(steps)-1] {
		if s != "pages" && s != "app" {
			continue
		}
		before := steps[:i]
		switch n := len(before); {
		case n >= 2 && before[n-1] == "server" && strings.HasPrefix(before[n-2], ".next"):
			before = before[:n-2]
		case n >= 3 && before[n-1] == "server" && before[n-2] == "dev" && before[n-3] == ".next":
			before = before[:n-3]
		case n >= 1 && before[n-1] == "src":
			before = before[:n-1]
		}
		return path.Join(append([]string{"."}, before...)...), s, strings.Join(steps[i+1:], "/")
	}
	return "", "", ""
}

// nextIn reports whether a folder is an application of Next.js.
func (a *analysis) nextIn(folder string) bool {
	known, ok := a.next[folder]
	if ok {
		return known
	}
	if m := a.manifests[folder]; m != nil {
		known = dependsOn(m, "next")
	}
	for _, name := range []string{"next.config.js", "next.config.mjs", "next.config.cjs", "next.config.ts", ".next/BUILD_ID"} {
		known = known || a.Has(path.Join(folder, name))
	}
	if a.next == nil {
		a.next = map[string]bool{}
	}
	a.next[folder] = known
	return known
}

// dependsOn reports whether a manifest names a package among its dependencies.
func dependsOn(m *resolve.Manifest, name string) bool {
	for _, list := range []string{"dependencies", "devDependencies", "peerDependencies"} {
		var names map[string]jsontext.Value
		if json.Unmarshal(m.Raw[list], &names) == nil {
			if _, ok := names[name]; ok {
				return true
			}
		}
	}
	return false
}

// routeOfFile is the route of a file behind the folder pages or app: groups and slots
// are no part of it. ok is false for files that are none.
func routeOfFile(kind, rest string) (route, side string, ok bool) {
	name := path.Base(rest)
	stem := strings.TrimSuffix(name, path.Ext(name))
	steps := strings.Split(path.Dir(rest), "/")
	if steps[0] == "." {
		steps = nil
	}
	side = "client"
	if kind == "pages" {
		if strings.HasPrefix(stem, "_") || strings.HasSuffix(stem, ".d") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") {
			return "", "", false
		}
		if len(steps) > 0 && steps[0] == "api" || len(steps) == 0 && stem == "api" {
			side = "server"
		}
		if stem != "index" {
			steps = append(steps, stem)
		}
		return "/" + strings.Join(steps, "/"), side, true
	}
	switch stem {
	case "page":
	case "route":
		side = "server"
	default:
		return "", "", false
	}
	var out []string
	for _, s := range steps {
		switch {
		case strings.HasPrefix(s, "_"): // private
			return "", "", false
		case strings.HasPrefix(s, "(.") || strings.HasPrefix(s, "@"): // shown inside of another page
			if s[0] == '(' {
				return "", "", false
			}
		case strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")"):
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/"), side, true
}

// methodsOf are the methods of HTTP that a file exports functions for.
func (a *analysis) methodsOf(file int) (list []string) {
	u := a.units[file]
	if u == nil {
		return nil
	}
	for _, name := range u.parts[0].exportNames() {
		switch name {
		case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
