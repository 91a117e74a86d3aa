package mapping

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/recorded"
)

// code reports whether a node is code of a bundle.
func (x *index) code(node int) bool {
	switch x.app.Graph.Nodes[node].Kind {
	case model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
		return true
	}
	return false
}

// only is the bundled code that alone is likely, or -1.
func (x *index) only(list []Candidate) int {
	found := -1
	for i := range list {
		c := &list[i]
		if c.Confidence() == "low" || !x.code(c.Node) || c.Has(Digest, Normal) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = c.Node
	}
	return found
}

// judge says what became of a file.
func (x *index) judge(it *Item, e *model.HistoricalSourceEntry, complete bool) {
	exact, parts, bearers := map[string]int{}, map[string]int{}, map[string]int{}
	places := map[string]bool{}
	proved, named, likely := 0, 0, 0
	var other *Candidate // named, and with other bytes
	for i := range it.Candidates {
		c := &it.Candidates[i]
		n := &x.app.Graph.Nodes[c.Node]
		if c.Has(Digest, Normal) {
			proved++
			exact[class(n)]++
		}
		if c.Confidence() != "low" {
			likely++
		}
		if c.Has(MapPath, BundlePath, ExactPath) {
			named++
			switch bundle.Kind(recorded.Text(n.Properties["boundary"])) {
			case bundle.Region, bundle.Mapped: // pieces of what was one
			default:
				parts[class(n)+" "+x.holder(c.Node)+" "+Clean(x.app.Path(c.Node))]++
			}
			if where := x.holder(c.Node); where == "" || !places[where] {
				places[where] = true
				bearers[class(n)]++
			}
			if other == nil && !c.Has(Digest, Normal) && !x.code(c.Node) && n.Identity.SHA256 != nil && e.SHA256 != nil {
				other = c
			}
		}
	}
	switch {
	case twice(exact):
		it.Status, it.Reason = Duplicated, "its content is in several places"
	case proved > 0:
		it.Status = Unchanged
	case twice(parts):
		it.Status, it.Reason = Split, "several modules of one bundle bear its path"
	case other != nil:
		it.Status = Modified
	case twice(bearers):
		it.Status, it.Reason = Duplicated, "several bundles have a module of its path; whether its content is theirs is unknown"
	case named > 0 || likely > 0:
		it.Status, it.Reason = Unknown, "bundling rewrote what bears its name or its features"
	case len(it.Candidates) > 0:
		it.Status, it.Reason = Unknown, "only names agree"
	case e.SHA256 == nil:
		it.Status, it.Reason = Unknown, "the file was not read"
	case !complete:
		it.Status, it.Reason = Unknown, "the application does not show all its code"
	default:
		it.Status = Removed
	}
}

// holder is the file that a node lies in, "" for files and original files.
func (x *index) holder(node int) string {
	return recorded.Text(x.app.Graph.Nodes[node].Properties["file"])
}

// class of a node: an original file that a map names and the code that was made of
// it are one place and not two.
func class(n *model.ApplicationNode) string {
	if n.Kind == model.ApplicationNodeKindSourceModule {
		return "source"
	}
	return "code"
}

func twice(count map[string]int) bool {
	for _, n := range count {
		if n > 1 {
			return true
		}
	}
	return false
}

// bare are the features that a module has which only hands on another: less than any
// file of a source tree.
const bare = 3

// Complete reports whether an application shows all its code, so that a file that is
// not found in it is not there: each module is one file by its path or by the source
// map. Bundlers that join modules do so in wrappers too, and say it nowhere else.
func Complete(app *recorded.Application) bool {
	mapped := map[int64]bool{}
	for i := range app.Graph.Edges {
		e := &app.Graph.Edges[i]
		if e.Relation == model.ApplicationRelationMapsTo && app.Graph.Nodes[e.To].Kind == model.ApplicationNodeKindSourceModule {
			mapped[e.From] = true
		}
	}
	for i := range app.Graph.Nodes {
		n := &app.Graph.Nodes[i]
		if n.Kind != model.ApplicationNodeKindModuleGroup && n.Kind != model.ApplicationNodeKindJavascriptModule || mapped[int64(i)] || number(n.Properties["features"]) <= bare {
			continue
		}
		if n.Kind == model.ApplicationNodeKindModuleGroup || !apart(recorded.Text(n.Properties["bundler"]), recorded.Text(n.Properties["path"])) {
			return false
		}
	}
	return true
}

// apart reports whether a wrapped module is one file.
func apart(bundler, path string) bool {
	switch bundle.Bundler(bundler) {
	case bundle.Browserify, bundle.Metro:
		return true
	}
	return path != "" && !strings.Contains(path, " + ") // "a.js + 3 modules"
}

func number(v jsontext.Value) int64 {
	n, _ := strconv.ParseInt(string(v), 10, 64)
	return n
}
