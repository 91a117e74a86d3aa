package application

import (
	"path"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/tree"
)

var fromDocument = graph.Source{
	Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityHTMLDocument,
	State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact,
}

var correlated = graph.Source{
	Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityCorrelation,
	State: model.ApplicationProvenanceStateInferred, Confidence: model.ApplicationProvenanceConfidenceHigh,
}

// drawEntries draws what packages start, and which of it is Electron's main
// process.
func (a *analysis) drawEntries() {
	a.electron = a.usesElectron()
	for i := range a.tree.Files {
		dir := path.Dir(a.tree.Files[i].Path)
		m := a.manifests[dir]
		node, ok := a.packages[dir]
		if m == nil || !ok || path.Base(a.tree.Files[i].Path) != "package.json" {
			continue
		}
		inside := strings.Contains(dir+"/", "node_modules/")
		for _, e := range a.entries(dir, m, inside) {
			if e.value == "" {
				continue
			}
			if strings.Contains(e.value, "*") {
				a.drawPattern(node, dir, &e)
				continue
			}
			r := a.resolver.Resolve(path.Join(dir, "package.json"), "./"+strings.TrimPrefix(e.value, "./"), resolve.How{Require: true})
			if r.Path == "" {
				if inside && (e.kind == "exports" || e.kind == "browser") {
					continue // what is installed has less than what was published
				}
				a.b.Gap("entry "+e.kind+" of package "+dir, 1, r.Reason)
				continue
			}
			to := a.fileNodes[a.byPath[r.Path]]
			a.b.Edge(node, to, model.ApplicationRelationLoads, a.b.From(fromPackage), nil, e.properties())
			if e.kind == "bin" && !inside {
				a.bins = append(a.bins, r.Path)
			}
			if a.electron && e.kind == "main" && !inside {
				a.role(model.ApplicationNodeKindElectronMain, r.Path, a.root, graph.Properties{"package": m.Name}, inferred(fromPackage, model.ApplicationProvenanceConfidenceHigh, "the main entry of a package in an application that uses Electron"))
			}
		}
	}
}

// usesElectron reports whether a program outside of node_modules asks for Electron.
func (a *analysis) usesElectron() bool {
	for i, u := range a.units {
		if u == nil || strings.Contains(a.tree.Files[i].Path, "node_modules/") {
			continue
		}
		for j := range u.parts {
			for k := range u.parts[j].imports {
				if s := u.parts[j].imports[k].Specifier; s == "electron" || strings.HasPrefix(s, "electron/") {
					return true
				}
			}
		}
	}
	return false
}

// role draws a process that runs a file.
func (a *analysis) role(kind model.ApplicationNodeKind, file string, parent int64, p graph.Properties, source graph.Source) int64 {
	node := a.b.Node(kind, graph.Local(file), file, a.b.From(source), nil, p)
	a.b.Edge(parent, node, model.ApplicationRelationContains, a.b.From(source), nil, nil)
	a.b.Edge(node, a.fileNodes[a.byPath[file]], model.ApplicationRelationLoads, a.b.From(source), nil, nil)
	a.roles = append(a.roles, processRole{kind: kind, file: file})
	return node
}

// A processRole is a file that a process begins with.
type processRole struct {
	kind model.ApplicationNodeKind
	name string // of the process, where kind does not tell it
	file string
}

// find looks for a file that code in another names: beside it, at the root of
// its package, and at the root of the application.
//
// Pages that are named by no path from the code are looked for at the root first,
// as Electron does.
func (a *analysis) find(from, name string, page bool) string {
	bare := !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/")
	given := name
	name, _, _ = strings.Cut(name, "?")
	name, _, _ = strings.Cut(name, "#")
	name = strings.TrimPrefix(name, "file://")
	if name == "" {
		return ""
	}
	dirs := []string{path.Dir(from)}
	for d := path.Dir(from); d != "." && d != "/"; d = path.Dir(d) {
		if a.manifests[d] != nil {
			dirs = append(dirs, d)
			break
		}
	}
	dirs = append(dirs, ".")
	if page && bare {
		dirs = append(dirs[1:], dirs[0])
	}
	for _, d := range dirs {
		if p := a.in(d, name); p != "" {
			return p
		}
	}
	// Addresses in pages begin at the document, and "/a" at its site.
	found := ""
	for _, d := range a.documentDirs() {
		switch p := a.in(d, name); {
		case p == "" || p == found:
		case found != "":
			return "" // several have it
		default:
			found = p
		}
	}
	if found == "" && bare && !page { // require.resolve("package/file")
		return a.resolver.Resolve(from, given, resolve.How{Require: true}).Path
	}
	return found
}

// in is the file of a name in a folder, with the endings that loaders add.
func (a *analysis) in(dir, name string) string {
	p := path.Join(dir, name)
	for _, ext := range []string{"", ".js", ".cjs", ".mjs", ".html", "/index.js", "/index.html", ".ts"} {
		if a.Has(p + ext) {
			return p + ext
		}
	}
	return ""
}

// maxDocumentDirs bounds the folders of documents in which addresses are looked for.
const maxDocumentDirs = 200

// documentDirs are the folders that have documents.
func (a *analysis) documentDirs() []string {
	if a.docDirs == nil {
		a.docDirs = []string{}
		for i, d := range a.documents {
			if dir := path.Dir(a.tree.Files[i].Path); d != nil && !slices.Contains(a.docDirs, dir) && len(a.docDirs) < maxDocumentDirs {
				a.docDirs = append(a.docDirs, dir)
			}
		}
	}
	return a.docDirs
}

// drawProcess draws a fact that starts a file: a preload script, a document, a
// worker, a child process or a native add-on.
func (a *analysis) drawProcess(file int, from int64, f *facts.Fact) {
	at := a.location(file, f.At)
	p := graph.Properties{"via": f.Via}
	for _, d := range f.Details {
		p[d.Name] = d.Value
	}
	kind, relation := processKind(f)
	found := ""
	if !f.Dynamic && p["inline"] != true {
		found = a.find(a.tree.Files[file].Path, f.Name, f.Kind == facts.Document)
	}
	why := "the file is only known when the program runs"
	if name, ok := p["variable"].(string); ok {
		why = "the address is in the environment variable " + name
	}
	source := nameSource(f.Dynamic, f.Inferred, why)
	key := a.tree.Files[file].Path + "@" + itoa(int(f.At.Start))
	switch {
	case f.Dynamic, p["inline"] == true:
	case found == "" && f.Kind != facts.ChildProcess:
		source = unknown(fromSyntax, a.resolver.Absent("no such file in the application"))
	}
	if found != "" {
		key = found
	} else if !f.Dynamic {
		key = f.Name
	}
	node := a.b.Node(kind, graph.Local(key), f.Name, a.b.From(source), nil, p)
	a.b.Edge(from, node, relation, a.b.From(source), at, graph.Properties{"via": f.Via})
	a.showIn(file, f, node)
	if found != "" {
		a.b.Edge(node, a.fileNodes[a.byPath[found]], model.ApplicationRelationLoads, a.b.From(inferred(fromSyntax, model.ApplicationProvenanceConfidenceHigh, "a path joined to the folder of the program")), nil, nil)
		a.roles = append(a.roles, processRole{kind: kind, file: found})
		a.starts = append(a.starts, start{at, a.byPath[found]})
	}
}

func processKind(f *facts.Fact) (model.ApplicationNodeKind, model.ApplicationRelation) {
	switch f.Kind {
	case facts.Preload:
		return model.ApplicationNodeKindElectronPreload, model.ApplicationRelationLoads
	case facts.Document:
		return model.ApplicationNodeKindElectronRenderer, model.ApplicationRelationLoads
	case facts.Worker:
		return model.ApplicationNodeKindWorker, model.ApplicationRelationLoads
	case facts.ServiceWorker:
		return model.ApplicationNodeKindServiceWorker, model.ApplicationRelationLoads
	case facts.NativeAddon:
		return model.ApplicationNodeKindNativeBinding, model.ApplicationRelationLoads
	}
	for _, d := range f.Details {
		if d.Name == "process" && d.Value == "utility" {
			return model.ApplicationNodeKindElectronUtility, model.ApplicationRelationLoads
		}
	}
	return model.ApplicationNodeKindChildProcess, model.ApplicationRelationCalls
}

// drawBinding draws a request for a native add-on by name, and the file that it
// must mean when only one has the name.
func (a *analysis) drawBinding(file int, from int64, f *facts.Fact) {
	at := a.location(file, f.At)
	candidates := a.addons(file, f)
	key := "binding " + f.Name
	if strings.HasPrefix(f.Name, ".") {
		key = "binding " + path.Join(path.Dir(a.tree.Files[file].Path), f.Name)
	}
	source := nameSource(f.Dynamic, f.Inferred, "its name is only known when the program runs")
	if f.Dynamic {
		key = a.tree.Files[file].Path + "@" + itoa(int(f.At.Start))
	}
	node := a.b.Node(model.ApplicationNodeKindNativeBinding, graph.Local(key), f.Name, a.b.From(source), nil, graph.Properties{"candidates": len(candidates)})
	p := graph.Properties{"via": f.Via}
	for _, d := range f.Details {
		if d.Name == "names" {
			p[d.Name] = d.Value
		}
	}
	a.b.Edge(from, node, model.ApplicationRelationLoads, a.b.From(source), at, p)
	how := inferred(correlated, model.ApplicationProvenanceConfidenceHigh, "the only add-on that it can mean")
	if len(candidates) > 1 {
		how = inferred(correlated, model.ApplicationProvenanceConfidenceLow, "one of several add-ons that it can mean, by the platform")
	}
	for _, i := range candidates[:min(len(candidates), maxAddons)] {
		a.b.Edge(node, a.fileNodes[i], model.ApplicationRelationLoads, a.b.From(how), nil, nil)
	}
}

// literal takes what has a meaning in patterns but is none of them.
var literal = strings.NewReplacer(`\`, `\\`, "[", `\[`, "?", `\?`)

// maxAddons bounds the add-ons that one request is joined to.
const maxAddons = 50

// addons are the native files that a request for a binding can mean: those of its
// name, and where it names a folder, those in the places of builds below it.
func (a *analysis) addons(file int, f *facts.Fact) (list []int) {
	if f.Dynamic {
		return nil
	}
	is := func(what string) bool {
		return slices.ContainsFunc(f.Details, func(d facts.Value) bool { return d.Name == what && d.Value == true })
	}
	folder, pattern := is("folder"), is("pattern")
	dir := path.Join(path.Dir(a.tree.Files[file].Path), f.Name)
	if folder && path.Ext(dir) == ".json" { // the manifest of the package
		dir = path.Dir(dir)
	}
	want := strings.TrimSuffix(path.Base(f.Name), ".node")
	for i := range a.tree.Files {
		if a.tree.Files[i].Kind != tree.Native {
			continue
		}
		p := a.tree.Files[i].Path
		if pattern {
			if ok, err := path.Match(literal.Replace(dir), p); ok && err == nil {
				list = append(list, i)
			}
			continue
		}
		if folder {
			below, ok := strings.CutPrefix(p, dir+"/")
			if dir == "." {
				below, ok = p, true
			}
			first, _, _ := strings.Cut(below, "/")
			if ok && (first == "prebuilds" || first == "build" || first == "lib" || first == "binding") {
				list = append(list, i)
			}
		} else if strings.TrimSuffix(path.Base(p), ".node") == want {
			list = append(list, i)
		}
	}
	return list
}

// drawWindow draws a window and the preload script that its options name.
func (a *analysis) drawWindow(file int, from int64, f *facts.Fact) {
	p := graph.Properties{"class": f.Name, "file": a.tree.Files[file].Path}
	preload := ""
	options := graph.Properties{}
	for _, d := range f.Details {
		options[d.Name] = d.Value
		if text, ok := d.Value.(string); ok && d.Name == "webPreferences.preload" {
			preload = a.find(a.tree.Files[file].Path, text, false)
		}
	}
	if f.Dynamic {
		p["options_known"] = false
	} else {
		p["options_known"] = true
	}
	if len(f.Overridden) > 0 {
		p["options_overridable"] = f.Overridden
	}
	if !f.Dynamic || len(options) > 0 {
		p["options"] = graph.Object(options)
	}
	at := a.location(file, f.At)
	node := a.b.Node(model.ApplicationNodeKindBrowserWindow, graph.Local(a.tree.Files[file].Path+"@"+itoa(int(f.At.Start))), f.Name, a.b.From(fromSyntax), at, p)
	a.b.Edge(from, node, model.ApplicationRelationLoads, a.b.From(fromSyntax), at, nil)
	a.windows[window{file, f.At}] = node
	if preload != "" {
		a.b.Edge(node, a.fileNodes[a.byPath[preload]], model.ApplicationRelationLoads, a.b.From(fromSyntax), nil, graph.Properties{"as": "preload"})
	}
}

// A window is the place of one.
type window struct {
	file int
	at   parse.Span
}

// A shown page is loaded into a window.
type shown struct {
	window  window
	page    int64
	at      *int64
	guessed bool
}

// showIn notes the windows into which a page is loaded.
func (a *analysis) showIn(file int, f *facts.Fact, page int64) {
	for _, at := range f.Windows {
		a.shown = append(a.shown, shown{window{file, at}, page, a.location(file, f.At), f.Guessed})
	}
}

// drawShown joins windows to their pages.
func (a *analysis) drawShown() {
	for _, s := range a.shown {
		node, ok := a.windows[s.window]
		if !ok {
			continue
		}
		source := inferred(fromSyntax, model.ApplicationProvenanceConfidenceHigh, "the variable that the page is loaded with holds the window")
		if s.guessed {
			source = inferred(fromSyntax, model.ApplicationProvenanceConfidenceMedium, "the file has no other window")
		}
		a.b.Edge(node, s.page, model.ApplicationRelationLoads, a.b.From(source), s.at, graph.Properties{"as": "page"})
	}
}

// drawDocuments draws the scripts of documents.
func (a *analysis) drawDocuments() {
	for i, d := range a.documents {
		if d == nil {
			continue
		}
		from := a.fileNodes[i]
		if d.Title != "" {
			a.b.Set(from, "title", d.Title)
		}
		if d.Policy != "" {
			a.b.Set(from, "content_security_policy", address.Text(d.Policy))
		}
		if d.Unclosed {
			a.b.Gap("markup of "+a.tree.Files[i].Path, -1, "the document ends inside of a tag or script")
		}
		a.drawUnread(i, d)
		line := newTally(text(a.tree.Files[i].Data))
		for k := range d.Frames {
			a.drawFrame(i, d, &d.Frames[k], line)
		}
		line = newTally(text(a.tree.Files[i].Data))
		for _, s := range d.Scripts {
			at := a.b.Location(i, uint32(s.Start), uint32(s.End), line.at(s.Start))
			if s.Inline || !s.Runs() && !s.Preload {
				continue
			}
			p := graph.Properties{"src": address.Clean(s.Src), "module": s.Module}
			if s.Preload {
				p["preload"] = true
			}
			if target := a.scriptOf(i, d.Base, s.Src); target != "" {
				a.b.Edge(from, a.fileNodes[a.byPath[target]], model.ApplicationRelationLoads, a.b.From(fromDocument), at, p)
				continue
			}
			source := unknown(fromDocument, a.resolver.Absent("no such file in the application"))
			kind, key := model.ApplicationNodeKindExternalModule, "script "+address.Clean(s.Src)
			if elsewhere(s.Src) {
				source = fromDocument
			}
			to := a.b.Node(kind, graph.Local(key), address.Clean(s.Src), a.b.From(source), nil, graph.Properties{"builtin": false})
			a.b.Edge(from, to, model.ApplicationRelationLoads, a.b.From(source), at, p)
		}
	}
}

// A use is a call of a member of an exposed API.
type use struct {
	file   int
	at     parse.Span
	api    int64
	member string
}

// A start is a place that runs the program in a file.
type start struct {
	at   *int64
	file int
}

// drawUses joins code that calls a member of an API which a preload script
// exposed to that API.
func (a *analysis) drawUses() {
	apis := map[string][]int64{}
	for i := range a.b.Nodes {
		if n := &a.b.Nodes[i]; n.Kind == model.ApplicationNodeKindContextBridgeAPI && n.Label != nil {
			apis[*n.Label] = append(apis[*n.Label], int64(i))
		}
	}
	if len(apis) == 0 {
		return
	}
	source := inferred(correlated, model.ApplicationProvenanceConfidenceHigh, "a global of that name is exposed and declared nowhere else")
	for file, u := range a.units {
		if u == nil {
			continue
		}
		for i := range u.parts {
			for _, g := range u.parts[i].globals {
				if nodes := apis[g.Name]; len(nodes) == 1 {
					a.uses = append(a.uses, use{file, g.At, nodes[0], g.Member})
					a.b.Edge(a.partNodes[file][i], nodes[0], model.ApplicationRelationInvokes, a.b.From(source), a.location(file, g.At), graph.Properties{"member": g.Member})
				}
			}
		}
	}
}
