package mapping

import (
	"rea/generated/model"
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
			parts[class(n)+" "+x.holder(c.Node)+" "+Clean(x.app.Path(c.Node))]++
			bearers[class(n)]++
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

// Complete reports whether an application shows all its code: all was read, and no
// modules are joined into groups without boundaries.
func Complete(app *recorded.Application) bool {
	for i := range app.Graph.Nodes {
		if app.Graph.Nodes[i].Kind == model.ApplicationNodeKindModuleGroup {
			return false
		}
	}
	return true
}
