package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/cmd/terminal"
	"rea/generated/model"
)

// mapWriter sets the map of an application for a screen.
type mapWriter struct {
	*writer
	*Application
}

func (m *mapWriter) node(i int) *model.ApplicationNode { return &m.read.Graph.Nodes[i] }
func (m *mapWriter) edge(i int) *model.ApplicationEdge { return &m.read.Graph.Edges[i] }

// of lists the nodes of some kinds, in the order of the graph.
func (m *mapWriter) of(kinds ...model.ApplicationNodeKind) []int {
	var out []int
	for i := range m.read.Graph.Nodes {
		if slices.Contains(kinds, m.node(i).Kind) {
			out = append(out, i)
		}
	}
	return out
}

func (m *mapWriter) label(i int) string {
	n := m.node(i)
	if n.Label != nil && *n.Label != "" {
		return *n.Label
	}
	if n.Provenance >= 0 && m.read.Provenance[n.Provenance].State == model.ApplicationProvenanceStateUnknown {
		return "(known at run time)"
	}
	if n.Identity.Key != nil {
		return *n.Identity.Key
	}
	return "(unnamed)"
}

// place is where something stands, as "file:line".
func (m *mapWriter) place(location *int64) string {
	if location == nil {
		return ""
	}
	l := &m.read.Locations
	return fmt.Sprintf("%s:%d", m.read.Files[l.File[*location]].Path, l.Line[*location])
}

// users are the places from which a node is reached by some relations.
func (m *mapWriter) users(i int, relations ...model.ApplicationRelation) []string {
	return m.usersBy(m.to[i], relations...)
}

func (m *mapWriter) usersBy(edges []int, relations ...model.ApplicationRelation) []string {
	var out []string
	for _, e := range edges {
		if !slices.Contains(relations, m.edge(e).Relation) {
			continue
		}
		at, user := m.place(m.edge(e).Location), int(m.edge(e).From)
		if m.node(user).Kind == model.ApplicationNodeKindIpcHandler { // stands in a module
			for _, c := range m.to[user] {
				if m.edge(c).Relation == model.ApplicationRelationContains {
					user = int(m.edge(c).From)
				}
			}
		}
		if from := m.node(user); at == "" || isModule(from) && property(from.Properties, "path") != "" {
			at = original(m.label(user))
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// property is the text of a property, "" where there is none.
func property(p map[string]jsontext.Value, name string) string {
	v := p[name]
	switch v.Kind() {
	case '"':
		out, _ := jsontext.AppendUnquote(nil, v)
		return string(out)
	case '[':
		s := strings.NewReplacer(`"`, "", "[", "", "]", "", ",", ", ").Replace(string(v))
		return s
	case 0, 'n':
		return ""
	}
	return string(v)
}

// few joins the first of some texts.
func few(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// list writes a section of rows, if there are any.
func (m *mapWriter) list(title string, right []bool, rows [][]string) {
	m.listed(title, right, rows, m.grid)
}

// wrapped is list where the last column goes over several lines.
func (m *mapWriter) wrapped(title string, right []bool, rows [][]string) {
	m.listed(title, right, rows, func(right []bool, rows [][]string) { m.columns(right, rows, terminal.Wrap, nil) })
}

func (m *mapWriter) listed(title string, right []bool, rows [][]string, grid func(right []bool, rows [][]string)) {
	if len(rows) == 0 {
		return
	}
	m.writer.head(title, number(int64(len(rows))))
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Escape(row[i])
		}
	}
	shown := m.bound(len(rows))
	grid(right, rows[:shown])
	m.more(shown, len(rows), "--rows 0 shows all")
}

func (m *mapWriter) head() {
	a := &m.read.Application
	m.line(m.screen.Paint(terminal.Bold, terminal.Escape(a.Name)))
	m.fact("sha256", a.SHA256)
	m.fact("format", fmt.Sprintf("%s, %s, %s bytes", a.Format, count(int(a.Files), "file", "files"), number(a.Bytes)))
	s := m.read.Statistics
	code := fmt.Sprintf("%s, %s bytes", count(int(a.JavascriptFiles), "JavaScript file", "JavaScript files"), number(a.JavascriptBytes))
	if n := s["nodes.javascript-module"]; n > 0 {
		code += ", " + count(int(n), "bundled module", "bundled modules")
	}
	if n := s["nodes.module-group"]; n > 0 {
		code += ", " + count(int(n), "group of joined modules", "groups of joined modules")
	}
	m.fact("code", code)
	if n := s["nodes.source-map"]; n > 0 {
		m.fact("source maps", fmt.Sprintf("%s with %s", number(n), count(int(s["nodes.source-module"]), "original file", "original files")))
	}
	m.fact("graph", count(len(m.read.Graph.Nodes), "node", "nodes")+", "+count(len(m.read.Graph.Edges), "edge", "edges"))
	m.fact("evidence", m.Evidence[0].ID)
	if n := len(m.read.IntegrityContradictions); n > 0 {
		m.fact("integrity", count(n, "file contradicts", "files contradict")+" what the archive declares")
	}
}

func (m *mapWriter) packages() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindPackage) {
		p := m.node(i).Properties
		var entries []string
		for _, e := range m.from[i] {
			if m.edge(e).Relation == model.ApplicationRelationLoads {
				entry := property(m.edge(e).Properties, "entry") + " " + m.label(int(m.edge(e).To))
				if !slices.Contains(entries, entry) {
					entries = append(entries, entry)
				}
			}
		}
		rows = append(rows, []string{m.label(i), property(p, "version"), property(p, "path"), few(entries, 3)})
	}
	m.list("Packages", []bool{false, false, false, false}, rows)
}

var roleTitles = map[model.ApplicationNodeKind]string{
	model.ApplicationNodeKindElectronMain: "main", model.ApplicationNodeKindElectronPreload: "preload", model.ApplicationNodeKindElectronRenderer: "renderer",
	model.ApplicationNodeKindElectronUtility: "utility", model.ApplicationNodeKindWorker: "worker", model.ApplicationNodeKindServiceWorker: "service worker",
	model.ApplicationNodeKindChildProcess: "child process",
}

func (m *mapWriter) processes() {
	var rows [][]string
	for _, i := range m.of(slices.Sorted(maps.Keys(roleTitles))...) {
		file := ""
		for _, e := range m.from[i] {
			if m.edge(e).Relation == model.ApplicationRelationLoads {
				file = m.label(int(m.edge(e).To))
			}
		}
		name := m.label(i)
		if file != "" {
			name = file
		}
		rows = append(rows, []string{roleTitles[m.node(i).Kind], name, few(m.users(i, model.ApplicationRelationLoads, model.ApplicationRelationCalls), 2)})
	}
	for _, i := range m.of(model.ApplicationNodeKindHTMLDocument) { // of the web
		var names []string
		if json.Unmarshal(m.node(i).Properties["processes"], &names) == nil && slices.Contains(names, "page") {
			rows = append(rows, []string{"page", m.label(i), ""})
		}
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	m.list("Processes", []bool{false, false, false}, rows)
}

func (m *mapWriter) windows() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindBrowserWindow) {
		n := m.node(i)
		options := options(n.Properties["options"], n.Properties["options_overridable"])
		if property(n.Properties, "options_known") == "false" {
			switch options {
			case "":
				options = "options known at run time"
			default:
				options += "; more known at run time"
			}
		}
		rows = append(rows, []string{m.label(i), m.place(n.Location), options})
	}
	m.wrapped("Windows", []bool{false, false, false}, rows)
}

// options of a window: those that decide what pages may do come first.
func options(v, overridable jsontext.Value) string {
	var values map[string]jsontext.Value
	var open []string
	_ = json.Unmarshal(overridable, &open) // absent where none is
	if json.Unmarshal(v, &values) != nil {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		inner := func(s string) int {
			if strings.HasPrefix(s, "webPreferences.") {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(inner(a), inner(b)), cmp.Compare(a, b))
	})
	for i, name := range names {
		value := strings.Trim(string(values[name]), `"`)
		if values[name].Kind() == '{' {
			value = "at run time"
		}
		if slices.Contains(open, name) {
			value += " unless overridden"
		}
		names[i] = strings.TrimPrefix(name, "webPreferences.") + ": " + value
	}
	return strings.Join(names, ", ")
}

// Electron keeps what answers invoke apart from what listens to send: one channel
// is two where it has both.
var registries = []struct {
	sent    model.ApplicationRelation
	handled string // operation of handlers
}{
	{model.ApplicationRelationInvokes, "handle"},
	{model.ApplicationRelationSends, "listen"},
}

func (m *mapWriter) messages() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindIpcChannel) {
		for _, registry := range registries {
			var edges []int
			pairing := ""
			for _, e := range m.to[i] {
				edge := m.edge(e)
				if edge.Relation != registry.sent && (edge.Relation != model.ApplicationRelationHandles || property(m.node(int(edge.From)).Properties, "operation") != registry.handled) {
					continue
				}
				edges = append(edges, e)
				if p := property(edge.Properties, "pairing"); pairing == "" || slices.Index(pairings, p) > slices.Index(pairings, pairing) {
					pairing = p
				}
			}
			if len(edges) == 0 {
				continue
			}
			lost, reaching := m.lost(edges, registry.sent)
			if len(lost) > 0 {
				rows = append(rows, []string{m.label(i), property(m.node(i).Properties, "direction"), "unpaired", cmp.Or(few(m.usersBy(lost, registry.sent), 2), "?") + " → ?"})
			}
			edges = reaching
			from, to := few(m.usersBy(edges, registry.sent), 2), few(m.usersBy(edges, model.ApplicationRelationHandles), 2)
			if n := property(m.node(i).Properties, "dynamic_handlers"); pairing == "unpaired" && n != "" {
				pairing += " or dynamic"
			}
			var removed []string
			for _, e := range edges {
				if places := property(m.node(int(m.edge(e).From)).Properties, "removed_at"); places != "" && !slices.Contains(removed, places) {
					removed = append(removed, places)
				}
			}
			if len(removed) > 0 {
				pairing += ", taken off " + few(removed, 2)
			}
			rows = append(rows, []string{m.label(i), property(m.node(i).Properties, "direction"), pairing, cmp.Or(from, "?") + " → " + cmp.Or(to, "?")})
		}
	}
	m.list("Messages", []bool{false, false, false, false}, rows)
}

// lost are what is sent on a channel that reaches none of its handlers, and the others.
func (m *mapWriter) lost(edges []int, sent model.ApplicationRelation) (lost, others []int) {
	handled := slices.ContainsFunc(edges, func(e int) bool { return m.edge(e).Relation == model.ApplicationRelationHandles })
	for _, e := range edges {
		if handled && m.edge(e).Relation == sent && property(m.edge(e).Properties, "pairing") == "unpaired" {
			lost = append(lost, e)
		} else {
			others = append(others, e)
		}
	}
	return lost, others
}

// pairings of messages, those that say the most last.
var pairings = []string{"dynamic", "unpaired", "paired", "ambiguous"}

func (m *mapWriter) bridges() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindContextBridgeAPI) {
		members := property(m.node(i).Properties, "members")
		if property(m.node(i).Properties, "members_complete") == "false" {
			members = strings.TrimPrefix(members+", others known at run time", ", ")
		}
		rows = append(rows, []string{m.label(i), few(m.users(i, model.ApplicationRelationExposes), 2), members})
	}
	m.wrapped("APIs exposed to pages", []bool{false, false, false}, rows)
}

// named lists nodes with the places that use them.
func (m *mapWriter) named(title string, kinds ...model.ApplicationNodeKind) {
	var rows [][]string
	for _, i := range m.of(kinds...) {
		rows = append(rows, []string{m.label(i), few(m.users(i, model.ApplicationRelationCalls, model.ApplicationRelationHandles, model.ApplicationRelationReads,
			model.ApplicationRelationPersistsTo, model.ApplicationRelationLoads, model.ApplicationRelationImports), 2)})
	}
	m.list(title, []bool{false, false}, rows)
}

func (m *mapWriter) endpoints() {
	m.named("Endpoints", model.ApplicationNodeKindEndpoint)
	m.named("Routes", model.ApplicationNodeKindRoute)
}

func (m *mapWriter) storage() {
	m.named("Stored keys", model.ApplicationNodeKindStorage)
	m.named("Feature flags", model.ApplicationNodeKindFeatureFlag)
	m.named("Environment variables", model.ApplicationNodeKindEnvironmentVariable)
}

func (m *mapWriter) native() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindNativeAddon) {
		digest := ""
		if d := m.node(i).Identity.SHA256; d != nil {
			digest = (*d)[:12]
		}
		rows = append(rows, []string{m.label(i), digest, few(m.users(i, model.ApplicationRelationLoads, model.ApplicationRelationImports), 2)})
	}
	m.list("Native add-ons", []bool{false, false, false}, rows)
	m.named("Native bindings", model.ApplicationNodeKindNativeBinding)
}

// isModule reports whether a node is a module of a bundle.
func isModule(n *model.ApplicationNode) bool {
	return n.Kind == model.ApplicationNodeKindJavascriptModule || n.Kind == model.ApplicationNodeKindModuleGroup
}

func (m *mapWriter) bundles() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindJavascriptAsset) {
		kinds := map[string]int{}
		total := 0
		for _, e := range m.from[i] {
			if to := m.node(int(m.edge(e).To)); m.edge(e).Relation == model.ApplicationRelationContains && isModule(to) {
				kinds[property(to.Properties, "boundary")]++
				total++
			}
		}
		if total == 0 {
			continue
		}
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
		}
		rows = append(rows, []string{m.label(i), property(m.node(i).Properties, "bundlers"), number(int64(total)), strings.Join(parts, ", ")})
	}
	m.list("Bundles", []bool{false, false, true, false}, rows)
}

// modules lists the largest modules of bundles, by what they were made of.
func (m *mapWriter) modules() {
	type row struct {
		node int
		size int64
	}
	var list []row
	for i := range m.read.Graph.Nodes {
		if n := m.node(i); isModule(n) {
			var size int64
			fmt.Sscan(property(n.Properties, "size"), &size)
			list = append(list, row{i, size})
		}
	}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(b.size, a.size) })
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{number(r.size), original(m.label(r.node)), property(m.node(r.node).Properties, "file"), property(m.node(r.node).Properties, "exports")})
	}
	m.list("Largest modules", []bool{true, false, false, false}, rows)
}

// sources lists the folders of original files.
func (m *mapWriter) sources() {
	count := map[string]int{}
	for _, i := range m.of(model.ApplicationNodeKindSourceModule) {
		count[folder(original(m.label(i)))]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{number(int64(count[name])), name})
	}
	m.list("Folders of original sources", []bool{true, false}, rows)
}

// original is the path of an original file without the scheme that bundlers write.
func original(p string) string {
	if _, rest, ok := strings.Cut(p, "://"); ok {
		if _, p, ok = strings.Cut(rest, "/"); !ok {
			p = rest
		}
	}
	return p
}

// folder groups paths: by package where they are in node_modules, else by folder.
func folder(p string) string {
	if at := strings.LastIndex(p, "node_modules/"); at >= 0 {
		rest := strings.Split(p[at+len("node_modules/"):], "/")
		n := 1
		if strings.HasPrefix(rest[0], "@") {
			n = min(2, len(rest))
		}
		return "node_modules/" + strings.Join(rest[:n], "/")
	}
	return path.Dir(p)
}

func (m *mapWriter) libraries() {
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindLibrary) {
		rows = append(rows, []string{m.label(i), property(m.node(i).Properties, "licence"), few(m.users(i, model.ApplicationRelationContains), 2)})
	}
	m.list("Libraries that banners name", []bool{false, false, false}, rows)
}

// externals are modules that are asked for and not in the application.
func (m *mapWriter) externals() {
	var builtin, missing []string
	for _, i := range m.of(model.ApplicationNodeKindExternalModule) {
		if property(m.node(i).Properties, "builtin") == "true" {
			builtin = append(builtin, m.label(i))
		} else {
			missing = append(missing, m.label(i))
		}
	}
	for _, part := range []struct {
		title string
		names []string
	}{{"Modules of the runtime", builtin}, {"Modules that are not in the application", missing}} {
		if len(part.names) == 0 {
			continue
		}
		slices.Sort(part.names)
		m.writer.head(part.title, number(int64(len(part.names))))
		shown := len(part.names)
		if m.rows > 0 {
			shown = min(shown, 4*m.rows)
		}
		m.words(part.names[:shown], len(part.names), "none")
		m.more(shown, len(part.names), "--rows 0 shows all")
	}
}

// open lists code that is only known when the program runs.
func (m *mapWriter) open() {
	titles := map[string]string{"compiled-code": "code that is compiled", "chosen-global": "a global that is chosen"}
	var rows [][]string
	for _, i := range m.of(model.ApplicationNodeKindUnknown) {
		title := titles[property(m.node(i).Properties, "what")]
		if title == "" {
			continue
		}
		via := ""
		for _, e := range m.to[i] {
			if v := property(m.edge(e).Properties, "via"); v != "?" {
				via = v
			}
		}
		rows = append(rows, []string{title, via, m.place(m.node(i).Location)})
	}
	m.list("What is only known at run time", []bool{false, false, false}, rows)
}

func (m *mapWriter) gaps() {
	gaps := m.read.Graph.Coverage.Gaps
	m.writer.head("Not seen", "")
	shown := m.bound(len(gaps))
	for _, g := range gaps[:shown] {
		m.remark(g.What + ": " + g.Reason)
	}
	m.more(shown, len(gaps), "--rows 0 shows all")
	m.remark("nothing was run; what is only known when the program runs is not in the map")
}
