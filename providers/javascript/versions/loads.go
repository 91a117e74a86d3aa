package versions

import (
	"bytes"
	"encoding/binary"
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
)

// agreement is how what two nodes load compares.
type agreement uint8

const (
	same agreement = iota
	unclear
	differ
)

// sameLoads compares what two nodes load, in order, as far as it is matched.
func (m *matcher) sameLoads(l, r int) agreement {
	a, b := m.l.loads(l), m.r.loads(r)
	if len(a) != len(b) {
		return differ
	}
	out := same
	for i := range a {
		switch m.sameLoad(a[i], b[i]) {
		case differ:
			return differ
		case unclear:
			out = unclear
		}
	}
	return out
}

func (m *matcher) sameLoad(a, b load) agreement {
	switch to := m.l.pair[a.to]; {
	case to == b.to:
		if m.sure(a.to, b.to) || a.specifier != "" && a.specifier == b.specifier {
			return same
		}
		return unclear
	case to >= 0 || m.r.pair[b.to] >= 0:
		return differ
	}
	l, r := m.l.node(a.to), m.r.node(b.to)
	if l.Kind == model.ApplicationNodeKindExternalModule && r.Kind == l.Kind {
		if l.ID == r.ID {
			return same
		}
		// Ids of modules elsewhere are numbered anew.
		if a.specifier != "" || b.specifier != "" {
			return agree(a.specifier == b.specifier)
		}
		return unclear
	}
	if a.specifier != "" && a.specifier == b.specifier && recorded.Text(m.l.node(a.to).Properties["path"]) == recorded.Text(m.r.node(b.to).Properties["path"]) {
		return same
	}
	return unclear
}

// sure reports whether a match is good enough to say of what loads the node that it
// loads the same: it did not change, or what names it did not.
func (m *matcher) sure(l, r int) bool {
	switch m.l.basis[l] {
	case Identity, Content, Original, Path, Normal, SemanticKey:
		return true
	}
	if n := m.l.text(l, "normal_sha256"); n != "" && n == m.r.text(r, "normal_sha256") {
		return true
	}
	if id := lastingID(m.l, l); len(id) > 2 && id == lastingID(m.r, r) {
		return true
	}
	gives, given := m.l.node(l).Properties["exports"], m.r.node(r).Properties["exports"]
	return len(gives) > 0 && bytes.Equal(gives, given) && string(gives) != `["module.exports"]`
}

func agree(ok bool) agreement {
	if ok {
		return same
	}
	return differ
}

// neighbours matches what stands in the same place beside matched nodes: the n-th
// module that both load, and the only modules that load both.
func (m *matcher) neighbours(class func(s *side, i int) bool) error {
	for range maxRounds {
		found := 0
		for l, r := range m.l.pair {
			if r < 0 || len(m.l.out[l]) == 0 {
				continue
			}
			a, b := m.l.loads(l), m.r.loads(r)
			if len(a) != len(b) {
				continue
			}
			for i := range a {
				if m.free(class, a[i].to, b[i].to) && m.close(a[i].to, b[i].to) {
					m.join(a[i].to, b[i].to, Neighbours)
					found++
				}
			}
		}
		found += m.unique(class, stage{Neighbours, m.loaders, m.close})
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if found == 0 {
			break
		}
	}
	return nil
}

func (m *matcher) free(class func(s *side, i int) bool, l, r int) bool {
	return m.l.pair[l] < 0 && m.r.pair[r] < 0 && class(m.l, l) && class(m.r, r)
}

// close reports whether two nodes in the same place can be one: they are similar,
// or too small to tell.
func (m *matcher) close(l, r int) bool {
	if a, b := m.l.text(l, "path"), m.r.text(r, "path"); a != "" && b != "" && base(a) != base(b) {
		return false
	}
	small := m.l.number(l, "features") < 12 && m.r.number(r, "features") < 12
	return small && m.l.node(l).Kind == m.r.node(r).Kind && m.sameLoads(l, r) != differ || m.similarity(l, r) >= 0.25
}

// loaded names a node by what it loads, when all of it is matched.
func (m *matcher) loaded(s *side, i int) string {
	var out []byte
	for _, l := range s.loads(i) {
		to := s.pair[l.to]
		if to < 0 {
			return ""
		}
		if s == m.l {
			to = l.to
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(to))
	}
	return string(out)
}

// loaders names a node by those that load it, when all of them are matched.
func (m *matcher) loaders(s *side, i int) string {
	var from []int
	for _, e := range s.in[i] {
		edge := &s.app.Graph.Edges[e]
		if edge.Relation != model.ApplicationRelationImports {
			continue
		}
		at := int(edge.From)
		if s.pair[at] < 0 {
			return ""
		}
		if s == m.r {
			at = s.pair[at] // as the left side numbers it
		}
		from = append(from, at)
	}
	slices.Sort(from)
	var out []byte
	for _, at := range from {
		out = binary.LittleEndian.AppendUint32(out, uint32(at))
	}
	return string(out)
}
