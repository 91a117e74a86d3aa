package versions

import (
	"cmp"
	"slices"
	"strconv"

	"rea/generated/model"
)

// A judge says what became of nodes once they are matched.
type judge struct {
	m *matcher
	// candidates of nodes without a match, by what they may be known by.
	known [2]map[string][]int
	// settled statuses of modules, by row on the left; they are asked for while
	// the files that hold them are judged.
	modules map[int]Item
	// alone are the kinds of which a side has nodes without a match.
	alone     map[*side]map[model.ApplicationNodeKind]bool
	endpoints map[*side]*endpoints
	fitting   map[*side]map[int]*fitting // what patterns found so far
	fits      int                        // addresses held against patterns so far
	groups    [2]bool                    // a side has groups that took in or gave away modules
}

func newJudge(m *matcher) *judge {
	j := &judge{m: m, modules: map[int]Item{}, alone: map[*side]map[model.ApplicationNodeKind]bool{}, endpoints: map[*side]*endpoints{}, fitting: map[*side]map[int]*fitting{}}
	for n, s := range []*side{m.l, m.r} {
		j.known[n] = map[string][]int{}
		j.alone[s] = map[model.ApplicationNodeKind]bool{}
		j.endpoints[s], j.fitting[s] = endpointsOf(s), map[int]*fitting{}
		for i := range s.pair {
			if s.pair[i] >= 0 || !s.compared(i) {
				continue
			}
			j.alone[s][s.node(i).Kind] = true
			for _, k := range j.traces(s, i) {
				j.known[n][k] = append(j.known[n][k], i)
			}
		}
	}
	for i := range m.l.pair {
		if m.l.pair[i] >= 0 && m.l.isModule(i) {
			j.modules[i] = j.module(i, m.l.pair[i])
		}
	}
	for n, s := range []*side{m.l, m.r} {
		for i := range s.pair {
			if s.node(i).Kind != model.ApplicationNodeKindModuleGroup {
				continue
			}
			l := i
			if n == 1 {
				l = s.pair[i]
			}
			if s.pair[i] < 0 || j.modules[l].Status != Unchanged {
				j.groups[n] = true
			}
		}
	}
	return j
}

// traces are what a node without a match may be known by.
func (j *judge) traces(s *side, i int) []string {
	kind := string(s.node(i).Kind)
	var out []string
	add := func(what, value string) {
		if value != "" {
			out = append(out, what+"\x00"+value)
		}
	}
	switch {
	case s.isModule(i):
		add("digest", s.sha256(i))
		add("normal", byNormal(s, i))
		add("structure", byStructure(s, i))
		add("path", s.text(i, "path"))
		if s.number(i, "features") < 8 || s.flag(i, "hoisted") {
			// Too little of it is there to say that it is not another such module.
			add("small", strconv.Itoa(len(s.loads(i))))
		}
	case s.isFile(i), s.node(i).Kind == model.ApplicationNodeKindSourceModule:
		add("digest"+kind, s.sha256(i))
		add("normal"+kind, byNormal(s, i))
	default:
		add("named"+kind, joined(s.label(i)))
		if around := j.m.around(s, i); s.label(i) == "" && around != "" {
			add("around"+kind, around)
		}
	}
	return out
}

// maxCandidates bounds those of one node.
const maxCandidates = 1000

// lone is what became of a node without a match.
func (j *judge) lone(i int, own, other *side) Item {
	it := Item{Left: i, Right: -1, Status: Removed, Basis: None}
	n, groups := 1, j.groups[1]
	if own == j.m.r {
		it.Left, it.Right, it.Status = -1, i, Added
		n, groups = 0, j.groups[0]
	}
	for _, k := range j.traces(own, i) {
		list := j.known[n][k]
		it.Omitted = max(it.Omitted, len(list)-maxCandidates)
		it.Candidates = append(it.Candidates, list[:min(len(list), maxCandidates)]...)
	}
	slices.Sort(it.Candidates)
	it.Candidates = slices.Compact(it.Candidates)
	it.Omitted += max(0, len(it.Candidates)-maxCandidates)
	it.Candidates = it.Candidates[:min(len(it.Candidates), maxCandidates)]
	side := "the right side"
	if own == j.m.r {
		side = "the left side"
	}
	switch {
	case own.state(i) == model.ApplicationFileStateContradicted:
		it.Status, it.Reason = Contradiction, "its bytes contradict what their archive declares"
	case len(it.Candidates) > 0:
		it.Status, it.Reason = Ambiguous, "several could be it"
	default:
		like := j.patterns(i, own, other)
		it.Candidates, it.Omitted = like.list, like.omitted
		switch reason := cmp.Or(unseen(i, own, other, groups), j.mayBe(i, own, other)); {
		case reason != "":
			it.Status, it.Reason = Unknown, side+" "+reason
		case own.unlisted(i):
			it.Status, it.Reason = Unknown, "it may be a file: not all those of its side were read"
		}
	}
	return it
}

// unseen is why the other side may have a node without showing it, or "".
func unseen(i int, own, other *side, groups bool) string {
	switch {
	case own.isFile(i) && other.coverage.Files:
		return "has files that were not read"
	case !own.isFile(i) && other.coverage.Code:
		return "has code that was not read"
	case own.isModule(i) && groups:
		return "has modules joined into groups, and it may be in one"
	case own.node(i).Kind == model.ApplicationNodeKindSourceModule && !other.mapped:
		return "has no source maps that name original files"
	}
	return ""
}

// certain reports whether a node without a match is known to be on one side only.
func (j *judge) certain(i int, own, other *side) bool {
	n := 1
	if own == j.m.r {
		n = 0
	}
	return own.state(i) != model.ApplicationFileStateContradicted && !own.unlisted(i) && unseen(i, own, other, j.groups[n]) == "" && j.mayBe(i, own, other) == "" &&
		!slices.ContainsFunc(j.traces(own, i), func(k string) bool { return len(j.known[n][k]) > 0 })
}

// pair is what became of two nodes that are one.
func (j *judge) pair(l, r int) Item {
	it, ok := j.modules[l]
	switch {
	case ok:
	case j.m.l.isFile(l):
		it = j.file(l, r)
	case j.m.l.node(l).Kind == model.ApplicationNodeKindSourceModule:
		it = j.source(l, r)
	default:
		it = j.fact(l, r)
	}
	if j.m.l.state(l) == model.ApplicationFileStateContradicted || j.m.r.state(r) == model.ApplicationFileStateContradicted {
		it.Status, it.Reason = Contradiction, "its bytes contradict what their archive declares"
		it.Dimensions = add(it.Dimensions, InAvailability)
	}
	return it
}

func add(list []Dimension, d Dimension) []Dimension {
	if slices.Contains(list, d) {
		return list
	}
	return append(list, d)
}

func (j *judge) begin(l, r int) Item {
	return Item{Left: l, Right: r, Status: Unchanged, Basis: j.m.l.basis[l]}
}

// partial reports whether a file that holds either node was not read completely.
func (j *judge) partial(l, r int) bool {
	return j.m.l.state(l) == model.ApplicationFileStatePartial || j.m.r.state(r) == model.ApplicationFileStatePartial
}

// module compares modules of bundles.
func (j *judge) module(l, r int) Item {
	it := j.begin(l, r)
	a, b := j.m.l, j.m.r
	normal := a.text(l, "normal_sha256")
	equal := a.sha256(l) == b.sha256(r)
	switch loads := j.m.sameLoads(l, r); {
	case !equal && (normal == "" || normal != b.text(r, "normal_sha256")):
		it.Status = Changed
		it.Dimensions = add(it.Dimensions, InContent)
		j.edges(&it, l, r)
	case loads == differ:
		it.Status = Changed
		it.Dimensions = add(it.Dimensions, InRelationships)
		j.edges(&it, l, r)
	case loads == unclear:
		it.Status, it.Reason = Unknown, "what it loads was not matched surely enough to be the same"
	case (a.flag(l, "hoisted") || b.flag(r, "hoisted")) && !j.sameFile(l, r):
		it.Status, it.Reason = Unknown, "functions of it stand outside of its wrapper and were not compared"
	case !equal && j.partial(l, r):
		it.Status, it.Reason = Unknown, "its file was not read completely"
	default:
		it.Rewritten = !equal
	}
	j.properties(&it, l, r)
	p, q := a.text(l, "path"), b.text(r, "path")
	moved := p != "" && q != "" && p != q
	if f, g := a.fileOf[l], b.fileOf[r]; f >= 0 && g >= 0 && a.pair[f] >= 0 && a.pair[f] != g {
		moved = true
	}
	if moved {
		it.Dimensions = add(it.Dimensions, InLocation)
		if it.Status == Unchanged {
			it.Status = Moved
		}
	}
	return it
}

// sameFile reports whether two nodes lie in files with the same bytes.
func (j *judge) sameFile(l, r int) bool {
	f, g := j.m.l.fileOf[l], j.m.r.fileOf[r]
	return f >= 0 && g >= 0 && j.m.l.sha256(f) != "" && j.m.l.sha256(f) == j.m.r.sha256(g)
}

// file compares files.
func (j *judge) file(l, r int) Item {
	it := j.begin(l, r)
	a, b := j.m.l, j.m.r
	x, y := a.sha256(l), b.sha256(r)
	code := a.node(l).Kind == model.ApplicationNodeKindJavascriptAsset
	switch {
	case x == "" || y == "":
		it.Status, it.Reason = Unknown, "its bytes were not read"
		it.Dimensions = add(it.Dimensions, InAvailability)
	case x == y && code && j.m.sameLoads(l, r) == differ:
		it.Status = Changed // what it asks for is another file now
		it.Dimensions = add(it.Dimensions, InRelationships)
		j.edges(&it, l, r)
	case x == y:
	case code && j.rewritten(l, r):
		it.Rewritten = true
	default:
		it.Status = Changed
		it.Dimensions = add(it.Dimensions, InContent)
		j.properties(&it, l, r)
		j.edges(&it, l, r)
		if a.incomplete(l) || b.incomplete(r) {
			it.Reason = cmp.Or(it.Reason, "not all of it was read: what only one side shows of it is unknown on the other")
		}
	}
	if a.key(l) != b.key(r) {
		it.Dimensions = add(it.Dimensions, InLocation)
		if it.Status == Unchanged {
			it.Status = Moved
		}
	}
	return it
}

// rewritten reports whether two files of code with different bytes do the same:
// their normal forms are equal and all in them is unchanged.
func (j *judge) rewritten(l, r int) bool {
	a, b := j.m.l, j.m.r
	if n := a.text(l, "normal_sha256"); n == "" || n != b.text(r, "normal_sha256") || j.partial(l, r) || j.m.sameLoads(l, r) != same {
		return false
	}
	held := 0
	for _, e := range a.out[l] {
		edge := &a.app.Graph.Edges[e]
		if edge.Relation != model.ApplicationRelationContains || !a.isModule(int(edge.To)) {
			continue
		}
		held++
		if it, ok := j.modules[int(edge.To)]; !ok || it.Status != Unchanged && it.Status != Moved || b.fileOf[it.Right] != r {
			return false
		}
	}
	for _, e := range b.out[r] {
		edge := &b.app.Graph.Edges[e]
		if edge.Relation == model.ApplicationRelationContains && b.isModule(int(edge.To)) {
			held--
		}
	}
	return held == 0
}

// source compares original files.
func (j *judge) source(l, r int) Item {
	it := j.begin(l, r)
	switch x, y := j.m.l.sha256(l), j.m.r.sha256(r); {
	case x == "" || y == "":
		it.Status, it.Reason = Unknown, "a source map does not hold its text"
		it.Dimensions = add(it.Dimensions, InAvailability)
	case x != y:
		it.Status = Changed
		it.Dimensions = add(it.Dimensions, InContent)
	case j.m.l.key(l) != j.m.r.key(r):
		it.Status = Moved
		it.Dimensions = add(it.Dimensions, InLocation)
	}
	return it
}

// fact compares what code names or does.
func (j *judge) fact(l, r int) Item {
	it := j.begin(l, r)
	j.properties(&it, l, r)
	if j.m.l.node(l).Kind == model.ApplicationNodeKindPackage {
		if j.m.l.sha256(l) != j.m.r.sha256(r) {
			it.Dimensions = add(it.Dimensions, InContent)
		}
		if j.m.l.key(l) != j.m.r.key(r) {
			it.Dimensions = add(it.Dimensions, InLocation)
		}
	}
	if !slices.Equal(it.Dimensions, []Dimension{InLocation}) && len(it.Dimensions) > 0 {
		it.Status, it.Reason = Changed, ""
	} else if len(it.Dimensions) > 0 {
		it.Status = Moved
	}
	switch j.edges(&it, l, r) {
	case differ:
		it.Status, it.Reason = Changed, ""
		it.Dimensions = add(it.Dimensions, InRelationships)
	case unclear:
		if it.Status == Unchanged {
			it.Status, it.Reason = Unknown, "what uses it could not be matched, or was not read"
		}
	}
	if it.Basis == Order && it.Status == Unchanged {
		it.Status, it.Reason = Unknown, "others like it stand beside it"
	}
	return it
}
