package application

import (
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/html"
)

// A tally counts lines up to places that come in order.
type tally struct {
	src      string
	to, line int
}

func newTally(src string) *tally { return &tally{src: src, line: 1} }

// at is the line of a place, from 1.
func (t *tally) at(place int) int {
	if place > t.to {
		t.line += strings.Count(t.src[t.to:place], "\n")
		t.to = place
	}
	return t.line
}

// drawFrame draws a page in a document. A web view has a process of its own, and may
// have a preload script.
func (a *analysis) drawFrame(i int, d *html.Document, f *html.Frame, line *tally) {
	at := a.b.Location(i, uint32(f.Start), uint32(f.End), line.at(f.Start))
	from := a.fileNodes[i]
	src := address.Clean(f.Src)
	target := a.scriptOf(i, d.Base, f.Src)
	if !f.View {
		if target != "" {
			a.b.Edge(from, a.fileNodes[a.byPath[target]], model.ApplicationRelationLoads, a.b.From(fromDocument), at, graph.Properties{"as": "frame", "src": src})
		}
		return
	}
	p := graph.Properties{"via": "<webview>"}
	if f.Preferences != "" {
		p["web_preferences"] = address.Text(f.Preferences)
	}
	if f.Node {
		p["node_integration"] = true
	}
	if f.Src != "" {
		key, source := target, fromDocument
		if target == "" {
			key = src
			if !strings.Contains(f.Src, ":") {
				source = unknown(fromDocument, a.resolver.Absent("no such file in the application"))
			}
		}
		node := a.b.Node(model.ApplicationNodeKindElectronRenderer, graph.Local(key), src, a.b.From(source), at, p)
		a.b.Edge(from, node, model.ApplicationRelationLoads, a.b.From(source), at, graph.Properties{"via": "<webview>"})
		a.begins(node, model.ApplicationNodeKindElectronRenderer, target)
	}
	if f.Preload != "" {
		script := a.scriptOf(i, d.Base, strings.TrimPrefix(f.Preload, "file://"))
		key, source := script, fromDocument
		if script == "" {
			key, source = address.Clean(f.Preload), unknown(fromDocument, a.resolver.Absent("no such file in the application"))
		}
		node := a.b.Node(model.ApplicationNodeKindElectronPreload, graph.Local(key), address.Clean(f.Preload), a.b.From(source), at, graph.Properties{"via": "<webview>"})
		a.b.Edge(from, node, model.ApplicationRelationLoads, a.b.From(source), at, graph.Properties{"via": "<webview>"})
		a.begins(node, model.ApplicationNodeKindElectronPreload, script)
	}
}

// begins joins a process to the file that it begins with, where it is there.
func (a *analysis) begins(process int64, kind model.ApplicationNodeKind, file string) {
	if file == "" {
		return
	}
	a.b.Edge(process, a.fileNodes[a.byPath[file]], model.ApplicationRelationLoads, a.b.From(fromDocument), nil, nil)
	a.roles = append(a.roles, processRole{kind: kind, file: file})
}
