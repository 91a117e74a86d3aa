package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
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
		case model.ApplicationNodeKindHTMLDocument: // of the web
			if b := d.boxOf[i]; b >= 0 && slices.Contains(list(n.Properties, "processes"), "page") {
				d.boxes[b].kind = "entry"
			}
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
