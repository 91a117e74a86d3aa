package versions

import (
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

// sameLoads compares what two nodes load, in order.
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
		return same
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
