package versions

import (
	"slices"
	"strings"

	"rea/generated/model"
)

// hole stands in the label of an address for a part that varies.
const hole = "{}"

// maxFits bounds how many addresses are held against patterns in a comparison.
// What is not looked at any more may be any of them, and is told as such.
const maxFits = 20_000_000

// endpoints are those of a side with an address.
type endpoints struct {
	sorted []int            // by label
	heads  map[string][]int // those of which parts vary, by what stands before the first hole
	sizes  []int            // of heads, each once
}

func endpointsOf(s *side) *endpoints {
	e := &endpoints{heads: map[string][]int{}}
	for i := range s.pair {
		label := s.label(i)
		if s.node(i).Kind != model.ApplicationNodeKindEndpoint || label == "" {
			continue
		}
		e.sorted = append(e.sorted, i)
		// what is open from its begin on may be any address
		if head, _, varies := strings.Cut(label, hole); varies && head != "" {
			e.heads[head] = append(e.heads[head], i)
			e.sizes = append(e.sizes, len(head))
		}
	}
	slices.SortStableFunc(e.sorted, func(a, b int) int { return strings.Compare(s.label(a), s.label(b)) })
	slices.Sort(e.sizes)
	e.sizes = slices.Compact(e.sizes)
	return e
}

// fitting are the endpoints of the other side that may be an endpoint of this one,
// as one of the two has parts that are made when the program runs.
type fitting struct {
	list    []int // the first maxCandidates
	omitted int
	unsure  bool // not all were looked at
}

func (f *fitting) some() bool { return len(f.list) > 0 || f.unsure }

// patterns is asked more than once about an endpoint, and remembers.
func (j *judge) patterns(i int, own, other *side) *fitting {
	if own.node(i).Kind != model.ApplicationNodeKindEndpoint || own.label(i) == "" {
		return &fitting{}
	}
	known := j.fitting[own]
	if f := known[i]; f != nil {
		return f
	}
	f := &fitting{}
	known[i] = f
	label, theirs := own.label(i), j.endpoints[other]
	// try holds one address against a pattern and says whether there is room for more.
	try := func(k int, pattern, text string) bool {
		if j.fits++; j.fits > maxFits {
			f.unsure = true
			return false
		}
		switch {
		case !fits(pattern, text):
		case len(f.list) < maxCandidates:
			f.list = append(f.list, k)
		default:
			f.omitted++
		}
		return true
	}
	for _, n := range theirs.sizes {
		if n > len(label) {
			break
		}
		for _, k := range theirs.heads[label[:n]] {
			if !try(k, other.label(k), label) {
				return f
			}
		}
	}
	if head, _, varies := strings.Cut(label, hole); varies && head != "" {
		at, _ := slices.BinarySearchFunc(theirs.sorted, head, func(k int, head string) int { return strings.Compare(other.label(k), head) })
		for _, k := range theirs.sorted[at:] {
			text := other.label(k)
			if !strings.HasPrefix(text, head) {
				break
			}
			if other.pair[k] < 0 && !(strings.Contains(text, hole) && fits(text, label)) && !try(k, label, text) {
				return f
			}
		}
	}
	slices.Sort(f.list)
	return f
}

// fits reports whether what varies in a pattern may be such that it is a text.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, hole)
	first, last := parts[0], parts[len(parts)-1]
	if first == "" || len(parts) == 1 || !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}
