package versions

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
)

// A Coverage says what a side may not have shown.
type Coverage struct {
	// Files: not all of them are listed. Code: some were not read completely, or
	// not at all.
	Files, Code bool
	Reasons     []string
}

// A side is an application with what matching needs of it.
type side struct {
	app      *recorded.Application
	coverage Coverage
	out, in  [][]int32 // edges of nodes
	files    map[string]*model.ApplicationFile
	fileOf   []int // the node of the file that a node lies in, or -1

	mapped bool // source maps name original files
	// veiled are the kinds of which something has no name until the program runs.
	veiled map[model.ApplicationNodeKind]bool
	// open are the nodes that stand for what code does which is only known when it runs.
	open []int

	asks  [][]load // what nodes load, where known
	known []bool

	pair  []int // node of the other side, -1 for none
	basis []Basis
}

func newSide(app *recorded.Application) *side {
	n := len(app.Graph.Nodes)
	s := &side{
		app: app, out: make([][]int32, n), in: make([][]int32, n), files: map[string]*model.ApplicationFile{}, fileOf: make([]int, n),
		pair: make([]int, n), basis: make([]Basis, n), asks: make([][]load, n), known: make([]bool, n),
		veiled: map[model.ApplicationNodeKind]bool{},
	}
	for i := range n {
		s.pair[i], s.fileOf[i], s.basis[i] = -1, -1, None
	}
	for i := range app.Graph.Edges {
		e := &app.Graph.Edges[i]
		s.out[e.From] = append(s.out[e.From], int32(i))
		s.in[e.To] = append(s.in[e.To], int32(i))
	}
	for i := range app.Files {
		s.files[app.Files[i].Path] = &app.Files[i]
	}
	nodes := map[string]int{}
	for i := range app.Graph.Nodes {
		s.mapped = s.mapped || s.node(i).Kind == model.ApplicationNodeKindSourceModule
		if s.isFile(i) {
			nodes[s.key(i)] = i
			s.fileOf[i] = i
		}
	}
	for i := range app.Graph.Nodes {
		if s.fileOf[i] < 0 {
			if at, ok := nodes[s.holder(i)]; ok {
				s.fileOf[i] = at
			}
		}
		s.veil(i)
	}
	s.coverage = CoverageOf(app)
	return s
}

// CoverageOf says what an application may not have shown.
func CoverageOf(app *recorded.Application) Coverage {
	c := Coverage{}
	reason := func(text string) {
		if !slices.Contains(c.Reasons, text) {
			c.Reasons = append(c.Reasons, text)
		}
	}
	unread := 0
	for i := range app.Files {
		switch f := &app.Files[i]; f.State {
		case model.ApplicationFileStatePartial, model.ApplicationFileStateSkipped, model.ApplicationFileStateContradicted, model.ApplicationFileStateUnavailable:
			unread++
			c.Code = true
			if f.Kind == model.ApplicationFileKindContainer {
				c.Files = true
			}
		}
	}
	if unread > 0 {
		reason("not read, or not completely: " + strconv.Itoa(unread) + " of its files")
	}
	for _, g := range app.Graph.Coverage.Gaps {
		switch {
		case g.What == "files", strings.HasPrefix(g.What, "entries of "):
			c.Files, c.Code = true, true
			reason(g.What + ": " + g.Reason)
		case strings.HasPrefix(g.What, "statements of "), strings.HasPrefix(g.What, "markup of "):
			c.Code = true
			reason(g.What + ": " + g.Reason)
		}
	}
	if len(app.IntegrityContradictions) > 0 {
		c.Files, c.Code = true, true
		reason("files that contradict their archive were not read")
	}
	return c
}

func (s *side) node(i int) *model.ApplicationNode { return &s.app.Graph.Nodes[i] }

// isFile reports whether a node is a file of the application.
func (s *side) isFile(i int) bool {
	n := s.node(i)
	return n.Identity.Strategy == model.ApplicationNodeIdentityStrategyCanonicalPath && n.Kind != model.ApplicationNodeKindPackage
}

// isModule reports whether a node is a module of a bundle.
func (s *side) isModule(i int) bool {
	k := s.node(i).Kind
	return k == model.ApplicationNodeKindJavascriptModule || k == model.ApplicationNodeKindModuleGroup
}

// compared reports whether a node takes part in a comparison.
func (s *side) compared(i int) bool { return s.node(i).Kind != model.ApplicationNodeKindApplication }

func (s *side) key(i int) string {
	if k := s.node(i).Identity.Key; k != nil {
		return *k
	}
	return ""
}

func (s *side) sha256(i int) string {
	if d := s.node(i).Identity.SHA256; d != nil {
		return *d
	}
	return ""
}

func (s *side) label(i int) string {
	if l := s.node(i).Label; l != nil {
		return *l
	}
	return ""
}

func (s *side) text(i int, property string) string {
	return recorded.Text(s.node(i).Properties[property])
}

func (s *side) number(i int, property string) int {
	n, err := strconv.Atoi(string(s.node(i).Properties[property]))
	if err != nil {
		return 0
	}
	return n
}

func (s *side) flag(i int, property string) bool {
	return string(s.node(i).Properties[property]) == "true"
}

// holder is the path of the file in which a node lies, or "".
func (s *side) holder(i int) string {
	if p := s.app.Place(s.node(i).Location); p != nil {
		return p.Path
	}
	if s.isModule(i) {
		return s.text(i, "file")
	}
	if p, _, placed := strings.Cut(s.key(i), "@"); placed && s.files[p] != nil {
		return p
	}
	return ""
}

// state of the file in which a node lies.
func (s *side) state(i int) model.ApplicationFileState {
	p := s.holder(i)
	if s.isFile(i) {
		p = s.key(i)
	}
	if f := s.files[p]; f != nil {
		return f.State
	}
	return model.ApplicationFileStateAnalyzed
}

// incomplete reports whether a node may have more than it shows, since code that says
// it was not read.
func (s *side) incomplete(i int) bool {
	if s.node(i).Kind == model.ApplicationNodeKindPackage {
		return false
	}
	p := s.holder(i)
	if s.isFile(i) {
		p = s.key(i)
	}
	if p == "" { // many places say what it is
		return s.coverage.Code
	}
	switch s.state(i) {
	case model.ApplicationFileStatePartial, model.ApplicationFileStateSkipped, model.ApplicationFileStateUnavailable, model.ApplicationFileStateContradicted:
		return true
	}
	return false
}

// unlisted reports whether a module outside of the application may be a file of it
// that was not listed.
func (s *side) unlisted(i int) bool {
	return s.coverage.Files && s.node(i).Kind == model.ApplicationNodeKindExternalModule && !s.flag(i, "builtin")
}

// A load is a module that another asks for.
type load struct {
	edge, to  int
	specifier string
}

// loads are what a node asks for, in the order in which it does.
func (s *side) loads(i int) []load {
	if s.known[i] {
		return s.asks[i]
	}
	out := []load{}
	for _, e := range s.out[i] {
		edge := &s.app.Graph.Edges[e]
		if edge.Relation == model.ApplicationRelationImports {
			out = append(out, load{int(e), int(edge.To), recorded.Text(edge.Properties["specifier"])})
		}
	}
	start := func(l load) int64 {
		if p := s.app.Place(s.app.Graph.Edges[l.edge].Location); p != nil {
			return p.Start
		}
		return -1
	}
	slices.SortStableFunc(out, func(a, b load) int { return cmp.Compare(start(a), start(b)) })
	s.asks[i], s.known[i] = out, true
	return out
}

// hashed are the parts of file names that builds make of contents.
var hashed = regexp.MustCompile(`[.\-_~]([A-Za-z0-9_\-]{6,})(\.(?:bundle|chunk|min|module|mjs|cjs|js|css|html|map|node|wasm)\b)`)

// stem is a path without the parts that builds make of contents.
func stem(p string) string {
	dir, base := path.Split(p)
	for range 2 {
		m := hashed.FindStringSubmatchIndex(base)
		if m == nil || !random(base[m[2]:m[3]]) {
			break
		}
		base = base[:m[0]] + base[m[4]:]
	}
	return dir + base
}

// random reports whether a part of a name looks like a digest: it has figures, or
// changes between capitals and small letters.
func random(s string) bool {
	figures, upper, lower := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			figures++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return figures > 0 && figures+upper+lower >= 6 || upper > 1 && lower > 1 && len(s) == 8
}
