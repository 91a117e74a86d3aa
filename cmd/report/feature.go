package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rea/cmd/terminal"
)

type item struct {
	Kind   string
	Label  *string
	Path   *string
	SHA256 *string
}

func (i *item) name() string { return named(i.Kind, i.Label, i.Path) }

// named is what a node is called: modules of bundles by their original file.
func named(kind string, label, path *string) string {
	for _, s := range []*string{label, path} {
		switch {
		case s == nil || *s == "":
		case kind == "javascript-module", kind == "module-group", kind == "source-module":
			return original(*s)
		default:
			return *s
		}
	}
	return "(known at run time)"
}

// called is the name of what is called: "?." stands for an object that is not known.
func called(label string) string {
	if rest, ok := strings.CutPrefix(label, "?."); ok {
		return "." + rest
	}
	return label
}

func calledAll(labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = called(l)
	}
	return out
}

type feature struct {
	Application whatIs
	Seed        struct{ Kind, Value, Match string }
	Direction   string
	SeedMatches []struct {
		Node     int
		Kind     string
		Field    string
		Value    string
		Location *place
	} `json:"seed_matches"`
	Nodes []struct {
		Item  item
		Depth int
		Side  string
	}
	Functions []struct {
		Name      *string
		Node      int
		Location  place
		Depth     int
		Side      string
		ReachedBy *struct {
			Relation string
			Label    *string
			Location *place
		} `json:"reached_by"`
		Events []string
		Calls  []string
	}
	Edges []struct {
		From, To int
		Relation string
		Location *place
	}
	NativeHandoffs []struct {
		Path           *string
		SHA256         string
		RequestedNames []string `json:"requested_names"`
		Status         string
		EvidenceIDs    []string `json:"evidence_ids"`
	} `json:"native_handoffs"`
	Coverage struct {
		Status           string
		TotalSeedMatches int `json:"total_seed_matches"`
		OmittedNodes     int `json:"omitted_nodes"`
		OmittedFunctions int `json:"omitted_functions"`
		OmittedEdges     int `json:"omitted_edges"`
		Frontier         []struct {
			Label, Side, Reason string
		}
	}
}

// kinds are the kinds of node in words, in the order in which they are listed; code
// is left to the functions.
var kinds = []struct{ kind, title string }{
	{"ipc-channel", "message"},
	{"context-bridge-api", "API of pages"},
	{"route", "route"},
	{"endpoint", "endpoint"},
	{"storage", "stored key"},
	{"environment-variable", "environment"},
	{"feature-flag", "feature flag"},
	{"native-addon", "native add-on"},
	{"native-binding", "native binding"},
	{"child-process", "child process"},
	{"worker", "worker"},
	{"service-worker", "service worker"},
	{"electron-utility", "utility"},
	{"browser-window", "window"},
	{"electron-main", "main process"},
	{"electron-preload", "preload"},
	{"electron-renderer", "page"},
	{"external-module", "module outside"},
	{"library", "library"},
	{"package", "package"},
}

// titleOf is a kind in words before a name, "" for code.
func titleOf(kind string) string {
	for _, k := range kinds {
		if k.kind == kind {
			return k.title + " "
		}
	}
	return ""
}

func (w *writer) feature(f *feature) {
	w.line(w.screen.Paint(terminal.Bold, terminal.Escape(f.Seed.Kind+" "+f.Seed.Value)) + terminal.Escape("  in "+f.Application.Name))
	if len(f.SeedMatches) == 0 {
		w.faint("nothing in the application is named so; --seed-match contains or regex finds parts of names, --seed-kind string looks at all of them")
		return
	}
	var seeds []string
	for _, m := range f.SeedMatches {
		s := m.Kind + " " + f.Nodes[m.Node].Item.name()
		switch {
		case m.Location != nil:
			s = fmt.Sprintf("%q in %s", m.Value, m.Location)
		case m.Field != "label" && m.Field != "key":
			s += " (" + m.Field + " " + m.Value + ")"
		}
		if !slices.Contains(seeds, s) {
			seeds = append(seeds, s)
		}
	}
	w.fact("seed", few(seeds, 6))
	w.fact("found", fmt.Sprintf("%s, %s", count(len(f.Functions), "function", "functions"), count(len(f.Nodes), "node of the application", "nodes of the application")))
	w.featureFunctions(f, "incoming", "What leads to it", func(a, b int) int { return cmp.Compare(f.Functions[b].Depth, f.Functions[a].Depth) })
	w.featureFunctions(f, "seed", "Functions of the seed", func(int, int) int { return 0 })
	w.featureFunctions(f, "outgoing", "What it does", func(a, b int) int { return cmp.Compare(f.Functions[a].Depth, f.Functions[b].Depth) })
	w.featureFacts(f)
	w.featureModules(f)
	w.handoffs(f)
	w.borders(f)
}

func (w *writer) featureFunctions(f *feature, side, title string, order func(a, b int) int) {
	var list []int
	for i := range f.Functions {
		if f.Functions[i].Side == side {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, order)
	var rows [][]string
	for _, i := range list {
		fn := &f.Functions[i]
		name := deref(fn.Name)
		if name == "" {
			name = "(unnamed)"
		}
		var how []string
		if len(fn.Events) > 0 {
			how = append(how, "on "+few(calledAll(fn.Events), 2))
		}
		if r := fn.ReachedBy; r != nil && r.Relation == "exposed-as" {
			how = append(how, "exposed to pages")
		}
		if len(fn.Calls) > 0 {
			how = append(how, "calls "+few(calledAll(fn.Calls), 6))
		}
		rows = append(rows, []string{f.at(fn.Node, fn.Location), name, strings.Join(how, "; ")})
	}
	w.table(title, []bool{false, false, false}, rows)
}

// at is a place in a module: the original file of a module of a bundle is said
// before the place in the bundle.
func (f *feature) at(node int, p place) string {
	name := f.Nodes[node].Item.name()
	if name == p.Path {
		return p.String()
	}
	return fmt.Sprintf("%s (%s:%d @%d)", name, p.Path[strings.LastIndexByte(p.Path, '/')+1:], p.Line, p.Start)
}

func (w *writer) featureFacts(f *feature) {
	var rows [][]string
	for _, k := range kinds {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			if n.Item.Kind != k.kind {
				continue
			}
			var places []string
			for _, e := range f.Edges {
				if e.From != i && e.To != i || e.Location == nil || e.Relation == "contains" {
					continue
				}
				where := e.Location.String()
				if e.From != i {
					where = f.at(e.From, *e.Location)
					if f.Nodes[e.From].Item.Kind == "ipc-handler" {
						where = e.Location.String()
					}
				}
				if s := relationWord(e.Relation) + " " + where; !slices.Contains(places, s) {
					places = append(places, s)
				}
			}
			rows = append(rows, []string{k.title, n.Item.name(), few(places, 4)})
		}
	}
	w.table("What takes part", []bool{false, false, false}, rows)
}

// relationWord is how a relation is said of the place where it stands.
func relationWord(r string) string {
	switch r {
	case "invokes", "calls":
		return "called"
	case "sends":
		return "sent"
	case "handles":
		return "handled"
	case "exposes":
		return "exposed"
	case "persists_to":
		return "kept"
	case "reads":
		return "read"
	case "loads":
		return "loaded"
	case "imports":
		return "imported"
	}
	return r
}

// featureModules lists code of which no function is in the trace.
func (w *writer) featureModules(f *feature) {
	shown := map[int]bool{}
	for _, fn := range f.Functions {
		shown[fn.Node] = true
	}
	var rows [][]string
	for i := range f.Nodes {
		switch f.Nodes[i].Item.Kind {
		case "javascript-asset", "javascript-module", "module-group", "source-module", "html-document", "file":
		default:
			continue
		}
		if shown[i] {
			continue
		}
		var how []string
		for _, e := range f.Edges {
			switch s := ""; {
			case e.To == i && e.Location != nil:
				s = relationWord(e.Relation) + " " + f.at(e.From, *e.Location)
				fallthrough
			case e.To == i:
				if s == "" {
					s = relationWord(e.Relation) + " by " + titleOf(f.Nodes[e.From].Item.Kind) + f.Nodes[e.From].Item.name()
				}
				if e.Relation != "contains" && !slices.Contains(how, s) {
					how = append(how, s)
				}
			}
		}
		rows = append(rows, []string{f.Nodes[i].Item.name(), few(how, 3)})
	}
	w.table("Files and modules beside", []bool{false, false}, rows)
}

func (w *writer) handoffs(f *feature) {
	if len(f.NativeHandoffs) == 0 {
		return
	}
	w.head("Native code", number(int64(len(f.NativeHandoffs))))
	for _, h := range f.NativeHandoffs {
		w.remark(fmt.Sprintf("%s, sha256 %s", deref(h.Path), h.SHA256))
		if len(h.RequestedNames) > 0 {
			w.line("      asked for " + terminal.Escape(strings.Join(h.RequestedNames, ", ")))
		}
		if len(h.EvidenceIDs) > 0 {
			w.line("      looked into by " + few(h.EvidenceIDs, 3))
		}
	}
}

var reasons = map[string]string{
	"max_depth":     "cut by max_depth",
	"max_nodes":     "cut by max_nodes",
	"max_edges":     "cut by max_edges",
	"max_functions": "cut by max_functions",
	"shared":        "more than the seed is set up here",
	"importers":     "what imports it",
	"program":       "what opens it, or runs in it",
	"unresolved":    "what calls it, or what it calls, is not known",
}

func (w *writer) borders(f *feature) {
	byReason := map[string][]string{}
	for _, b := range f.Coverage.Frontier {
		if name := original(b.Label); !slices.Contains(byReason[b.Reason], name) {
			byReason[b.Reason] = append(byReason[b.Reason], name)
		}
	}
	var rows [][]string
	for _, reason := range []string{"max_depth", "max_nodes", "max_edges", "max_functions", "shared", "importers", "program", "unresolved"} {
		if list := byReason[reason]; len(list) > 0 {
			rows = append(rows, []string{reasons[reason], few(list, 6)})
		}
	}
	w.table("Not followed", []bool{false, false}, rows)
	c := f.Coverage
	if n := c.OmittedFunctions + c.OmittedNodes + c.OmittedEdges; n > 0 {
		w.faint(fmt.Sprintf("%s, %s and %s left out", count(c.OmittedFunctions, "function", "functions"), count(c.OmittedNodes, "node", "nodes"), count(c.OmittedEdges, "edge", "edges")))
	}
}
