package query

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest gathers, of the names offered, those that resemble a wanted one most:
// the same in another case, then those that contain it, the shortest first, then
// those within a few slips of typing (changed, missing, added or swapped characters: optimal string
// alignment, https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance). A wanted
// name without a package or class resembles the last part of a name, too.
type Nearest struct {
	want  string
	bare  bool // the wanted name has no parts
	slips int
	most  int
	best  []resemblance
	rows  [3][]int
}

type resemblance struct{ distance, length, key int }

// comparable is the length of names that are compared character by character.
const comparable = 256

// NewNearest gathers the most similar names, at most so many.
func NewNearest(want string, most int) *Nearest {
	want = strings.ToLower(want)
	n := &Nearest{want: want, bare: !strings.ContainsAny(want, ".:"), most: most, slips: min(len(want)/3, 3)}
	for i := range n.rows {
		n.rows[i] = make([]int, comparable+1)
	}
	return n
}

// Offer compares a name, which key stands for.
func (n *Nearest) Offer(name string, key int) {
	if n.want == "" {
		return
	}
	name = strings.ToLower(name)
	d := 0
	switch {
	case name == n.want:
	case len(n.want) > 2 && strings.Contains(name, n.want):
		d = 1
	default:
		if d = n.distance(name); d > n.slips && n.bare {
			d = n.distance(lastPart(name))
		}
		if d > n.slips {
			return
		}
	}
	r := resemblance{d, len(name), key}
	at, _ := slices.BinarySearchFunc(n.best, r, func(a, b resemblance) int {
		// What was offered before stays before.
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.length, b.length), -1)
	})
	if at < n.most {
		n.best = slices.Insert(n.best[:min(len(n.best), n.most-1)], at, r)
	}
}

// Keys are those of the best names, the nearest first.
func (n *Nearest) Keys() []int {
	keys := make([]int, len(n.best))
	for i, r := range n.best {
		keys[i] = r.key
	}
	return keys
}

// lastPart is a name without its package or class, in the manner of Go, Java and
// C++, and without what stands in parentheses.
func lastPart(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 && name[i-1] != '.' { // not (*T)
		name = name[:i]
	}
	return name[max(strings.LastIndexByte(name, '.'), strings.LastIndexByte(name, ':'))+1:]
}

// distance counts the slips between name and the wanted one; more than n.slips is
// too many.
func (n *Nearest) distance(name string) int {
	if max(len(name), len(n.want)) > comparable || max(len(name)-len(n.want), len(n.want)-len(name)) > n.slips {
		return n.slips + 1
	}
	two, one, row := n.rows[0], n.rows[1], n.rows[2]
	for j := range len(name) + 1 {
		one[j] = j
	}
	for i := 1; i <= len(n.want); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(name); j++ {
			change := one[j-1]
			if n.want[i-1] != name[j-1] {
				change++
			}
			d := min(one[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && n.want[i-1] == name[j-2] && n.want[i-2] == name[j-1] {
				d = min(d, two[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > n.slips {
			return least
		}
		two, one, row = one, row, two
	}
	return one[len(name)]
}
