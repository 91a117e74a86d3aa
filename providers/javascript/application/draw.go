package application

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/tree"
)

const extractor = "rea.javascript/1"

// Sources of facts.
var (
	fromBytes   = graph.Source{Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityArtifactBytes, State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact}
	fromPackage = graph.Source{Extractor: extractor, Authority: model.ApplicationProvenanceAuthorityPackageMetadata, State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact}
	fromSyntax  = graph.Source{Extractor: extractor, Authority: model.ApplicationProvenanceAuthoritySyntaxTree, State: model.ApplicationProvenanceStateObserved, Confidence: model.ApplicationProvenanceConfidenceExact}
)

// inferred is s where the fact follows from what was seen.
func inferred(s graph.Source, confidence model.ApplicationProvenanceConfidence, reason string) graph.Source {
	s.State, s.Confidence, s.Reason = model.ApplicationProvenanceStateInferred, confidence, reason
	return s
}

func unknown(s graph.Source, reason string) graph.Source {
	s.State, s.Confidence, s.Reason = model.ApplicationProvenanceStateUnknown, model.ApplicationProvenanceConfidenceUnknown, reason
	return s
}

func (a *analysis) draw() error {
	a.b = graph.NewBuilder(a.files())
	a.root = a.b.Node(model.ApplicationNodeKindApplication, graph.Identity{Strategy: model.ApplicationNodeIdentityStrategyContentDigest, SHA256: a.tree.SHA256},
		a.tree.Name, a.b.From(fromBytes), nil, nil)
	for _, g := range a.tree.Gaps {
		a.b.Gap(g.What, g.Omitted, g.Reason)
		a.resolver.Partial = a.resolver.Partial || g.What == "files" || strings.HasPrefix(g.What, "entries of ")
	}
	a.drawFiles()
	a.partNodes = make([][]int64, len(a.units))
	for i := range a.units {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if a.units[i] != nil {
			a.drawUnit(i)
		}
	}
	a.drawLoads()
	for _, draw := range []func(){a.drawEntries, a.drawPages, a.drawShown, a.drawDocuments, a.drawRoles, a.drawMessages, a.drawUses, a.drawMaps, a.drawBanners} {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		draw()
	}
	return nil
}

func (a *analysis) files() []model.ApplicationFile {
	out := make([]model.ApplicationFile, len(a.tree.Files))
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		row := model.ApplicationFile{Path: f.Path, Kind: model.ApplicationFileKind(f.Kind), Size: f.Size, SHA256: optional(f.SHA256), Reason: optional(f.Reason), State: model.ApplicationFileStateListed}
		switch u := a.units[i]; {
		case f.Contradicted:
			row.State = model.ApplicationFileStateContradicted
		case f.SHA256 == "" && f.Kind != tree.Symlink:
			row.State = model.ApplicationFileStateUnavailable
		case u != nil && u.failed > 0:
			row.State = model.ApplicationFileStatePartial
			reason := "line " + itoa(u.lines.of(u.errors[0].At)) + ": " + u.errors[0].What
			if u.failed > 1 {
				reason += " (" + itoa(u.failed) + " errors)"
			}
			row.Reason = &reason
		case u != nil || f.Kind == tree.JSON || f.Kind == tree.HTML || f.Kind == tree.SourceMap:
			row.State = model.ApplicationFileStateAnalyzed
		case a.lowered[i] || wide(f.Data) || f.Kind == tree.Other && f.Reason != "":
			row.State = model.ApplicationFileStateSkipped
		}
		if f.Kind.Text() && f.Data == nil && row.State != model.ApplicationFileStateContradicted {
			row.State = model.ApplicationFileStateSkipped
		}
		out[i] = row
	}
	return out
}

// drawFiles draws files and packages.
func (a *analysis) drawFiles() {
	a.fileNodes = make([]int64, len(a.tree.Files))
	a.packages = map[string]int64{}
	packages := a.packages
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		if m := a.manifests[path.Dir(f.Path)]; m != nil && path.Base(f.Path) == "package.json" {
			dir := path.Dir(f.Path)
			p := graph.Properties{"path": dir}
			for name, v := range map[string]string{"version": m.Version, "type": m.Type, "main": m.Main, "module": m.Module} {
				if v != "" {
					p[name] = v
				}
			}
			packages[dir] = a.b.Node(model.ApplicationNodeKindPackage, graph.Path(dir, f.SHA256), m.Name, a.b.From(fromPackage), nil, p)
		}
	}
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		kind := model.ApplicationNodeKindFile
		switch f.Kind {
		case tree.JavaScript, tree.TypeScript:
			kind = model.ApplicationNodeKindJavascriptAsset
		case tree.HTML:
			kind = model.ApplicationNodeKindHTMLDocument
		case tree.SourceMap:
			kind = model.ApplicationNodeKindSourceMap
		case tree.Native:
			kind = model.ApplicationNodeKindNativeAddon
		}
		a.fileNodes[i] = a.b.Node(kind, graph.Path(f.Path, f.SHA256), f.Path, a.b.From(fromBytes), nil, graph.Properties{"file": i})
		parent := a.root
		for d := path.Dir(f.Path); ; d = path.Dir(d) {
			if p, ok := packages[d]; ok {
				parent = p
				break
			}
			if d == "." || d == "/" {
				break
			}
		}
		a.b.Edge(parent, a.fileNodes[i], model.ApplicationRelationContains, a.b.From(fromBytes), nil, nil)
		if a.lowered[i] && f.Reason != "" {
			a.b.Gap("program in "+f.Path, -1, f.Reason)
		}
		a.drawEncoding(f, a.units[i] != nil)
	}
	for i := range a.tree.Files {
		if p, ok := packages[path.Dir(a.tree.Files[i].Path)]; ok && path.Base(a.tree.Files[i].Path) == "package.json" {
			a.b.Edge(a.root, p, model.ApplicationRelationContains, a.b.From(fromPackage), nil, nil)
		}
	}
}

// drawUnit draws a program and the modules packed in it.
func (a *analysis) drawUnit(file int) {
	u := a.units[file]
	if u.failed > 0 {
		reason := "syntax errors"
		if slices.ContainsFunc(u.errors, func(e parse.Error) bool { return e.What == parse.TooDeep }) {
			reason = "code is nested deeper than the reader goes: " + itoa(parse.MaxDepth) + " levels, or " + itoa(parse.MaxChain) + " members and operators in a row"
		}
		a.b.Gap("statements of "+a.tree.Files[file].Path, int64(u.failed), reason)
	}
	a.drawBundles(file)
	for i := range u.parts {
		a.drawPart(file, i)
	}
}

// drawPart draws what one part says.
func (a *analysis) drawPart(file, index int) {
	p := &a.units[file].parts[index]
	from := a.partNodes[file][index]
	for i := range p.imports {
		a.drawImport(file, from, &p.imports[i])
	}
	if names := p.exportNames(); len(names) > 0 {
		a.b.Set(from, "exports", names)
	}
	if p.shapes != nil {
		a.b.Set(from, "export_shapes", p.shapes)
	}
	a.drawPrint(from, &p.print)
	for i := range p.facts {
		a.drawFact(file, from, &p.facts[i])
	}
}

// drawPrint keeps what a part is recognized by.
func (a *analysis) drawPrint(node int64, p *print) {
	a.b.Set(node, "features", p.count)
	for name, digest := range map[string]string{"normal_sha256": p.normal, "structure_sha256": p.features, "sketch": p.sketch} {
		if digest != "" {
			a.b.Set(node, name, digest)
		}
	}
}

func format(u *unit) string {
	switch {
	case u.module:
		return "esm"
	case u.umd:
		return "umd"
	case u.commonJS():
		return "commonjs"
	}
	return "script"
}

// commonJS reports whether a program loads or exports as modules of CommonJS do.
func (u *unit) commonJS() bool {
	for i := range u.parts {
		p := &u.parts[i]
		if i > 0 && u.bundles[p.bundle].Modules[p.module].Kind == bundle.Wrapped {
			continue
		}
		if slices.ContainsFunc(p.imports, func(v facts.Import) bool { return v.Kind == facts.Require }) {
			return true
		}
	}
	// What the entry of webpack's bundles exports goes nowhere by itself.
	own := slices.ContainsFunc(u.bundles, func(b bundle.Bundle) bool { return family(b.Bundler) == bundle.Webpack })
	return slices.ContainsFunc(u.parts[0].exports, func(v facts.Export) bool { return !own || v.Name == "module.exports" })
}
func (a *analysis) location(file int, at parse.Span) *int64 {
	if a.lowered[file] {
		return nil // positions are not those of the file
	}
	return a.b.Location(file, at.Start, at.End, a.units[file].lines.of(at.Start))
}

func (a *analysis) drawImport(file int, from int64, i *facts.Import) {
	specifier := address.Text(i.Specifier)
	p := graph.Properties{"specifier": specifier, "kind": string(i.Kind)}
	if len(i.Names) > 0 {
		p["names"] = i.Names
	}
	if i.Optional {
		p["optional"] = true
	}
	at := a.location(file, i.At)
	if i.Unknown {
		source := unknown(fromSyntax, "the specifier is only known when the program runs")
		to := a.b.Node(model.ApplicationNodeKindUnknown, graph.Local("import of "+a.tree.Files[file].Path+" at "+itoa(int(i.At.Start))), "", a.b.From(source), at, nil)
		delete(p, "specifier")
		a.b.Edge(from, to, model.ApplicationRelationImports, a.b.From(source), at, p)
		return
	}
	r := a.resolve(file, i.Specifier, i.Kind == facts.Require || i.Kind == facts.Resolve)
	switch {
	case r.Path != "":
		a.checkData(a.byPath[r.Path])
		a.b.Edge(from, a.fileNodes[a.byPath[r.Path]], model.ApplicationRelationImports, a.b.From(fromSyntax), at, p)
		return
	case r.Builtin, r.URL:
		if r.Address != "" {
			specifier = address.Clean(r.Address)
		}
		to := a.b.Node(model.ApplicationNodeKindExternalModule, graph.Local(specifier), specifier, a.b.From(fromSyntax), nil, graph.Properties{"builtin": r.Builtin})
		a.b.Edge(from, to, model.ApplicationRelationImports, a.b.From(fromSyntax), at, p)
		return
	}
	source := unknown(fromSyntax, r.Reason)
	key, label := specifier, specifier
	if r.Package == "" {
		key = path.Join(path.Dir(a.tree.Files[file].Path), specifier)
	}
	to := a.b.Node(model.ApplicationNodeKindExternalModule, graph.Local(key), label, a.b.From(source), nil, graph.Properties{"builtin": false})
	a.b.Edge(from, to, model.ApplicationRelationImports, a.b.From(source), at, p)
}

// openReasons say why it isn't known what code does, by kind of fact.
var openReasons = map[facts.Kind]string{
	facts.Compiled: "its code is only compiled when the program runs",
	facts.Chosen:   "which global it takes is only known when the program runs",
}

// drawOpen draws what code does that is only known when it runs.
func (a *analysis) drawOpen(file int, from int64, f *facts.Fact) {
	source, at := unknown(fromSyntax, openReasons[f.Kind]), a.location(file, f.At)
	to := a.b.Node(model.ApplicationNodeKindUnknown, graph.Local(a.tree.Files[file].Path+"@"+itoa(int(f.At.Start))), "", a.b.From(source), at, graph.Properties{"what": string(f.Kind)})
	a.b.Edge(from, to, model.ApplicationRelationCalls, a.b.From(source), at, graph.Properties{"via": f.Via})
}

// checkData names data that programs ask for and that can't be read.
func (a *analysis) checkData(file int) {
	f := &a.tree.Files[file]
	if f.Kind != tree.JSON || f.Data == nil || a.checked[file] || path.Base(f.Path) == "package.json" {
		return
	}
	a.checked[file] = true
	if !jsontext.Value(bytes.TrimPrefix(f.Data, []byte("\ufeff"))).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		a.b.Gap("file "+f.Path, -1, "a program asks for it, and it is no JSON")
	}
}

// relations by kind of fact.
var relations = map[facts.Kind]model.ApplicationRelation{
	facts.Endpoint:    model.ApplicationRelationCalls,
	facts.Route:       model.ApplicationRelationHandles,
	facts.Storage:     model.ApplicationRelationPersistsTo,
	facts.Flag:        model.ApplicationRelationReads,
	facts.Environment: model.ApplicationRelationReads,
	facts.BridgeAPI:   model.ApplicationRelationExposes,
}

func (a *analysis) drawFact(file int, from int64, f *facts.Fact) {
	switch f.Kind {
	case facts.Message:
		a.collectMessage(file, from, f)
		return
	case facts.Window:
		a.drawWindow(file, from, f)
		return
	case facts.NativeBinding:
		a.drawBinding(file, from, f)
		return
	case facts.Preload, facts.Document, facts.Worker, facts.ServiceWorker, facts.NativeAddon, facts.ChildProcess:
		a.drawProcess(file, from, f)
		return
	case facts.Compiled, facts.Chosen:
		a.drawOpen(file, from, f)
		return
	}
	relation, ok := relations[f.Kind]
	if !ok {
		return
	}
	p := graph.Properties{}
	for _, d := range f.Details {
		p[d.Name] = d.Value
	}
	at := a.location(file, f.At)
	why := "its name is only known when the program runs"
	if p["all"] == true {
		why = "all of them are handed on"
	}
	source := nameSource(f.Dynamic, f.Inferred, why)
	key := f.Name
	if f.Dynamic {
		key = a.tree.Files[file].Path + "@" + itoa(int(f.At.Start))
	}
	if f.Kind == facts.Storage {
		if area, ok := p["area"].(string); ok {
			key = area + ":" + key
		}
	}
	if p["protocol_handler"] == true && p["use"] != "privileged" {
		relation = model.ApplicationRelationHandles
	}
	if p["access"] == "read" {
		relation = model.ApplicationRelationReads
	}
	delete(p, "access")
	edge := graph.Properties{"via": f.Via}
	for _, name := range []string{"method", "use", "side", "write"} {
		if v, ok := p[name]; ok {
			edge[name] = v
			delete(p, name)
		}
	}
	node := a.b.Node(model.ApplicationNodeKind(f.Kind), graph.Local(strings.ToValidUTF8(key, "\ufffd")), f.Name, a.b.From(source), nil, p)
	a.b.Edge(from, node, relation, a.b.From(source), at, edge)
	a.showIn(file, f, node)
}
