package evidence

import "strings"

// maxNearest is how many names a fault offers.
const maxNearest = 5

// nearestNames gathers names in which a wanted one is found, or which are found
// in it, without regard to case and to the dots and underscores around them.
type nearestNames struct {
	wanted string
	found  []string
	seen   map[string]bool
}

func (n *nearestNames) add(name string) {
	const around = "._@"
	have, want := strings.Trim(strings.ToLower(name), around), strings.Trim(strings.ToLower(n.wanted), around)
	if len(n.found) == maxNearest || n.seen[name] || have == "" || want == "" ||
		!strings.Contains(have, want) && !(len(have) > 2 && strings.Contains(want, have)) {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	n.found = append(n.found, name)
}

// names are never null.
func (n *nearestNames) names() []string { return append([]string{}, n.found...) }
