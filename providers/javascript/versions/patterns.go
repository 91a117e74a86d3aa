package versions

import (
	"strings"

	"rea/generated/model"
)

// hole stands in the label of an address for a part that varies.
const hole = "{}"

// patterns are the endpoints of the other side that may be an endpoint of this one,
// as one of the two has parts that are made when the program runs.
func (j *judge) patterns(i int, own, other *side) []int {
	label := own.label(i)
	if own.node(i).Kind != model.ApplicationNodeKindEndpoint || label == "" {
		return nil
	}
	var out []int
	varies := strings.Contains(label, hole)
	for _, k := range j.endpoints[other] {
		theirs := other.label(k)
		if strings.Contains(theirs, hole) && fits(theirs, label) || varies && other.pair[k] < 0 && fits(label, theirs) {
			if out = append(out, k); len(out) == maxCandidates {
				break
			}
		}
	}
	return out
}

// fits reports whether what varies in a pattern may be such that it is a text.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, hole)
	first, last := parts[0], parts[len(parts)-1]
	if first == "" || len(parts) == 1 || !strings.HasPrefix(text, first) {
		return false // what is open from its begin on may be any address
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
