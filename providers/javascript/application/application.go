// Package application puts together what an application is: it reads its files,
// extracts what each of them says, finds what belongs together, and draws the
// graph.
//
// # Phases
//
// Files are read (package tree), each program is parsed, unpacked and extracted
// on its own (unit), and then the graph is drawn from the results in order of
// path, so that it does not depend on which of them was ready first. Between
// phases and between files the context is looked at.
package application

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"rea/generated/model"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/html"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/sourcemap"
	"rea/providers/javascript/tree"
	"rea/runtime/progress"
)

// Analyze draws the map of an application.
func Analyze(ctx context.Context, t *tree.Tree) (*model.ApplicationAnalysis, error) {
	a := &analysis{ctx: ctx, tree: t, busy: newProcessors(), byPath: make(map[string]int, len(t.Files)), units: make([]*unit, len(t.Files)), manifests: map[string]*resolve.Manifest{}, windows: map[window]int64{}, checked: map[int]bool{}}
	a.documents, a.maps = make([]*html.Document, len(t.Files)), make([]*sourcemap.Map, len(t.Files))
	a.mapErrors, a.lowered = make([]error, len(t.Files)), make([]bool, len(t.Files))
	for i := range t.Files {
		a.byPath[t.Files[i].Path] = i
	}
	read, done := collect(thriftOf(t))
	defer done()
	for _, phase := range []struct {
		what string
		run  func() error
	}{
		{"reading package.json", a.readManifests},
		{"parsing", func() error {
			defer read()
			return a.readUnits()
		}},
		{"reading import maps", a.readImportMaps},
		{"joining chunks", a.joinChunks},
		{"settling names", a.settleFacts},
		{"drawing the graph", a.draw},
		{"joining semantics", func() error {
			a.application = a.b.Graph()
			return a.joinSemantics()
		}},
	} {
		progress.Report(ctx, phase.what)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := phase.run(); err != nil {
			return nil, err
		}
	}
	out := a.result()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

type analysis struct {
	ctx       context.Context // of the one call of Analyze that made this
	tree      *tree.Tree
	busy      processors
	byPath    map[string]int // index of a file
	units     []*unit        // by file, nil for those that are not programs
	manifests map[string]*resolve.Manifest
	resolver  *resolve.Resolver
	packing   *packing
	documents []*html.Document // by file
	maps      []*sourcemap.Map // by file: of source maps, and of programs that hold one
	mapErrors []error          // by file
	lowered   []bool           // by file: read after its types were taken out
	// importMaps are those of the pages that load a file, by file; nil without any.
	importMaps [][]*pageMap

	b *graph.Builder
	// Nodes that others are joined to.
	root       int64
	fileNodes  []int64   // by file
	partNodes  [][]int64 // by file and part
	pending    []pending
	packages   map[string]int64 // by folder
	docDirs    []string         // folders of documents, nil until asked for
	roles      []processRole
	operations []operation
	windows    map[window]int64
	shown      []shown
	checked    map[int]bool // files of data that were looked at
	electron   bool         // a program of it asks for Electron
	bins       []string     // files that packages of it put into reach of a shell
	// What joins the semantic graphs of files.
	deliveries  []delivery
	next        map[string]bool              // folders that were asked whether they are applications of Next.js
	reached     [][]string                   // processes that run code, by node
	removals    map[side]map[string][]string // where handlers are taken off, by channel
	uses        []use
	starts      []start
	application model.ApplicationGraph // drawn
	semantics   model.JavascriptSemantics
}

// Has reports whether a file is there.
func (a *analysis) Has(p string) bool {
	i, ok := a.byPath[p]
	return ok && a.tree.Files[i].Kind != tree.Symlink
}

// Link is where a symbolic link leads.
func (a *analysis) Link(p string) (string, bool) {
	i, ok := a.byPath[p]
	if !ok || a.tree.Files[i].Kind != tree.Symlink {
		return "", false
	}
	return a.tree.Files[i].Link, true
}

// Manifest of a folder.
func (a *analysis) Manifest(dir string) *resolve.Manifest {
	return a.manifests[path.Clean(dir)]
}

func (a *analysis) readManifests() error {
	for i := range a.tree.Files {
		f := &a.tree.Files[i]
		if path.Base(f.Path) != "package.json" || f.Data == nil {
			continue
		}
		if m, ok := resolve.ReadManifest(f.Data); ok {
			a.manifests[path.Dir(f.Path)] = m
		} else {
			a.tree.Gaps = append(a.tree.Gaps, tree.Gap{What: "file " + f.Path, Omitted: -1, Reason: "it is no object of JSON, so what it says of its package is not known"})
		}
	}
	var files resolve.Files = a
	if !slices.ContainsFunc(a.tree.Files, func(f tree.File) bool { return f.Kind == tree.Symlink }) {
		files = struct{ resolve.Files }{a} // nothing to follow
	}
	a.resolver = resolve.New(files)
	return nil
}

// readUnits reads programs on all processors.
func (a *analysis) readUnits() error {
	if err := a.each(a.readMap); err != nil {
		return err
	}
	return a.each(func(i int) error {
		f := &a.tree.Files[i]
		if f.Data == nil {
			return nil
		}
		progress.Report(a.ctx, "parsing "+f.Path)
		if wide(f.Data) {
			return nil
		}
		code, module := text(f.Data), a.isModule(f.Path)
		switch f.Kind {
		case tree.JavaScript:
		case tree.TypeScript:
			a.lowered[i] = true
			lowered, reason := lower(f.Path, code)
			if reason != "" {
				f.Reason = reason
				return nil
			}
			code, module = lowered, true
		case tree.HTML:
			a.documents[i] = html.Read(code)
			inline, isModule, ok := a.documents[i].Code(code)
			if !ok {
				return nil
			}
			code, module = inline, isModule
		default:
			return nil
		}
		mapOf := func(address string) *sourcemap.Map {
			if a.lowered[i] || f.Kind == tree.HTML {
				return nil
			}
			return a.mapOf(i, address)
		}
		u, err := readUnit(a.ctx, a.busy, code, f.SHA256, module, mapOf)
		if err != nil {
			return err
		}
		if a.lowered[i] {
			u.graph = nil // places would not be those of the file
		}
		a.units[i] = u
		return nil
	})
}

// readMap reads a file that is a source map.
func (a *analysis) readMap(i int) error {
	f := &a.tree.Files[i]
	if f.Kind == tree.SourceMap && f.Data != nil {
		a.maps[i], a.mapErrors[i] = sourcemap.Read(f.Data)
	}
	return nil
}

// mapOf is the source map at an address that the program in a file declares: one
// it holds itself, or a file. It is nil when there is none that can be read.
func (a *analysis) mapOf(i int, address string) *sourcemap.Map {
	if address == "" {
		if to, ok := a.companion(i); ok {
			return a.maps[to]
		}
		return nil
	}
	if inline, ok := sourcemap.Inline(address); ok {
		a.maps[i], a.mapErrors[i] = sourcemap.Read(inline)
		return a.maps[i]
	}
	if strings.HasPrefix(address, "data:") {
		a.mapErrors[i] = errUndecoded
		return nil
	}
	if p, ok := a.mapPath(i, address); ok {
		return a.maps[a.byPath[p]]
	}
	return nil
}

// together bounds the bytes of files that are read at the same time, unless one
// file alone has more: what is known of a program while it is read takes many
// times its size. Of a large application a share of all, which takes more anyway.
const (
	together = 6 << 20
	share    = 3
)

// each does work for every file, on all processors, until it fails. One of them
// begins with the largest files and the others with the smallest, so that large
// ones are rarely read at the same time. Files that wait for room are read in the
// order in which they came.
func (a *analysis) each(do func(i int) error) error {
	order, all := a.largestFirst(), int64(0)
	for i := range a.tree.Files {
		all += a.tree.Files[i].Size
	}
	room := max(together, all/share)
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	reading := int64(0)
	came, admitted := 0, 0
	next := func(back bool) (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(order) == 0 || a.ctx.Err() != nil {
			return 0, false
		}
		if i = order[0]; back {
			i = order[len(order)-1]
			order = order[:len(order)-1]
		} else {
			order = order[1:]
		}
		turn, size := came, a.tree.Files[i].Size
		came++
		for turn != admitted || reading > 0 && reading+size > room {
			changed.Wait()
		}
		admitted++
		reading += size
		changed.Broadcast()
		return i, true
	}
	end := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		reading -= a.tree.Files[i].Size
		changed.Broadcast()
	}
	var wg sync.WaitGroup
	var once sync.Once
	var failure error
	broken := false
	for worker := range a.busy.len() {
		wg.Go(func() {
			for {
				i, ok := next(worker > 0)
				if !ok {
					return
				}
				err, panicked := a.fenced(do, i)
				end(i)
				if err != nil || panicked {
					once.Do(func() { failure, broken = err, panicked })
				}
			}
		})
	}
	wg.Wait()
	if broken {
		panic(failure)
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	return failure
}

// fenced does work for a file with a processor.
func (a *analysis) fenced(do func(i int) error, i int) (err error, panicked bool) {
	a.busy.take()
	defer a.busy.giveUp()
	var failed error
	defer func() {
		if failed != nil {
			err, panicked = failed, true
		}
	}()
	defer fence(&failed)
	return do(i), false
}

// largestFirst are the files, so that the last ones to be done are short.
func (a *analysis) largestFirst() []int {
	order := make([]int, len(a.tree.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.tree.Files[y].Size, a.tree.Files[x].Size) })
	return order
}

// isModule reports whether a file is a module by its name or its package.
func (a *analysis) isModule(p string) bool {
	switch path.Ext(p) {
	case ".mjs", ".mts":
		return true
	case ".cjs", ".cts":
		return false
	}
	for d := path.Dir(p); ; d = path.Dir(d) {
		if m := a.manifests[d]; m != nil {
			return m.Type == "module"
		}
		if d == "." || d == "/" || path.Base(d) == "node_modules" {
			return false
		}
	}
}

func (a *analysis) result() *model.ApplicationAnalysis {
	t := a.tree
	out := &model.ApplicationAnalysis{
		Files: a.b.Files, Locations: a.b.Locations, Provenance: a.b.Provenance, Graph: a.application, Semantics: a.semantics,
		Statistics: map[string]int64{}, IntegrityContradictions: []model.ArtifactContradiction{},
	}
	out.Application = model.ApplicationAnalysisApplication{
		Name: strings.ToValidUTF8(t.Name, "\ufffd"), Format: model.ApplicationAnalysisApplicationFormat(t.Format), SHA256: t.SHA256, Files: int64(len(t.Files)), Bytes: t.Bytes,
	}
	for i, u := range a.units {
		if u != nil {
			out.Application.JavascriptFiles++
			out.Application.JavascriptBytes += t.Files[i].Size
		}
	}
	for i := range out.Graph.Nodes {
		out.Statistics["nodes."+string(out.Graph.Nodes[i].Kind)]++
	}
	for i := range out.Graph.Edges {
		out.Statistics["edges."+string(out.Graph.Edges[i].Relation)]++
	}
	out.Statistics["semantic.nodes"] = int64(len(out.Semantics.Kinds))
	out.Statistics["semantic.relations"] = int64(len(out.Semantics.RelationKinds))
	for i := range t.Contradictions {
		out.IntegrityContradictions = append(out.IntegrityContradictions, contradiction(&t.Contradictions[i]))
	}
	return out
}

func contradiction(c *tree.Contradiction) model.ArtifactContradiction {
	out := model.ArtifactContradiction{
		Path: c.Path, Container: c.Container, Type: model.ArtifactEntryType(c.Type), Algorithm: c.Algorithm,
		Declared: optional(c.Declared), Observed: optional(c.Observed), ObservedSHA256: optional(c.SHA256), ContainerSHA256: optional(c.ContainerSHA256),
		Unpacked: c.Unpacked, Quarantined: true,
	}
	if c.Unpacked {
		cause := "packaging tools sign or strip unpacked files after the header is written"
		out.Cause = &cause
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
