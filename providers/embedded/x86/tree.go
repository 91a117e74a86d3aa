package x86

import (
	"fmt"
	"slices"
)

// set is the compiled instruction set of one mode: for every opcode a decision
// tree over the other fields of the encoding. It is immutable once built.
//
// A node below branchBit is an entry (0: undefined), one above it is the index
// of a branch, whose children are consecutive nodes.
type set struct {
	root     [spaces][256]node
	branches []branch
	children []node
	entries  []entry
}

type node uint16

const branchBit node = 0x8000

type branch struct {
	by    dim
	first uint16
}

// buildSet compiles the tables for a mode (0: 32-bit, 1: 64-bit).
func buildSet(tables *[spaces][256][]line, mode int) (*set, error) {
	s := &set{entries: make([]entry, 1, 2048)}
	index := map[*entry]node{}
	for sp := range tables {
		for op, all := range tables[sp] {
			var lines []line
			for _, ln := range all {
				if ln.accepts[dimMode]>>mode&1 == 1 {
					lines = append(lines, ln)
				}
			}
			n, err := s.build(lines, dimMod, index)
			if err != nil {
				return nil, fmt.Errorf("%s%02x: %w", spaceNames[sp], op, err)
			}
			s.root[sp][op] = n
		}
	}
	return s, nil
}

func (s *set) build(lines []line, d dim, index map[*entry]node) (node, error) {
	if len(lines) == 0 {
		return 0, nil
	}
	for ; d < dims; d++ {
		all := uint16(1)<<dimWays[d] - 1
		if slices.ContainsFunc(lines, func(ln line) bool { return ln.accepts[d] != all }) {
			break
		}
	}
	if d == dims {
		best := slices.MaxFunc(lines, func(a, b line) int { return a.specificity - b.specificity })
		for _, ln := range lines {
			if ln.entry != best.entry && ln.specificity == best.specificity {
				return 0, fmt.Errorf("%q and %q both fit", best.where, ln.where)
			}
		}
		n, ok := index[best.entry]
		if !ok {
			n = node(len(s.entries))
			s.entries = append(s.entries, *best.entry)
			index[best.entry] = n
		}
		return n, nil
	}
	kids := make([]node, dimWays[d])
	same := true
	for v := range kids {
		var fit []line
		for _, ln := range lines {
			if ln.accepts[d]>>v&1 == 1 {
				fit = append(fit, ln)
			}
		}
		n, err := s.build(fit, d+1, index)
		if err != nil {
			return 0, err
		}
		kids[v] = n
		same = same && n == kids[0]
	}
	if same {
		return kids[0], nil
	}
	n := branchBit | node(len(s.branches))
	s.branches = append(s.branches, branch{by: d, first: uint16(len(s.children))})
	s.children = append(s.children, kids...)
	if len(s.branches) >= int(branchBit) || len(s.children) >= 1<<16 || len(s.entries) >= int(branchBit) {
		return 0, fmt.Errorf("tables exceed 16-bit indices")
	}
	return n, nil
}
