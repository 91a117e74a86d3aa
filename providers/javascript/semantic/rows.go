package semantic

import (
	"math/bits"

	"rea/providers/javascript/parse"
)

// rows are the graph nodes of syntax nodes of some kinds, without a table by all
// of them: the rank of a bit in a set is the index of its value.
type rows struct {
	set    []uint64 // by 64 syntax nodes
	before []int32  // bits before a word of the set
	values []int32
}

func newRows(nodes []parse.Node, holds func(parse.Kind) bool) rows {
	words := (len(nodes) + 63) / 64
	r := rows{set: make([]uint64, words), before: make([]int32, words)}
	n := int32(0)
	for w := range r.set {
		r.before[w] = n
		for i := 64 * w; i < min(64*w+64, len(nodes)); i++ {
			if holds(nodes[i].Kind) {
				r.set[w] |= 1 << (i % 64)
			}
		}
		n += int32(bits.OnesCount64(r.set[w]))
	}
	r.values = make([]int32, n)
	for i := range r.values {
		r.values[i] = unset
	}
	return r
}

// unset is the value of what was not looked at yet.
const unset int32 = -2

// index of the value of a syntax node, or -1 for one that has none.
func (r *rows) index(ref parse.Ref) int {
	w, bit := ref/64, uint64(1)<<(ref%64)
	if r.set[w]&bit == 0 {
		return -1
	}
	return int(r.before[w]) + bits.OnesCount64(r.set[w]&(bit-1))
}

// of is the value that a syntax node was given.
func (r *rows) of(ref parse.Ref) (value int32, ok bool) {
	i := r.index(ref)
	if i < 0 || r.values[i] == unset {
		return none, false
	}
	return r.values[i], true
}

func (r *rows) give(ref parse.Ref, value int32) {
	if i := r.index(ref); i >= 0 {
		r.values[i] = value
	}
}

// hasRow reports whether graph nodes are looked up by syntax nodes of a kind.
func hasRow(k parse.Kind) bool {
	switch k {
	case parse.Func, parse.FuncDecl, parse.Arrow, parse.Class, parse.ClassDecl, // as functions
		parse.Call, parse.New, parse.Tagged, parse.ImportCall, // as calls
		parse.Object: // as a value
		return true
	}
	return false
}
