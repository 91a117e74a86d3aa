package graph

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"rea/generated/model"
)

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
	loaded := map[string]bool{} // packages of which a process loads other files
	for i := range d.boxes {
		if b := &d.boxes[i]; strings.HasPrefix(b.key, "package ") && b.cluster != noProcess {
			loaded[b.title] = true
		}
	}
	for i := range d.boxes {
		if b := &d.boxes[i]; b.cluster == noProcess && strings.HasPrefix(b.key, "package ") && d.known() {
			unloaded[i] = true
			if !loaded[b.title] {
				packages++
			}
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
