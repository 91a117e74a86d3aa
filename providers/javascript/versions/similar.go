package versions

import (
	"cmp"
	"slices"

	"rea/providers/javascript/fingerprint"
)

const (
	alikeEnough = 0.5  // share of equal positions in sketches
	aheadOfRest = 0.12 // by which the best leads
	maxBucket   = 64   // nodes with one value at one position that are looked at
)

// similar matches nodes whose sketches are most alike on both sides. Nodes are
// compared only when they share a value at some position, so that the work grows
// with what is alike and not with the product of the sides.
func (m *matcher) similar(class func(s *side, i int) bool) error {
	type rival struct {
		node  int
		score float64
	}
	type standing struct{ best, second rival }
	better := func(st *standing, r rival) {
		switch {
		case r.score > st.best.score:
			st.best, st.second = r, st.best
		case r.score > st.second.score:
			st.second = r
		}
	}
	buckets := map[string][]int{}
	for _, r := range m.r.unmatched(class) {
		for _, b := range bands(m.r.text(r, "sketch")) {
			buckets[b] = append(buckets[b], r)
		}
	}
	left, right := map[int]*standing{}, map[int]*standing{}
	at := func(in map[int]*standing, i int) *standing {
		if in[i] == nil {
			in[i] = &standing{rival{-1, 0}, rival{-1, 0}}
		}
		return in[i]
	}
	lefts := m.l.unmatched(class)
	for n, l := range lefts {
		if n%256 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		var candidates []int
		for _, b := range bands(m.l.text(l, "sketch")) {
			if len(buckets[b]) <= maxBucket {
				candidates = append(candidates, buckets[b]...)
			}
		}
		slices.Sort(candidates)
		for _, r := range slices.Compact(candidates) {
			if m.l.number(l, "features") < 8 || m.r.number(r, "features") < 8 || !m.paths(l, r) {
				continue
			}
			score := m.similarity(l, r)
			better(at(left, l), rival{r, score})
			better(at(right, r), rival{l, score})
		}
	}
	slices.SortStableFunc(lefts, func(a, b int) int { return cmp.Compare(at(left, b).best.score, at(left, a).best.score) })
	for _, l := range lefts {
		st := at(left, l)
		if st.best.node < 0 || st.best.score < alikeEnough || st.best.score-st.second.score < aheadOfRest {
			continue
		}
		back := at(right, st.best.node)
		if back.best.node == l && back.best.score-back.second.score >= aheadOfRest {
			m.join(l, st.best.node, Similarity)
		}
	}
	return nil
}

// paths reports whether the original paths of two nodes do not speak against them
// being one.
func (m *matcher) paths(l, r int) bool {
	a, b := m.l.text(l, "path"), m.r.text(r, "path")
	return a == "" || b == "" || base(a) == base(b)
}

// bands are pairs of neighbouring positions of a sketch, each with its place.
func bands(sketch string) []string {
	if len(sketch) != 4*fingerprint.Positions {
		return nil
	}
	out := make([]string, 0, fingerprint.Positions/2)
	for i := 0; i+8 <= len(sketch); i += 8 {
		out = append(out, string(rune('a'+i/8))+sketch[i:i+8])
	}
	return out
}
