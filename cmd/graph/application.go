package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/generated/wire"
)

// Application draws the map of a JavaScript application from the record of its
// analysis: code by the processes that run it, packages, and how processes meet. It
// has at most maxNodes boxes; what is folded together for that is said.
func Application(record []byte, maxNodes int) (*Graph, error) {
	var r struct {
		Result json.RawMessage `json:"normalized_result"`
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return nil, fmt.Errorf("reading an analysis: %w", err)
	}
	a := &model.ApplicationAnalysis{}
	if err := wire.Decode(jsontext.Value(r.Result), wire.RecordDepth, a, (*model.ApplicationAnalysis).DecodeJSON); err != nil {
		return nil, fmt.Errorf("reading an analysis: %w", err)
	}
	d := newDrawing(a)
	d.code()
	d.meetings()
	d.outside()
	return d.graph(maxNodes), nil
}

// drawing collects boxes and lines before they are bounded.
type drawing struct {
	*model.ApplicationAnalysis
	out, in [][]int // edges by node
	boxOf   []int   // box of a node, -1 for none
	boxes   []box
	byKey   map[string]int
	lines   map[lineKey][]string // labels
	unsure  int                  // messages without one known partner
}

// box is what becomes a node of the picture.
type box struct {
	key, cluster  string
	title, detail string
	kind          string
	folder        string // of own code, "" for what is not folded by folder
	nodes         int    // of the application graph
	size          int64
	id            string
}

type lineKey struct {
	from, to int
	kind     string
}

// Clusters that are no processes.
const (
	noProcess = "no known process"
	network   = "network"
	machine   = "machine"
)

func newDrawing(a *model.ApplicationAnalysis) *drawing {
	n := len(a.Graph.Nodes)
	d := &drawing{ApplicationAnalysis: a, out: make([][]int, n), in: make([][]int, n), boxOf: make([]int, n), byKey: map[string]int{}, lines: map[lineKey][]string{}}
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		d.out[e.From] = append(d.out[e.From], i)
		d.in[e.To] = append(d.in[e.To], i)
	}
	for i := range d.boxOf {
		d.boxOf[i] = -1
	}
	return d
}

func (d *drawing) node(i int) *model.ApplicationNode { return &d.Graph.Nodes[i] }
func (d *drawing) edge(i int) *model.ApplicationEdge { return &d.Graph.Edges[i] }

func (d *drawing) label(i int) string {
	n := d.node(i)
	for _, s := range []*string{n.Label, n.Identity.Key} {
		if s != nil && *s != "" {
			return *s
		}
	}
	return n.ID
}

// text of a property, "" where it is none.
func text(p map[string]jsontext.Value, name string) string {
	if v := p[name]; v.Kind() == '"' {
		out, _ := jsontext.AppendUnquote(nil, v)
		return string(out)
	}
	return ""
}

func list(p map[string]jsontext.Value, name string) (out []string) {
	_ = json.Unmarshal(p[name], &out)
	return out
}

func number64(p map[string]jsontext.Value, name string) int64 {
	n, _ := strconv.ParseInt(string(p[name]), 10, 64)
	return n
}

// box is the box of a key, made by make when it is not there.
func (d *drawing) box(key string, make func() box) int {
	i, ok := d.byKey[key]
	if !ok {
		i = len(d.boxes)
		d.byKey[key] = i
		b := make()
		b.key = key
		d.boxes = append(d.boxes, b)
	}
	return i
}

func (d *drawing) put(node, box int) {
	d.boxOf[node] = box
	d.boxes[box].nodes++
}

// line joins two boxes; label may be "".
func (d *drawing) line(from, to int, kind, label string) {
	if from < 0 || to < 0 || from == to {
		return
	}
	k := lineKey{from, to, kind}
	labels := d.lines[k]
	if label != "" && !slices.Contains(labels, label) {
		labels = append(labels, label)
	}
	d.lines[k] = labels
}

// original is the path of a node's code as it was written, without the scheme and
// the way up that bundlers write.
func (d *drawing) original(i int) string {
	n := d.node(i)
	p := text(n.Properties, "path")
	if p == "" {
		return ""
	}
	if _, rest, ok := strings.Cut(p, "://"); ok {
		_, p, _ = strings.Cut(rest, "/")
	}
	p, _, _ = strings.Cut(p, "?")
	return strings.TrimLeft(path.Clean("/"+p), "/")
}

// packageOf is the package below node_modules that a path lies in, or "".
func packageOf(p string) string {
	at := strings.LastIndex(p, "node_modules/")
	if at < 0 {
		return ""
	}
	parts := strings.Split(p[at+len("node_modules/"):], "/")
	if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// processes is the cluster of code: the processes that run it.
func (d *drawing) processes(i int) string {
	names := list(d.node(i).Properties, "processes")
	if len(names) == 0 {
		return noProcess
	}
	return strings.Join(names, " + ")
}

// mostBare bounds the modules of a file that have nothing but an id and are drawn.
const mostBare = 40

// code makes the boxes of code, and the lines of loads and imports between them.
func (d *drawing) code() {
	bare := map[string]int{} // modules without a path, by file
	assets := map[string]int{}
	for i := range d.Graph.Nodes {
		switch n := d.node(i); n.Kind {
		case model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
			if d.original(i) == "" {
				bare[text(n.Properties, "file")]++
			}
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindHTMLDocument:
			assets[d.label(i)] = i
		}
	}
	for i := range d.Graph.Nodes {
		n := d.node(i)
		switch n.Kind {
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindHTMLDocument:
			d.file(i, d.label(i))
		case model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
			file := text(n.Properties, "file")
			if d.handsOn(i) {
				continue
			}
			p := d.original(i)
			asset, known := assets[file]
			switch name := packageOf(p); {
			case name != "":
				d.put(i, d.packageBox(name, d.processes(i)))
			case p != "":
				d.file(i, p)
			case known && (n.Kind == model.ApplicationNodeKindModuleGroup || bare[file] > mostBare || !d.lasting(i)):
				d.boxOf[i] = -2 - asset // is shown as its file
			default:
				d.put(i, d.box("module "+n.ID, func() box {
					return box{cluster: d.processes(i), title: d.label(i), detail: file, folder: file, size: number64(n.Properties, "size"), id: n.ID}
				}))
			}
		}
	}
	for i, b := range d.boxOf {
		if b < -1 {
			asset := -2 - b
			d.put(i, d.boxOf[asset])
		}
	}
	for i := range d.Graph.Nodes { // a module of the application that another only hands on
		if d.boxOf[i] < 0 && d.node(i).Kind == model.ApplicationNodeKindJavascriptModule {
			for _, e := range d.out[i] {
				if to := d.boxOf[d.edge(e).To]; d.edge(e).Relation == model.ApplicationRelationImports && to >= 0 {
					d.boxOf[i] = to
				}
			}
		}
	}
	loaded := make([]bool, len(d.boxOf))
	for i := range d.Graph.Edges {
		switch e := d.edge(i); e.Relation {
		case model.ApplicationRelationImports, model.ApplicationRelationLoads:
			loaded[e.To] = true
			d.line(d.boxOf[e.From], d.boxOf[e.To], "import", "")
		}
	}
	for i := range d.Graph.Edges { // a bundle runs the modules that no other loads
		if e := d.edge(i); e.Relation == model.ApplicationRelationContains && !loaded[e.To] && d.node(int(e.From)).Kind == model.ApplicationNodeKindJavascriptAsset {
			d.line(d.boxOf[e.From], d.boxOf[e.To], "import", "")
		}
	}
}

// lasting reports whether the id of a module is more than a name that minification
// chose.
func (d *drawing) lasting(i int) bool {
	switch text(d.node(i).Properties, "bundler") {
	case "rollup", "esbuild", "rolldown":
		return false
	}
	return true
}

// file is the box of code that has a path.
func (d *drawing) file(i int, p string) {
	cluster := d.processes(i)
	if name := packageOf(p); name != "" {
		d.put(i, d.packageBox(name, cluster))
		return
	}
	d.put(i, d.box("file "+cluster+" "+p, func() box {
		return box{cluster: cluster, title: path.Base(p), detail: path.Dir(p), folder: path.Dir(p), size: number64(d.node(i).Properties, "size"), id: d.node(i).ID}
	}))
}

func (d *drawing) packageBox(name, cluster string) int {
	return d.box("package "+cluster+" "+name, func() box {
		return box{cluster: cluster, title: name, kind: "import", id: "package " + name}
	})
}

// handsOn reports whether a module is nothing but a module from outside of its bundle.
func (d *drawing) handsOn(i int) bool {
	n := d.node(i)
	if exports := list(n.Properties, "exports"); len(exports) != 1 || exports[0] != "module.exports" || number64(n.Properties, "features") > 3 {
		return false
	}
	loads, more := 0, 0
	for _, e := range d.out[i] {
		switch d.edge(e).Relation {
		case model.ApplicationRelationImports:
			loads++
		case model.ApplicationRelationMapsTo:
		default:
			more++
		}
	}
	return loads == 1 && more == 0
}

// meetings are the lines between processes: what starts them, messages, exposed
// APIs.
func (d *drawing) meetings() {
	for i := range d.Graph.Nodes {
		n := d.node(i)
		switch n.Kind {
		case model.ApplicationNodeKindElectronMain, model.ApplicationNodeKindElectronPreload, model.ApplicationNodeKindElectronRenderer,
			model.ApplicationNodeKindElectronUtility, model.ApplicationNodeKindWorker, model.ApplicationNodeKindServiceWorker:
			d.process(i)
		case model.ApplicationNodeKindIpcChannel:
			d.channel(i)
		case model.ApplicationNodeKindContextBridgeAPI:
			d.bridge(i)
		}
	}
}

// process marks the file that a process begins with, and joins it to what starts it.
func (d *drawing) process(i int) {
	for _, e := range d.out[i] {
		to := d.boxOf[d.edge(e).To]
		if d.edge(e).Relation != model.ApplicationRelationLoads || to < 0 {
			continue
		}
		d.boxes[to].kind = "entry"
		for _, f := range d.in[i] {
			d.line(d.boxOf[d.edge(f).From], to, "start", strings.TrimPrefix(string(d.node(i).Kind), "electron-"))
		}
	}
}

// channel joins those who send to those who listen.
func (d *drawing) channel(i int) {
	pairing := text(d.node(i).Properties, "pairing")
	var senders, handlers []int
	for _, e := range d.in[i] {
		switch from := int(d.edge(e).From); d.edge(e).Relation {
		case model.ApplicationRelationSends, model.ApplicationRelationInvokes:
			senders = append(senders, d.boxOf[from])
		case model.ApplicationRelationHandles:
			for _, c := range d.in[from] { // the module that the handler stands in
				if d.edge(c).Relation == model.ApplicationRelationContains {
					handlers = append(handlers, d.boxOf[d.edge(c).From])
				}
			}
		}
	}
	if pairing != "paired" {
		d.unsure++
		return
	}
	for _, s := range senders {
		for _, h := range handlers {
			d.line(s, h, "message", d.label(i))
		}
	}
}

// bridge is the box of an API that a preload script exposes: calls go in there.
func (d *drawing) bridge(i int) {
	api := -1
	for _, e := range d.in[i] {
		from := d.boxOf[d.edge(e).From]
		if d.edge(e).Relation != model.ApplicationRelationExposes || from < 0 {
			continue
		}
		if api < 0 {
			members := list(d.node(i).Properties, "members")
			api = d.box("api "+d.node(i).ID, func() box {
				return box{cluster: d.boxes[from].cluster, title: "window." + d.label(i), detail: few(members, 4), id: d.node(i).ID}
			})
			d.boxOf[i] = api
		}
		d.line(api, from, "api", "")
	}
	for _, e := range d.in[i] {
		if d.edge(e).Relation == model.ApplicationRelationInvokes {
			d.line(d.boxOf[d.edge(e).From], api, "api", text(d.edge(e).Properties, "member"))
		}
	}
}

// few joins the first of some texts.
func few(texts []string, n int) string {
	if len(texts) <= n {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s, %d more", strings.Join(texts[:n], ", "), len(texts)-n)
}

// outside makes the boxes of what code uses: hosts, programs, native add-ons, keys.
func (d *drawing) outside() {
	for i := range d.Graph.Nodes {
		n := d.node(i)
		switch n.Kind {
		case model.ApplicationNodeKindEndpoint:
			d.endpoint(i)
		case model.ApplicationNodeKindChildProcess:
			d.program(i)
		case model.ApplicationNodeKindNativeAddon:
			digest := ""
			if n.Identity.SHA256 != nil {
				digest = (*n.Identity.SHA256)[:16]
			}
			to := d.box("addon "+n.ID, func() box {
				return box{cluster: machine, title: path.Base(d.label(i)), detail: digest, kind: "import", id: n.ID}
			})
			d.put(i, to)
			d.users(i, to, "import", "")
			for _, e := range d.in[i] { // names under which it is asked for
				if from := int(d.edge(e).From); d.node(from).Kind == model.ApplicationNodeKindNativeBinding {
					d.users(from, to, "import", "")
				}
			}
		case model.ApplicationNodeKindStorage:
			area := cmp.Or(text(n.Properties, "area"), "storage")
			to := d.box("storage "+area, func() box { return box{cluster: machine, title: area + " storage", kind: "import", id: area} })
			d.put(i, to)
			d.users(i, to, "use", "")
		}
	}
	for i := range d.boxes {
		if b := &d.boxes[i]; strings.HasPrefix(b.key, "storage ") {
			b.detail = plural(b.nodes, "key")
		}
	}
}

// program is the box of a program that code runs; those whose names are only known
// when it runs share one. Files of the application have boxes already.
func (d *drawing) program(i int) {
	for _, e := range d.out[i] {
		if to := d.boxOf[d.edge(e).To]; d.edge(e).Relation == model.ApplicationRelationLoads && to >= 0 {
			d.users(i, to, "start", "child process")
			return
		}
	}
	key, title, kind := d.label(i), d.label(i), "import"
	if l := d.node(i).Label; l == nil || *l == "" {
		key, title, kind = "", "known at run time", "unresolved"
	}
	to := d.box("program "+key, func() box {
		return box{cluster: machine, title: title, detail: "program", kind: kind, id: cmp.Or(key, title)}
	})
	d.users(i, to, "start", "")
}

// endpoint folds addresses by host. Addresses that only stand in the code as text
// are none that it is known to ask.
func (d *drawing) endpoint(i int) {
	host := d.label(i)
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	for _, e := range d.in[i] {
		from := d.boxOf[d.edge(e).From]
		if from < 0 || text(d.edge(e).Properties, "use") == "literal" || d.node(i).Label == nil || *d.node(i).Label == "" {
			continue
		}
		to := d.box("host "+host, func() box { return box{cluster: network, title: host, kind: "import", id: host} })
		d.line(from, to, "request", "")
	}
}

// users joins the code that leads to a node to a box.
func (d *drawing) users(i, to int, kind, label string) {
	for _, e := range d.in[i] {
		if d.edge(e).Relation != model.ApplicationRelationContains {
			d.line(d.boxOf[d.edge(e).From], to, kind, label)
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// order of clusters: as calls go.
var order = []string{"renderer", "worker", "service-worker", "preload", "main", "utility"}

func rankOf(cluster string) int {
	switch cluster {
	case noProcess:
		return 90
	case network:
		return 100
	case machine:
		return 101
	}
	first, _, several := strings.Cut(cluster, " + ")
	at := slices.Index(order, first)
	if several {
		return 50 + at
	}
	return at
}

// graph folds boxes until there are few enough, and makes the picture.
func (d *drawing) graph(maxNodes int) *Graph {
	g := &Graph{Title: "processes of " + line(d.ApplicationAnalysis.Application.Name)}
	if n := d.drop(); n > 0 {
		g.Notes = append(g.Notes, plural(n, "package")+" that no known process loads are left out")
	}
	if n := d.folders(maxNodes); n > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%d files are shown by their folders (--max-nodes %d)", n, maxNodes))
	}
	if n := d.rest(maxNodes); n > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%d boxes are left out or folded into “others” (--max-nodes %d)", n, maxNodes))
	}
	if d.unsure > 0 {
		g.Notes = append(g.Notes, plural(d.unsure, "channel")+" without one known partner have no line")
	}
	if d.Graph.Coverage.Status == model.ApplicationCoverageStatusPartial {
		g.Notes = append(g.Notes, "the analysis is partial: "+plural(len(d.Graph.Coverage.Gaps), "gap"))
	}
	var names []string
	for i := range d.boxes {
		if !slices.Contains(names, d.boxes[i].cluster) {
			names = append(names, d.boxes[i].cluster)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a, b)) })
	for _, name := range names {
		kind := ""
		if rankOf(name) >= 90 {
			kind = "outside"
		}
		g.Clusters = append(g.Clusters, Cluster{Title: name, Kind: kind})
	}
	// Boxes in the order of their clusters, entries first.
	by := make([]int, len(d.boxes))
	for i := range by {
		by[i] = i
	}
	entry := func(i int) int {
		if d.boxes[i].kind == "entry" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(by, func(a, b int) int {
		x, y := &d.boxes[a], &d.boxes[b]
		return cmp.Or(cmp.Compare(slices.Index(names, x.cluster), slices.Index(names, y.cluster)), cmp.Compare(entry(a), entry(b)), cmp.Compare(x.detail+x.title, y.detail+y.title))
	})
	at := make([]int, len(by))
	for k, i := range by {
		at[i] = k
		b := &d.boxes[i]
		n := Node{ID: b.id, Lines: []string{line(b.title)}, Kind: b.kind, Cluster: 1 + slices.Index(names, b.cluster)}
		detail := b.detail
		if b.kind == "import" && detail == "" && b.nodes > 1 {
			detail = plural(b.nodes, "file")
		}
		if detail != "" && detail != "." {
			n.Lines = append(n.Lines, line(detail))
		}
		g.Nodes = append(g.Nodes, n)
	}
	keys := slices.SortedFunc(maps.Keys(d.lines), func(a, b lineKey) int {
		return cmp.Or(cmp.Compare(at[a.from], at[b.from]), cmp.Compare(at[a.to], at[b.to]), cmp.Compare(a.kind, b.kind))
	})
	starts := map[[2]int]bool{}
	for _, k := range keys {
		starts[[2]int{k.from, k.to}] = starts[[2]int{k.from, k.to}] || k.kind == "start"
	}
	for _, k := range keys {
		if k.kind == "import" && starts[[2]int{k.from, k.to}] {
			continue
		}
		g.Edges = append(g.Edges, Edge{From: at[k.from], To: at[k.to], Kind: k.kind, Label: few(d.lines[k], 3)})
	}
	return g
}

// drop takes out files that nothing leads to or from and that hold modules which
// are drawn themselves, and packages that no known process loads; it tells how many
// of these there are.
func (d *drawing) drop() (packages int) {
	unloaded := make([]bool, len(d.boxes))
	for i := range d.boxes {
		if b := &d.boxes[i]; b.cluster == noProcess && strings.HasPrefix(b.key, "package ") && d.known() {
			unloaded[i] = true
			packages++
		}
	}
	joined := make([]bool, len(d.boxes))
	for k := range d.lines {
		joined[k.from], joined[k.to] = true, true
	}
	holds := make([]bool, len(d.boxes))
	for i := range d.Graph.Edges {
		e := d.edge(i)
		if from, to := d.boxOf[e.From], d.boxOf[e.To]; e.Relation == model.ApplicationRelationContains && from >= 0 && to >= 0 && from != to {
			holds[from] = true
		}
	}
	d.keep(func(i int) bool { return !unloaded[i] && (joined[i] || !holds[i]) })
	return packages
}

// known reports whether any process is known.
func (d *drawing) known() bool {
	return slices.ContainsFunc(d.boxes, func(b box) bool { return b.kind == "entry" })
}

// keep leaves out boxes, with their lines.
func (d *drawing) keep(is func(i int) bool) {
	to := make([]int, len(d.boxes))
	var kept []box
	for i := range d.boxes {
		to[i] = -1
		if is(i) {
			to[i] = len(kept)
			kept = append(kept, d.boxes[i])
		}
	}
	d.boxes = kept
	d.move(func(i int) int { return to[i] })
}

// move gives lines other ends.
func (d *drawing) move(to func(i int) int) {
	lines := d.lines
	d.lines = map[lineKey][]string{}
	for _, k := range slices.SortedFunc(maps.Keys(lines), func(a, b lineKey) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.kind, b.kind))
	}) {
		from, end := to(k.from), to(k.to)
		if len(lines[k]) == 0 {
			d.line(from, end, k.kind, "")
		}
		for _, label := range lines[k] {
			d.line(from, end, k.kind, label)
		}
	}
	for i, b := range d.boxOf {
		if b >= 0 {
			d.boxOf[i] = to(b)
		}
	}
}

// folders folds own files by folders, from the deepest up, until few enough boxes
// are left; it tells how many files were folded.
func (d *drawing) folders(maxNodes int) int {
	folded := 0
	for len(d.boxes) > maxNodes {
		deepest := 0
		for i := range d.boxes {
			if b := &d.boxes[i]; b.folder != "" && b.kind != "entry" {
				deepest = max(deepest, 1+strings.Count(b.folder, "/"))
			}
		}
		if deepest == 0 {
			break
		}
		first := map[string]int{}
		count := map[string]int{}
		to := make([]int, len(d.boxes))
		for i := range d.boxes {
			to[i] = i
			b := &d.boxes[i]
			if b.folder == "" || b.kind == "entry" || 1+strings.Count(b.folder, "/") < deepest {
				continue
			}
			key := b.cluster + " " + b.folder
			at, there := first[key]
			if !there {
				first[key], at = i, i
			}
			to[i] = at
			count[key] += max(1, b.nodes)
		}
		for key, i := range first {
			b := &d.boxes[i]
			b.title, b.detail, b.nodes, b.id = path.Base(b.folder)+"/", path.Dir(b.folder)+" · "+plural(count[key], "file"), count[key], b.folder
			if b.folder = path.Dir(b.folder); b.folder == "." {
				b.folder = ""
			}
		}
		for i := range to {
			if to[i] != i {
				folded++
			}
		}
		d.move(func(i int) int { return to[i] })
		gone := to
		d.keep(func(i int) bool { return gone[i] == i })
	}
	return folded
}

// rest folds the boxes with the fewest lines of each cluster into one, and tells how
// many.
func (d *drawing) rest(maxNodes int) int {
	over := len(d.boxes) - maxNodes
	if over <= 0 {
		return 0
	}
	degree := make([]int, len(d.boxes))
	for k := range d.lines {
		degree[k.from]++
		degree[k.to]++
	}
	by := make([]int, len(d.boxes))
	clusters := map[string]bool{}
	for i := range by {
		by[i] = i
		clusters[d.boxes[i].cluster] = true
	}
	weight := func(i int) int {
		if d.boxes[i].kind == "entry" || strings.HasPrefix(d.boxes[i].key, "api ") {
			return 1 << 20
		}
		return degree[i]
	}
	slices.SortStableFunc(by, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(d.boxes[a].size, d.boxes[b].size))
	})
	fold := by[:min(len(by), over+len(clusters))]
	first := map[string]int{}
	to := make([]int, len(d.boxes))
	for i := range to {
		to[i] = i
	}
	count := map[string]int{}
	for _, i := range fold {
		c := d.boxes[i].cluster
		if at, there := first[c]; there {
			to[i] = at
		} else {
			first[c] = i
		}
		count[c]++
	}
	for c, i := range first {
		if count[c] > 1 {
			d.boxes[i].title, d.boxes[i].detail, d.boxes[i].kind, d.boxes[i].id = fmt.Sprintf("%d others", count[c]), "", "import", "others"
		}
	}
	d.move(func(i int) int { return to[i] })
	d.keep(func(i int) bool { return to[i] == i })
	if left := len(d.boxes) - maxNodes; left > 0 { // fewer boxes than clusters were asked for
		d.keep(func(i int) bool { return i < maxNodes })
		return len(fold) + left
	}
	return len(fold)
}
