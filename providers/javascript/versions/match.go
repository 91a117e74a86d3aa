package versions

import (
	"context"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/fingerprint"
)

type matcher struct {
	ctx  context.Context // of the one call of Compare that made this
	l, r *side
}

func (m *matcher) join(l, r int, basis Basis) {
	m.l.pair[l], m.r.pair[r] = r, l
	m.l.basis[l], m.r.basis[r] = basis, basis
}

// A key names a node within a stage, "" leaves it out.
type key func(s *side, i int) string

// A stage matches what is unique by its key. sure, when there is one, has the
// last word.
type stage struct {
	basis Basis
	key   key
	sure  func(l, r int) bool
}

// unmatched are the nodes without a match that belong to a class.
func (s *side) unmatched(class func(s *side, i int) bool) []int {
	var out []int
	for i := range s.pair {
		if s.pair[i] < 0 && class(s, i) {
			out = append(out, i)
		}
	}
	return out
}

// several stands for more than one node of a key.
const several = -1

// index is the node of each key, or several.
func index(s *side, nodes []int, k key) map[string]int {
	out := make(map[string]int, len(nodes))
	for _, i := range nodes {
		name := k(s, i)
		if name == "" {
			continue
		}
		if _, twice := out[name]; twice {
			out[name] = several
		} else {
			out[name] = i
		}
	}
	return out
}

// unique runs a stage over a class, and gives how many it matched.
func (m *matcher) unique(class func(s *side, i int) bool, st stage) int {
	left := m.l.unmatched(class)
	if len(left) == 0 {
		return 0
	}
	right := index(m.r, m.r.unmatched(class), st.key)
	names := index(m.l, left, st.key)
	found := 0
	for _, l := range left {
		name := st.key(m.l, l)
		if name == "" || names[name] != l {
			continue
		}
		r, ok := right[name]
		if !ok || r == several || st.sure != nil && !st.sure(l, r) {
			continue
		}
		m.join(l, r, st.basis)
		found++
	}
	return found
}

// run runs stages in order until none matches more: a match can make others
// unique.
func (m *matcher) run(class func(s *side, i int) bool, stages []stage) error {
	for range maxRounds {
		found := 0
		for _, st := range stages {
			if err := m.ctx.Err(); err != nil {
				return err
			}
			found += m.unique(class, st)
		}
		if found == 0 {
			break
		}
	}
	return nil
}

const maxRounds = 8

func joined(parts ...string) string {
	for _, p := range parts {
		if p == "" {
			return ""
		}
	}
	return strings.Join(parts, "\x00")
}

func byID(s *side, i int) string { return s.node(i).ID }

func byDigest(s *side, i int) string { return joined(string(s.node(i).Kind), s.sha256(i)) }

func byPath(s *side, i int) string { return joined(string(s.node(i).Kind), s.key(i)) }

func byStem(s *side, i int) string { return joined(string(s.node(i).Kind), stem(s.key(i))) }

func byNormal(s *side, i int) string {
	if s.number(i, "features") < 3 {
		return "" // as good as empty: what it loads is all there is
	}
	return s.text(i, "normal_sha256")
}

func byStructure(s *side, i int) string { return s.text(i, "structure_sha256") }

// files matches files by path and content.
func (m *matcher) files() error {
	class := func(s *side, i int) bool { return s.isFile(i) }
	return m.run(class, []stage{
		{Identity, byID, nil},
		{Path, byPath, nil},
		{Content, func(s *side, i int) string { return joined(byDigest(s, i), stem(base(s.key(i)))) }, nil},
		{Content, byDigest, nil},
		{Path, byStem, nil},
	})
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// modules matches modules of bundles.
func (m *matcher) modules() error {
	class := func(s *side, i int) bool { return s.isModule(i) }
	in := func(k key) key {
		return func(s *side, i int) string { return joined(stem(s.text(i, "file")), k(s, i)) }
	}
	original := func(s *side, i int) string { return s.text(i, "path") }
	digest := func(s *side, i int) string { return s.sha256(i) }
	stages := []stage{
		{Identity, byID, nil},
		{Content, in(func(s *side, i int) string { return joined(original(s, i), digest(s, i)) }), nil},
		{Original, in(original), nil},
		{Original, original, nil},
		{Content, in(func(s *side, i int) string { return joined(s.text(i, "module_id"), digest(s, i)) }), m.plausible},
		{Content, in(digest), m.plausible},
		{Content, digest, m.plausible},
		{Normal, in(byNormal), m.plausible},
		{Normal, byNormal, m.plausible},
		{Structure, in(byStructure), m.plausible},
		{Structure, byStructure, m.plausible},
		{Normal, func(s *side, i int) string { return joined(s.text(i, "normal_sha256"), m.loaded(s, i)) }, m.plausible},
		{Normal, func(s *side, i int) string { return joined(s.text(i, "normal_sha256"), m.loaders(s, i)) }, m.plausible},
		// The same code under another name, when no other on either side is it.
		{Content, in(digest), m.agrees},
		{Content, digest, m.agrees},
		{Normal, in(byNormal), m.agrees},
		{Normal, byNormal, m.agrees},
		{ModuleID, in(func(s *side, i int) string { return joined(s.text(i, "bundler"), lastingID(s, i)) }), m.alike},
	}
	for range maxRounds {
		before := m.matched()
		if err := m.run(class, stages); err != nil {
			return err
		}
		if err := m.neighbours(class); err != nil {
			return err
		}
		if m.matched() == before {
			break
		}
	}
	if err := m.similar(class); err != nil {
		return err
	}
	return m.neighbours(class)
}

func (m *matcher) matched() int {
	n := 0
	for _, p := range m.l.pair {
		if p >= 0 {
			n++
		}
	}
	return n
}

// plausible reports whether nothing speaks against a match: original paths that
// both tell are not different files, and what the two are known to load is
// matched with each other.
func (m *matcher) plausible(l, r int) bool {
	if a, b := m.l.text(l, "path"), m.r.text(r, "path"); a != "" && b != "" && a != b && base(a) != base(b) {
		return false
	}
	return m.agrees(l, r)
}

// agrees reports whether what two nodes are known to load is matched with each other.
func (m *matcher) agrees(l, r int) bool { return m.sameLoads(l, r) != differ }

// lastingID is the id of a module in its bundle, "" where it is a variable whose
// name minification chose.
func lastingID(s *side, i int) string {
	switch s.text(i, "bundler") {
	case string(bundle.Esbuild), string(bundle.Rollup), string(bundle.Rolldown):
		return ""
	}
	return s.text(i, "module_id")
}

// alike reports whether two nodes have enough in common for weak evidence.
func (m *matcher) alike(l, r int) bool {
	if !m.plausible(l, r) {
		return false
	}
	large := min(m.l.number(l, "features"), m.r.number(r, "features")) >= 8
	return large && m.similarity(l, r) >= 0.4 || m.l.text(l, "normal_sha256") == m.r.text(r, "normal_sha256") && m.l.text(l, "normal_sha256") != ""
}

func (m *matcher) similarity(l, r int) float64 {
	return fingerprint.Similar(m.l.text(l, "sketch"), m.r.text(r, "sketch"))
}

// assets matches files of code that their paths don't tell: by what they hold.
func (m *matcher) assets() error {
	class := func(s *side, i int) bool { return s.node(i).Kind == model.ApplicationNodeKindJavascriptAsset }
	if err := m.votes(class); err != nil {
		return err
	}
	// Files with too few features to tell them apart are the same code all the same,
	// when no other file on either side is.
	all := func(s *side, i int) string { return s.text(i, "normal_sha256") }
	alike := func(l, r int) bool { return m.sameLoads(l, r) == same }
	if err := m.run(class, []stage{{Normal, byNormal, nil}, {Structure, byStructure, nil}, {Normal, all, alike}}); err != nil {
		return err
	}
	return m.similar(class)
}

// votes matches files by where the modules in them went: two files that hold more
// of each other's modules than any other does.
func (m *matcher) votes(class func(s *side, i int) bool) error {
	type ballot struct{ l, r int }
	count := map[ballot]int{}
	for i, to := range m.l.pair {
		if to < 0 || !m.l.isModule(i) {
			continue
		}
		if b := (ballot{m.l.fileOf[i], m.r.fileOf[to]}); b.l >= 0 && b.r >= 0 && m.l.pair[b.l] < 0 && m.r.pair[b.r] < 0 {
			count[b]++
		}
	}
	bestL, bestR := map[int]ballot{}, map[int]ballot{}
	better := func(best map[int]ballot, at int, b ballot) {
		if old, ok := best[at]; !ok || count[b] > count[old] || count[b] == count[old] && (b.l < old.l || b.l == old.l && b.r < old.r) {
			best[at] = b
		}
	}
	for b := range count {
		better(bestL, b.l, b)
		better(bestR, b.r, b)
	}
	for l, b := range bestL {
		if bestR[b.r] == b && class(m.l, l) && class(m.r, b.r) {
			m.join(b.l, b.r, Neighbours)
		}
	}
	return m.ctx.Err()
}

// sources matches the original files that source maps name.
func (m *matcher) sources() error {
	class := func(s *side, i int) bool { return s.node(i).Kind == model.ApplicationNodeKindSourceModule }
	return m.run(class, []stage{
		{Identity, byID, nil},
		{Original, byPath, nil},
		{Content, byDigest, nil},
	})
}
